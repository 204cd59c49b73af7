"""The walls between node groups that share a resource name, on the real API server, one without the other too."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from control_plane.plane import ControlPlane, KubectlError, Manifest
from control_plane.processes import until
from e2e.shipped_cluster import job, on, pod
from ruamel.yaml import YAML

from gpuyard.components.node_groups.base import node_labels
from gpuyard.components.scheduling.groups import (
    POLICY,
    AcceleratorGroup,
    binding,
    policy,
    priority_classes,
)
from gpuyard.components.tenancy.tenant import TenantSpec, manifests
from gpuyard.components.tenancy.walls import EXTERNAL_ADDRESSES, SYSTEM_CLASSES, policies

pytestmark = pytest.mark.engine

JOBS = Path(__file__).parents[2] / "docs" / "jobs.md"
POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
QUOTAS = "/api/v1/namespaces/fraud/resourcequotas"

GROUPS = {
    name: AcceleratorGroup(name, resource, 32, node_labels(name, {}))
    for name, resource in {
        "h100": "nvidia.com/gpu",
        "l40s": "nvidia.com/gpu",
        "inf2": "aws.amazon.com/neuron",
    }.items()
}
TENANT = TenantSpec.model_validate(
    {
        "groups": ["fraud-ml"],
        "accelerators": {"l40s": {"quota": 8, "borrow": 4}, "h100": {"quota": 1}},
        "monthly_budget": 1,
    }
)


@pytest.fixture(scope="module")
def tenant(plane: ControlPlane) -> Iterator[ControlPlane]:
    """A tenant with 12 L40S and 1 H100 of a cluster that also has Inferentia, and nothing else of the platform."""
    before = plane.inventory()
    groups = list(GROUPS.values())
    declared = [*priority_classes(groups), policy(groups), binding(), *policies(), *_tenant()]
    plane.apply(declared, token=plane.token("deployer"))
    until(lambda: all(_counted(plane, name) for name in ("share-l40s", "share-h100", "unclassed")), "quotas count")
    until(lambda: refused(plane, pod("probe", "fraud", gpus=1)), "the policy is in force")
    until(lambda: refused(plane, _service(["192.0.2.1"])), "so are the other walls")
    until(lambda: refused(plane, pod("probe", "fraud", priorityClassName="system-node-critical")), "all of them")
    yield plane
    plane.delete(declared)
    until(lambda: plane.inventory() <= before, "the cluster is as it was")


def _tenant() -> list[Manifest]:
    objects = manifests("fraud", TENANT, groups=GROUPS, kubernetes="1.35")
    # The kinds of Kueue are not part of this.
    return [item for item in objects if item["kind"] != "LocalQueue"]


def _counted(plane: ControlPlane, quota: str) -> Any:
    return plane.get(f"{QUOTAS}/{quota}").get("status", {}).get("used")


def refused(plane: ControlPlane, manifest: Manifest) -> str | None:
    """What the server says against a manifest of the tenant's people; None where it takes it. It keeps nothing."""
    try:
        plane.apply([manifest], "--dry-run=server", token=plane.token("ana"))
    except KubectlError as error:
        return str(error)
    return None


def _service(addresses: list[str]) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "probe", "namespace": "fraud"},
        "spec": {"selector": {"app": "x"}, "ports": [{"port": 80}], "externalIPs": addresses},
    }


@pytest.mark.parametrize("name", [POLICY, SYSTEM_CLASSES, EXTERNAL_ADDRESSES])
def test_the_policy_compiles_for_every_kind_that_it_judges(tenant: ControlPlane, name: str) -> None:
    status = until(lambda: tenant.get(f"{POLICIES}/{name}").get("status"), "the policy has been checked")
    assert status["typeChecking"] == {}, "no warning: every field that the expressions name is there"


def test_each_group_is_counted_by_itself_up_to_the_tenants_share(tenant: ControlPlane) -> None:
    held = [pod("ten", "fraud", gpus=10, **on("l40s")), pod("two", "fraud", gpus=2, **on("l40s"))]
    held.append(pod("large", "fraud", gpus=1, **on("h100")))
    tenant.apply(held, token=tenant.token("ana"))
    try:
        for group, most in (("l40s", 12), ("h100", 1)):
            answer = refused(tenant, pod("more", "fraud", gpus=1, **on(group)))
            assert answer is not None
            assert f"exceeded quota: share-{group}, requested: requests.nvidia.com/gpu=1" in answer
            assert f"used: requests.nvidia.com/gpu={most}, limited: requests.nvidia.com/gpu={most}" in answer
        assert refused(tenant, pod("none", "fraud")) is None, "a pod without accelerators takes none of them"
    finally:
        tenant.delete(held)


