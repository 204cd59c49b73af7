"""Finds the node groups in a resource document, whatever program and cloud they come from.

EKS node groups, GKE node pools and those that a cluster has itself, NodePools of Karpenter, and gpuyard's inventories.
Not seen: self-managed Auto Scaling groups, single instances, and nodes that GKE provisions by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gpuyard.review import inventories, karpenter
from gpuyard.review.eks_groups import eks_group
from gpuyard.review.endpoints import taken_of, with_endpoints
from gpuyard.review.gke_groups import gke_group, of_cluster
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
        for group in _read(resource, by_urn)
    ]
    return list(with_endpoints(found, taken_of(resources)))


def _read(resource: Resource, by_urn: Mapping[str, Resource]) -> Iterator[NodeGroup]:
    match resource["type"]:
        case type_ if type_ == EKS:
            yield eks_group(resource, by_urn)
        case type_ if type_ == GKE:
            yield gke_group(resource, by_urn)
        case type_ if type_ == GKE_CLUSTER:
            yield from of_cluster(resource, by_urn)
        case type_ if type_ == INVENTORY:
            yield inventories.owned(resource)
        case type_ if type_ == SHARED:
            yield inventories.shared(resource)
        case _ if karpenter.is_pool(resource["inputs"]):
            yield karpenter_group(resource, by_urn)


def _parts(group: NodeGroup, resource: Resource, by_urn: Mapping[str, Resource]) -> tuple[Part, ...]:
    """What the group's GPUs are divided into, as its component says; of an inventory, as it says itself."""
    component = component_of(resource, by_urn) or resource
    return parts(component["inputs"].get("partition"), known_machine(group.machine))
