"""Topologies of node groups. What the real controller makes of them stands in tests/e2e."""

from __future__ import annotations

from dataclasses import replace

import pytest
from registered import registered

from gpuyard.components.artifacts import ArtifactsSpec
from gpuyard.components.scheduling import topology
from gpuyard.components.scheduling.groups import AcceleratorGroup, policy
from gpuyard.components.scheduling.kueue import Kueue, Queued, cluster_queue, cohort, flavors

RACKS = ("example.com/block", "example.com/rack")
PLAIN = AcceleratorGroup("l40s", "nvidia.com/gpu", 24, {"gpuyard.io/node-group": "l40s"})
JOINED = AcceleratorGroup("dgx", "nvidia.com/gpu", 32, {"gpuyard.io/node-group": "dgx"}, levels=RACKS)


def test_the_layers_of_ec2_are_levels_from_the_farthest_to_the_node() -> None:
    [found] = topology.topologies([topology.aws_levels("p5.48xlarge")])
    assert [level["nodeLabel"] for level in found["spec"]["levels"]] == [
        "topology.k8s.aws/network-node-layer-1",
        "topology.k8s.aws/network-node-layer-2",
        "topology.k8s.aws/network-node-layer-3",
        "kubernetes.io/hostname",
    ]
    assert len(topology.aws_levels("p6-b200.48xlarge")) == 4
    assert topology.aws_levels("g6e.48xlarge") == (), "its nodes may come up without the labels"


def test_groups_of_the_same_levels_share_a_topology_and_others_have_their_own() -> None:
    found = topology.topologies([RACKS, (), RACKS, RACKS[1:]])
    assert [len(item["spec"]["levels"]) for item in found] == [3, 2]
    assert len({item["metadata"]["name"] for item in found}) == 2
    assert topology.topologies([(), ()]) == []


def test_the_name_of_a_topology_follows_from_its_levels_alone_because_they_never_change() -> None:
    assert topology.name(RACKS) == topology.name(list(RACKS)) != topology.name(RACKS[::-1])


def test_a_flavor_names_its_topology_and_a_group_without_levels_stays_as_it_is() -> None:
    plain, joined = flavors([PLAIN, JOINED])
    assert plain["metadata"]["name"] == "l40s"
    assert "topologyName" not in plain["spec"]
    assert joined["spec"]["topologyName"] == topology.name(RACKS)


@pytest.mark.parametrize(
    "changed",
    [
        replace(JOINED, levels=RACKS[1:]),
        replace(JOINED, selector={"gpuyard.io/node-group": "dgx", "example.com/row": "7"}),
        replace(JOINED, resource="nvidia.com/mig-1g.10gb", taint="example.com/other"),
    ],
    ids=["levels", "nodes", "tolerations"],
)
def test_what_kueue_lets_nobody_change_in_a_flavor_with_a_topology_makes_another_flavor(
    changed: AcceleratorGroup,
) -> None:
    [before], [after] = flavors([JOINED]), flavors([changed])
    assert before["metadata"]["name"] != after["metadata"]["name"]
    assert after["metadata"]["name"].startswith("dgx-")


def test_a_taint_of_the_groups_own_changes_a_flavor_where_it_is() -> None:
    [before], [after] = flavors([JOINED]), flavors([replace(JOINED, accelerators=64)])
    assert before == after


def test_queues_and_cohort_use_the_flavors_by_their_names() -> None:
    names = {flavor["metadata"]["name"] for flavor in flavors([PLAIN, JOINED])}
    shares = {"l40s": Queued(8), "dgx": Queued(16)}
    for item in (cluster_queue("vision", [PLAIN, JOINED], shares), cohort([PLAIN, JOINED], {"l40s": 16, "dgx": 16})):
        used = {flavor["name"] for group in item["spec"]["resourceGroups"] for flavor in group["flavors"]}
        assert used == names


def test_a_topology_is_there_before_its_flavors_and_goes_after_them() -> None:
    found = registered(
        lambda: Kueue(
            "kueue",
            [PLAIN, JOINED],
            tenants={"vision": {"l40s": Queued(8), "dgx": Queued(16)}},
            free={"l40s": 16, "dgx": 16},
            kubernetes="1.35",
            artifacts=ArtifactsSpec(),
        )
    )
    [levels] = [r for r in found if r["type"] == "kubernetes:kueue.x-k8s.io/v1beta2:Topology"]
    flavored = {r["name"]: r for r in found if r["type"] == "kubernetes:kueue.x-k8s.io/v1beta2:ResourceFlavor"}
    assert flavored.keys() == {"kueue-flavor-l40s", "kueue-flavor-dgx"}, "whatever their names are in the cluster"
    assert levels["urn"] in flavored["kueue-flavor-dgx"]["options"]["depends_on"]


def test_a_job_on_such_a_group_is_asked_how_near_its_pods_run_and_no_other_is() -> None:
    asked = [r for r in policy([PLAIN, JOINED])["spec"]["validations"] if "how near" in r["message"]]
    [rule] = asked
    assert rule["expression"].startswith("variables.class != \"gpuyard-dgx\" || object.kind != 'Job' || ")
    assert all(annotation in rule["expression"] for annotation in topology.ASKS)
    assert "example.com/block, example.com/rack" in rule["message"]


@pytest.mark.parametrize(
    ("levels", "told"),
    [
        (["a", "b", "a"], "topology names a twice: give each label once"),
        (["a", "kubernetes.io/hostname"], "which is always its last level: leave it out"),
        ([f"l{number}" for number in range(16)], "topology names 16 labels, and Kueue takes 15"),
    ],
)
def test_labels_that_are_no_levels_are_refused(levels: list[str], told: str) -> None:
    assert any(told in refusal for refusal in topology.refusals(levels))
    assert not list(topology.refusals(RACKS))
