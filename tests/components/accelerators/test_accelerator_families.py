"""One suite for every family of accelerators: what NVIDIA's must do, every other must."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pulumi
import pytest
from registered import Resource, registered

from gpuyard import catalogue
from gpuyard.components.accelerators import FAMILIES
from gpuyard.components.accelerators.families import AcceleratorSoftware, Family, FamilySpec, Request, decide
from gpuyard.components.accelerators.nvidia import NvidiaSoftware
from gpuyard.components.accelerators.nvidia import decide as decide_nvidia
from gpuyard.components.artifacts import ArtifactsSpec
from gpuyard.components.node_groups.base import accelerator_taints

MIRROR = ArtifactsSpec(images="mirror.example/ai", charts="oci://mirror.example/charts")

FOREVER = [{"operator": "Exists"}]


@dataclass(frozen=True)
class Case:
    """Where a family is found, and what becomes of its two groups a and b."""

    name: str
    resource: str
    cloud: str
    image: str
    driver: str
    plugin: str
    """What advertises: the cloud, a chart or a DaemonSet."""


CASES = [
    Case("nvidia", "nvidia.com/gpu", "aws", "AL2023_x86_64_NVIDIA", "image", "gpu-operator"),
    Case("amd", "amd.com/gpu", "onprem", "host", "host", "gpu-operator-charts"),
    Case("neuron", "aws.amazon.com/neuron", "aws", "AL2023_x86_64_NEURON", "image", "neuron-helm-chart"),
    Case("gaudi", "habana.ai/gaudi", "onprem", "host", "host", "DaemonSet"),
    Case("tpu", "google.com/tpu", "gcp", "COS_CONTAINERD", "cloud", "cloud"),
]

OTHERS = [case for case in CASES if case.name != "nvidia"]


def family(case: Case) -> Family:
    return next(found for found in FAMILIES if found.name == case.name)


GROUPS = {name: {"gpuyard.io/node-group": name} for name in ("a", "b")}


def build(case: Case, *, monitored: bool = True) -> list[Resource]:
    artifacts = ArtifactsSpec()

    def program() -> None:
        crds = pulumi.CustomResource("kubernetes:helm.sh/v3:Release", "crds", {}) if monitored else None
        if case.name == "nvidia":
            spec = decide_nvidia(case.cloud, dict.fromkeys(GROUPS, case.image))
            NvidiaSoftware("nvidia", spec, artifacts=artifacts, monitors=crds)
        else:
            AcceleratorSoftware(family(case), FamilySpec(groups=GROUPS), artifacts=artifacts, monitors=crds)

    return [resource for resource in registered(program) if resource["name"] != "crds"]


def kinds(resources: list[Resource], kind: str) -> list[Any]:
    return [resource["inputs"] for resource in resources if resource["inputs"].get("kind") == kind]


def releases(resources: list[Resource]) -> dict[str, Any]:
    found = [resource for resource in resources if resource["type"].endswith(":Release")]
    return {resource["inputs"]["name"]: resource["inputs"]["values"] for resource in found}


def every(value: Any, key: str) -> list[Any]:
    """Every value that stands under a key, however deep."""
    if isinstance(value, list):
        return [found for each in value for found in every(each, key)]
    if not isinstance(value, dict):
        return []
    here = [value[key]] if key in value else []
    return here + [found for each in value.values() for found in every(each, key)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_resource_is_the_one_that_the_catalogues_machines_offer(case: Case) -> None:
    if case.name != "nvidia":
        assert family(case).resource == case.resource
    assert any((m.resource, m.cloud) == (case.resource, case.cloud) for m in catalogue.machines().values())


def test_every_resource_that_can_be_had_has_a_family() -> None:
    resources = {m.resource for m in catalogue.machines().values() if m.resource}
    # Qualcomm's machine is refused by EKS's node groups, which have no image for it.
    assert resources - {"qualcomm.com/qaic"} == {case.resource for case in CASES}
    assert [found.name for found in FAMILIES] == [case.name for case in OTHERS]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_taint_of_its_nodes_has_the_resources_name(case: Case) -> None:
    machine = next(m for m in catalogue.machines().values() if m.resource == case.resource)
    assert [(taint.key, taint.effect) for taint in accelerator_taints(machine)] == [(case.resource, "NoSchedule")]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_driver_has_the_owner_that_follows_from_the_image(case: Case) -> None:
    if case.name == "nvidia":
        owners = {software.driver for software in decide_nvidia(case.cloud, {"a": case.image}).groups.values()}
    else:
        owners = {software.driver for software in decide(family(case), case.cloud, {"a": case.image}).values()}
    assert owners == {case.driver}


@pytest.mark.parametrize("case", OTHERS, ids=lambda case: case.name)
def test_a_place_whose_driver_is_nobodys_is_refused_with_the_places_that_there_are(case: Case) -> None:
    elsewhere = {"aws": "gcp", "gcp": "onprem", "onprem": "aws"}[case.cloud]
    with pytest.raises(ValueError, match=f"give a cluster of {case.cloud}"):
        decide(family(case), elsewhere, {"a": case.image})


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_resource_has_one_advertiser(case: Case) -> None:
    made = build(case)
    found = list(releases(made))
    plugins = [one["metadata"]["name"] for one in kinds(made, "DaemonSet") if "plugin" in one["metadata"]["name"]]
    if case.plugin == "cloud":
        assert not found
        assert not plugins
    elif case.plugin == "DaemonSet":
        assert (found, sorted(plugins)) == ([], ["device-plugin-a", "device-plugin-b"]), (
            "one for the nodes of each group"
        )
    else:
        assert (found, plugins) == ([case.plugin], [])
        rivals = every([one["inputs"] for one in made], "draDriver")
        assert not any(switch for rival in rivals for switch in switched(rival))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_agents_run_whatever_the_taints_of_their_nodes_are(case: Case) -> None:
    made = build(case)
    lists = [found for key in TOLERATED for found in every([one["inputs"] for one in made], key)]
    assert bool(lists) == (case.plugin != "cloud")
    assert all(tolerations == FOREVER for tolerations in lists)


TOLERATED = ("tolerations", "devicePluginTolerations")


@pytest.mark.parametrize("case", OTHERS, ids=lambda case: case.name)
def test_agents_run_on_the_nodes_of_their_groups_and_no_others(case: Case) -> None:
    """NVIDIA's operator finds its nodes by what is in them, and a label keeps it off those that need it not."""
    inputs = [one["inputs"] for one in build(case) if not one["type"].startswith("gpuyard:")]
    by_label = [*every(inputs, "nodeSelector"), *every(inputs, "selector")]
    named = [labels["gpuyard.io/node-group"] for labels in by_label if "gpuyard.io/node-group" in labels]
    named += [
        name for terms in every(inputs, "nodeSelectorTerms") for name in terms[0]["matchExpressions"][0]["values"]
    ]
    assert set(named) == (set() if case.plugin == "cloud" else {"a", "b"})


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_its_metrics_are_asked_for_only_where_somebody_asks(case: Case) -> None:
    def asked(monitored: bool) -> bool:
        made = build(case, monitored=monitored)
        monitors = [one for one in every([r["inputs"] for r in made], "serviceMonitor") if any(switched(one))]
        return bool(monitors or kinds(made, "PodMonitor"))

    assert not asked(monitored=False)
    assert asked(monitored=True) == (case.plugin != "cloud"), "GKE measures TPUs itself"


