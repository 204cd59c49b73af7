"""TPU slices on GKE."""

from __future__ import annotations

from typing import Any

import pytest
from oracles.gcp import problems
from pydantic import ValidationError
from registered import Resource, registered

from gpuyard import catalogue
from gpuyard.components.node_groups.gcp import NodeGroup, NodeGroupSpec, group_zones, selector

ZONES = ["us-central1-a", "us-central1-b"]
SLICES = sorted(catalogue.all_slices())


def spec(machine: str, topology: str | None, **given: Any) -> NodeGroupSpec:
    content = {"machine": machine, "topology": topology, "zones": ZONES[:1], "capacity": {"kind": "spot"}, **given}
    return NodeGroupSpec.model_validate(content)


def made(group: NodeGroupSpec) -> list[Resource]:
    def build() -> None:
        NodeGroup(
            "tpu",
            group,
            cluster="projects/example-dev/locations/us-central1/clusters/dev",
            location="us-central1",
            zones=ZONES,
            service_account="nodes@example-dev.iam.gserviceaccount.com",
            tags={},
            project="example-dev",
        )

    found = registered(build)
    assert [problems(resource) for resource in found] == [[]] * len(found)
    return found


@pytest.mark.parametrize(("machine", "topology"), SLICES[:: max(len(SLICES) // 40, 1)])
def test_every_slice_is_a_pool_that_gke_takes(machine: str, topology: str) -> None:
    hosts = catalogue.slices(machine)[topology].hosts
    pool = made(spec(machine, topology, nodes={"min": 0, "max": hosts}))[-1]["inputs"]
    assert "guestAccelerators" not in pool["nodeConfig"], "chips come with the machine"
    assert pool["nodeConfig"]["taints"] == [{"key": "google.com/tpu", "value": "present", "effect": "NO_SCHEDULE"}]
    assert ("placementPolicy" in pool) == (hosts > 1)


def test_a_slice_of_several_nodes_is_whole_or_absent() -> None:
    found = {r["name"]: r for r in made(spec("ct6e-standard-4t", "4x4", nodes={"min": 4, "max": 8})) if r["parent"]}
    first, second = found["tpu"], found["tpu-2"]
    assert [first["name"], second["name"]] == ["tpu", "tpu-2"]
    for pool, least in ((first, 4), (second, 0)):
        assert pool["inputs"]["placementPolicy"] == {"type": "COMPACT", "tpuTopology": "4x4"}
        assert pool["inputs"]["autoscaling"] == {"minNodeCount": least, "maxNodeCount": 4, "locationPolicy": "ANY"}
        assert pool["inputs"]["initialNodeCount"] == least


def test_a_slice_of_tpu7x_is_told_by_a_workload_policy() -> None:
    _, policy, pool = made(spec("tpu7x-standard-4t", "2x2x2", nodes={"min": 0, "max": 2}))
    assert policy["inputs"]["workloadPolicy"] == {"type": "HIGH_THROUGHPUT", "acceleratorTopology": "2x2x2"}
    assert pool["inputs"]["placementPolicy"] == {"type": "COMPACT", "policyName": "tpu"}


def test_flex_start_of_tpu_says_its_limits_by_zone() -> None:
    group = spec("ct5lp-hightpu-4t", "2x2", nodes={"min": 0, "max": 3}, capacity={"kind": "flex_start"})
    assert made(group)[-1]["inputs"]["autoscaling"]["maxNodeCount"] == 3
    everywhere = spec(
        "ct5lp-hightpu-4t", "2x2", nodes={"min": 0, "max": 3}, capacity={"kind": "flex_start"}, zones=ZONES
    )
    with pytest.raises(ValueError, match="a flex_start pool of TPU lies in one zone"):
        group_zones(everywhere, ZONES)


def test_pods_find_a_slice_by_the_labels_that_gke_sets() -> None:
    assert selector("tpu", spec("ct6e-standard-4t", "4x4", nodes={"min": 0, "max": 4})) == {
        "gpuyard.io/node-group": "tpu",
        "cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice",
        "cloud.google.com/gke-tpu-topology": "4x4",
    }


def test_a_slice_of_several_nodes_is_not_spread_over_zones() -> None:
    group = spec("ct6e-standard-4t", "4x4", nodes={"min": 0, "max": 4}, zones=None)
    with pytest.raises(
        ValueError, match="a 4x4 slice lies in one zone, and this group has us-central1-a, us-central1-b"
    ):
        group_zones(group, ZONES)


@pytest.mark.parametrize(
    ("machine", "topology", "given", "message"),
    [
        ("ct6e-standard-4t", None, {}, "has TPU chips, and no topology is given: give one of 2x2, 2x4, 4x4, 4x8, 8x8"),
        ("ct6e-standard-4t", "3x3", {}, "topology 3x3 is none of ct6e-standard-4t: give one of 2x2, 2x4"),
        ("ct5p-hightpu-4t", "2x2", {}, "topology 2x2 is none of ct5p-hightpu-4t: give one of 2x2x1, 2x2x2"),
        ("ct6e-standard-4t", "4by4", {}, "String should match pattern"),
        (
            "g2-standard-12",
            "2x4",
            {},
            "topology 2x4 is given, and machine g2-standard-12 has no TPU: leave topology out",
        ),
        (
            "ct6e-standard-4t",
            "4x4",
            {"nodes": {"min": 0, "max": 6}},
            "nodes.max 6 is no whole number of slices: a 4x4 slice of ct6e-standard-4t has 4 nodes, so give 4 or 8",
        ),
        (
            "ct6e-standard-4t",
            "4x4",
            {"nodes": {"min": 1, "max": 4}},
            "nodes.min 1 is no whole number of slices: a 4x4 slice of ct6e-standard-4t has 4 nodes, so give 0 or 4",
        ),
        ("ct6e-standard-4t", "4x4", {"nodes": {"min": 0, "max": 3}}, "has 4 nodes, so give 4"),
        (
            "ct6e-standard-4t",
            "4x4",
            {"nodes": {"min": 0, "max": 4}, "zones": ZONES},
            "zones us-central1-a, us-central1-b are given, and a slice lies in one zone: name one",
        ),
        (
            "ct6e-standard-1t",
            "1x1",
            {"placement": "compact"},
            "a TPU slice is placed by its topology: leave placement out",
        ),
        ("ct6e-standard-1t", "1x1", {"interconnect": {"kind": "gpudirect"}}, "and ct6e-standard-1t has none"),
    ],
)
def test_a_slice_that_does_not_exist_is_refused(
    machine: str, topology: str | None, given: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValidationError) as error:
        spec(machine, topology, **{"nodes": {"min": 0, "max": 1}, **given})
    assert message in str(error.value)
    assert str(error.value).count("Value error") <= 1
