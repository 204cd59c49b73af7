"""The report as Markdown, for a pull request's comment."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined

from gpuyard.review.changes import counted, losses
from gpuyard.review.judge import Review
from gpuyard.review.report.levels import levels
from gpuyard.review.report.summary import (
    charged,
    hourly,
    kinds,
    money,
    parts,
    places,
    priced,
    rate,
    short_type,
    span,
)


def to_markdown(reviews: list[Review]) -> str:
    """One section a stack: verdict first, findings next, then cost, tenants and resources."""
    # Autoescape is for HTML; here a cell's own separators are escaped instead.
    environment = Environment(
        loader=PackageLoader("gpuyard.review.report", "."),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # noqa: S701
    )
    environment.filters.update(money=money, span=span, cell=_cell)
    return environment.get_template("markdown.j2").render(
        reviews=reviews,
        counted=counted,
        losses=losses,
        levels=levels,
        parts=parts,
        places=places,
        charged=charged,
        hourly=hourly,
        kinds=kinds,
        priced=priced,
        rate=rate,
        short_type=short_type,
    )


def _cell(value: object) -> str:
    """Text inside a table: one line, and no character that would end the cell or start markup."""
    text = " ".join(str(value).split())
    for character in "\\|<>*_`[":
        text = text.replace(character, f"\\{character}")
    return text