def switched(monitor: dict[str, Any]) -> list[bool]:
    return [bool(monitor.get("enabled")), bool(monitor.get("enable"))]


@pytest.mark.parametrize("case", OTHERS, ids=lambda case: case.name)
def test_a_mirror_stands_in_for_every_image(case: Case) -> None:
    request = Request(GROUPS, MIRROR, monitored=True)
    given = [*family(case).charts(request).values(), *family(case).objects(request)]
    images = [one for key in ("image", "devicePluginImage", "initContainerImage") for one in every(given, key)]
    named = [one["repository"] if isinstance(one, dict) else one for one in images]
    assert bool(named) == (case.plugin != "cloud")
    assert all(name.startswith("mirror.example/ai/") for name in named)
    assert not any(name.endswith(":latest") for name in named)


def test_node_feature_discovery_comes_with_nvidias_operator_alone() -> None:
    """A cluster has one: two would write the same labels."""
    for case in OTHERS:
        for values in releases(build(case)).values():
            assert all(not one.get("enabled") for one in every(values, "node-feature-discovery"))
    assert "enabled" not in releases(build(CASES[0]))["gpu-operator"]["node-feature-discovery"], "as the chart has it"


def test_amds_operator_needs_neither_cert_manager_nor_argo() -> None:
    [values] = releases(build(CASES[1])).values()
    assert values["kmm"] == {"enabled": False, "watch": False}
    assert values["remediation"] == {"enabled": False, "installCRDs": False}
    configs = kinds(build(CASES[1]), "DeviceConfig")
    assert [config["spec"]["driver"]["enable"] for config in configs] == [False, False]


def test_objects_of_a_charts_kinds_wait_for_its_release() -> None:
    made = build(CASES[1])
    [release] = [one["urn"] for one in made if one["type"].endswith(":Release")]
    for config in (one for one in made if one["inputs"].get("kind") == "DeviceConfig"):
        assert release in config["options"]["depends_on"]
