"""The reference has every public name, the list of pages every page, and every page with code a test that runs it."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PACKAGES = tuple(
    f"glnn{part}"
    for part in ("", ".estimators", ".sequences", ".sources", ".predictors", ".codec", ".report", ".streams")
)
# Constants are told in prose, and the version is no part of a reference.
LEFT_OUT = {"__version__", "NAMES", "END"}
# Its lines need a cluster; what they call is tested in tests/training.
NEEDS_A_CLUSTER = {"scaling.md"}

pytestmark = pytest.mark.small


def shown() -> dict[str, str]:
    """Every identifier of the reference, and the page it is on."""
    found = {}
    for page in sorted((DOCS / "api").glob("*.md")):
        for name in re.findall(r"^::: (\S+)", page.read_text(encoding="utf-8"), flags=re.MULTILINE):
            assert name not in found, f"{name} is on {found[name]} and on {page.name}"
            found[name] = page.name
    return found


def test_every_public_name_is_in_the_reference() -> None:
    objects = {id(resolved(name)) for name in shown()}
    for package in PACKAGES:
        module = import_module(package)
        for name in set(module.__all__) - LEFT_OUT:
            assert id(getattr(module, name)) in objects, f"{package}.{name} is missing in docs/api"


def test_everything_public_says_what_it_is() -> None:
    for name in shown():
        assert (resolved(name).__doc__ or "").strip(), name  # type: ignore[attr-defined]


def resolved(name: str) -> object:
    """What an identifier of the reference stands for."""
    module, _, attribute = name.rpartition(".")
    return getattr(import_module(module), attribute, None) or import_module(name)


def test_reference_stands_in_no_other_page() -> None:
    for page in DOCS.glob("*.md"):
        if page.name not in ("lstm.md", "scaling.md", "security.md"):
            assert "\n:::" not in page.read_text(encoding="utf-8"), page.name


def test_every_page_is_in_the_list_of_pages() -> None:
    listed = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert len(re.findall(r"^ +- .*\.md$", listed, flags=re.MULTILINE)) == len(list(DOCS.rglob("*.md")))
    for page in DOCS.rglob("*.md"):
        assert f"- {page.relative_to(DOCS)}\n" in listed, f"{page.name} is not in the nav of mkdocs.yml"


# The builder refuses a link to a page or a heading that is not there; these two it lets through.
def test_every_picture_is_there_and_no_link_is_absolute() -> None:
    for page in DOCS.rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        for picture in re.findall(r"!\[[^\]]*\]\(([^) ]+)", text):
            assert (page.parent / picture).exists(), f"{page.name} shows {picture}, which is not there"
        assert not re.search(r"\]\(/", text), f"{page.name} has an absolute link"


def test_every_page_with_code_is_run_by_a_test() -> None:
    tests = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    for page in DOCS.rglob("*.md"):
        # Those of the tasks are found by their folder, in tests/cli.
        if page.name in NEEDS_A_CLUSTER or page.parent.name in ("howto", "gallery"):
            continue
        if "```python" in page.read_text(encoding="utf-8"):
            assert re.search(rf"""(run_page\("|docs/){page.name}\"""", tests), f"no test runs {page.name}"
