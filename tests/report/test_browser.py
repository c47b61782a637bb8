"""The page in a real Chromium: no errors, charts that answer, nothing too wide, texts that run nothing.

Skipped where there is no Chromium: on Debian and Ubuntu `apt-get install chromium chromium-driver` brings it.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from glnn.estimators import ContextTree
from glnn.report import Comparison, ComparisonRow, from_model, write_page
from glnn.report.drift import drift_of_stretches
from glnn.sequences import Sequences

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed: pip install -e '.[test]'")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None or DRIVER is None,
    reason="no Chromium with its driver is installed: apt-get install chromium chromium-driver",
)

ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
CHARTS = ("learning-curves", "surprise-chart", "activity-chart", "writing-chart", "scales-chart")


class Browser:
    """One page after the other, each at a given width."""

    def __init__(self, profile: Path) -> None:
        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        for argument in (*ARGUMENTS, f"--user-data-dir={profile}"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
        self.driver.set_script_timeout(60)

    def open(self, path: Path, width: int) -> None:
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 850, "deviceScaleFactor": 1, "mobile": width < 700},
        )
        self.messages()
        # An alert would stop here; this notes it instead, before anything of the page runs.
        self.driver.execute_cdp_cmd(
            "Page.addScriptToEvaluateOnNewDocument",
            {"source": "window.alerts = []; window.alert = (text) => window.alerts.push(text);"},
        )
        self.driver.get(path.as_uri())
        self.until("document.documentElement.dataset.drawn === 'all'")

    def __call__(self, script: str) -> Any:
        return self.driver.execute_script(f"return {script}")

    def until(self, script: str) -> None:
        """Wait for what a script says to become true."""
        last = time.monotonic() + 60.0
        while not self(script):
            assert time.monotonic() < last, f"{script} never became true"
            time.sleep(0.05)

    def choose(self, name: str, value: str) -> None:
        self.driver.execute_script(
            "const s = document.getElementById(arguments[0]); s.value = arguments[1];"
            "s.dispatchEvent(new Event('change', {bubbles: true}))",
            name,
            value,
        )

    def click(self, selector: str) -> None:
        self.driver.execute_script("document.querySelector(arguments[0]).click()", selector)

    def messages(self) -> list[str]:
        return [entry["message"] for entry in self.driver.get_log("browser")]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    started = Browser(tmp_path_factory.mktemp("profile"))
    yield started
    started.driver.quit()


@pytest.fixture(scope="module")
def pages(
    tmp_path_factory: pytest.TempPathFactory, counter: Any, counting_text: str, clerk: Any, event_log: Sequences
) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    rows = [
        ComparisonRow("GLNN <b>", 50.0, curve=[(0.0, 90.0), (1.0, 50.0)]),
        ComparisonRow("true model", 40.0, "true model"),
        ComparisonRow("bzip2", 126768.0, "compressor"),
    ]
    counting = from_model(
        counter, counting_text, train_symbols=450, validation_symbols=50, comparison=Comparison(rows, 500)
    )
    text, followed = "abcabcabd" * 40, drift_of_stretches([(8, 9.0)] * 30 + [(8, 30.0)] * 30, learned=True)
    tree = ContextTree(learning="frozen", verbose=0).fit(text)
    drifting = from_model(tree, text + "acbacbacd" * 30, followed=followed, samples=False)
    return {
        "counting": write_page(counting, folder / "counting.html"),
        "events": write_page(from_model(clerk, event_log, name="<i>events</i>"), folder / "events.html"),
        "drift": write_page(drifting, folder / "drift.html"),
    }


@pytest.mark.parametrize("width", [1366, 390])
@pytest.mark.parametrize("name", ["counting", "events"])
def test_it_opens_without_errors_and_nothing_is_too_wide(
    browser: Browser, pages: dict[str, Path], name: str, width: int
) -> None:
    browser.open(pages[name], width)
    for chart in CHARTS:
        assert browser(f"document.querySelectorAll('#{chart} .main-svg').length") > 0
    assert browser.messages() == []
    assert browser("[innerWidth, document.documentElement.scrollWidth - document.documentElement.clientWidth]") == [
        width,
        0,
    ]
    wide = browser(
        "[...document.querySelectorAll('main *')].filter((e) => !e.closest('.scroll, svg, .places, .js-plotly-plot') "
        "&& e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.tagName + '.' + e.className)"
    )
    assert wide == []
    sizes = browser(
        "[...document.querySelectorAll('main p, main td, main th, main dd, main dt, main button, main select')]"
        ".map((e) => parseFloat(getComputedStyle(e).fontSize))"
    )
    assert len(sizes) > 20 and min(sizes) >= 12.0
    # Charts fill the column, no more.
    assert all(
        browser(f"document.querySelector('#{chart} .main-svg').getBoundingClientRect().width") <= width
        for chart in CHARTS
    )


def test_texts_in_the_data_are_shown_and_run_nothing(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["events"], 1366)
    assert "<i>events</i>" in browser("document.querySelector('h1').textContent")
    assert "<img src=x onerror" in browser("document.querySelector('#surprise table').textContent")
    assert "<script>alert(1)</script>" in browser("document.getElementById('reading').textContent")
    # plotly reads tags in its labels; the tick of this symbol must be its text.
    ticks = browser("[...document.querySelectorAll('#writing-chart .xtick')].map((tick) => tick.textContent)")
    assert "<script>alert(1…" in ticks
    assert browser("document.querySelectorAll('main script, main img, h1 *, th *:not(button)').length") == 0
    assert browser("window.alerts") == []
    assert browser.messages() == []


@pytest.mark.parametrize("width", [1366, 390])
def test_drift_is_drawn_with_its_change(browser: Browser, pages: dict[str, Path], width: int) -> None:
    browser.open(pages["drift"], width)
    assert browser.messages() == []
    names = "document.getElementById('{}').data.map((trace) => trace.name)"
    assert browser(names.format("drift-chart")) == ["as it was trained", "learning on"]
    assert browser(names.format("followed-chart")) == ["learning on"]
    # Where the change is, and the level before and after it.
    shapes = browser("document.getElementById('followed-chart').layout.shapes.map((s) => [s.x0, s.x1, s.y0, s.y1])")
    assert shapes == [[240, 240, 0, 1], [0, 240, 1.125, 1.125], [240, 480, 3.75, 3.75]]
    first = browser("document.getElementById('drift-chart').layout.shapes[0].x0")
    assert abs(first - 360) <= 16
    for chart in ("drift-chart", "followed-chart"):
        # The lines are on the chart, not only in its data.
        assert browser(f"document.querySelectorAll('#{chart} .scatterlayer .js-line').length") > 0
        assert browser(f"document.querySelector('#{chart} .main-svg').getBoundingClientRect().right") <= width


@pytest.mark.parametrize("width", [1366, 390])
def test_the_numbers_beside_the_bars_are_inside_the_chart(browser: Browser, pages: dict[str, Path], width: int) -> None:
    browser.open(pages["counting"], width)
    edge = browser("document.getElementById('comparison-bars').getBoundingClientRect().right")
    texts = "[...document.querySelectorAll('#comparison-bars .bartext')]"
    assert browser(f"{texts}.map((one) => one.textContent)") == ["50", "126,768"]
    assert browser(f"Math.max(...{texts}.map((one) => one.getBoundingClientRect().right))") <= edge


@pytest.fixture(scope="module")
def counting(browser: Browser, pages: dict[str, Path]) -> Browser:
    """Opened once for all tests that follow: each chooses what it needs."""
    browser.open(pages["counting"], 1366)
    return browser


def responds(browser: Browser, chart: str, what: str, act: Callable[[], None]) -> None:
    """Something about the chart is another after the act."""
    script = f"JSON.stringify(document.getElementById('{chart}').{what})"
    before = browser(script)
    act()
    browser.until(f"{script} !== {json.dumps(before)}")


def test_the_learning_curves_change_their_axes(counting: Browser) -> None:
    chart = "learning-curves"
    counting.choose("learning-axis", "seconds")
    responds(counting, chart, "data[0].x", lambda: counting.choose("learning-axis", "steps"))
    assert counting("document.getElementById('learning-curves').data[0].x[24]") == 25
    other = {"log": "linear", "linear": "log"}[counting("document.getElementById('learning-scale').value")]
    responds(counting, chart, "layout.yaxis.type", lambda: counting.choose("learning-scale", other))


def test_the_learning_curves_go_on_and_rejections_are_whole(counting: Browser) -> None:
    lines = "[...document.getElementById('learning-curves').data].filter((one) => one.mode === 'lines')"
    assert counting(f"{lines}.every((one) => one.connectgaps)")
    ticks = counting("[...document.querySelectorAll('#learning-curves .y3tick text')].map((one) => one.textContent)")
    assert len(ticks) > 1 and len(ticks) == len(set(ticks))


def test_zooming_into_the_surprise_shows_the_symbols(counting: Browser, counting_text: str) -> None:
    counting.click("#surprise-zoom [data-move=all]")
    assert counting("document.getElementById('surprise-chart').layout.xaxis.ticktext") is None
    zoom = "Plotly.relayout('surprise-chart', {'xaxis.range[0]': 9.5, 'xaxis.range[1]': 29.5})"
    responds(counting, "surprise-chart", "layout.xaxis.ticktext", lambda: counting(zoom))
    seen = counting("document.getElementById('surprise-chart').layout.xaxis.ticktext.join('')")
    assert seen == counting_text[10:30].replace("\n", "⏎")
    assert "10 – 29" in counting("document.getElementById('surprise-range').textContent")
    responds(counting, "surprise-chart", "layout.xaxis.range", lambda: counting.click("#surprise-zoom [data-move=all]"))


def test_dragging_over_the_surprise_zooms(counting: Browser) -> None:
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By

    counting.click("#surprise-zoom [data-move=all]")
    area = counting.driver.find_element(By.CSS_SELECTOR, "#surprise-chart .nsewdrag")
    counting.driver.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", area)
    drag = ActionChains(counting.driver).move_to_element_with_offset(area, -100, 0).click_and_hold()
    responds(
        counting,
        "surprise-chart",
        "layout.xaxis.range",
        lambda: drag.move_by_offset(60, 2).move_by_offset(60, 2).release().perform(),
    )
    low, high = counting("document.getElementById('surprise-chart').layout.xaxis.range")
    assert 0 < low < high < counting("JSON.parse(document.getElementById('data').textContent).surprise.length")


def test_a_surprising_place_is_a_click_away(counting: Browser) -> None:
    counting.click("#places button")
    counting.until("document.querySelector('#reading .here') !== null")
    assert counting("document.querySelector('#reading .here').title.endsWith('bits')")
    low, high = counting("document.getElementById('surprise-chart').layout.xaxis.range")
    assert high - low <= 60


def test_units_can_be_ordered_chosen_and_coloured(counting: Browser) -> None:
    chart = "activity-chart"
    heat = "data.find((trace) => trace.customdata)"
    counting.choose("unit-order", "varies")
    counting.choose("unit-colours", "own")
    responds(counting, chart, f"{heat}.y", lambda: counting.choose("unit-order", "number"))
    assert counting(f"document.getElementById('{chart}').{heat}.y") == [f"unit {k}" for k in range(6)]
    responds(counting, chart, f"{heat}.z", lambda: counting.choose("unit-colours", "same"))
    other = {"held": "activity", "activity": "held"}[counting("document.getElementById('unit-show').value")]
    responds(counting, chart, f"{heat}.z", lambda: counting.choose("unit-show", other))
    lines = "data.filter((trace) => trace.type === 'scatter').map((trace) => trace.name)"
    responds(counting, chart, lines, lambda: counting.click("#unit-chips button[aria-pressed=false]"))


def test_the_activities_are_those_of_the_model(counting: Browser, counter: Any, counting_text: str) -> None:
    counting.choose("unit-show", "activity")
    counting.choose("unit-colours", "same")
    counting.choose("unit-order", "number")
    shown = counting("document.getElementById('activity-chart').data.find((trace) => trace.customdata).z")
    expected = counter.trace(counting_text).activities
    assert [len(row) for row in shown] == [len(expected)] * 6
    for unit in range(6):
        assert shown[unit] == pytest.approx(expected[:, unit].tolist(), abs=1e-4)


def test_runs_are_laid_over_one_another(counting: Browser) -> None:
    assert counting("document.getElementById('folds-part').hidden") is False
    counting.choose("fold-align", "start")
    responds(counting, "folds-chart", "layout.xaxis.title.text", lambda: counting.choose("fold-align", "end"))
    units = counting("[...document.getElementById('fold-unit').options].map((option) => option.value)")
    assert len(units) == 6
    responds(counting, "folds-chart", "data[0].y", lambda: counting.choose("fold-unit", units[-1]))


def test_the_graph_shows_the_weights_of_the_chosen_symbol(counting: Browser, counter: Any) -> None:
    titles = "[...document.querySelectorAll('#graph title')].map((title) => title.textContent)"
    first = counting(titles)
    symbols = counting("[...document.getElementById('graph-symbol').options].map((option) => option.textContent)")
    assert symbols == ["⏎", "a", "b"]
    counting.choose("graph-symbol", "2")
    chosen = counting(titles)
    assert chosen != first and len(chosen) == counter.graph_.edges + 6
    network, params = counter.predictor_.model, counter.params_
    tau, bias = network.split(params.theta)
    edges = {tuple(title.split(": ")) for title in chosen if "→" in title}
    for e, (i, j) in enumerate(zip(counter.graph_.sources, counter.graph_.edge_targets, strict=True)):
        (shown,) = [value for name, value in edges if name == f"{i} → {j}"]
        assert float(shown) == pytest.approx(tau[2, e], rel=0.01, abs=1e-6)
    assert float(next(t for t in chosen if t.startswith("unit 4,")).split("bias ")[1]) == pytest.approx(
        bias[2, 4], rel=0.01
    )
    counting.driver.execute_script(
        "document.querySelector('#graph .node').dispatchEvent(new MouseEvent('click', {bubbles: true}))"
    )
    assert counting("document.querySelectorAll(`#graph .edge[stroke-opacity='0.04']`).length") > 0


def test_a_label_with_tags_is_drawn_as_text(counting: Browser) -> None:
    ticks = counting("[...document.querySelectorAll('#comparison-bars .ytick')].map((tick) => tick.textContent)")
    assert ticks[0] == "GLNN <b>"


def test_a_script_that_slipped_in_would_not_run(counting: Browser) -> None:
    counting.driver.execute_script(
        "const s = document.createElement('script'); s.textContent = 'window.alert(3)'; document.body.append(s);"
        "document.body.insertAdjacentHTML('beforeend', '<img src=\"x\" onerror=\"alert(4)\">')"
    )
    time.sleep(0.3)
    assert counting("window.alerts") == []
    assert any("Content Security Policy" in message for message in counting.messages())