def test_a_container_that_only_starts_the_pod_needs_a_group_too(tenant: ControlPlane) -> None:
    starts = pod("x", "fraud")
    starts["spec"]["initContainers"] = [pod("i", "fraud", gpus=1)["spec"]["containers"][0] | {"name": "first"}]
    assert "accelerators are taken of a node group" in str(refused(tenant, starts))


def test_accelerators_of_another_kind_are_closed_to_a_tenant_without_a_share_of_them(tenant: ControlPlane) -> None:
    neuron = pod("x", "fraud", **on("inf2"))
    neuron["spec"]["containers"][0]["resources"] = {"limits": {"aws.amazon.com/neuron": "1"}}
    assert "exceeded quota: unclassed, requested: requests.aws.amazon.com/neuron=1" in str(refused(tenant, neuron))


TOLERATIONS: dict[str, dict[str, str]] = {
    "the taint": {"key": "nvidia.com/gpu", "operator": "Equal", "value": "present", "effect": "NoSchedule"},
    "its key": {"key": "nvidia.com/gpu", "operator": "Exists"},
    "one of another kind": {"key": "aws.amazon.com/neuron", "operator": "Exists"},
    "every taint": {"operator": "Exists"},
    "every taint of an effect": {"key": "", "operator": "Exists", "effect": "NoSchedule"},
}
BOTH = pytest.mark.parametrize("make", [pod, job], ids=["pod", "job"])


@BOTH
@pytest.mark.parametrize("tolerated", TOLERATIONS)
def test_a_pod_without_accelerators_tolerates_no_taint_of_theirs(
    tenant: ControlPlane, make: Callable[..., Manifest], tolerated: str
) -> None:
    selector = on("h100")["nodeSelector"]
    enters = make("x", "fraud", nodeSelector=selector, tolerations=[TOLERATIONS[tolerated]])
    told = "nodes with accelerators are for pods that take some: tolerate no taint of theirs, or give priorityClassName"
    assert told in str(refused(tenant, enters))
    others = [{"key": "example.com/team", "operator": "Exists"}]
    assert refused(tenant, make("x", "fraud", nodeSelector=selector, tolerations=others)) is None


@BOTH
@pytest.mark.parametrize("amount", [None, "0", "0m"])
def test_a_class_is_for_pods_that_take_accelerators_of_its_group(
    tenant: ControlPlane, make: Callable[..., Manifest], amount: str | None
) -> None:
    idle = make("x", "fraud", **on("h100"))
    containers = (idle["spec"].get("template") or idle)["spec"]["containers"]
    containers[0]["resources"] = {"limits": {"nvidia.com/gpu": amount} if amount else {"memory": "1Gi"}}
    told = "pods of class gpuyard-h100 take accelerators: give a container a limit of nvidia.com/gpu"
    assert told in str(refused(tenant, idle))
    other = make("x", "fraud", gpus=1, **on("inf2"))
    assert "give a container a limit of aws.amazon.com/neuron" in str(refused(tenant, other))


@BOTH
def test_a_pod_does_not_name_its_node(tenant: ControlPlane, make: Callable[..., Manifest]) -> None:
    for manifest in (
        make("x", "fraud", nodeName="h100-0"),
        make("x", "fraud", gpus=1, nodeName="h100-0", **on("h100")),
    ):
        assert "nodeName goes past the scheduler" in str(refused(tenant, manifest))


def test_a_pod_that_waits_is_not_let_in_by_a_toleration_that_comes_later(tenant: ControlPlane) -> None:
    waits = pod("waits", "fraud", nodeSelector=on("h100")["nodeSelector"])
    tenant.apply([waits], token=tenant.token("ana"))
    more = '[{"op": "add", "path": "/spec/tolerations/-", "value": {"key": "nvidia.com/gpu", "operator": "Exists"}}]'
    change = ["--namespace=fraud", "pod", "waits"]
    try:
        with pytest.raises(KubectlError, match="nodes with accelerators are for pods that take some"):
            tenant.kubectl("patch", *change, "--type=json", f"--patch={more}", token=tenant.token("ana"))
        tenant.kubectl("label", *change, "app=x", token=tenant.token("ana"))
    finally:
        tenant.delete([waits])


