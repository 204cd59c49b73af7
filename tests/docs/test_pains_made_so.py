"""What the rows of docs/pains.md say is made so, is made so."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pains import MADE_SO, RELEASE, ROWS, group, needed, of_type, releases, shipped, values
from plans import Resources, described, resources

from gpuyard import catalogue
from gpuyard.review.evaluation.evaluate import find_policies
from gpuyard.review.judge import judge
from gpuyard.review.program.record import find_project, record_program

DATE = "2026-11-30"
MIRROR = "mirror.example/ai"
RESERVATION = {"kind": "reservation", "id": "cr-0123456789abcdef1", "zone": "us-east-1a", "count": 2}
SECOND = RESERVATION | {"id": "cr-0123456789abcdef2"}
EFA = {"machine": "p5.48xlarge", "zones": ["us-east-1a"], "interconnect": {"kind": "efa"}}

CHART = """
import pulumi_kubernetes as k8s

values = {"engine": {"containerSecurityContext": {"privileged": True}}}
k8s.helm.v4.Chart("llama", chart="vllm-stack", namespace="assistants", values=values)
"""

Json = dict[str, Any]


def reserved_machines_with_efa_have_no_placement_group() -> None:
    reserved = EFA | {"nodes": {"min": 0, "max": 2}, "capacity": RESERVATION}
    demanded = EFA | {"nodes": {"min": 0, "max": 2}}
    assert of_type(resources("prod-aws", group("train", reserved)), ":PlacementGroup") == []
    assert len(of_type(resources("prod-aws", group("train", demanded)), ":PlacementGroup")) == 1


def karpenter_is_told_each_reservation() -> None:
    ways = [RESERVATION, SECOND, {"kind": "on_demand"}]
    burst = {"machine": "p5.48xlarge", "nodes": {"min": 0, "max": 6}, "scaled_by": "karpenter", "capacity": ways}
    found = resources("prod-aws", group("burst", burst))
    ([described_], [pool]) = of_type(found, ":EC2NodeClass"), of_type(found, ":NodePool")
    terms = described_["inputs"]["spec"]["capacityReservationSelectorTerms"]
    assert terms == [{"id": RESERVATION["id"]}, {"id": SECOND["id"]}]
    required = {one["key"]: one["values"] for one in pool["inputs"]["spec"]["template"]["spec"]["requirements"]}
    assert required["karpenter.sh/capacity-type"] == ["reserved", "on-demand"]


def karpenters_nodes_have_every_efa() -> None:
    burst = EFA | {"nodes": {"min": 0, "max": 2}, "scaled_by": "karpenter"}
    [described_] = of_type(resources("prod-aws", group("burst", burst)), ":EC2NodeClass")
    fabric = catalogue.fabric("p5.48xlarge")
    assert fabric is not None
    kinds = [one["interfaceType"] for one in described_["inputs"]["spec"]["networkInterfaces"]]
    assert kinds.count("efa-only") == fabric.interfaces


def charts_are_releases_and_values_of_others_are_judged() -> None:
    for stack in ("prod-aws", "dev", "onprem"):
        assert {r["type"] for r in shipped(stack).values() if "helm.sh" in r["type"]} == {RELEASE}
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "Pulumi.yaml").write_text("name: charts\nruntime: python\n")
        (folder / "Pulumi.prod.yaml").write_text("config: {}\n")
        (folder / "__main__.py").write_text(CHART)
        found = judge(record_program(find_project(folder), "prod"), find_policies(folder), date=DATE)
    assert [finding.rule for finding in found.findings] == ["isolation/privileged"]
    assert [part.what for part in found.unseen] == ["chart vllm-stack"]


def charts_wait_for_the_nodes_of_a_cluster_that_is_not_known_yet() -> None:
    for stack in ("prod-aws", "dev"):
        found = shipped(stack)
        [system] = [
            r["urn"] for r in of_type(found, ":NodeGroup", ":NodePool") if r["name"] == "system" and r["custom"]
        ]
        assert all(system in needed(found, release) for release in of_type(found, RELEASE))
        [provider] = of_type(found, "pulumi:providers:kubernetes")
        assert "/kubeconfig" in provider["unknown"]


def objects_depend_on_the_release_that_brings_their_kind() -> None:
    brought = {"kueue.x-k8s.io": "kueue", "keda.sh": "keda", "monitoring.coreos.com": "kube-prometheus-stack"}
    for stack in ("prod-aws", "onprem"):
        found = shipped(stack)
        made = {resource["inputs"]["name"]: resource["urn"] for resource in of_type(found, RELEASE)}
        seen = set()
        for resource in found.values():
            api = str(resource["inputs"].get("apiVersion", "")).partition("/")[0]
            if api in brought:
                seen.add(api)
                assert made[brought[api]] in needed(found, resource), resource["name"]
        assert seen == set(brought)


def tenants_have_no_load_balancers() -> None:
    for stack in ("prod-aws", "dev", "onprem"):
        quotas = [r["inputs"] for r in of_type(shipped(stack), ":ResourceQuota")]
        walled = {
            quota["metadata"]["namespace"]
            for quota in quotas
            if quota["spec"]["hard"].items() >= {"services.loadbalancers": "0", "services.nodeports": "0"}.items()
        }
        assert walled == set(described(stack)["tenants"])


def releases_have_the_names_of_their_charts() -> None:
    for stack in ("prod-aws", "dev", "onprem"):
        for name, inputs in releases(shipped(stack)).items():
            assert inputs["chart"].rpartition("/")[2] == name


def drivers_have_an_upgrade_policy_of_their_own() -> None:
    def operated(platform: Json) -> None:
        platform["cluster"].update(driver="operator", driver_version="580.126.20")
        platform["node_groups"]["dgx"]["upgrade"] = {"max_unavailable": 1, "wait_for_jobs": "12h"}

    [driver] = of_type(resources("onprem", operated), ":NVIDIADriver")
    policy = driver["inputs"]["spec"]["upgradePolicy"]
    assert (policy["autoUpgrade"], policy["maxUnavailable"]) == (True, 1)
    assert policy["waitForCompletion"]["timeoutSeconds"] == 12 * 3600


def nodes_of_eks_have_one_owner_of_each_part() -> None:
    told = values(shipped("prod-aws"), "gpu-operator")
    assert (told["driver"]["enabled"], told["toolkit"]["enabled"]) == (False, False)
    only = resources(
        "prod-aws", *(lambda p, g=g: p["node_groups"][g].update(os="bottlerocket") for g in ("h100", "l40s"))
    )
    assert "gpu-operator" not in releases(only)
    labels = {r["name"]: r["inputs"]["labels"] for r in of_type(only, "aws:eks/nodeGroup:NodeGroup")}
    assert labels["h100"]["nvidia.com/gpu.deploy.operands"] == "false"


def gke_gets_no_driver_of_dynamic_resource_allocation() -> None:
    found = shipped("dev")
    assert [name for name in releases(found) if "dra" in name or name == "gpu-operator"] == []
    spaces = {resource["inputs"]["metadata"]["namespace"] for resource in of_type(found, ":ResourceQuota")}
    assert releases(found)["dcgm-exporter"]["namespace"] in spaces


def a_pod_gets_no_gpus_by_its_environment() -> None:
    [refusal] = values(shipped("onprem"), "gpu-operator")["toolkit"]["env"]
    assert refusal == {"name": "ACCEPT_NVIDIA_VISIBLE_DEVICES_ENVVAR_WHEN_UNPRIVILEGED", "value": "false"}
    [h100] = [r for r in of_type(shipped("prod-aws"), "aws:eks/nodeGroup:NodeGroup") if r["name"] == "h100"]
    assert "nvidia.com/gpu" in [taint["key"] for taint in h100["inputs"]["taints"]]
    policies = json.dumps([r["inputs"] for r in of_type(shipped("prod-aws"), ":ValidatingAdmissionPolicy")])
    assert "nodes with accelerators are for pods that take some" in policies


def tenants_get_settings_that_name_efa() -> None:
    def trained(platform: Json) -> None:
        platform["node_groups"]["train"] = EFA | {"nodes": {"min": 2, "max": 2}}
        platform["tenants"]["fraud"]["accelerators"]["train"] = {"quota": 16}

    [settings] = of_type(resources("prod-aws", trained), "v1:ConfigMap")
    assert (
        settings["inputs"]["metadata"] | {"namespace": "fraud", "name": "nccl-train"} == settings["inputs"]["metadata"]
    )
    assert settings["inputs"]["data"]["NCCL_NET"] == "AWS Libfabric"


def starts_have_as_long_as_their_weights_need() -> None:
    deployments = {r["name"]: r["inputs"]["spec"] for r in of_type(shipped("prod-aws"), ":Deployment")}
    small, large = deployments["fraud-score"], deployments["llama-70b"]
    assert small["progressDeadlineSeconds"] < large["progressDeadlineSeconds"]
    [[first], [second]] = (one["template"]["spec"]["containers"] for one in (small, large))
    assert first["startupProbe"]["failureThreshold"] < second["startupProbe"]["failureThreshold"]


def karpenter_leaves_nodes_that_are_in_use() -> None:
    burst = {"machine": "g6e.4xlarge", "nodes": {"min": 0, "max": 2}, "scaled_by": "karpenter"}
    [pool] = of_type(resources("prod-aws", group("burst", burst)), ":NodePool")
    assert pool["inputs"]["spec"]["disruption"]["consolidationPolicy"] == "WhenEmpty"
    assert pool["inputs"]["spec"]["template"]["spec"]["expireAfter"] == "Never"


def slices_are_counted_by_profile() -> None:
    def cut(platform: Json) -> None:
        platform["node_groups"]["dgx"]["partition"] = {"kind": "mig", "profiles": {"3g.40gb": 1, "1g.10gb": 4}}
        platform["tenants"]["vision"]["accelerators"] = {"dgx/1g.10gb": {"quota": 8}}
        del platform["endpoints"]

    found = resources("onprem", cut)
    assert {r["inputs"]["metadata"]["name"] for r in of_type(found, ":ResourceFlavor")} == {
        "dgx-1g.10gb",
        "dgx-3g.40gb",
    }
    hard = {r["inputs"]["metadata"]["name"]: r["inputs"]["spec"]["hard"] for r in of_type(found, ":ResourceQuota")}
    assert hard["share-dgx-1g.10gb"] == {"requests.nvidia.com/mig-1g.10gb": "8"}
    assert hard["unclassed"]["requests.nvidia.com/mig-3g.40gb"] == "0"


def rollouts_take_no_more_than_there_is() -> None:
    found = shipped("prod-aws")
    steps = {r["name"]: r["inputs"]["spec"]["strategy"]["rollingUpdate"] for r in of_type(found, ":Deployment")}
    assert steps["fraud-score"] == {"maxSurge": 1, "maxUnavailable": 0}, "its share has room"
    assert steps["llama-70b"] == {"maxSurge": 0, "maxUnavailable": 1}, "its share is all in use"
    [h100] = [r for r in of_type(found, "aws:eks/nodeGroup:NodeGroup") if r["name"] == "h100"]
    assert h100["inputs"]["updateConfig"]["updateStrategy"] == "MINIMAL"


def charts_have_the_versions_of_the_catalogue() -> None:
    for stack in ("prod-aws", "dev", "onprem"):
        for name, inputs in releases(shipped(stack)).items():
            assert inputs["version"] == catalogue.chart(name).version


def series_keep_the_pod_that_uses_a_gpu() -> None:
    for monitor in (
        values(shipped("prod-aws"), "gpu-operator")["dcgmExporter"]["serviceMonitor"],
        values(shipped("dev"), "dcgm-exporter")["serviceMonitor"],
    ):
        assert monitor["honorLabels"] is True
        assert monitor["relabelings"] == [{"action": "labeldrop", "regex": "namespace|pod|container"}]


def a_mirror_stands_in_for_every_registry() -> None:
    def mirrored(platform: Json) -> None:
        platform["artifacts"] = {"images": MIRROR, "charts": "oci://mirror.example/charts"}

    for stack in ("prod-aws", "dev", "onprem"):
        found = resources(stack, mirrored)
        for name, inputs in releases(found).items():
            assert inputs["chart"] == f"oci://mirror.example/charts/{name}"
            assert MIRROR in json.dumps(inputs["values"]), name
        assert all(image.startswith(f"{MIRROR}/") for image in _images(found))


def _images(found: Resources) -> Iterator[str]:
    for deployment in of_type(found, ":Deployment"):
        for container in deployment["inputs"]["spec"]["template"]["spec"]["containers"]:
            yield container["image"]


MADE: dict[int, Callable[[], None]] = {
    1: reserved_machines_with_efa_have_no_placement_group,
    3: karpenter_is_told_each_reservation,
    4: karpenters_nodes_have_every_efa,
    5: charts_are_releases_and_values_of_others_are_judged,
    6: charts_wait_for_the_nodes_of_a_cluster_that_is_not_known_yet,
    7: objects_depend_on_the_release_that_brings_their_kind,
    8: tenants_have_no_load_balancers,
    9: releases_have_the_names_of_their_charts,
    10: drivers_have_an_upgrade_policy_of_their_own,
    11: nodes_of_eks_have_one_owner_of_each_part,
    13: gke_gets_no_driver_of_dynamic_resource_allocation,
    15: a_pod_gets_no_gpus_by_its_environment,
    16: tenants_get_settings_that_name_efa,
    17: starts_have_as_long_as_their_weights_need,
    18: karpenter_leaves_nodes_that_are_in_use,
    19: slices_are_counted_by_profile,
    20: rollouts_take_no_more_than_there_is,
    22: charts_have_the_versions_of_the_catalogue,
    23: series_keep_the_pod_that_uses_a_gpu,
    25: a_mirror_stands_in_for_every_registry,
}
"""The rows that say "Made so", and what sees to it."""


def test_every_row_that_says_so_has_a_check() -> None:
    assert [number for number, (_, before, _) in ROWS.items() if MADE_SO in before] == list(MADE)


@pytest.mark.parametrize("number", MADE)
def test_what_a_row_says_is_made_so_is(number: int) -> None:
    MADE[number]()
