"""Which stacks a command is about, and how they are recorded: side by side, with progress on a terminal."""

from __future__ import annotations

import datetime
import math
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import click
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from gpuyard.cli.problems import FailedError, Problem, joined
from gpuyard.review.errors import GateError, InputError
from gpuyard.review.evaluation.evaluate import Policies, find_policies
from gpuyard.review.program import stackfile
from gpuyard.review.program.record import TIMEOUT_SECONDS, Project, find_project, record_program
from gpuyard.review.recording import Recording

T = TypeVar("T")
Command = Callable[..., Any]
Tell = Callable[[int], None]
"""Is told how many resources were seen so far."""

SIDE_BY_SIDE = 2
"""Programs that run at once: each is a process of its own that keeps a core busy."""


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T]):
    """What came of the stacks that were asked for."""

    made: dict[str, T]
    """By stack, in the order in which they were asked for; without those that have a problem."""
    problems: list[Problem]

    def complain(self) -> None:
        """Raises FailedError where a stack has a problem."""
        if self.problems:
            raise FailedError(self.problems)


DAY_SECONDS = 86_400
"""Longer nobody waits; what starts a process takes no endless time."""


class Seconds(click.FloatRange):
    """A time to wait. `nan` is none, and no range of click leaves it out."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number; click refuses what is out of range."""
        seconds = float(super().convert(value, param, ctx))
        if math.isnan(seconds):
            self.fail(f"{value!r} is no number of seconds", param, ctx)
        return seconds


def _day(_: click.Context, __: click.Parameter, value: str | None) -> str:
    """The day in the one form that reports have; today when left out."""
    try:
        day = datetime.date.fromisoformat(value) if value else datetime.datetime.now(datetime.UTC).date()
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a day: give one such as 2026-11-30") from None
    return day.isoformat()


def _folder(_: click.Context, __: click.Parameter, value: Path) -> Path:
    if not value.is_dir():
        what = "is a file" if value.exists() else "does not exist"
        raise click.BadParameter(f"{value} {what}: give the folder of a Pulumi program, where its Pulumi.yaml is")
    return value.resolve()


program_option = click.option(
    "--program",
    metavar="DIR",
    type=click.Path(path_type=Path),
    default=".",
    callback=_folder,
    help="Folder of the Pulumi program, or a folder in it; by default the current one.",
)

date_option = click.option(
    "--date",
    metavar="YYYY-MM-DD",
    callback=_day,
    help="Day of the review; by default today (UTC). It is recorded, so that two reviews of one commit with one "
    "date are equal byte for byte.",
)

timeout_option = click.option(
    "--timeout",
    metavar="SECONDS",
    type=Seconds(min=0, min_open=True, max=DAY_SECONDS),
    show_default=f"{TIMEOUT_SECONDS:g}",
    help="End a program that runs longer than this; its stack is then not reviewed.",
)


def options(command: Command) -> Command:
    """The arguments that every command about stacks takes."""
    stacks = click.argument("stacks", nargs=-1, metavar="[STACK]...")
    return stacks(program_option(date_option(timeout_option(command))))


def each_stack(
    names: tuple[str, ...], program: Path, seconds: float | None, work: Callable[[Recording, Policies], T]
) -> Outcome[T]:
    """Records the named stacks of a program, or all of them, and works on each recording.

    A stack with wrong input does not hide the others; when the gate cannot decide, the rest is left.
    Raises InputError where there is no program, or no stack of it.
    """
    project = find_project(program)
    policies = find_policies(project.root)
    return each_of(project, named(project, names), seconds, lambda recording: work(recording, policies))


def named(project: Project, names: tuple[str, ...]) -> list[str]:
    """The named stacks, each once, or all that a project has. Raises InputError where there is none."""
    return list(dict.fromkeys(names)) or _all(project)


def each_of(project: Project, stacks: list[str], seconds: float | None, work: Callable[[Recording], T]) -> Outcome[T]:
    """Records stacks of a project and works on each recording; see `each_stack`."""
    made: dict[str, T] = {}
    problems: list[Problem] = []
    stop = threading.Event()
    with _progress() as progress, ThreadPoolExecutor(SIDE_BY_SIDE) as pool:

        def record(stack: str) -> Recording:
            task = progress.add_task(stack, total=None, state="starting")

            def tell(count: int) -> None:
                progress.update(task, state=f"{count} resources")

            try:
                return record_program(project, stack, timeout_s=seconds or TIMEOUT_SECONDS, on_progress=tell, stop=stop)
            finally:
                progress.remove_task(task)

        try:
            for stack, recording in [(stack, pool.submit(record, stack)) for stack in stacks]:
                try:
                    # In this thread: an interrupt then ends an engine that was started, too.
                    made[stack] = work(recording.result())
                except InputError as error:
                    problems.append(Problem((stack,), error))
                except GateError as error:
                    problems.append(Problem((stack,), error))
                    break
        finally:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
    return Outcome(made, joined(problems))


def each_live_stack(
    names: tuple[str, ...], program: Path, work: Callable[[Project, str, Policies, Tell], T]
) -> Outcome[T]:
    """Works on the named stacks of a program one after the other: each asks the engine, which locks and waits.

    Raises InputError where there is no program, or no stack is named.
    """
    if not names:
        raise InputError("--live: name the stacks: each is previewed with the credentials that it deploys with")
    project = find_project(program)
    policies = find_policies(project.root)
    made: dict[str, T] = {}
    problems: list[Problem] = []
    with _progress() as progress:
        for stack in dict.fromkeys(names):
            task = progress.add_task(stack, total=None, state="starting the engine")

            def tell(count: int, task: TaskID = task) -> None:
                progress.update(task, state=f"{count} resources")

            try:
                made[stack] = work(project, stack, policies, tell)
            except InputError as error:
                problems.append(Problem((stack,), error))
            except GateError as error:
                problems.append(Problem((stack,), error))
                break
            finally:
                progress.remove_task(task)
    return Outcome(made, joined(problems))


def _all(project: Project) -> list[str]:
    found = stackfile.stacks(project)
    if not found:
        # No stack is not a stack that may deploy.
        raise InputError(f"{project.stacks}: no stack: there is no Pulumi.<stack>{project.file.suffix}: write one")
    return found


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
