"""`gpuyard review --base REF`: a change beside what it changes, judged by what the base says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from gpuyard.cli.problems import Problem
from gpuyard.cli.stacks import Outcome, each_of, named
from gpuyard.review.comparison import compared
from gpuyard.review.document import Document
from gpuyard.review.errors import GateError, InputError
from gpuyard.review.evaluation.evaluate import Policies, rulebook
from gpuyard.review.judge import Review, judge
from gpuyard.review.program import stackfile
from gpuyard.review.program.record import find_project
from gpuyard.review.program.sides import Sides, sides
from gpuyard.review.recording import Recording


def each_compared(
    names: tuple[str, ...],
    program: Path,
    seconds: float | None,
    ref: str,
    *,
    date: str,
    only_new: bool,
    over: Callable[[Policies], Policies],
) -> Outcome[Review]:
    """Reviews the named stacks of a change, or all that it has, each beside that of its base.

    `over` is what options put over the policies of the base. A base that cannot be reviewed is a sentence in the
    comparison: the change is then judged alone. Raises InputError where there is nothing to compare.
    """
    project = find_project(program)
    with sides(project, ref) as both:
        if date < both.day:
            # By such a day a waiver that has ended would still hold.
            raise InputError(
                f"the day of the review, {date}, is before {both.day}, on which the newest commit of it was made: give "
                f"--date {both.day} or a later one, or set the clock"
            )
        policies = over(both.policies)

        def judged(recording: Recording, base: Document | None = None) -> Review:
            return judge(both.at_home(recording), policies, date=date, base=base)

        stacks = named(both.head, names)
        bases = _bases(both, stacks, seconds, judged)
        proposals = {stack: _proposal(both, stack) for stack in stacks}

        def beside(recording: Recording) -> Review:
            stack = recording.stack
            base, why = bases[stack]
            commits = replace(both.commits, notes=(*both.commits.notes, *proposals[stack], *_left(both, names)))
            head = judged(recording, base.document if base else None)
            return compared(head, base, commits, why=why, only_new=only_new)

        outcome = each_of(both.head, stacks, seconds, beside)
        return Outcome(outcome.made, [Problem(one.stacks, _told(one.error, both)) for one in outcome.problems])


def _bases(
    both: Sides, stacks: list[str], seconds: float | None, judged: Callable[[Recording], Review]
) -> dict[str, tuple[Review | None, str]]:
    """By stack, the review of its base, or why there is none."""
    ref = both.commits.ref
    if both.base.project is None:
        return dict.fromkeys(stacks, (None, both.base.why))
    there = stackfile.stacks(both.base.project)
    outcome = each_of(both.base.project, [stack for stack in stacks if stack in there], seconds, judged)
    reasons = {stack: str(_told(one.error, both)) for one in outcome.problems for stack in one.stacks}
    found: dict[str, tuple[Review | None, str]] = {}
    for stack in stacks:
        if stack in outcome.made:
            found[stack] = outcome.made[stack], ""
        elif stack not in there:
            found[stack] = None, f"{ref} has no stack {stack}"
        else:
            found[stack] = None, f"{ref} cannot be reviewed: {reasons.get(stack, 'another of its stacks has failed')}"
    return found


def _proposal(both: Sides, stack: str) -> tuple[str, ...]:
    """What is wrong with rules, limits and waivers of the change, which judge nothing before they are merged."""
    if not both.commits.proposed:
        return ()
    try:
        rulebook(stack, both.proposed)
    except (InputError, GateError) as error:
        return (f"what the change proposes to judge by is wrong: {_told(error, both)}",)
    return ()


def _left(both: Sides, names: tuple[str, ...]) -> tuple[str, ...]:
    """Stacks that the change takes away: their files are gone, what they have deployed is not."""
    if names or both.base.project is None:
        return ()
    now = stackfile.stacks(both.head)
    gone = [stack for stack in stackfile.stacks(both.base.project) if stack not in now]
    if not gone:
        return ()
    return (
        f"the change has no file of {', '.join(gone)} any more: what they have deployed stays until it is destroyed",
    )


def _told(error: InputError | GateError, both: Sides) -> InputError | GateError:
    return type(error)(both.told(str(error)))
