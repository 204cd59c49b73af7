"""`gpuyard cost`: what a stack costs a month, alone."""

from __future__ import annotations

import datetime
import json
from pathlib import Path

import click
from rich.console import Console

from gpuyard.cli.stacks import FILE_WIDTH, options, review_stacks
from gpuyard.review.report.terminal import print_cost


@click.command()
@options
@click.option(
    "--format",
    "format_",
    type=click.Choice(["terminal", "json"]),
    default="terminal",
    show_default=True,
    help="What is printed.",
)
def cost(stacks: tuple[str, ...], program: Path, date: datetime.datetime | None, format_: str) -> int:
    """Say what STACKs, or every stack of the program, cost a month: at the least, at creation, at the most.
    Rules do not change the exit code."""
    reviews = review_stacks(stacks, program, date)
    if format_ == "json":
        click.echo(
            json.dumps({one.document["stack"]: one.document["cost"] for one in reviews}, indent=2, sort_keys=True)
        )
        return 0
    console = Console(width=None if Console().is_terminal else FILE_WIDTH, highlight=False)
    for one in reviews:
        print_cost(one, console)
    return 0
