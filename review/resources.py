"""Resources of a document: their types, as programs register them, and what stands around one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from gpuyard.review.values import text

EKS = "aws:eks/nodeGroup:NodeGroup"
EKS_CLUSTER = "aws:eks/cluster:Cluster"
LAUNCH_TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
GKE = "gcp:container/nodePool:NodePool"
GKE_CLUSTER = "gcp:container/cluster:Cluster"

INVENTORY = "gpuyard:index:NodeInventory"
SHARED = "gpuyard:index:SharedNodes"
TENANT = "gpuyard:index:Tenant"
ENDPOINT = "gpuyard:index:Endpoint"
COMPONENTS = ("gpuyard:index:EksNodeGroup", "gpuyard:index:GkeNodeGroup", "gpuyard:index:KarpenterNodeGroup")
"""Components of gpuyard around what a cloud calls a node group, a node pool or a NodePool."""

Resource = Mapping[str, Any]


def component_of(resource: Resource, by_urn: Mapping[str, Resource]) -> Resource | None:
    """The component of gpuyard around a node group; None for one of another program."""
    parent = by_urn.get(resource["parent"])
    return parent if parent is not None and parent["type"] in COMPONENTS else None


def dependency(resource: Resource, by_urn: Mapping[str, Resource], type_: str) -> Resource | None:
    """The first resource of a type that a resource depends on."""
    named = (by_urn.get(urn) for urn in resource["options"].get("depends_on", []))
    return next((found for found in named if found is not None and found["type"] == type_), None)


def of_provider(resource: Resource, by_urn: Mapping[str, Resource], key: str) -> str | None:
    """An input of the resource's provider, or of the default provider of its package."""
    return text(_provider(resource, by_urn).get(key))


def account_of(resource: Resource, by_urn: Mapping[str, Resource]) -> str | None:
    """The one account of AWS that the resource's provider may deploy to, where it is held to one."""
    allowed = _provider(resource, by_urn).get("allowedAccountIds")
    if isinstance(allowed, str):
        try:
            allowed = json.loads(allowed)
        except (ValueError, RecursionError):
            return None
    return text(allowed[0]) if isinstance(allowed, list) and len(allowed) == 1 else None


def _provider(resource: Resource, by_urn: Mapping[str, Resource]) -> Mapping[str, Any]:
    # A default provider is no resource: it goes by the name of its package.
    provider = by_urn.get(resource["provider"] or resource["type"].partition(":")[0])
    inputs: Mapping[str, Any] = provider["inputs"] if provider else {}
    return inputs
