"""`gpuyard waivers`: what is let through for a time, and whether it may be."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gpuyard.cli.explain import root_of
from gpuyard.cli.output import emit, for_terminal
from gpuyard.cli.problems import FailedError, Problem, joined
from gpuyard.cli.stacks import date_option, program_option
from gpuyard.review.errors import InputError
from gpuyard.review.evaluation import rules
from gpuyard.review.evaluation.evaluate import Policies, find_policies, rulebook
from gpuyard.review.evaluation.waiving import EXPIRED, IN_FORCE
from gpuyard.review.program import stackfile
from gpuyard.review.program.project import find_project
from gpuyard.review.waivers import Waivers, read, text

UNKNOWN = "no such stack"
REMOVED = (EXPIRED, UNKNOWN)
"""States of what must be removed, or corrected: of a stack that there is not, no review ever says that it is unused."""

Row = tuple[str, str, str, str, str, str, str]
"""State, stack, rules, resource, ticket, approver, and until when."""


@click.group(short_help="What is let through for a time, and whether it may be.")
def waivers() -> None:
    """Waivers and break-glass, which stand in policies/waivers.yaml of a program, and its limits on them."""


@waivers.command(short_help="Check the file of waivers, without running the program.")
@program_option
@date_option
def lint(program: Path, date: str) -> int:
    """Check the program's waivers: their shape, their rules, and what the limits of their stacks allow. All are listed,
    with what must be removed first. Whether a waiver still waives anything, `gpuyard review` says.

    \b
    Exit code: 0 all may stay, 1 one is over, or of a stack that has no file,
    and must be removed, 2 one is wrong, 3 the rules or the limits cannot be read.
    """
    policies = find_policies(root_of(program))
    found = read(policies.waivers, rules.load(policies.directories).rules)
    rows: list[Row] = []
    problems = []
    for stack in found.stacks:
        try:
            rows += _rows(stack, found.of_stack(stack), policies, date)
        except InputError as error:
            problems.append(Problem((stack,), error))
    if problems:
        raise FailedError(joined(problems))
    there = _stacks(program)
    rows = [row if there is None or row[1] in there else (UNKNOWN, *row[1:]) for row in rows]
    rows.sort(key=lambda row: (row[0] not in REMOVED, row[1:]))
    emit(for_terminal(lambda console: _draw(rows, policies.waivers, console)))
    return int(any(row[0] in REMOVED for row in rows))


def _stacks(program: Path) -> list[str] | None:
    """The stacks that have a file; None where there is no program, as in a folder of policies alone."""
    try:
        return stackfile.stacks(find_project(program))
    except InputError:
        return None


def _rows(stack: str, found: Waivers, policies: Policies, date: str) -> list[Row]:
    """Raises InputError for what the limits of a stack do not allow."""
    waiving = rulebook(stack, policies).waiving(date)
    rows = [
        (waiving.state(one), stack, one.rule, one.resource, one.ticket, one.approver, one.expires.isoformat())
        for one in found.waivers
    ]
    for glass in found.break_glass:
        over = glass.rules if isinstance(glass.rules, str) else ", ".join(glass.rules)
        about = (waiving.state(glass), stack, over, "BREAK GLASS", glass.ticket, glass.approver)
        rows.append((*about, text(glass.until)))
    return rows


def _draw(rows: list[Row], file: Path | None, console: Console) -> None:
    if not rows:
        console.print(f"no waiver in {file}" if file else "no file of waivers: nothing is waived")
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("state", "stack", "rule", "resource", "ticket", "approved by", "until"):
        table.add_column(column, overflow="fold")
    for state, *rest in rows:
        table.add_row(Text(state, "" if state == IN_FORCE else "bold red" if state in REMOVED else "dim"), *rest)
    console.print(table)
