"""Stacks that are judged without a program: a stored document, the state of a stack, plain manifests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from gpuyard.cli.problems import Problem, joined
from gpuyard.cli.stacks import Outcome
from gpuyard.review.doors import Given
from gpuyard.review.errors import GateError, InputError
from gpuyard.review.evaluation.evaluate import Policies
from gpuyard.review.judge import Review, judge
from gpuyard.review.report.origin import Origin, origin_of


def of_document(file: Path, names: tuple[str, ...]) -> tuple[list[Given], Origin]:
    """The named stacks of a stored document or report, or all of them."""
    from gpuyard.review.doors.document import from_document

    return _named(file, from_document(file), names), origin_of(file)


def of_state(file: Path, names: tuple[str, ...]) -> tuple[list[Given], Origin]:
    """The stack of an exported state."""
    # Loads Pulumi's SDK, which the other ways do not need.
    from gpuyard.review.doors.state import from_state

    return _named(file, [from_state(file)], names), origin_of(file)


def of_manifests(path: Path, names: tuple[str, ...]) -> tuple[list[Given], Origin]:
    """The objects of a folder, under the one name that is given, or under one that no map of environments has."""
    from gpuyard.review.doors.manifests import STACK, from_manifests

    if len(names) > 1:
        raise InputError(f"--manifests: {', '.join(names)}: give one STACK, by whose limits they are judged, or none")
    given = from_manifests(path, *(names or (STACK,)))
    first = str(given.recording.resources[0].get("source", "")).rpartition(":")[0]
    folder = path if path.is_dir() else path.parent
    return [given], replace(origin_of(folder / "any"), file=first)


def each_given(found: list[Given], policies: Policies, date: str) -> Outcome[Review]:
    """Judges each stack as of a day (YYYY-MM-DD); one with wrong input does not hide the others."""
    made: dict[str, Review] = {}
    problems: list[Problem] = []
    for one in found:
        stack = one.recording.stack
        try:
            review = judge(one.recording, policies, date=date)
            made[stack] = replace(review, unseen=[*review.unseen, *one.hidden])
        except InputError as error:
            problems.append(Problem((stack,), error))
        except GateError as error:
            problems.append(Problem((stack,), error))
            break
    return Outcome(made, joined(problems))


def _named(file: Path, found: list[Given], names: tuple[str, ...]) -> list[Given]:
    by_name = {one.recording.stack: one for one in found}
    for name in names:
        if name not in by_name:
            raise InputError(f"{file}: has no stack {name!r}: there is {', '.join(by_name)}")
    return [by_name[name] for name in dict.fromkeys(names)] if names else found


WAYS: dict[str, Callable[[Path, tuple[str, ...]], tuple[list[Given], Origin]]] = {
    "--document": of_document,
    "--state": of_state,
    "--manifests": of_manifests,
}
"""By option."""
