"""How many pods a template has, and what the numbers follow from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gpuyard.review.evaluation.objects import member
from gpuyard.review.evaluation.references import Steps
from gpuyard.review.values import number


@dataclass(frozen=True, slots=True)
class Count:
    """Pods of one template. None is not known, or has no bound."""

    declared: int | None
    most: int | None
    rests_on: tuple[Steps, ...]
    """Paths, within the object, of what the numbers follow from."""

    def times(self, factor: int | None, rests_on: Steps | None = None) -> Count:
        """So many times as many."""
        more = () if rests_on is None else (rests_on,)
        return Count(times(self.declared, factor), times(self.most, factor), (*self.rests_on, *more))

    def scaled(self, most: int | None) -> Count:
        """With a scaler, if there is one: it may take replicas away too, so its maximum is the most."""
        return self if most is None else Count(self.declared, most, ())


ONE = Count(1, 1, ())
NONE = Count(0, 0, ())


def said(body: Any, way: Steps, default: int | None = 1) -> Count:
    """A number that an object says at a place, and that does not change by itself."""
    given = value(body, way)
    declared = default if given is None else number(given)
    return Count(declared, declared, (way,))


def value(body: Any, way: Steps) -> Any:
    """What is at a place of an object; None where the way ends before."""
    for step in way:
        body = member(body, step)
    return body


def times(one: int | None, other: int | None) -> int | None:
    """The product; nothing of what is not known is nothing."""
    if one == 0 or other == 0:
        return 0
    return None if one is None or other is None else one * other
