"""`gpuyard review`: what a stack would create, what it costs, which rule it breaks."""

from __future__ import annotations

import datetime
import io
from collections.abc import Callable
from pathlib import Path

import click
from rich.console import Console

from gpuyard.cli.stacks import FILE_WIDTH, options, review_stacks
from gpuyard.review.judge import Review
from gpuyard.review.report.json import to_json
from gpuyard.review.report.markdown import to_markdown
from gpuyard.review.report.terminal import print_review


@click.command()
@options
@click.option(
    "--format",
    "format_",
    type=click.Choice(["terminal", "markdown", "json"]),
    default="terminal",
    show_default=True,
    help="What is printed.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Also write review.txt, review.md and review.json to this folder.",
)
def review(
    stacks: tuple[str, ...],
    program: Path,
    date: datetime.datetime | None,
    format_: str,
    out: Path | None,
) -> int:
    """Review STACKs, or every stack of the program: what would be created, what it costs a month, which quota it
    uses and which rule it breaks. Needs no engine, cloud account, cluster or login."""
    reviews = review_stacks(stacks, program, date)
    if out:
        out.mkdir(parents=True, exist_ok=True)
        for name, render in (("review.txt", _plain), ("review.md", to_markdown), ("review.json", to_json)):
            (out / name).write_text(render(reviews), encoding="utf-8")
    if format_ == "terminal":
        console = Console(width=None if Console().is_terminal else FILE_WIDTH, highlight=False)
        for one in reviews:
            print_review(one, console)
    else:
        renders: dict[str, Callable[[list[Review]], str]] = {"markdown": to_markdown, "json": to_json}
        click.echo(renders[format_](reviews), nl=False)
    return 1 if any(one.refused for one in reviews) else 0


def _plain(reviews: list[Review]) -> str:
    text = io.StringIO()
    console = Console(file=text, width=FILE_WIDTH, highlight=False)
    for one in reviews:
        print_review(one, console)
    return text.getvalue()
