"""What the rules could not decide, because a value that they read is not known before the deployment.

This is done once, by the paths that METADATA says a rule reads, and not by each rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from gpuyard.review.evaluation.objects import pointer, steps
from gpuyard.review.evaluation.prepare import CONTAINER, POD, Prepared
from gpuyard.review.evaluation.references import Steps
from gpuyard.review.evaluation.rules import Read, Rule

SKIP = "skip"
"""The level of what is neither denied nor warned of."""

_LEVELS = {"deny": "mandatory", "warn": "advisory", "skip": SKIP}
_SHOWN = 3
"""Unknown paths that a message names."""

Json = dict[str, Any]


def settle(fired: list[Json], rules: Mapping[str, Rule], prepared: Prepared) -> Iterator[Json]:
    """What the rules found, with status and level; and what they could not find because they could not know.

    A rule that fired where a value that it reads is not known has not found a violation: it could not decide. Nor has
    one that did not fire there found that all is well.
    """
    unknown = _Unknown(rules, prepared)
    seen: dict[tuple[str, str], list[Json]] = {}
    for finding in fired:
        rule = rules[finding["rule"]]
        seen.setdefault((rule.id, finding["urn"]), []).append(finding)
        places = sorted(pointer(path) for path in unknown.about(finding) if _near(finding, path))
        if places:
            yield finding | _undecided(rule, places)
        else:
            yield finding | {"status": "violation", "level": finding.get("level", rule.level)}
    for urn in prepared.unknown:
        for rule_id, paths in unknown.of(urn).items():
            near = seen.get((rule_id, urn), [])
            left = [path for path in paths if not any(_covers(finding, path) for finding in near)]
            if left:
                places = sorted(pointer(path) for path in left)
                yield {"rule": rule_id, "urn": urn, "path": places[0], **_undecided(rules[rule_id], places)}


class _Unknown:
    """The unknown paths of each resource, by the rules that read them."""

    def __init__(self, rules: Mapping[str, Rule], prepared: Prepared) -> None:
        self._rules = rules
        self._prepared = prepared
        self._reads: dict[str, list[tuple[str, Steps]]] = {}
        self._found: dict[str, dict[str, list[Steps]]] = {}

    def about(self, finding: Json) -> list[Steps]:
        """The unknown paths on which a finding may rest: those that its rule reads, or any where the finding says."""
        urn = finding["urn"]
        if "rests_on" in finding:
            return self._prepared.unknown.get(urn, [])
        return self.of(urn).get(finding["rule"], [])

    def of(self, urn: str) -> dict[str, list[Steps]]:
        unknown = self._prepared.unknown.get(urn)
        if not unknown:
            return {}
        if urn not in self._found:
            found: dict[str, list[Steps]] = {}
            for part in self._prepared.parts[urn]:
                base = tuple(str(step) for step in part.path)
                for rule_id, read in self._reads_of(part.type):
                    listed = found.setdefault(rule_id, [])
                    place = (*base, *read)
                    listed += [p for p in unknown if p not in listed and _touch(place, p)]
            self._found[urn] = {rule_id: paths for rule_id, paths in found.items() if paths}
        return self._found[urn]

    def _reads_of(self, type_: str) -> list[tuple[str, Steps]]:
        if type_ not in self._reads:
            self._reads[type_] = [
                (rule.id, steps_)
                for rule in self._rules.values()
                for read in rule.reads
                if not read.fires and (steps_ := _within(type_, read))
            ]
        return self._reads[type_]


def _within(type_: str, read: Read) -> Steps:
    """What is read of a part of a resource, from there on; empty where nothing is."""
    if type_ == CONTAINER and read.type == POD and read.steps[:2] == ("containers", "*"):
        return read.steps[2:]
    return read.steps if fnmatchcase(type_, read.type) else ()


def _undecided(rule: Rule, places: list[str]) -> Json:
    more = f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
    return {
        "message": f"cannot be decided before the deployment, not known yet: {', '.join(places[:_SHOWN])}{more}",
        "places": places,
        "status": "undetermined",
        "level": _LEVELS[rule.on_unknown],
    }


def _near(finding: Json, unknown: Steps) -> bool:
    """Whether a finding rests on a value that is not known: at its path, above it, below it or beside it; or, where the
    rule says on what it rests, there."""
    if "rests_on" in finding:
        return any(_touch(steps(path), unknown) for path in finding["rests_on"])
    return _touch(steps(finding["path"])[:-1], unknown)


def _covers(finding: Json, unknown: Steps) -> bool:
    """Whether a finding has said already what there is to say of an unknown value."""
    return _near(finding, unknown) or _touch(steps(finding["path"]), unknown)


def _touch(read: Steps, unknown: Steps) -> bool:
    """Two paths concern each other when one is a part of the other; `*` is any step."""
    return all(a in ("*", b) for a, b in zip(read, unknown, strict=False))
