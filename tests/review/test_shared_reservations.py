"""A reservation that several node groups of a stack use is paid once, whoever scales them."""

from __future__ import annotations

from typing import Any

import pytest
from plans import resources

from gpuyard.review.cost import cost
from gpuyard.review.node_groups import node_groups

Json = dict[str, Any]

RESERVED = {"kind": "reservation", "id": "cr-0123456789abcdef1", "zone": "us-east-1a", "count": 4}
ON_DEMAND = {"kind": "on_demand"}


def group(most: int, *ways: Json, scaled_by: str = "node_group") -> Json:
    capacity = list(ways) if len(ways) > 1 else ways[0]
    nodes = {"min": 0, "max": most}
    return {"machine": "p5.48xlarge", "nodes": nodes, "capacity": capacity, "scaled_by": scaled_by}


@pytest.mark.parametrize(
    ("first", "second", "machines"),
    [
        (group(2, RESERVED), group(2, RESERVED), {"min": 4, "max": 4}),
        (group(2, RESERVED, scaled_by="karpenter"), group(2, RESERVED), {"min": 4, "max": 4}),
        (
            group(2, RESERVED, scaled_by="karpenter"),
            group(2, RESERVED, scaled_by="karpenter"),
            {"min": 4, "max": 4},
        ),
        (group(6, RESERVED, ON_DEMAND, scaled_by="karpenter"), group(2, RESERVED), {"min": 4, "max": 8}),
    ],
    ids=["two managed groups", "Karpenter and a managed group", "Karpenter's", "one that goes beyond it"],
)
def test_it_is_paid_once(first: Json, second: Json, machines: dict[str, int]) -> None:
    declared = resources("prod-aws", lambda platform: platform["node_groups"].update(a=first, b=second))
    there = [dict(resource) for resource in declared.values()]
    total = cost([one for one in node_groups(there) if one.name in ("a", "b")], [])
    usd_hour = total["lines"][0]["usd_hour"]
    counted = {bound: total["total"][bound] / usd_hour / 730 for bound in machines}
    assert counted == pytest.approx(machines)
