"""The GPU Operator's drivers: an object each group, which says its own version and how its nodes get another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from plans import described, resources
from pydantic import ValidationError

from gpuyard import catalogue
from gpuyard.components.accelerators.nvidia import charts, decide, drivers
from gpuyard.components.accelerators.nvidia_driver import DriverSpec, chart_version, nvidia_driver, upgrade_policy
from gpuyard.components.artifacts import ArtifactsSpec
from gpuyard.components.node_groups.onprem import NodeGroupSpec
from gpuyard.components.node_groups.upgrade import DriverUpgrade
from gpuyard.components.onprem_platform import OnPremPlatformSpec
from gpuyard.components.stack import load

UPSTREAM = ArtifactsSpec()
MIRROR = ArtifactsSpec(images="mirror.example/ai")
SELECTOR = {"gpuyard.io/node-group": "dgx"}

Json = dict[str, Any]


def driver(version: str = "595.91.07", **more: Any) -> DriverSpec:
    return DriverSpec.model_validate({"version": version, "selector": SELECTOR, **more})


def test_a_driver_is_one_object_that_finds_its_groups_nodes(golden: Callable[[str, Any], None]) -> None:
    made = nvidia_driver("dgx", driver(), UPSTREAM)
    assert made["spec"]["nodeSelector"] == SELECTOR
    assert made["spec"]["version"] == "595.91.07"
    golden("nvidia_driver", made)


def test_the_image_of_a_driver_comes_from_the_mirror_and_its_managers_from_the_operator() -> None:
    made = nvidia_driver("dgx", driver(), MIRROR)["spec"]
    assert (made["repository"], made["image"]) == ("mirror.example/ai/nvidia", "driver")
    assert "manager" not in made, "the operator would reinstall drivers when its own default changes"
    given = charts(decide("onprem", {"dgx": "operator"}), MIRROR, monitored=False)["gpu-operator"]["driver"]
    assert given["manager"] == {"repository": "mirror.example/ai/nvidia/cloud-native"}


def test_the_chart_has_no_driver_of_its_own_where_there_are_objects() -> None:
    given = charts(decide("onprem", {"dgx": "operator"}), UPSTREAM, monitored=False)["gpu-operator"]["driver"]
    assert given == {"enabled": True, "nvidiaDriverCRD": {"enabled": True, "deployDefaultCR": False}}


@pytest.mark.parametrize(
    ("cloud", "image"), [("onprem", "host"), ("aws", "AL2023_x86_64_NVIDIA"), ("gcp", "COS_CONTAINERD")]
)
def test_a_driver_that_is_there_already_is_not_installed(cloud: str, image: str) -> None:
    assert drivers(decide(cloud, {"gpus": image}), UPSTREAM) == []


def test_every_group_has_its_own_driver_from_the_beginning() -> None:
    made = drivers(decide("onprem", {"a": "operator", "b": "operator"}), UPSTREAM)
    assert [(one["metadata"]["name"], one["spec"]["nodeSelector"]) for one in made] == [
        ("a", {"gpuyard.io/node-group": "a"}),
        ("b", {"gpuyard.io/node-group": "b"}),
    ]
    assert {one["spec"]["version"] for one in made} == {chart_version()}


def test_the_driver_of_the_pinned_chart_is_known_and_can_be_pulled() -> None:
    chart = catalogue.chart("gpu-operator").version
    assert chart_version() == catalogue.node_driver("operator", chart, "1.35")
    assert driver(chart_version())


@pytest.mark.parametrize("version", ["595", "595.91", "latest", "595.91.07-ubuntu24.04"])
def test_a_driver_without_its_full_version_names_no_image(version: str) -> None:
    with pytest.raises(ValidationError, match="pattern"):
        driver(version)


def test_nodes_are_upgraded_one_at_a_time_and_their_pods_evicted() -> None:
    policy = upgrade_policy(DriverUpgrade())
    assert policy["autoUpgrade"]
    assert (policy["maxParallelUpgrades"], policy["maxUnavailable"]) == (0, 1), "one bound, and that is one node"
    assert policy["podDeletion"]["deleteEmptyDir"], "an endpoint's pods have such volumes, and would fail the upgrade"
    assert not policy["podDeletion"]["force"]
    assert "waitForCompletion" not in policy
    longest = max(
        one["inputs"]["spec"]["template"]["spec"]["terminationGracePeriodSeconds"]
        for stack in ("onprem", "prod-aws")
        for one in resources(stack).values()
        if one["type"] == "kubernetes:apps/v1:Deployment"
    )
    assert policy["podDeletion"]["timeoutSeconds"] > longest, "or it would give up on pods that are leaving"


def test_jobs_may_end_before_their_node_is_upgraded() -> None:
    policy = upgrade_policy(DriverUpgrade(max_unavailable="25%", wait_for_jobs="12h"))
    assert policy["waitForCompletion"] == {"podSelector": "batch.kubernetes.io/job-name", "timeoutSeconds": 43_200}
    assert policy["maxUnavailable"] == "25%"


@pytest.mark.parametrize("most", [0, 101, "0%", "101%", "25", 2.5, True])
def test_a_share_of_nodes_that_is_none_is_refused(most: Any) -> None:
    with pytest.raises(ValidationError):
        DriverUpgrade.model_validate({"max_unavailable": most})


@pytest.mark.parametrize(("field", "value"), [("driver_version", "595.91.07"), ("upgrade", {"max_unavailable": 2})])
def test_a_group_without_gpus_of_nvidias_has_no_driver_to_upgrade(field: str, value: Any) -> None:
    group: Json = {"machine": "onprem-mi300x-x8", "count": 1, "names": ["a"], field: value}
    with pytest.raises(ValidationError, match=f"{field} is about NVIDIA's driver, and machine onprem-mi300x-x8 has no"):
        NodeGroupSpec.model_validate(group)


def platform(**cluster: Any) -> OnPremPlatformSpec:
    given = described("onprem")
    given["cluster"] = {**given["cluster"], "driver": "operator", **cluster}
    given["node_groups"]["canary"] = {
        "machine": "onprem-h100-80-x8", "count": 1, "selector": {"example.com/hall": "b"}, "driver_version": "595.91.07",
        "interconnect": {"kind": "infiniband", "driver": "host"},
    }  # fmt: skip
    loaded = load(given, "onprem")
    assert isinstance(loaded, OnPremPlatformSpec)
    return loaded


def test_a_groups_version_goes_before_the_clusters_and_that_before_the_charts() -> None:
    stated = platform(driver_version="580.126.20")
    assert {name: one.version for name, one in stated.installed_drivers().items()} == {
        "dgx": "580.126.20",
        "canary": "595.91.07",
    }
    assert (stated.driver("dgx"), stated.driver("canary")) == ("580.126.20", "595.91.07")
    assert platform(driver_version=None).installed_drivers()["dgx"].version == chart_version()
    assert platform(driver="host", driver_version="580").installed_drivers() == {}


def test_a_driver_finds_nodes_as_pods_do_and_hears_of_the_cards_that_they_have() -> None:
    found = platform(driver_version=None).installed_drivers()
    assert found["canary"].selector == {"example.com/hall": "b"}
    assert found["canary"].rdma == {"enabled": True, "useHostMofed": True}
    assert found["dgx"].rdma == {}, "a driver that waits for cards would wait for ever where there are none"
    assert "rdma" not in nvidia_driver("dgx", found["dgx"], UPSTREAM)["spec"]
    assert nvidia_driver("canary", found["canary"], UPSTREAM)["spec"]["rdma"]["useHostMofed"]
