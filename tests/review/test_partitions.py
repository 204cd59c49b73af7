from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from gpuyard import catalogue
from gpuyard.components.node_groups.offers import offers
from gpuyard.components.node_groups.partition import Mig, Mps, TimeSlicing
from gpuyard.review.capacity import line as capacity_line
from gpuyard.review.cost import cost
from gpuyard.review.node_groups import node_groups
from gpuyard.review.partitions import parts

MIXED = {"kind": "mig", "profiles": {"3g.40gb": 1, "1g.10gb": 4}}

EVERY: list[tuple[str, Mig | Mps | TimeSlicing]] = [
    ("p5.48xlarge", Mig(kind="mig", profiles={"1g.10gb": 7})),
    ("p5.48xlarge", Mig(kind="mig", profiles={"1g.10gb": 7}, strategy="mixed")),
    ("p5.48xlarge", Mig(kind="mig", profiles={"3g.40gb": 1, "1g.10gb": 4})),
    ("a2-ultragpu-1g", Mig(kind="mig", profiles={"3g.40gb": 2})),
    ("dgx-h100", Mps(kind="mps", clients=4)),
    ("g2-standard-24", TimeSlicing(kind="time_slicing", clients=8)),
]


def resource(type_: str, name: str, inputs: dict[str, Any], parent: str = "", urn: str | None = None) -> dict[str, Any]:
    return {
        "urn": urn or f"urn:{name}",
        "type": type_,
        "name": name,
        "parent": parent,
        "provider": "",
        "inputs": inputs,
        "unknown": [],
        "secret": [],
        "options": {},
    }


def eks(partition: dict[str, Any] | None, *more: dict[str, Any]) -> list[dict[str, Any]]:
    component = {"machine": "p5.48xlarge", "partition": partition, "capacity": {"kind": "on_demand"}}
    group = {
        "instanceTypes": ["p5.48xlarge"],
        "scalingConfig": {"minSize": 0, "desiredSize": 0, "maxSize": 2},
        "region": "us-east-1",
    }
    return [
        resource("gpuyard:index:EksNodeGroup", "slices", component, urn="urn:component"),
        resource("aws:eks/nodeGroup:NodeGroup", "slices", group, parent="urn:component"),
        *more,
    ]


def endpoint(on: str, replicas: int) -> dict[str, Any]:
    inputs = {"on": on, "tenant": "fraud", "replicas": {"min": replicas, "max": replicas}}
    return resource("gpuyard:index:Endpoint", f"on-{on}", inputs)


def tenant(**shares: int) -> dict[str, Any]:
    taken = {part: {"quota": quota} for part, quota in shares.items()}
    return resource("gpuyard:index:Tenant", "fraud", {"accelerators": taken, "monthly_budget": 1000})


@pytest.mark.parametrize(("machine", "partition"), EVERY, ids=str)
def test_the_review_reads_from_the_document_what_the_platform_offers(
    machine: str, partition: Mig | Mps | TimeSlicing
) -> None:
    row = catalogue.machine(machine)
    said = parts(partition.model_dump(mode="json"), row)
    made = offers(row, partition)
    assert [(part.profile, part.resource, part.a_node, part.share) for part in said] == [
        (offer.part, offer.resource, offer.a_node, offer.machine_share) for offer in made
    ]
    assert sum(part.a_node * part.share for part in said) == 1, "all parts of a node are the node"


NOTHING = [
    *(None, {}, "mig", {"kind": "mig"}, {"kind": "mps", "clients": None}),
    *({"kind": "mps", "clients": 0}, {"kind": "mig", "profiles": {"1g.10gb": 0}}),
]


@pytest.mark.parametrize("nothing", NOTHING, ids=str)
def test_what_a_document_does_not_say_divides_nothing(nothing: Any) -> None:
    assert parts(nothing, catalogue.machine("p5.48xlarge")) == ()
    assert parts(MIXED, None) == ()


def test_slices_are_counted_as_the_gpus_that_they_are_of() -> None:
    [group] = node_groups(eks(MIXED))
    found = capacity_line(group)
    assert found["accelerators"]["max"] == 16
    assert found["parts"] == {
        "slices/3g.40gb": {"resource": "nvidia.com/mig-3g.40gb", "a_node": 8},
        "slices/1g.10gb": {"resource": "nvidia.com/mig-1g.10gb", "a_node": 32},
    }
    [whole] = node_groups(eks(None))
    assert "parts" not in capacity_line(whole)


def test_endpoints_on_slices_keep_as_many_nodes_busy_as_their_slices_fill() -> None:
    def least(*ends: dict[str, Any]) -> int | None:
        [group] = node_groups(eks(MIXED, *ends))
        return group.minimum

    assert least(endpoint("slices/1g.10gb", 32)) == 1
    assert least(endpoint("slices/1g.10gb", 33)) == 2
    assert least(endpoint("slices/1g.10gb", 4), endpoint("slices/3g.40gb", 8)) == 1


def test_a_tenants_slices_cost_their_part_of_the_node() -> None:
    def quota(partition: dict[str, Any] | None, **shares: int) -> Any:
        resources = eks(partition, tenant(**shares))
        return cost(node_groups(resources), resources)["tenants"]["fraud"]["quota"]

    node = quota(None, slices=8)
    assert quota({"kind": "mig", "profiles": {"1g.10gb": 7}}, slices=56) == pytest.approx(node)
    assert quota(MIXED, **{"slices/3g.40gb": 8, "slices/1g.10gb": 32}) == pytest.approx(node)
    assert quota(MIXED, **{"slices/3g.40gb": 8}) == pytest.approx(node * 3 / 7, abs=0.01)
    assert quota({"kind": "time_slicing", "clients": 4}, slices=1) == pytest.approx(node / 32, abs=0.01)
    assert quota(MIXED, **{"slices/7g.80gb": 1}) is None, "what the group does not offer has no price"


def test_of_shared_nodes_a_stack_pays_for_the_slices_that_its_endpoints_take() -> None:
    inventory = {"machine": "dgx-h100", "count": 2, "usd_hour": 56.0, "partition": MIXED}
    shared = resource("gpuyard:index:SharedNodes", "dgx", inventory)
    [group] = node_groups([shared, endpoint("dgx/1g.10gb", 4)])
    assert group.taken == (pytest.approx(float(Fraction(4, 7))),) * 3
    found = cost([group], [])
    assert found["total"]["max"] == pytest.approx(56.0 / 8 * 4 / 7 * 730, abs=0.01)
    assert capacity_line(group)["accelerators"]["max"] == 1