def test_a_pod_from_before_the_policy_can_still_be_let_go_of(tenant: ControlPlane) -> None:
    old = pod("old", "fraud", tolerations=[{"operator": "Exists"}], nodeSelector={"gpuyard.io/node-group": "none"})
    tenant.kubectl("delete", "validatingadmissionpolicybinding", POLICY)
    try:
        until(lambda: refused(tenant, old) is None, "the policy is gone")
        tenant.apply([old], token=tenant.token("ana"))
        tenant.apply([binding()], token=tenant.token("deployer"))
        until(lambda: refused(tenant, pod("new", "fraud", tolerations=[{"operator": "Exists"}])), "it is back")
        tenant.kubectl("label", "--namespace=fraud", "pod", "old", "app=x", token=tenant.token("ana"))
    finally:
        tenant.apply([binding()], token=tenant.token("deployer"))
        tenant.delete([old])


@BOTH
@pytest.mark.parametrize("name", ["system-node-critical", "system-cluster-critical"])
def test_a_tenants_pods_evict_nobody_by_kubernetes_own_classes(
    tenant: ControlPlane, make: Callable[..., Manifest], name: str
) -> None:
    told = "priority classes that begin with system- are for what the cluster itself needs"
    assert told in str(refused(tenant, make("x", "fraud", priorityClassName=name)))


def test_a_clusters_default_class_is_nothing_to_refuse(tenant: ControlPlane) -> None:
    default = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "usual"},
        "value": 7,
        "globalDefault": True,
    }
    tenant.apply([default])
    try:
        until(lambda: _class_of(tenant, pod("x", "fraud")) == "usual", "pods get the default class")
    finally:
        tenant.delete([default])
    until(lambda: _class_of(tenant, pod("x", "fraud")) is None, "they get none again")


def _class_of(plane: ControlPlane, manifest: Manifest) -> Any:
    """The class that a pod of the tenant's people is made with."""
    options = ["--dry-run=server", "--output=json"]
    return json.loads(plane.apply([manifest], *options, token=plane.token("ana")))["spec"].get("priorityClassName")


def test_a_tenants_service_takes_no_address_of_others(tenant: ControlPlane) -> None:
    service = _service([])
    assert "externalIPs take the traffic of others" in str(refused(tenant, _service(["192.0.2.1"])))
    tenant.apply([service], token=tenant.token("ana"))
    try:
        assert "externalIPs take the traffic of others" in str(refused(tenant, _service(["192.0.2.1"])))
    finally:
        tenant.delete([service])


def test_the_job_that_the_documentation_shows_makes_the_pod_that_it_describes(tenant: ControlPlane) -> None:
    shown = JOBS.read_text().partition("```yaml\n")[2].partition("```")[0]
    manifests_ = list(YAML(typ="safe", pure=True).load_all(shown))
    assert [manifest["kind"] for manifest in manifests_] == ["Job", "NetworkPolicy"]
    selected = manifests_[1]["spec"]["podSelector"]["matchLabels"]
    labels = ",".join(f"{key}={value}" for key, value in selected.items())
    tenant.apply(manifests_, token=tenant.token("ana"))
    try:
        listed = "/api/v1/namespaces/fraud/pods?labelSelector=" + quote(labels)
        [made] = until(lambda: tenant.get(listed)["items"], "the job has a pod, which the network policy selects")
    finally:
        tenant.delete(manifests_)
    resources = made["spec"]["containers"][0]["resources"]
    assert resources == {
        "requests": {"cpu": "32", "memory": "256Gi", "nvidia.com/gpu": "4"},
        "limits": {"memory": "256Gi", "nvidia.com/gpu": "4"},
    }, "none of the namespace's small defaults"


@pytest.mark.parametrize("priority_class", [None, "system-cluster-critical", "gpuyard-inf2"])
def test_where_the_policy_is_gone_the_quota_still_refuses(tenant: ControlPlane, priority_class: str | None) -> None:
    wild = pod("x", "fraud", gpus=1, **({"priorityClassName": priority_class} if priority_class else {}))
    tenant.kubectl("delete", "validatingadmissionpolicybinding", POLICY, SYSTEM_CLASSES)
    try:
        until(lambda: "exceeded quota: unclassed" in str(refused(tenant, wild)), "the quota is asked")
    finally:
        tenant.apply([binding(), *policies()], token=tenant.token("deployer"))
        until(lambda: "ValidatingAdmissionPolicy" in str(refused(tenant, wild)), "the policy is back")
