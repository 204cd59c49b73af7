"""What an environment's limits say of waivers and of break-glass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt

RuleGlob = Annotated[str, Field(pattern=r"^[a-z0-9_*]+/[a-z0-9_*]+$")]
"""The id of a rule, in which `*` stands for any characters."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, use_attribute_docstrings=True)


class BreakGlassLimit(_Part):
    """What an incident may override, and for how long."""

    max_hours: NonNegativeInt
    """From the beginning of an override to its end; 0 allows none."""
    never: list[RuleGlob] = Field(default_factory=list)
    """Rules that no incident overrides: `isolation/*`. What cannot be waived cannot be overridden either."""
    approvers: list[str] | None = None
    """Who may approve; anybody where this is left out."""

    def keeps(self, rule: str) -> bool:
        """Whether no incident overrides a rule."""
        return any(fnmatchcase(rule, pattern) for pattern in self.never)


class WaiverLimit(_Part):
    """What may be waived, and for how long."""

    max_days: NonNegativeInt
    """From the day on which a waiver was granted to its last; 0 allows none."""
    patterns: bool = False
    """Whether one waiver may be about all resources whose names have something in common."""
    approvers: list[str] | None = None
    """Who may approve; anybody where this is left out."""
    break_glass: BreakGlassLimit | None = None
    """None is allowed where this is left out."""

    def unknown(self, rules: Iterable[str]) -> Iterator[str]:
        """What it says of rules that there are not, a sentence each."""
        for pattern in self.break_glass.never if self.break_glass else ():
            if not any(fnmatchcase(rule, pattern) for rule in rules):
                yield f"waivers/break_glass/never: there is no rule {pattern}: `gpuyard explain` lists them"
