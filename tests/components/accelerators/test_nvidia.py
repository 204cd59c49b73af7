from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pulumi
import pytest
from pydantic import ValidationError
from registered import Resource, registered

from gpuyard import catalogue
from gpuyard.components.accelerators.nvidia import NodeSoftware, NvidiaSoftware, NvidiaSpec, charts, decide
from gpuyard.components.artifacts import ArtifactsSpec
from gpuyard.components.node_groups import aws as aws_groups

UPSTREAM = ArtifactsSpec()
MIRROR = ArtifactsSpec(images="mirror.example/ai", charts="oci://mirror.example/charts")

EKS = {"h100": "AL2023_x86_64_NVIDIA", "l40s": "AL2023_x86_64_NVIDIA"}
BOTTLEROCKET = {"l4": "BOTTLEROCKET_x86_64_NVIDIA"}
GKE = {"l4": "COS_CONTAINERD"}

EVERY = [
    ("aws", EKS),
    ("aws", BOTTLEROCKET),
    ("aws", EKS | BOTTLEROCKET),
    ("gcp", GKE),
    ("onprem", {"dgx": "host"}),
    ("onprem", {"dgx": "operator"}),
]


def values(cloud: str, images: dict[str, str], *, artifacts: ArtifactsSpec = UPSTREAM, monitored: bool = True) -> Any:
    return charts(decide(cloud, images), artifacts, monitored=monitored)


def declared(cloud: str, images: dict[str, str], *, monitored: bool = False) -> list[Resource]:
    def build() -> None:
        crds = pulumi.CustomResource("kubernetes:helm.sh/v3:Release", "crds", {}) if monitored else None
        NvidiaSoftware("nvidia", decide(cloud, images), artifacts=UPSTREAM, monitors=crds)

    return registered(build)


def test_on_eks_the_image_brings_the_driver_and_the_operator_advertises(golden: Callable[[str, Any], None]) -> None:
    [(chart, given)] = values("aws", EKS).items()
    assert chart == "gpu-operator"
    assert not given["driver"]["enabled"]
    assert not given["toolkit"]["enabled"]
    assert given["devicePlugin"]["enabled"]
    golden("nvidia_eks", values("aws", EKS))


def test_bottlerocket_has_a_device_plugin_so_only_an_exporter_is_installed(golden: Callable[[str, Any], None]) -> None:
    [(chart, given)] = values("aws", BOTTLEROCKET).items()
    assert chart == "dcgm-exporter"
    assert "securityContext" not in given, "the chart's own SYS_ADMIN is enough where the runtime hands out GPUs"
    golden("nvidia_bottlerocket", values("aws", BOTTLEROCKET))


def test_gke_advertises_its_gpus_and_the_exporter_finds_its_driver(golden: Callable[[str, Any], None]) -> None:
    [(chart, given)] = values("gcp", GKE).items()
    assert chart == "dcgm-exporter"
    assert given["extraHostVolumes"] == [{"name": "nvidia-driver", "hostPath": "/home/kubernetes/bin/nvidia"}]
    mounted = [mount["mountPath"] for mount in given["extraVolumeMounts"]]
    assert mounted == ["/etc/dcgm-exporter/default-counters.csv", "/usr/local/nvidia"], "the chart's mount is kept"
    golden("nvidia_gke", values("gcp", GKE))


def test_a_privileged_exporter_does_not_forbid_what_it_is() -> None:
    context = values("gcp", GKE)["dcgm-exporter"]["securityContext"]
    assert context == {"privileged": True, "allowPrivilegeEscalation": True}


def test_on_prem_the_operator_brings_the_toolkit_and_the_driver_only_where_the_host_has_none(
    golden: Callable[[str, Any], None],
) -> None:
    host, bare = (values("onprem", {"dgx": driver})["gpu-operator"] for driver in ("host", "operator"))
    assert (host["driver"]["enabled"], bare["driver"]["enabled"]) == (False, True)
    assert host["toolkit"]["enabled"]
    assert bare["toolkit"]["enabled"]
    golden("nvidia_onprem", {"gpu-operator": host})


def test_an_operators_toolkit_takes_no_gpu_from_a_pods_environment() -> None:
    refused = {"name": "ACCEPT_NVIDIA_VISIBLE_DEVICES_ENVVAR_WHEN_UNPRIVILEGED", "value": "false"}
    assert values("onprem", {"dgx": "host"})["gpu-operator"]["toolkit"]["env"] == [refused]


@pytest.mark.parametrize(("cloud", "images"), EVERY)
def test_every_group_has_one_advertiser_and_one_exporter(cloud: str, images: dict[str, str]) -> None:
    spec = decide(cloud, images)
    assert sorted([*spec.operated, *spec.built_in]) == sorted(images)
    needed = charts(spec, UPSTREAM, monitored=True)
    assert ("gpu-operator" in needed) == bool(spec.operated)
    if spec.operated:
        assert needed["gpu-operator"]["devicePlugin"]["enabled"]
        assert needed["gpu-operator"]["dcgmExporter"]["enabled"]
    if spec.built_in:
        affinity = needed["dcgm-exporter"]["affinity"]["nodeAffinity"]
        [term] = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
        [expression] = term["matchExpressions"]
        assert (expression["key"], expression["values"]) == ("gpuyard.io/node-group", spec.built_in)


