"""One HTML file that needs nothing else: text, styles, numbers, plotly.js and the scripts that draw.

A content security policy names the scripts by their hashes and allows no connection, so whatever a text in the data
says, nothing but these scripts can run and nothing is ever loaded from elsewhere.
"""

from __future__ import annotations

import base64
import hashlib
import os
from html import escape
from importlib import resources
from pathlib import Path

from glnn.report.packing import script_json
from glnn.report.page_data import PageData
from glnn.report.payload import payload
from glnn.report.sections import chapters, header
from glnn.storage.atomic import write_whole

# plotly.js as its authors publish it, with the charts of two axes only: a third of the whole, and it needs no `eval`.
_PLOTLY = "plotly/plotly-cartesian.min.js"
# In the order in which they use one another.
_SCRIPTS = (
    "core.js",
    "time_view.js",
    "comparison.js",
    "learning.js",
    "surprise.js",
    "drift.js",
    "activity.js",
    "folds.js",
    "graph.js",
    "scales.js",
)


def write_page(page: PageData, path: str | os.PathLike[str]) -> Path:
    """Write the page to a file; an existing one is replaced when the new one is complete."""
    target = Path(path)
    write_whole(target, render(page).encode())
    return target


def render(page: PageData) -> str:
    """The whole page as one text."""
    found = chapters(page)
    library, ours = _asset(_PLOTLY), _script()
    body = "".join(f'<section id="{name}"><h2>{escape(title)}</h2>{html}</section>' for name, title, html in found)
    notes = "".join(f"<p>{escape(note)}</p>" for note in page.notes)
    footer = f"<footer>{notes}</footer>" if notes else ""
    policy = (
        f"default-src 'none'; script-src {_hash(library)} {_hash(ours)}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    text = "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(page.title)}</title>",
            f"<style>{_asset('page.css')}</style>",
            "</head>",
            "<body>",
            "<main>",
            header(page, [(name, title) for name, title, _ in found]),
            "<noscript><p>The charts of this page need JavaScript, which is switched off.</p></noscript>",
            body,
            footer,
            "</main>",
            f'<script type="application/json" id="data">{script_json(payload(page))}</script>',
            f"<script>{library}</script>",
            f"<script>{ours}</script>",
            "</body>",
            "</html>",
            "",
        ]
    )
    # A lone surrogate in a title cannot be written as UTF-8.
    return text.encode("utf-8", "replace").decode("utf-8")


def _script() -> str:
    """Our scripts as one, with names of their own."""
    return '(function () {\n"use strict";\n' + "\n".join(map(_asset, _SCRIPTS)) + "\n})();\n"


def _asset(name: str) -> str:
    return (resources.files("glnn.report") / "assets" / name).read_text(encoding="utf-8")


def _hash(script: str) -> str:
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    return f"'sha256-{digest}'"
