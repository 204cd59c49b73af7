"""The walls between node groups that share a resource name, on the real API server, one without the other too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from control_plane.plane import ControlPlane, KubectlError, Manifest
from control_plane.processes import until
from e2e.shipped_cluster import on, pod
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
    declared = [*priority_classes(groups), policy(groups), binding(), *_tenant()]
    plane.apply(declared, token=plane.token("deployer"))
    until(lambda: all(_counted(plane, name) for name in ("share-l40s", "share-h100", "unclassed")), "quotas count")
    until(lambda: refused(plane, pod("probe", "fraud", gpus=1)), "the policy is in force")
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


def test_the_policy_compiles_for_pods_and_for_jobs(tenant: ControlPlane) -> None:
    status = until(lambda: tenant.get(f"{POLICIES}/{POLICY}").get("status"), "the policy has been checked")
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


def test_the_job_that_the_documentation_shows_is_taken(tenant: ControlPlane) -> None:
    shown = JOBS.read_text().partition("```yaml\n")[2].partition("```")[0]
    manifest = YAML(typ="safe", pure=True).load(shown)
    assert manifest["kind"] == "Job"
    assert refused(tenant, manifest) is None


@pytest.mark.parametrize("priority_class", [None, "system-cluster-critical", "gpuyard-inf2"])
def test_where_the_policy_is_gone_the_quota_still_refuses(tenant: ControlPlane, priority_class: str | None) -> None:
    wild = pod("x", "fraud", gpus=1, **({"priorityClassName": priority_class} if priority_class else {}))
    tenant.kubectl("delete", "validatingadmissionpolicybinding", POLICY)
    try:
        until(lambda: "exceeded quota: unclassed" in str(refused(tenant, wild)), "the quota is asked")
    finally:
        tenant.apply([binding()], token=tenant.token("deployer"))
        until(lambda: "ValidatingAdmissionPolicy" in str(refused(tenant, wild)), "the policy is back")
