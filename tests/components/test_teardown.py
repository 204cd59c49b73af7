"""In which order a stack is taken down: the engine deletes a resource when all that depend on it are gone."""

from __future__ import annotations

import functools
from collections.abc import Callable

import pytest
from plans import NAMES, Resources, resources

from gpuyard.review.recording import Resource

MANAGED = [name for name in NAMES if name != "serving"]

OF_KUBERNETES = ("", "apps", "batch", "policy")
"""Groups of kinds that every API server has, beside those below k8s.io."""

BROUGHT_BY = {
    "keda.sh": "keda",
    "monitoring.coreos.com": "kube-prometheus-stack",
    "kueue.x-k8s.io": "kueue",
}
"""The chart that brings the kinds of a group, and the controller that lets go of their objects."""


@functools.cache
def shipped(stack: str) -> Resources:
    return resources(stack)


def outlive(stack: str, urn: str) -> set[str]:
    """Everything that is still there when a resource is deleted: what it depends on, its provider, and theirs."""
    found: set[str] = set()
    waiting = [urn]
    while waiting:
        resource = shipped(stack)[waiting.pop()]
        for needed in (*resource["options"].get("depends_on", []), resource["provider"], resource["parent"]):
            if needed in shipped(stack) and needed not in found:
                found.add(needed)
                waiting.append(needed)
    return found


def having(stack: str, fits: Callable[[Resource], bool]) -> list[str]:
    return [urn for urn, resource in shipped(stack).items() if fits(resource)]


def releases(stack: str) -> dict[str, str]:
    """The release of each chart, by the chart's name."""
    return {
        resource["inputs"]["name"]: urn
        for urn, resource in shipped(stack).items()
        if resource["type"] == "kubernetes:helm.sh/v3:Release"
    }


def spaces(stack: str, *names: str) -> list[str]:
    return having(
        stack,
        lambda r: (
            r["type"] == "kubernetes:core/v1:Namespace" and (not names or r["inputs"]["metadata"]["name"] in names)
        ),
    )


def tenants(stack: str) -> list[str]:
    parents = having(stack, lambda r: r["type"] == "gpuyard:index:Tenant")
    return having(stack, lambda r: r["type"] == "kubernetes:core/v1:Namespace" and r["parent"] in parents)


@pytest.mark.parametrize("stack", MANAGED)
def test_a_tenants_namespace_goes_while_the_controllers_of_all_kinds_in_it_still_run(stack: str) -> None:
    assert tenants(stack)
    for space in tenants(stack):
        for chart in BROUGHT_BY.values():
            assert releases(stack)[chart] in outlive(stack, space), chart


@pytest.mark.parametrize("stack", MANAGED)
def test_an_object_goes_before_what_brought_its_kind(stack: str) -> None:
    for urn, resource in shipped(stack).items():
        group = str(resource["inputs"].get("apiVersion", "")).rpartition("/")[0]
        if resource["type"].startswith("kubernetes:") and group not in OF_KUBERNETES and not group.endswith(".k8s.io"):
            assert releases(stack)[BROUGHT_BY[group]] in outlive(stack, urn), urn


@pytest.mark.parametrize("stack", MANAGED)
def test_a_release_goes_before_its_namespace(stack: str) -> None:
    for urn in releases(stack).values():
        [*own] = spaces(stack, shipped(stack)[urn]["inputs"]["namespace"])
        assert set(own) <= outlive(stack, urn)


def test_volumes_go_while_their_driver_and_its_nodes_are_there() -> None:
    [driver] = having("prod-aws", lambda r: r["inputs"].get("addonName") == "aws-ebs-csi-driver")
    [system] = having("prod-aws", lambda r: r["type"] == "aws:eks/nodeGroup:NodeGroup" and r["name"] == "system")
    for space in (*spaces("prod-aws", "monitoring"), *tenants("prod-aws")):
        assert {driver, system} <= outlive("prod-aws", space)


def test_nodes_go_while_the_network_that_lets_them_leave_in_order_is_there() -> None:
    [network] = having("prod-aws", lambda r: r["inputs"].get("addonName") == "vpc-cni")
    groups = having("prod-aws", lambda r: r["type"] == "aws:eks/nodeGroup:NodeGroup")
    assert len(groups) == 3
    for group in groups:
        types = {shipped("prod-aws")[urn]["type"] for urn in outlive("prod-aws", group)}
        assert network in outlive("prod-aws", group)
        assert {"aws:ec2/route:Route", "aws:iam/rolePolicyAttachment:RolePolicyAttachment"} <= types


def test_all_objects_go_while_whoever_deploys_may_still_enter_the_cluster() -> None:
    rights = set(having("prod-aws", lambda r: r["type"].startswith("aws:eks/access")))
    assert rights
    for urn in having("prod-aws", lambda r: r["type"].startswith("kubernetes:")):
        assert rights <= outlive("prod-aws", urn)
