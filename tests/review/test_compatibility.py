"""What the review says of images on node groups: in programs that never heard of gpuyard, and in its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from documents import document, kubernetes, pod_spec, resource, workload
from shipped import reviewed

from gpuyard.review.compatibility import compatibility
from gpuyard.review.evaluation.evaluate import evaluate, find_policies
from gpuyard.review.node_groups import node_groups

Json = dict[str, Any]

EKS = "aws:eks/nodeGroup:NodeGroup"
GPU = {"limits": {"nvidia.com/gpu": "1"}}


def eks(machine: str = "g6e.12xlarge", **inputs: Any) -> Json:
    given = {"instanceTypes": [machine], "amiType": "AL2023_x86_64_NVIDIA", "labels": {"pool": "gpus"}}
    return resource(EKS, "gpus", given | inputs)


def pod(image: str, selector: Json | None = None, **container: Any) -> Json:
    spec = pod_spec(image, **({"resources": GPU} | container))
    return kubernetes(workload("Deployment", spec | ({"nodeSelector": selector} if selector else {})))


def lines(*resources: Json) -> list[Json]:
    return compatibility(node_groups(resources), resources)


V100 = eks("p3dn.24xlarge")
VLLM = "vllm/vllm-openai:v0.32.0"


def test_a_pod_that_names_its_nodes_is_refused_where_its_image_cannot_run() -> None:
    [line] = lines(V100, model := pod(VLLM, {"pool": "gpus"}))
    assert (line["urn"], line["path"], line["status"]) == (
        model["urn"],
        "/spec/template/spec/containers/0/image",
        "refused",
    )
    assert "compute capability 7.5" in line["reason"]
    assert (line["group"], line["driver"], line["image"]) == ("gpus", "580", VLLM)


def test_the_machine_is_a_label_of_every_node() -> None:
    assert len(lines(V100, pod(VLLM, {"node.kubernetes.io/instance-type": "p3dn.24xlarge"}))) == 1
    assert lines(V100, pod(VLLM, {"node.kubernetes.io/instance-type": "g6e.12xlarge"})) == []


@pytest.mark.parametrize(
    "model",
    [
        pod(VLLM),
        pod(VLLM, {"pool": "others"}),
        pod(VLLM, {"pool": "gpus"}, resources={}),
        pod("acme/server:1", {"pool": "gpus"}),
    ],
    ids=["that selects no node", "of other nodes", "without a GPU", "of an image that is not known"],
)
def test_a_pod_is_not_judged(model: Json) -> None:
    assert lines(V100, model) == []


def test_a_pod_that_two_groups_might_take_is_not_judged() -> None:
    other = resource(EKS, "more", V100["inputs"] | {"instanceTypes": ["g6e.12xlarge"]})
    assert lines(V100, other, pod(VLLM, {"pool": "gpus"})) == []


def test_a_group_whose_driver_cannot_run_its_gpus_is_refused_by_itself() -> None:
    [line] = lines(eks("g7.2xlarge"))
    assert (line["path"], line["image"], line["status"]) == ("/instanceTypes", None, "refused")
    assert lines(eks("g7.2xlarge", amiType="CUSTOM")) == [], "a custom image may have any driver"
    assert lines(eks("g7.2xlarge", amiType=None)) == []


def test_what_holds_for_the_group_is_said_once() -> None:
    assert len(lines(eks("g7.2xlarge"), pod(VLLM, {"pool": "gpus"}))) == 1


def test_endpoints_of_gpuyard_are_judged_and_those_that_are_not_known_are_listed() -> None:
    for stack in ("dev", "onprem", "prod-aws", "serving"):
        assert reviewed(stack).document["compatibility"] == [], "the drivers of all are stated or known"
    resources: list[Json] = [dict(r) for r in reviewed("onprem").document["resources"]]
    for one in resources:
        if one["type"] == "gpuyard:index:ExistingCluster":
            one["inputs"] = {**one["inputs"], "driver_version": None}
    [line] = lines(*resources)
    assert (line["status"], line["reason"]) == ("unknown", "the driver of the nodes is not known")
    for one in resources:
        if one["type"] == "gpuyard:index:ExistingCluster":
            one["inputs"] = {**one["inputs"], "driver_version": "550.54.15"}
    [line] = lines(*resources)
    assert (line["status"], line["driver"]) == ("refused", "550.54.15")


def test_a_groups_own_driver_goes_before_the_clusters() -> None:
    resources: list[Json] = [dict(r) for r in reviewed("onprem").document["resources"]]
    for one in resources:
        if one["type"] == "gpuyard:index:NodeInventory":
            one["inputs"] = {**one["inputs"], "driver_version": "550.54.15"}
    [line] = lines(*resources)
    assert (line["status"], line["driver"]) == ("refused", "550.54.15")
    for one in resources:
        if one["type"] == "gpuyard:index:ExistingCluster":
            one["inputs"] = {**one["inputs"], "driver": "operator", "driver_version": None}
    [line] = lines(*resources)
    assert (line["status"], line["driver"]) == ("refused", "550.54.15"), "not the one of the operator's chart"


def test_what_is_refused_denies_and_what_is_not_known_warns() -> None:
    def found(*resources: Json, **more: Any) -> list[tuple[str, str]]:
        policies = find_policies(Path("/nonexistent"))
        verdict = evaluate(document(list(resources), **more), policies, choice="embedded")
        return [(f.level, f.message) for f in verdict.findings if f.rule == "compatibility/driver"]

    line = {"urn": V100["urn"], "path": "/instanceTypes", "group": "gpus", "reason": "why"}
    assert found(V100, compatibility=[line | {"status": "refused"}]) == [("mandatory", "on node group gpus: why")]
    [(level, message)] = found(V100, compatibility=[line | {"status": "unknown"}])
    assert (level, message) == ("advisory", "whether it runs on node group gpus is not known: why")
    assert found(V100) == []
