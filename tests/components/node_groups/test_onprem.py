from __future__ import annotations

import pytest
from pydantic import ValidationError

from gpuyard.components.node_groups import existing, onprem


def test_named_nodes_are_labelled_and_pods_select_them_by_that_label() -> None:
    spec = onprem.NodeGroupSpec(machine="dgx-h100", count=2, names=["dgx-01", "dgx-02"], labels={"rack": "r7"})
    patches = onprem.node_patches("dgx", spec)
    assert [patch["metadata"] for patch in patches] == [
        {"name": "dgx-01", "labels": {"rack": "r7", "gpuyard.io/node-group": "dgx"}, "annotations": onprem.FORCED},
        {"name": "dgx-02", "labels": {"rack": "r7", "gpuyard.io/node-group": "dgx"}, "annotations": onprem.FORCED},
    ]
    assert onprem.node_selector("dgx", spec) == {"gpuyard.io/node-group": "dgx"}


def test_a_node_is_patched_in_its_labels_alone() -> None:
    spec = onprem.NodeGroupSpec(machine="dgx-h100", count=1, names=["dgx-01"])
    (patch,) = onprem.node_patches("dgx", spec)
    assert set(patch) == {"apiVersion", "kind", "metadata"}, "no spec: taints belong to whoever runs the machines"


def test_selected_nodes_are_not_touched() -> None:
    spec = onprem.NodeGroupSpec(machine="dgx-h100", count=2, selector={"nvidia.com/gpu.product": "H100"})
    assert onprem.node_patches("dgx", spec) == []
    assert onprem.node_selector("dgx", spec) == {"nvidia.com/gpu.product": "H100"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"count": 1}, "neither names nor selector nor managed_by is given"),
        ({"count": 1, "names": ["a"], "selector": {"a": "b"}}, "names and selector are given"),
        ({"count": 2, "names": ["a"]}, "count is 2, and 1 different names"),
        ({"count": 2, "names": ["a", "a"]}, "count is 2, and 1 different names"),
        ({"count": 1, "selector": {"a": "b"}, "labels": {"c": "d"}}, "only nodes that are named"),
    ],
)
def test_an_inventory_that_cannot_be_selected_is_refused(given: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        onprem.NodeGroupSpec.model_validate({"machine": "dgx-h100", **given})


def test_a_group_of_somebody_elses_cluster_needs_a_selector() -> None:
    with pytest.raises(ValidationError, match="selector is empty"):
        existing.NodeGroupSpec(machine="g6e.12xlarge", count=1)
    with pytest.raises(ValidationError, match="names"):
        existing.NodeGroupSpec.model_validate({"machine": "g6e.12xlarge", "count": 1, "names": ["a"]})


def test_a_taint_is_given_once_and_the_accelerators_own_is_nobodys_to_give_to_a_host_that_is_made() -> None:
    own = {"key": "nvidia.com/gpu", "value": "present"}
    named = {"machine": "dgx-h100", "count": 1, "names": ["dgx-01"]}
    twice = [{"key": "team"}, {"key": "team", "value": "vision"}]
    with pytest.raises(ValidationError, match="taint team with effect NoSchedule is given twice"):
        onprem.NodeGroupSpec.model_validate({**named, "taints": twice})
    other_effect = [{"key": "team"}, {"key": "team", "effect": "NoExecute"}]
    assert len(onprem.NodeGroupSpec.model_validate({**named, "taints": other_effect}).taints) == 2
    assert onprem.NodeGroupSpec.model_validate({**named, "taints": [own]}).taints, "whoever runs the nodes taints them"
    hosts = {
        "kind": "metal3",
        "namespace": "hall",
        "cluster": "ai",
        "image": {"url": "https://images.example/node.qcow2", "checksum": "0" * 64, "kubernetes": "1.35.2"},
        "hosts": {"machine": "dgx-h100"},
    }
    with pytest.raises(ValidationError, match="is there already, with the accelerators of the machine"):
        onprem.NodeGroupSpec.model_validate({"machine": "dgx-h100", "count": 1, "managed_by": hosts, "taints": [own]})


@pytest.mark.parametrize("label", ["nvidia.com/mig.config", "nvidia.com/device-plugin.config"])
def test_no_label_divides_gpus_behind_the_partition(label: str) -> None:
    with pytest.raises(ValidationError, match=f"label {label} divides GPUs behind the back of quotas"):
        onprem.NodeGroupSpec.model_validate(
            {"machine": "dgx-h100", "count": 1, "names": ["dgx-01"], "labels": {label: "mps-4"}}
        )


@pytest.mark.parametrize(
    ("label", "why"),
    [
        ("gpuyard.io/node-group", "is the group's name, which gpuyard sets: leave it out"),
        ("nvidia.com/gpu.deploy.operands", "which gpuyard decides, so that one alone offers the GPUs: leave it out"),
        ("nvidia.com/gpu.deploy.device-plugin", "tells the GPU Operator which of its parts a node has"),
    ],
)
def test_no_label_takes_the_place_of_one_that_gpuyard_sets(label: str, why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        onprem.NodeGroupSpec.model_validate(
            {"machine": "dgx-h100", "count": 1, "names": ["dgx-01"], "labels": {label: "false"}}
        )


def test_a_selector_that_finds_anothers_nodes_too_is_told() -> None:
    canary = {"machine": "dgx", "canary": "true"}
    assert list(existing.overlaps({"dgx": {"machine": "dgx"}, "canary": canary})) == [
        "node_groups.dgx.selector: {machine: dgx} finds the nodes of canary too, which carry these labels among "
        "theirs: add a label that only its own nodes carry"
    ]
    assert [line.split(":")[0] for line in existing.overlaps({"a": canary, "b": canary})] == ["node_groups.b.selector"]
    assert not list(existing.overlaps({"dgx": {"machine": "dgx", "canary": "false"}, "canary": canary}))
