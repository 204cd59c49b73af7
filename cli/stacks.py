"""Which stacks a command is about, and how they are reviewed: side by side, with progress on a terminal."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from gpuyard.review import stackfile
from gpuyard.review.evaluate import find_policies
from gpuyard.review.judge import Review, judge
from gpuyard.review.program import find_project, record_program

FILE_WIDTH = 140
"""Columns of a terminal report that goes to a file or a pipe."""

SIDE_BY_SIDE = 2
"""Programs that run at once: each is a process of its own that keeps a core busy."""


program_option = click.option(
    "--program",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=".",
    help="Folder of the Pulumi program; here when left out.",
)

date_option = click.option(
    "--date",
    type=click.DateTime(["%Y-%m-%d"]),
    help="Day of the review; today when left out. Recorded, so that a review can be repeated byte for byte.",
)


def options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The arguments that every command about stacks takes."""
    return click.argument("stacks", nargs=-1, metavar="[STACK]...")(program_option(date_option(command)))


def review_stacks(names: tuple[str, ...], program: Path, date: datetime.datetime | None) -> list[Review]:
    """Records and judges the named stacks of a program, or all of them.

    Raises InputError and GateError, for the first stack that has one.
    """
    project = find_project(program)
    found = find_policies(program)
    stacks = list(names) or stackfile.stacks(project)
    day = (date or datetime.datetime.now(datetime.UTC)).date().isoformat()
    with _progress() as progress, ThreadPoolExecutor(SIDE_BY_SIDE) as pool:

        def review(stack: str) -> Review:
            task = progress.add_task(stack, total=None, state="recording")
            recording = record_program(
                project, stack, on_progress=lambda count: progress.update(task, state=f"{count} resources")
            )
            progress.update(task, state="judging")
            judged = judge(recording, found, date=day)
            progress.remove_task(task)
            return judged

        return list(pool.map(review, stacks))


def _progress() -> Progress:
    """Shown on a terminal's error stream only: a pipe gets the report and nothing else."""
    console = Console(stderr=True)
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TextColumn("{task.fields[state]}"),
        TimeElapsedColumn(),
    )
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
