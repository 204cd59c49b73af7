"""Waivers and break-glass: findings that somebody has decided to live with for a time, as data beside the limits.

A waiver is about one rule at one resource of one stack. Break-glass is about an incident: what denies in one stack does
not, for hours. A file is wrong as a whole or not at all: a typing error must neither waive more nor leave a waiver out.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from gpuyard.review.errors import InputError
from gpuyard.review.evaluation.limits import PROBLEMS, checked
from gpuyard.review.evaluation.rules import Rule
from gpuyard.review.evaluation.thresholds import RuleId
from gpuyard.review.evaluation.waiver_limits import WaiverLimit
from gpuyard.review.program import yamlfile

FILE = "waivers.yaml"
URN = "urn:pulumi:"

# As the YAML of the limits has them: what is not quoted is a time stamp there, and comes as Go prints it.
_DAY = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?: 00:00:00 \+0000 UTC)?")
_MOMENT = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}:[0-9]{2}(?::[0-9]{2})?)(?:Z| \+0000 UTC)")
_URN = re.compile(r"urn:pulumi:(?P<stack>[^:*]+)::[^:*]+::[^:*]+(:[^:*]+)*::(?P<name>.+)")
_OBJECT = re.compile(r"(?:(?P<namespace>[^/]+)/)?(?P<kind>[A-Za-z][A-Za-z0-9]*(\.[a-z0-9.-]+)?)/(?P<name>[^/]+)")
_GLOB = "*"
_NEVER = "?[]"
"""Of other globs: whoever writes one means a pattern, and none is meant here."""


def _day(value: Any) -> datetime.date:
    found = _DAY.fullmatch(value) if isinstance(value, str) else None
    with suppress(ValueError):
        if found:
            return datetime.date.fromisoformat(found[1])
    raise ValueError("this is no day: give one as 2026-11-30")


def _moment(value: Any) -> datetime.datetime:
    found = _MOMENT.fullmatch(value) if isinstance(value, str) else None
    with suppress(ValueError):
        if found:
            return datetime.datetime.fromisoformat(f"{found[1]}T{found[2]}+00:00")
    raise ValueError("this is no moment in UTC: give one as 2026-11-30T08:00:00Z")


def _said(value: str) -> str:
    if value != value.strip() or not value.isprintable():
        raise ValueError("this has spaces around it, or characters that do not print")
    return value


Day = Annotated[datetime.date, BeforeValidator(_day)]
Moment = Annotated[datetime.datetime, BeforeValidator(_moment)]
Text = Annotated[str, Field(min_length=1, max_length=500), AfterValidator(_said)]
Word = Annotated[str, Field(pattern=r"^[^\s*?\[\]]{1,100}$"), AfterValidator(_said)]


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, use_attribute_docstrings=True)

    reason: Text
    ticket: Word
    """Where it is written down: `ML-123`, or an address."""
    approver: Text
    """Who has said yes."""
    by: Text | None = None
    """Who has asked for it: somebody else."""

    @model_validator(mode="after")
    def _two_people(self) -> Self:
        if self.by is not None and self.by.casefold() == self.approver.casefold():
            raise ValueError(f"approver and by are both {self.by!r}: nobody approves what they ask for")
        return self


class Waiver(_Entry):
    """One rule, at one resource."""

    rule: RuleId
    resource: Text
    """A URN as a report shows it; or `namespace/Kind/name` of a Kubernetes object, `Kind/name` of one that names no
    namespace. A `*` in a name is any part of it, where the limits allow patterns."""
    stack: Word | None = None
    """Of a Kubernetes object: the stack that declares it. A URN says it itself."""
    path: Annotated[str, Field(pattern=r"^(/[^/]+)+$")] | None = None
    """Only findings at this place of the resource, or below it: a JSON pointer, as a report shows it."""
    granted: Day | None = None
    """The day from which it holds; without one, `expires` is near enough to the day of the review."""
    expires: Day
    """The last day on which it holds."""

    @property
    def of_stack(self) -> str:
        """The stack that it is of."""
        found = _URN.fullmatch(self.resource)
        return found["stack"] if found else str(self.stack)

    @property
    def by_urn(self) -> bool:
        """Whether it names a URN, not a Kubernetes object."""
        return self.resource.startswith(URN)

    @property
    def is_pattern(self) -> bool:
        """Whether it is about more than one resource."""
        return _GLOB in self.resource

    @property
    def key(self) -> str:
        """What no other waiver is about: a JSON pointer into the report's list of waivers."""
        parts = [self.of_stack, self.rule, self.resource, *([self.path] if self.path else [])]
        return "/waivers/" + "/".join(part.replace("~", "~0").replace("/", "~1") for part in parts)

    @model_validator(mode="after")
    def _one_resource(self) -> Self:
        if any(character in self.resource for character in _NEVER):
            raise ValueError(f"resource: {self.resource!r} has one of {' '.join(_NEVER)}: give one whole name")
        urn = self.by_urn
        found = (_URN if urn else _OBJECT).fullmatch(self.resource)
        if found is None:
            what = "urn:pulumi:<stack>::<project>::<type>::<name>, or namespace/Kind/name"
            raise ValueError(f"resource: {self.resource!r} names no resource: give {what}")
        if not found["name"].strip(_GLOB):
            raise ValueError(f"resource: {self.resource!r} is about every name: name what they have in common")
        if urn and self.stack is not None:
            raise ValueError("stack: is left out beside a URN, which says it")
        if not urn and self.stack is None:
            raise ValueError("stack: is missing: a name in Kubernetes does not say which stack declares it")
        if self.granted is not None and self.granted > self.expires:
            raise ValueError(f"expires {self.expires} is before granted {self.granted}")
        return self

    def matches(self, name: str) -> bool:
        """Whether it names this URN, or this object: `namespace/Kind/name`."""
        if not self.is_pattern:
            return name == self.resource
        # A star stays within a name.
        pattern = "[^/:]*".join(re.escape(part) for part in self.resource.split(_GLOB))
        return re.fullmatch(pattern, name) is not None


