"""What node groups, tenants and endpoints add up to, while they come one by one."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpuyard.review import capacity, cost
from gpuyard.review.charges import CHARGED, of_group, of_resource
from gpuyard.review.evaluation.prepare import known
from gpuyard.review.karpenter import TYPE as KARPENTER
from gpuyard.review.node_groups import node_groups
from gpuyard.review.prices import CATALOGUE, Prices
from gpuyard.review.quotas import Snapshot
from gpuyard.review.recording import Resource
from gpuyard.review.resources import EKS, ENDPOINT, GKE, GKE_CLUSTER, INVENTORY, LAUNCH_TEMPLATE, SHARED, TENANT
from gpuyard.review.windows import windows

GROUPS = frozenset({EKS, GKE, GKE_CLUSTER, INVENTORY, KARPENTER, SHARED})
SUMMED = GROUPS | {ENDPOINT, TENANT}
TAKES_FROM = {EKS: LAUNCH_TEMPLATE, GKE: GKE_CLUSTER}
"""Groups that may leave their machine, or their zones, to another resource."""

TAKEN_FROM = frozenset(TAKES_FROM.values())

_ZONE = re.compile(r".*-[a-z]")

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Lines:
    """One group in capacity and in cost: as a document has it, and as rules read it. Made once, for rules are asked
    of all lines whenever a sum grows."""

    capacity: Json
    cost: Json
    known_capacity: Json
    known_cost: Json
    charges: list[Json]
    """Of the disks of its nodes."""


class Sums:
    """Adds resources up. `defaults` are the stack's default providers, `snapshots` the quotas of accounts, judged as of
    `date`, and `prices` what machines cost.

    No sum falls when a resource is added, so what is too much stays too much. A group that may take its machine or its
    zones from another resource is left out where nobody knows which: it might be counted too high.
    """

    def __init__(
        self,
        defaults: Mapping[str, Any],
        snapshots: Sequence[Snapshot] = (),
        date: str = "",
        prices: Prices = CATALOGUE,
    ) -> None:
        self._snapshots, self._date, self._prices = snapshots, date, prices
        self._charges: dict[str, list[Json]] = {}
        self._windows: dict[str, list[Json]] = {}
        self._seen: dict[str, Any] = dict(defaults)
        self._added: dict[str, Resource] = {}
        self._lines: dict[str, list[_Lines]] = {}
        self._taken_from: dict[str, set[str]] = {type_: set() for type_ in TAKEN_FROM}

    def add(self, resource: Resource, names: Collection[str]) -> bool:
        """Adds a resource; says whether it counts. `names` are the URNs that its inputs name."""
        urn, type_ = resource["urn"], resource["type"]
        joined = resource.copy()
        joined["options"] = {**resource["options"], "depends_on": sorted(names)}
        self._seen[urn] = joined
        if type_ in TAKEN_FROM:
            self._taken_from[type_].add(urn)
        counts = self._charge(joined)
        if type_ not in SUMMED or not self._settled(resource, names):
            return counts
        self._added[urn] = joined
        if type_ in GROUPS and not self._endpoints():
            self._count([joined])
        elif type_ in GROUPS | {ENDPOINT}:
            # Endpoints keep nodes of their group busy, whichever of its pools these are in, and take of shared ones.
            self._count([one for one in self._added.values() if one["type"] in GROUPS])
        return True

    def so_far(self) -> Json:
        """Cost and capacity, as rules read them."""
        lines = [one for urn in sorted(self._lines) for one in self._lines[urn]]
        demands = [demand for _, demand in sorted(self._added.items()) if demand["type"] not in GROUPS]
        summed = capacity.summed([one.capacity for one in lines], demands, self._snapshots, self._date)
        found = [window for _, windows_ in sorted(self._windows.items()) for window in windows_]
        capacities = known(summed | {"groups": None, "windows": found})
        charges = [charge for one in lines for charge in one.charges]
        charges += [charge for _, charges_ in sorted(self._charges.items()) for charge in charges_]
        summed = cost.summed([one.cost for one in lines], demands, self._prices, charges, self._date)
        costs = known(summed | {"lines": None})
        return {
            "capacity": capacities | {"groups": [one.known_capacity for one in lines]},
            "cost": costs | {"lines": [one.known_cost for one in lines]},
        }

    def _charge(self, resource: Resource) -> bool:
        """Keeps what a resource costs by itself, and when its capacity ends; says whether it has either."""
        urn, found = resource["urn"], windows(resource, self._date)
        if resource["type"] in CHARGED:
            self._charges[urn] = of_resource(resource, self._seen, self._date)
        if found or urn in self._windows:
            self._windows[urn] = found
        return bool(found) or resource["type"] in CHARGED

    def _settled(self, resource: Resource, names: Collection[str]) -> bool:
        """Whether it is known which resource a group depends on: the engine tells only when all are in."""
        candidates = self._taken_from.get(TAKES_FROM.get(resource["type"], ""), set())
        return _says_all(resource) or not candidates or not candidates.isdisjoint(names)

    def _endpoints(self) -> list[Resource]:
        return [one for one in self._added.values() if one["type"] == ENDPOINT]

    def _count(self, resources: list[Resource]) -> None:
        self._lines |= {resource["urn"]: [] for resource in resources}
        for group in node_groups([*resources, *self._endpoints()], self._seen):
            in_capacity = capacity.line(group)
            in_cost = cost.line(group, date=self._date, prices=self._prices)
            lines = _Lines(in_capacity, in_cost, known(in_capacity), known(in_cost), of_group(group))
            self._lines[group.urn].append(lines)


def _says_all(resource: Resource) -> bool:
    """Whether a group says by itself which machines it has, and in which zones."""
    inputs = resource["inputs"]
    if resource["type"] == EKS:
        return bool(inputs.get("instanceTypes")) or not inputs.get("launchTemplate")
    if resource["type"] == GKE:
        scaling, location = inputs.get("autoscaling"), inputs.get("location")
        if not isinstance(location, str):
            return False
        total = isinstance(scaling, dict) and scaling.get("totalMaxNodeCount") is not None
        return total or bool(inputs.get("nodeLocations")) or _ZONE.fullmatch(location) is not None
    return True
