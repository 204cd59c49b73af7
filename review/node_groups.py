"""Finds the node groups in a resource document, whatever program and cloud they come from.

EKS node groups, GKE node pools and default pools, NodePools of Karpenter, and gpuyard's inventories. Not seen:
self-managed Auto Scaling groups, single instances, and nodes that GKE provisions by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gpuyard.review import inventories, karpenter
from gpuyard.review.eks_groups import eks_group
from gpuyard.review.endpoints import taken_of, with_endpoints
from gpuyard.review.gke_groups import gke_group, has_default_pool
from gpuyard.review.karpenter_groups import karpenter_group
from gpuyard.review.node_group import NodeGroup, known_machine
from gpuyard.review.partitions import Part, parts
from gpuyard.review.resources import EKS, GKE, GKE_CLUSTER, INVENTORY, SHARED, Resource, component_of


def node_groups(resources: Sequence[Resource], defaults: Mapping[str, Any] | None = None) -> list[NodeGroup]:
    """Every node group of the document, in the order of the document. `defaults` are its default providers."""
    # A default provider is no resource of the recording: it goes by the name of its package.
    by_urn = {**(defaults or {}), **{resource["urn"]: resource for resource in resources}}
    found = [
        replace(group, parts=_parts(group, resource, by_urn))
        for resource in resources
        if (group := _read(resource, by_urn))
    ]
    return list(with_endpoints(found, taken_of(resources)))


def _read(resource: Resource, by_urn: Mapping[str, Resource]) -> NodeGroup | None:
    type_, inputs = resource["type"], resource["inputs"]
    if type_ == EKS:
        return eks_group(resource, by_urn)
    if type_ == GKE or (type_ == GKE_CLUSTER and has_default_pool(inputs)):
        return gke_group(resource, by_urn)
    if type_ == INVENTORY:
        return inventories.owned(resource)
    if type_ == SHARED:
        return inventories.shared(resource)
    return karpenter_group(resource, by_urn) if karpenter.is_pool(inputs) else None


def _parts(group: NodeGroup, resource: Resource, by_urn: Mapping[str, Resource]) -> tuple[Part, ...]:
    """What the group's GPUs are divided into, as its component says; of an inventory, as it says itself."""
    component = component_of(resource, by_urn) or resource
    return parts(component["inputs"].get("partition"), known_machine(group.machine))
