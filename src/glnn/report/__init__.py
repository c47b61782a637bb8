"""One self-contained HTML page about a model or a comparison: `write_page(from_model(model, data), "report.html")`."""

from glnn.report.from_model import from_model
from glnn.report.page import render, write_page
from glnn.report.page_data import (
    Comparison,
    ComparisonRow,
    Fact,
    Inside,
    Learning,
    PageData,
    Sample,
    Surprise,
    TimeScales,
    Weights,
)

__all__ = [
    "Comparison",
    "ComparisonRow",
    "Fact",
    "Inside",
    "Learning",
    "PageData",
    "Sample",
    "Surprise",
    "TimeScales",
    "Weights",
    "from_model",
    "render",
    "write_page",
]
