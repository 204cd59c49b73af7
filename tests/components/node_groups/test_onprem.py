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
