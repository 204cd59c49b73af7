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


def test_a_pod_that_two_groups_might_take_is_judged_where_it_runs_on_neither() -> None:
    other = resource(EKS, "more", V100["inputs"] | {"instanceTypes": ["g6e.12xlarge"]})
    assert lines(V100, other, pod(VLLM, {"pool": "gpus"})) == []
    again = resource(EKS, "more", V100["inputs"])
    assert len(lines(V100, again, pod(VLLM, {"pool": "gpus"}))) == 1


OLD = {"version": "1.35", "releaseVersion": "1.35.6-20260714"}


def test_a_group_whose_driver_cannot_run_its_gpus_is_refused_by_itself() -> None:
    [line] = lines(eks("g7.2xlarge", **OLD))
    assert (line["path"], line["image"], line["status"]) == ("/instanceTypes", None, "refused")
    assert lines(eks("g7.2xlarge")) == [], "the latest image has a driver for it"
    assert lines(eks("g7.2xlarge", **OLD | {"releaseVersion": None})) == [], "a release that is not known"
    assert lines(eks("g7.2xlarge", **OLD | {"amiType": "CUSTOM"})) == [], "a custom image may have any driver"
    assert lines(eks("g7.2xlarge", **OLD | {"amiType": None})) == []


def test_what_holds_for_the_group_is_said_once() -> None:
    assert len(lines(eks("g7.2xlarge", **OLD), pod(VLLM, {"pool": "gpus"}))) == 1


def test_each_machine_of_a_mixed_group_is_looked_at() -> None:
    mixed = eks(instanceTypes=["g6e.12xlarge", "p3dn.24xlarge"])
    [line] = lines(mixed, pod(VLLM, {"pool": "gpus"}))
    assert (line["machine"], line["status"]) == ("p3dn.24xlarge", "refused")
    assert lines(mixed, pod(VLLM, {"pool": "gpus", "node.kubernetes.io/instance-type": "g6e.12xlarge"})) == []
    [line] = lines(eks(instanceTypes=["g7.2xlarge", "g6e.2xlarge"], **OLD))
    assert (line["machine"], line["driver"]) == ("g7.2xlarge", "580.159.03")


def test_a_machine_with_too_few_gpus_for_a_pod_is_none_that_it_gets() -> None:
    mixed = eks(instanceTypes=["g4dn.xlarge", "p3dn.24xlarge"])
    whole = {"limits": {"nvidia.com/gpu": "8"}}
    [line] = lines(mixed, pod("vllm/vllm-openai:v0.32.0", {"pool": "gpus"}, resources=whole))
    assert line["machine"] == "p3dn.24xlarge"
    assert lines(eks(instanceTypes=["g6e.12xlarge"]), pod(VLLM, {"pool": "gpus"}, resources=whole)) == []
    neuron = {"limits": {"aws.amazon.com/neuron": "1"}}
    assert lines(V100, pod(VLLM, {"pool": "gpus"}, resources=neuron)) == []


def karpenter(alias: str | None, machines: list[str]) -> list[Json]:
    terms = [{"alias": alias}] if alias else [{"id": "ami-0123456789abcdef0"}]
    node_class = {"apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": "gpus"}}
    wanted = [
        {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": machines},
        {"key": "acme.example/tier", "operator": "In", "values": ["batch", "serving"]},
    ]
    template = {
        "metadata": {"labels": {"pool": "gpus"}},
        "spec": {
            "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "gpus"},
            "requirements": wanted,
        },
    }
    pool = {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "burst"}}
    return [
        kubernetes(node_class | {"spec": {"amiSelectorTerms": terms}}),
        kubernetes(pool | {"spec": {"template": template, "limits": {"nodes": "4"}}}),
    ]


