"""Why a stack has no review, and how that is said."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from gpuyard.review.errors import GateError, InputError

BAD_INPUT = 2
UNDECIDED = 3


@dataclass(frozen=True, slots=True)
class Problem:
    """An error, and the stacks that have it."""

    stacks: tuple[str, ...]
    """None for one that is not of a stack."""
    error: InputError | GateError


class FailedError(Exception):
    """Some stacks could not be reviewed."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__()
        self.problems = problems


def joined(problems: Iterable[Problem]) -> list[Problem]:
    """The problems, those that say the same only once."""
    found: dict[tuple[type, str], Problem] = {}
    for problem in problems:
        key = (type(problem.error), str(problem.error))
        stacks = found[key].stacks if key in found else ()
        found[key] = Problem((*stacks, *problem.stacks), problem.error)
    return list(found.values())


def say(problem: Problem) -> int:
    """Says on stderr what is wrong, and returns the exit code that goes with it."""
    undecided = isinstance(problem.error, GateError)
    text = Text.assemble(("the gate could not decide: " if undecided else "error: ", "bold red"))
    lines = str(problem.error).splitlines()
    if problem.stacks:
        text.append(f"stack{'s' if len(problem.stacks) > 1 else ''} {', '.join(problem.stacks)}:")
        # Often a line a problem: all of them below each other.
        text.append(" " if len(lines) == 1 else "\n  ")
    text.append("\n  ".join(lines))
    Console(stderr=True, highlight=False).print(text, soft_wrap=True)
    return UNDECIDED if undecided else BAD_INPUT
