"""Hostile texts in every part of the page, in a real Chromium: shown as text, nothing run or loaded, not too wide.

Skipped where there is no Chromium, as `test_browser.py`.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from glnn.estimators import ContextTree
from glnn.report import Comparison, ComparisonRow, from_model, write_page
from glnn.report.drift import drift_of_stretches
from glnn.report.page_data import Fact, MemberRow, Sample, Together
from glnn.sequences import Sequences
from tests.report import test_browser
from tests.report.test_browser import Browser

pytestmark = test_browser.pytestmark
browser = test_browser.browser

HOSTILE = (
    "</script><img src=x onerror=alert(1)>",
    "${alert(2)}`;alert(3)//",
    '"><iframe srcdoc="<script>alert(4)</script>"></iframe>',
    "' onmouseover=alert(5) autofocus onfocus=alert(6) x='",
    '<a href="javascript:alert(7)" target=_top>pay</a>',
    "<!--<script>alert(8)",
    "%{x}{{alert(9)}}<br><sup>&lt;b&gt;&#60;",
    "\u202eevil\u202c\u2066\u200f",
    "nul\x00\x07\x1b[31m",
    "\ud800\udfff lone \udc00",
    "line\u2028sep\u2029]]>\r\n",
    "__proto__",
    "w" * 5000,
    "wide\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301 𝕨\ufdfd\U0001f468\u200d\U0001f469",
)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    cases = [[name, other, "end"] for name, other in zip(HOSTILE, HOSTILE[1:] + HOSTILE[:1], strict=True)] * 3
    log = Sequences(cases, [f"{HOSTILE[k % len(HOSTILE)]}{k}" for k in range(len(cases))])
    tree = ContextTree(depth=2, verbose=0).fit(log)
    rows = [
        ComparisonRow(name, 50.0 + k, ("network", name)[k % 2], detail="<b>detail", curve=((0, 9), (1, 5)))
        for k, name in enumerate(HOSTILE)
    ]
    stretches = drift_of_stretches([(8, 9.0)] * 30 + [(8, 30.0)] * 30, learned=True)
    page = from_model(tree, log, name=HOSTILE[0], comparison=Comparison(rows, 100, HOSTILE[2]), followed=stretches)
    page = replace(
        page,
        subtitle=HOSTILE[4],
        facts=[*page.facts, *(Fact(name, name, name) for name in HOSTILE if len(name) < 200)],
        drift=stretches,
        samples=[*page.samples, *(Sample(name, [name, *HOSTILE], separate=True) for name in HOSTILE[:3])],
        together=Together(
            [MemberRow(seed, 10, 1.0, float("nan") if seed else None, True) for seed in range(3)],
            np.array([0.5, 1.0]),
            np.full((2, 3), 1 / 3),
        ),
        notes=HOSTILE,
    )
    return write_page(page, tmp_path_factory.mktemp("hostile") / "page.html")


@pytest.mark.parametrize("width", [1366, 390])
def test_hostile_texts_run_nothing_load_nothing_and_keep_the_layout(
    browser: Browser, hostile: Path, width: int
) -> None:
    browser.open(hostile, width)
    # What only answers to being used: every choice, every place, the pointer over everything with a title.
    browser(
        "[...document.querySelectorAll('main select')].forEach((s) => [...s.options].forEach((o) => "
        "{ s.value = o.value; s.dispatchEvent(new Event('change', {bubbles: true})) }))"
    )
    browser("[...document.querySelectorAll('#places button, main th button')].forEach((b) => b.click())")
    browser(
        "[...document.querySelectorAll('main *')].forEach((e) => ['mouseover', 'focus'].forEach((n) => "
        "e.dispatchEvent(new Event(n, {bubbles: true}))))"
    )
    assert browser("window.alerts") == []
    assert browser.messages() == []
    assert browser("performance.getEntriesByType('resource').map((e) => e.name)") == []
    made = "[...document.querySelectorAll('img, iframe, object, embed, link, main script, main a:not(nav a)')]"
    assert browser(made + ".map((e) => e.outerHTML.slice(0, 200))") == []
    odd = "[...document.querySelectorAll('*')].flatMap((e) => [...e.attributes]).filter((a) => /^on|javascript:/i"
    assert browser(odd + ".test(a.name) || /^javascript:/i.test(a.value)).map((a) => a.name + '=' + a.value)") == []
    for text in (HOSTILE[0], HOSTILE[2], HOSTILE[4], "${alert(2)}"):
        assert browser(f"document.body.textContent.includes({json.dumps(text)})"), text
    # In what comes from the data, marks that turn the direction of writing are named, and names are not pages long.
    for part in ("#surprise", "#comparison th"):
        told = f"[...document.querySelectorAll('{part}')].map((e) => e.textContent).join(' ')"
        assert browser(f"{told}.includes('U+202EevilU+202C')") and not browser(f"{told}.includes('\u202e')")
    assert (
        browser(
            "Math.max(...[...document.querySelectorAll('#surprise th, #surprise button')].map((e) => "
            "e.textContent.length))"
        )
        < 200
    )
    assert browser("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
    wide = browser(
        "[...document.querySelectorAll('header *, main *')].filter((e) => !e.closest('.scroll, svg, .places, "
        ".js-plotly-plot') && e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.outerHTML.slice(0, 80))"
    )
    assert wide == []