def affine(*terms: list[Json]) -> Json:
    """A pod that may use any of the terms."""
    one = pod(VLLM)
    required = {"nodeSelectorTerms": [{"matchExpressions": term} for term in terms]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    one["inputs"]["spec"]["template"]["spec"]["affinity"] = affinity
    return one


GPU_NAME = "karpenter.k8s.aws/instance-gpu-name"


@pytest.mark.parametrize(
    "model",
    [
        pod(VLLM, {"pool": "gpus"}),
        pod(VLLM, {"karpenter.sh/nodepool": "burst", "kubernetes.io/arch": "amd64"}),
        pod(VLLM, {"acme.example/tier": "serving"}),
        pod(VLLM, {GPU_NAME: "v100"}),
        affine([{"key": "karpenter.sh/nodepool", "operator": "In", "values": ["other", "burst"]}]),
        affine([{"key": "pool", "operator": "In", "values": ["none"]}], [{"key": GPU_NAME, "operator": "Exists"}]),
    ],
    ids=["its label", "its name", "one of its values", "its machine", "affinity", "any of several terms"],
)
def test_a_pod_is_placed_by_what_karpenter_gives_its_nodes(model: Json) -> None:
    [line] = lines(*karpenter("al2023@v20260714", ["p3dn.24xlarge"]), model)
    assert (line["status"], line["group"], line["driver"]) == ("refused", "burst", "580.159.03")


@pytest.mark.parametrize(
    "model",
    [
        pod(VLLM, {"karpenter.sh/nodepool": "other"}),
        pod(VLLM, {"kubernetes.io/arch": "amd64"}),
        pod(VLLM, {"pool": "gpus", "acme.example/zone": "a"}),
        pod(VLLM, {"pool": None}),
        affine([{"key": "pool", "operator": "NotIn", "values": ["cpus"]}]),
        affine([{"key": "pool", "operator": "In", "values": ["gpus"]}, {"key": GPU_NAME, "operator": "DoesNotExist"}]),
        affine([{"key": GPU_NAME, "operator": "In", "values": ["v100", None]}]),
    ],
    ids=[
        "another pool",
        "any machine",
        "a label that is not known",
        "a value that is not known",
        "only what it is not",
        "a machine without GPUs",
        "a value of several that is not known",
    ],
)
def test_a_pod_that_may_belong_elsewhere_is_not_judged(model: Json) -> None:
    assert lines(*karpenter("al2023@v20260714", ["p3dn.24xlarge"]), model) == []


@pytest.mark.parametrize(
    ("alias", "driver"),
    [
        ("al2023@v20251016", "570.195.03"),
        ("al2023@v20260714", None),
        ("al2023@latest", None),
        ("bottlerocket@v1.56.0", None),
        (None, None),
    ],
)
def test_the_driver_of_karpenters_nodes_is_that_of_the_image_it_is_told(alias: str | None, driver: str | None) -> None:
    """None: the image runs there, or nobody knows."""
    found = lines(*karpenter(alias, ["g6e.12xlarge"]), pod(VLLM, {"pool": "gpus"}))
    assert [line["driver"] for line in found] == [driver] * bool(driver)
    if driver:
        assert "CUDA 13.0, which needs driver 580 or later, and the driver is 570.195.03" in found[0]["reason"]


def test_the_version_of_a_group_that_says_none_is_its_clusters() -> None:
    cluster = resource("aws:eks/cluster:Cluster", "prod", {"version": "1.34"})
    old = eks(releaseVersion="1.34.1-20251023")
    with_cluster = lines(cluster, old, pod("nvidia/tritonserver:23.07-py3", {"pool": "gpus"}))
    assert with_cluster == [], "the driver is 580.95.05"
    group = eks("g7.2xlarge", releaseVersion="1.34.1-20251023")
    assert [line["driver"] for line in lines(cluster, group)] == ["580.95.05"]
    assert lines(group) == [], "of other versions of that day nobody knows the driver"


def test_gpus_that_gke_adds_to_a_machine_are_judged_too() -> None:
    config = {"machineType": "n1-standard-8", "guestAccelerators": [{"type": "nvidia-tesla-p100", "count": 1}]}
    pool = resource("gcp:container/nodePool:NodePool", "p100", {"name": "p100", "nodeConfig": config})
    for selector in (
        {"cloud.google.com/gke-accelerator": "nvidia-tesla-p100"},
        {"cloud.google.com/gke-nodepool": "p100"},
    ):
        [line] = lines(pool, pod(VLLM, selector))
        assert "P100 (compute capability 6.0)" in line["reason"]


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