def test_a_bottlerocket_group_beside_others_carries_the_label_that_keeps_the_operator_away() -> None:
    assert set(values("aws", EKS | BOTTLEROCKET)) == {"gpu-operator", "dcgm-exporter"}
    group = {"machine": "g6.xlarge", "os": "bottlerocket", "nodes": {"min": 0, "max": 1}}
    spec = aws_groups.NodeGroupSpec.model_validate(group)
    assert decide("aws", {"l4": aws_groups.node_image(spec)}).built_in == ["l4"]
    assert aws_groups.group_inputs("l4", spec, "1.35", {})["labels"]["nvidia.com/gpu.deploy.operands"] == "false"


@pytest.mark.parametrize(("cloud", "images"), EVERY)
def test_every_agent_runs_on_tainted_gpu_nodes(cloud: str, images: dict[str, str]) -> None:
    for chart, given in values(cloud, images).items():
        if chart == "gpu-operator":
            lists = [given["daemonsets"]["tolerations"], given["node-feature-discovery"]["worker"]["tolerations"]]
        else:
            lists = [given["tolerations"]]
        assert all(tolerations == [{"operator": "Exists"}] for tolerations in lists)


@pytest.mark.parametrize(("cloud", "images"), EVERY)
def test_series_of_a_gpu_name_the_pod_that_uses_it_and_never_the_exporter(cloud: str, images: dict[str, str]) -> None:
    for chart, given in values(cloud, images).items():
        monitor = (given["dcgmExporter"] if chart == "gpu-operator" else given)["serviceMonitor"]
        assert monitor["enabled"]
        assert monitor["honorLabels"]
        assert monitor["relabelings"] == [{"action": "labeldrop", "regex": "namespace|pod|container"}]


def test_without_monitoring_no_monitor_is_made() -> None:
    assert not values("aws", EKS, monitored=False)["gpu-operator"]["dcgmExporter"]["serviceMonitor"]["enabled"]
    assert not values("gcp", GKE, monitored=False)["dcgm-exporter"]["serviceMonitor"]["enabled"]


def test_a_mirror_stands_in_for_every_image_that_runs() -> None:
    given = values("onprem", {"dgx": "operator"}, artifacts=MIRROR)["gpu-operator"]
    enabled = {part for part, value in given.items() if isinstance(value, dict) and value.get("enabled")} - {"cdi"}
    assert all(given[part]["repository"].startswith("mirror.example/ai/nvidia") for part in enabled)
    assert given["operator"]["repository"] == "mirror.example/ai/nvidia"
    assert given["driver"]["manager"]["repository"] == "mirror.example/ai/nvidia/cloud-native"
    assert given["node-feature-discovery"]["image"]["repository"] == "mirror.example/ai/nfd/node-feature-discovery"
    exporter = values("gcp", GKE, artifacts=MIRROR)["dcgm-exporter"]
    assert exporter["image"] == {"repository": "mirror.example/ai/nvidia/k8s/dcgm-exporter"}


def test_an_operators_toolkit_is_the_one_whose_version_is_held_against_the_known_escapes() -> None:
    toolkit = values("onprem", {"dgx": "host"})["gpu-operator"]["toolkit"]
    assert toolkit["version"] == catalogue.image("nvidia-container-toolkit").tag
    assert "nvidia-container-toolkit" in {floor.product for floor in catalogue.floors().values()}


@pytest.mark.parametrize(
    ("cloud", "image"),
    [("aws", "AL2023_x86_64_STANDARD"), ("aws", "AL2023_x86_64_NEURON"), ("gcp", "WINDOWS_LTSC"), ("onprem", "none")],
)
def test_an_image_that_has_no_known_driver_is_refused(cloud: str, image: str) -> None:
    with pytest.raises(ValueError, match=rf"node group l4 has the node image '{image}'.*give an image like"):
        decide(cloud, {"l4": image})


def test_groups_that_the_operator_would_run_in_two_ways_are_refused() -> None:
    own = NodeSoftware(driver="operator", toolkit="operator", advertiser="operator")
    amis = NodeSoftware(driver="image", toolkit="image", advertiser="operator")
    with pytest.raises(ValidationError, match="groups a, b in different ways, and a cluster has one"):
        NvidiaSpec(groups={"a": own, "b": amis})


def test_gke_lets_the_exporter_in_by_a_quota_for_critical_pods() -> None:
    resources = {resource["type"]: resource for resource in declared("gcp", GKE)}
    quota = resources["kubernetes:core/v1:ResourceQuota"]
    [expression] = quota["inputs"]["spec"]["scopeSelector"]["matchExpressions"]
    assert expression["values"] == ["system-node-critical"]
    release = resources["kubernetes:helm.sh/v3:Release"]
    assert quota["urn"] in release["options"]["depends_on"]


def test_the_namespace_allows_what_drivers_need_and_comes_first() -> None:
    component, space, release = declared("aws", EKS)
    assert (component["type"], component["inputs"]["groups"]["h100"]["driver"]) == (
        "gpuyard:index:NvidiaSoftware",
        "image",
    )
    assert space["inputs"]["metadata"]["labels"] == {"pod-security.kubernetes.io/enforce": "privileged"}
    assert [space["parent"], release["parent"]] == [component["urn"]] * 2
    assert release["name"] == "nvidia-gpu-operator"
    assert (release["inputs"]["chart"], release["inputs"]["namespace"]) == ("gpu-operator", "gpu-operator")
    assert release["options"]["depends_on"] == [space["urn"]]


def test_a_monitor_waits_for_its_kind() -> None:
    resources = declared("aws", EKS, monitored=True)
    [crds] = [resource for resource in resources if resource["name"] == "crds"]
    [release] = [r for r in resources if r["inputs"].get("chart") == "gpu-operator"]
    assert crds["urn"] in release["options"]["depends_on"]
    assert release["inputs"]["values"]["dcgmExporter"]["serviceMonitor"]["enabled"]
