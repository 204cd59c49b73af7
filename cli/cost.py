"""`gpuyard cost`: what a stack costs a month, alone."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.console import Console

from gpuyard.cli.output import emit, for_terminal, format_option
from gpuyard.cli.stacks import each_stack, options
from gpuyard.review.judge import describe
from gpuyard.review.report.terminal import print_cost


@click.command(short_help="What stacks cost a month.")
@options
@format_option
def cost(stacks: tuple[str, ...], program: Path, date: str, timeout: float | None, format_: str) -> None:
    """Say what STACKs, or every stack of the program, cost a month of 730 hours: at the least that the scalers may
    reach, as created, and at the most. A price that is not known is shown as ?, and never counted as 0.

    No rule is asked, a budget neither: see `gpuyard review`.
    """
    outcome = each_stack(stacks, program, timeout, lambda recording, found: describe(recording, found, date=date))
    documents = list(outcome.made.values())

    def draw(console: Console) -> None:
        for document in documents:
            print_cost(document, console)

    if format_ == "terminal":
        emit(for_terminal(draw))
    outcome.complain()
    if format_ == "json":
        costs = {document["stack"]: document["cost"] for document in documents}
        emit(json.dumps(costs, indent=2, sort_keys=True, ensure_ascii=False) + "\n")