class BreakGlass(_Entry):
    """What denies in one stack does not, for the hours of an incident."""

    stack: Word
    rules: Annotated[list[RuleId], Field(min_length=1)] | Literal["all"]
    by: Text
    since: Annotated[Moment, Field(alias="from")]
    until: Moment

    @property
    def key(self) -> str:
        """What no other is about: a JSON pointer into the report's list."""
        ticket = self.ticket.replace("~", "~0").replace("/", "~1")
        return f"/break_glass/{self.stack}/{ticket}/{text(self.since)}"

    @model_validator(mode="after")
    def _forward(self) -> Self:
        if self.since >= self.until:
            raise ValueError(f"until {text(self.until)} is not after from {text(self.since)}")
        return self


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    waivers: list[Waiver] = Field(default_factory=list)
    break_glass: list[BreakGlass] = Field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Waivers:
    """What a file of waivers says, in whole or for one stack."""

    file: Path | None = None
    waivers: tuple[Waiver, ...] = ()
    break_glass: tuple[BreakGlass, ...] = ()

    @property
    def stacks(self) -> list[str]:
        """Every stack that it is about."""
        return sorted({*(one.of_stack for one in self.waivers), *(one.stack for one in self.break_glass)})

    def of_stack(self, stack: str) -> Waivers:
        """Those of one stack, whose name may be written with its organisation and project."""
        name = stack.rpartition("/")[2]
        return Waivers(
            self.file,
            tuple(one for one in self.waivers if one.of_stack == name),
            tuple(one for one in self.break_glass if one.stack == name),
        )

    def check(self, allowed: WaiverLimit | None, date: datetime.date) -> None:
        """Raises InputError for what the limits do not allow, on a day; all must be of the stack that these are of."""
        said = list(self._not_allowed(allowed, date))
        if said:
            raise InputError("\n".join(f"{self.file}: {sentence}" for sentence in said[:PROBLEMS]))

    def _not_allowed(self, allowed: WaiverLimit | None, date: datetime.date) -> Iterator[str]:
        for one in self.waivers:
            if allowed is None or not allowed.max_days:
                yield f"{one.key}: the limits of its stack allow no waivers: set waivers/max_days there"
                continue
            if one.is_pattern and not allowed.patterns:
                yield f"{one.key}: the limits of its stack allow no patterns: name one resource"
            if allowed.approvers is not None and one.approver not in allowed.approvers:
                yield f"{one.key}: {one.approver!r} may not approve: the limits name {', '.join(allowed.approvers)}"
            days = (one.expires - (one.granted or date)).days
            if days > allowed.max_days:
                since = "granted" if one.granted else f"{date}, for granted is left out"
                yield f"{one.key}: expires {one.expires} is {days} days after {since}: give {allowed.max_days} at most"
        for glass in self.break_glass:
            limit = allowed.break_glass if allowed else None
            if limit is None or not limit.max_hours:
                yield f"{glass.key}: the limits of its stack allow no break-glass: set waivers/break_glass there"
                continue
            hours = (glass.until - glass.since).total_seconds() / 3600
            if hours > limit.max_hours:
                yield f"{glass.key}: until is {hours:g} hours after from: give {limit.max_hours} at most"
            if limit.approvers is not None and glass.approver not in limit.approvers:
                yield f"{glass.key}: {glass.approver!r} may not approve: the limits name {', '.join(limit.approvers)}"
            named = () if glass.rules == "all" else glass.rules
            if never := [rule for rule in named if limit.keeps(rule)]:
                yield f"{glass.key}: the limits say that no incident overrides {', '.join(never)}"


def read(file: Path | None, rules: Mapping[str, Rule]) -> Waivers:
    """What a file says; nothing where there is none. Raises InputError for a file that is wrong anywhere."""
    if file is None:
        return Waivers()
    content = yamlfile.load(file)
    found = checked(file, {} if content is None else content, _File)
    said = [f"{file}: {sentence}" for sentence in _wrong(found, rules)]
    if said:
        raise InputError("\n".join(said[:PROBLEMS]))
    return Waivers(file, tuple(found.waivers), tuple(found.break_glass))


def _wrong(found: _File, rules: Mapping[str, Rule]) -> Iterator[str]:
    seen: set[str] = set()
    named = [(f"waivers/{i}", [one.rule], one.key) for i, one in enumerate(found.waivers)]
    named += [
        (f"break_glass/{i}", [] if one.rules == "all" else one.rules, one.key)
        for i, one in enumerate(found.break_glass)
    ]
    for where, about, key in named:
        for rule in about:
            if rule not in rules:
                yield f"{where}: there is no rule {rule}: `gpuyard explain` lists them"
            elif not rules[rule].waivable:
                yield f"{where}: {rule} cannot be waived: its METADATA says so"
        if key in seen:
            yield f"{where}: is there twice: keep one"
        seen.add(key)


def text(moment: datetime.datetime) -> str:
    """A moment as reports have it."""
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"
