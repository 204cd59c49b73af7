"""The resources of a stack as a tree of components, laid flat: a page of any depth needs no recursion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from gpuyard.review.evaluation.findings import Finding
from gpuyard.review.report.summary import PROVIDER, STACK, short_type

DEEPEST = 32
"""Branches open down to here; what lies deeper hangs on the last: browsers nest 512 elements at the most."""

Resource = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Step:
    """A branch that opens or closes, or a leaf."""

    what: Literal["open", "close", "leaf"]
    urn: str = ""
    name: str = ""
    type: str = ""
    """In short."""
    full_type: str = ""
    source: str = ""
    unknown: int = 0
    """Values that only a deployment tells."""
    below: int = 0
    """Resources below it, as `made` counts them."""
    depth: int = 0
    """0 at the top."""
    findings: int = 0
    """Of it and of all below it that is waived neither."""
    denies: bool = False
    """Whether one of them does."""


def tree(resources: Sequence[Resource], findings: Sequence[Finding]) -> list[Step]:
    """Every resource once, each component before what is below it."""
    children: dict[str, list[Resource]] = {}
    by_urn = {one["urn"]: one for one in resources if one["type"] != STACK}
    for one in by_urn.values():
        children.setdefault(one["parent"] if one["parent"] in by_urn else "", []).append(one)
    below, told = _counted(by_urn, findings)
    steps: list[Step] = []
    seen: set[str] = set()
    for root in _sorted(children.get("", [])):
        _walk(root, children, below, told, seen, steps)
    # Parents that go round in a circle lead to no root.
    for one in _sorted([one for urn, one in by_urn.items() if urn not in seen]):
        if one["urn"] not in seen:
            _walk(one, children, below, told, seen, steps)
    return steps


def _walk(
    root: Resource,
    children: Mapping[str, list[Resource]],
    below: Mapping[str, int],
    told: Mapping[str, list[Finding]],
    seen: set[str],
    steps: list[Step],
) -> None:
    waiting: list[tuple[Resource | None, int]] = [(root, 0)]
    while waiting:
        resource, depth = waiting.pop()
        if resource is None:
            steps.append(Step("close"))
            continue
        urn = resource["urn"]
        if urn in seen:
            continue
        seen.add(urn)
        parts = [one for one in _sorted(children.get(urn, [])) if one["urn"] not in seen]
        opens = bool(parts) and depth < DEEPEST
        found = told.get(urn, [])
        steps.append(
            Step(
                "open" if opens else "leaf",
                urn,
                resource["name"],
                short_type(resource["type"]),
                resource["type"],
                str(resource.get("source") or ""),
                len(resource["unknown"]),
                below.get(urn, 0),
                depth,
                len(found),
                any(finding.denies for finding in found),
            )
        )
        if opens:
            waiting.append((None, depth))
        waiting += [(one, depth + 1 if opens else depth) for one in reversed(parts)]


def _counted(
    by_urn: Mapping[str, Resource], findings: Sequence[Finding]
) -> tuple[dict[str, int], dict[str, list[Finding]]]:
    """By URN, the resources below it, and the findings of it and of all below it."""
    below: dict[str, int] = {}
    told: dict[str, list[Finding]] = {}
    own: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.status != "waived":
            own.setdefault(finding.urn, []).append(finding)
    for urn, resource in by_urn.items():
        for above in _above(resource, by_urn):
            if above != urn:
                below[above] = below.get(above, 0) + made(resource)
            if urn in own:
                told.setdefault(above, []).extend(own[urn])
    return below, told


def made(resource: Resource) -> bool:
    """Whether a provider makes it: components and providers are none."""
    return bool(resource["custom"]) and not resource["type"].startswith(PROVIDER)


def _above(resource: Resource, by_urn: Mapping[str, Resource]) -> Iterator[str]:
    """A resource and all that it is part of; a circle ends where it began."""
    passed: set[str] = set()
    urn = resource["urn"]
    while urn in by_urn and urn not in passed:
        passed.add(urn)
        yield urn
        urn = by_urn[urn]["parent"]


def _sorted(resources: Sequence[Resource]) -> list[Resource]:
    """Components first, then by type and name."""
    return sorted(resources, key=lambda one: (bool(one["custom"]), short_type(one["type"]), one["name"], one["urn"]))
