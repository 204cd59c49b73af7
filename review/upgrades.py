"""How many nodes a group has beyond its others while they move to another version, which the account's quota must have
room for. It lasts as long as the upgrade, so it is in no cost of a month."""

from __future__ import annotations

import math
from typing import Any

from gpuyard.review.quantities import amount
from gpuyard.review.values import at, mapping, number, sequence

ZONE_NODES = 2
"""Nodes that EKS adds for each zone of a group, where its upgrade takes no more at once. Source: EKS user guide,
"Understand each phase of node updates", scale up."""

KARPENTER_BUDGET = "10%"
"""Nodes that Karpenter replaces at once where a pool says nothing. Source: NodePool, spec.disruption.budgets."""

Json = dict[str, Any]


def of_eks(inputs: Json, most: int | None) -> int | None:
    """More nodes of a managed node group, of `most`; None where that is not known."""
    update = mapping(inputs.get("updateConfig"))
    if update.get("updateStrategy") == "MINIMAL" or most == 0:
        return 0
    subnets = inputs.get("subnetIds")
    if most is None or not isinstance(subnets, list):
        return None
    part = number(update.get("maxUnavailablePercentage"))
    at_once = math.ceil(most * part / 100) if part else number(update.get("maxUnavailable", 1))
    # A group is in as many zones as it has subnets at the most.
    return max(at_once or 1, ZONE_NODES * len(subnets))


def of_gke(inputs: Json, most: int | None) -> int | None:
    """More nodes of a node pool, of `most`; None where that is not known."""
    settings = mapping(inputs.get("upgradeSettings"))
    if most == 0 or settings.get("strategy") == "SHORT_LIVED":
        return 0
    if settings.get("strategy") == "BLUE_GREEN":
        return most
    # GKE's own default is one more, and none that is missing.
    return number(settings.get("maxSurge", 1))


def of_karpenter(inputs: Json, most: int | None) -> int | None:
    """More nodes of a NodePool, of `most`: what takes the place of a node comes first. None where that is not known.

    A pool of a fixed size is kept within its limit of nodes even then (nodepools.md, spec.limits), so `most` has them.
    """
    if most is None:
        return None
    if at(inputs, "spec", "replicas") is not None and at(inputs, "spec", "limits", "nodes") is not None:
        return 0
    given = at(inputs, "spec", "disruption", "budgets")
    budgets = map(mapping, sequence(given)) if given else [{"nodes": KARPENTER_BUDGET}]
    # One with a schedule holds for a time only.
    found = [
        _nodes(one.get("nodes"), most)
        for one in budgets
        if not one.get("schedule") and ("Drifted" in sequence(one.get("reasons")) or not one.get("reasons"))
    ]
    known = [count for count in found if count is not None]
    return min([*known, most]) if len(known) == len(found) else None


def _nodes(value: Any, most: int) -> int | None:
    if isinstance(value, str) and value.endswith("%"):
        part = amount(value[:-1])
        return None if part is None else math.ceil(most * part / 100)
    found = amount(value)
    return None if found is None else int(found)
