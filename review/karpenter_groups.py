"""NodePools of Karpenter as node groups."""

from __future__ import annotations

from collections.abc import Mapping

from gpuyard.review import karpenter, upgrades
from gpuyard.review.disks import of_node_class
from gpuyard.review.node_group import NodeGroup, group_name, known_machine, largest
from gpuyard.review.resources import EKS_CLUSTER, Resource, account_of, component_of, of_provider
from gpuyard.review.values import at, text
from gpuyard.review.windows import paid_of, reservations_of, window_of


def karpenter_group(resource: Resource, by_urn: Mapping[str, Resource]) -> NodeGroup:
    """Reads a NodePool. It says nothing of its cluster, which is the document's only one, if it has one."""
    pool = karpenter.pool(resource["inputs"])
    component = component_of(resource, by_urn)
    (market, *then), reserved = karpenter.bought(component["inputs"] if component else None, pool.markets)
    alone = len(pool.machines) == 1
    most = {name: karpenter.most_nodes(resource["inputs"], known_machine(name), alone=alone) for name in pool.machines}
    machine = largest(pool.machines, most)
    node_class = karpenter.class_of(pool.node_class, (one["inputs"] for one in by_urn.values()))
    clusters = [one for one in by_urn.values() if one.get("type") == EKS_CLUSTER]
    cluster = clusters[0] if len(clusters) == 1 else None
    region = pool.region or (of_provider(cluster, by_urn, "region") if cluster else None)
    return NodeGroup(
        urn=resource["urn"],
        name=group_name(pool.labels, resource, by_urn),
        cloud=pool.cloud,
        # Without a cluster, the region of AWS that the stack's configuration names.
        region=region or text(at(by_urn.get("aws"), "inputs", "region")),
        account=account_of(cluster, by_urn) if cluster else None,
        machine=machine,
        machine_path=pool.machine_path,
        market=market,
        minimum=pool.kept,
        initial=pool.kept,
        maximum=most[machine] if machine else karpenter.most_nodes(resource["inputs"], None, alone=False),
        also=tuple((name, count) for name, count in most.items() if name != machine),
        reserved=reserved,
        paid=paid_of(component),
        reservations=reservations_of(component),
        then=tuple(then),
        window=window_of(component, "capacity_block"),
        disks=of_node_class(node_class or {}),
        surge=upgrades.of_karpenter(resource["inputs"], most[machine] if machine else None),
    )
