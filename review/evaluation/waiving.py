"""Applies waivers and break-glass to what the rules have found: once, for every report and every point of the gate.

What cannot be decided is waived as what is wrong is. An error of an engine is neither: nothing here sees one.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gpuyard.review.errors import GateError
from gpuyard.review.evaluation.findings import Waived
from gpuyard.review.evaluation.rules import Rule
from gpuyard.review.evaluation.undetermined import SKIP
from gpuyard.review.evaluation.waiver_limits import WaiverLimit
from gpuyard.review.waivers import BreakGlass, Waiver, Waivers, text

GROUP = "waivers/"
"""The rules that judge the waivers themselves: they are asked last, and read what `described` gives."""

IN_FORCE, EXPIRED, NOT_YET = "in force", "expired", "not yet"

Json = dict[str, Any]
Names = Mapping[str, list[tuple[str, tuple[str, ...]]]]
"""By URN, its Kubernetes objects: their paths, and how a waiver may name them."""


def names(objects: Mapping[str, Iterable[Json]]) -> Names:
    """The names of prepared objects. One whose name or namespace is not known has none."""
    found: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for kind, those in objects.items():
        for one in those:
            namespace, name = one.get("namespace"), one["name"]
            if isinstance(name, str) and name and namespace:
                metadata = one["body"].get("metadata")
                own = metadata.get("namespace") if isinstance(metadata, dict) else None
                kinds = (kind.partition(".")[0], kind)
                called = [f"{namespace}/{each}/{name}" for each in kinds]
                called += [f"{each}/{name}" for each in kinds if own is None]
                found.setdefault(one["urn"], []).append((one["path"], tuple(called)))
    return found


@dataclass(frozen=True, slots=True)
class Waiving:
    """What is waived in one stack at one moment."""

    waivers: Waivers
    date: datetime.date
    now: datetime.datetime
    rules: Mapping[str, Rule]
    limit: WaiverLimit | None = None

    @property
    def by_name(self) -> bool:
        """Whether the names of Kubernetes objects matter."""
        return any(not one.by_urn for one in self.waivers.waivers)

    def over(self, settled: Iterable[Json], names: Names) -> Iterator[Json]:
        """What the rules found, with what is waived marked so, and with a word where a waiver is not in force."""
        for found in settled:
            matching = [one for one in self.waivers.waivers if _matches(one, found, names)]
            holding = [one for one in matching if self.state(one) == IN_FORCE]
            if found["level"] == SKIP:
                yield found
            elif holding:
                yield _waived(found, max(holding, key=lambda one: one.expires))
            elif glass := self._broken(found):
                yield _waived(found, glass)
            else:
                yield found | {"message": found["message"] + "".join(f" ({self._past(one)})" for one in matching[:1])}

    def described(self, settled: list[Json], names: Names) -> Json:
        """What the rules about waivers read, once all was found; empty where the stack has none."""
        if not self.waivers.waivers and not self.waivers.break_glass:
            return {}
        waivers = [self._described(one, settled, names) for one in self.waivers.waivers]
        glasses = [self._glass(one) for one in self.waivers.break_glass]
        return {"waivers": waivers, "break_glass": glasses}

    def state(self, one: Waiver | BreakGlass) -> str:
        """Whether it is in force, not yet, or no more."""
        if isinstance(one, BreakGlass):
            return NOT_YET if self.now < one.since else EXPIRED if self.now > one.until else IN_FORCE
        if one.granted is not None and self.date < one.granted:
            return NOT_YET
        return EXPIRED if self.date > one.expires else IN_FORCE

    def _described(self, one: Waiver, settled: list[Json], names: Names) -> Json:
        return {
            **one.model_dump(include={"rule", "resource", "ticket", "approver"}),
            "place": one.key,
            "state": self.state(one),
            "expires": one.expires.isoformat(),
            "days": (one.expires - self.date).days,
            "used": any(_matches(one, found, names) for found in settled),
            "resources": len(_named(one, names)),
        }

    def _glass(self, one: BreakGlass) -> Json:
        return {
            **one.model_dump(include={"ticket", "approver", "by", "reason"}),
            "place": one.key,
            "state": self.state(one),
            "rules": one.rules if isinstance(one.rules, list) else ["all"],
            "from": text(one.since),
            "until": text(one.until),
        }

    def _broken(self, found: Json) -> BreakGlass | None:
        """The override under which something that denies does not."""
        limit = self.limit.break_glass if self.limit else None
        rule = self.rules[found["rule"]]
        if found["level"] != "mandatory" or not rule.waivable or limit is None or limit.keeps(rule.id):
            return None
        over = (one for one in self.waivers.break_glass if one.rules == "all" or rule.id in one.rules)
        return max((one for one in over if self.state(one) == IN_FORCE), key=lambda one: one.until, default=None)

    def _past(self, one: Waiver) -> str:
        if self.state(one) == EXPIRED:
            return f"the waiver {one.ticket} of {one.approver} has expired on {one.expires}"
        return f"the waiver {one.ticket} of {one.approver} is not in force before {one.granted}"


def clock() -> datetime.datetime:
    """The moment of a review of today: what an incident overrides is a matter of hours."""
    return datetime.datetime.now(datetime.UTC)


def waiving(waivers: Waivers, limits: Json, rules: Mapping[str, Rule], date: str) -> Waiving:
    """What is waived on a day (YYYY-MM-DD) in the stack that waivers and limits are of.

    A day that is over, or is yet to come, is judged as of its end: no hour of it is known.
    Raises InputError for what the limits do not allow, GateError for what is no day.
    """
    now = clock()
    if not waivers.waivers and not waivers.break_glass:
        return Waiving(waivers, now.date(), now, rules)
    try:
        day = datetime.date.fromisoformat(date)
    except ValueError:
        raise GateError(f"the document's date is {date!r}, which is no day: no waiver can be judged") from None
    if now.date() != day:
        now = datetime.datetime.combine(day, datetime.time.max, datetime.UTC)
    limit = WaiverLimit.model_validate(limits["waivers"]) if limits.get("waivers") else None
    waivers.check(limit, day)
    return Waiving(waivers, day, now, rules, limit)


def _waived(found: Json, one: Waiver | BreakGlass) -> Json:
    kind, until = ("waiver", one.expires.isoformat()) if isinstance(one, Waiver) else ("break-glass", text(one.until))
    waiver = Waived(kind, one.ticket, one.approver, one.reason, until, found["status"])  # type: ignore[arg-type]
    return found | {"status": "waived", "waiver": waiver}


def _matches(one: Waiver, found: Json, names: Names) -> bool:
    if one.rule != found["rule"]:
        return False
    # Where many values are not known, one finding speaks of all of them.
    places = {found["path"], *found.get("places", ())}
    if one.path is not None and not _below(one.path, places):
        return False
    if one.by_urn:
        return one.matches(found["urn"])
    named = _named(one, names)
    if len({urn for urn, _ in named}) > 1 and not one.is_pattern:
        return False
    return any(urn == found["urn"] and _below(path, places) for urn, path in named)


def _named(one: Waiver, names: Names) -> set[tuple[str, str]]:
    """URN and path of every object that a waiver names: of two clusters in one stack, each may have one."""
    if one.by_urn:
        return set()
    return {(urn, path) for urn, those in names.items() for path, called in those if any(map(one.matches, called))}


def _below(path: str, places: Iterable[str]) -> bool:
    return all(place == path or place.startswith(f"{path}/") for place in places)
