"""GKE node pools: one machine, one way to pay each, counts that are totals over the zones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi
import pulumi_gcp as gcp

from gpuyard import catalogue
from gpuyard.components.kubernetes import declare
from gpuyard.components.node_groups import base, compute_class
from gpuyard.components.node_groups import gcp_gpudirect as gpudirect
from gpuyard.components.node_groups import gcp_tpu as tpu
from gpuyard.components.node_groups.gcp_capacity import FlexStart, Reservation
from gpuyard.components.node_groups.gcp_nodes import IMAGE_TYPE, QUEUED_LABEL, node_config
from gpuyard.components.node_groups.gcp_pools import check_name, pools
from gpuyard.components.node_groups.gcp_spec import NVLINK_DOMAIN, NodeGroupSpec
from gpuyard.components.node_groups.gcp_upgrade import upgrade_settings
from gpuyard.components.renaming import renamed
from gpuyard.components.spec import in_seconds

__all__ = [
    "IMAGE_TYPE",
    "NodeGroup",
    "NodeGroupSpec",
    "check_name",
    "group_zones",
    "node_config",
    "provisioning",
    "selector",
    "taints",
    "tolerated",
]

FLEX_START_LABEL = "cloud.google.com/gke-flex-start"
"""The label that GKE puts on flex-start nodes, and by which pods ask for them. Source: GKE, flex-start."""

ARM = base.Taint(key="kubernetes.io/arch", value="arm64")
"""The taint that GKE puts on nodes with Arm processors. Source: GKE, Arm workloads."""


class NodeGroup(pulumi.ComponentResource):
    """The node pools that pods select as one group. One with GPUs depends on one without: GKE's own pods need a node
    that has no taint."""

    pools: list[gcp.container.NodePool]
    """The node pools: what needs their nodes depends on them."""

    def __init__(
        self,
        name: str,
        spec: NodeGroupSpec,
        *,
        cluster: pulumi.Input[str],
        location: str,
        zones: Sequence[str],
        service_account: pulumi.Input[str],
        tags: Mapping[str, str],
        project: str,
        protect: bool = False,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`opts` has providers of the cloud and of the cluster."""
        props = spec.model_dump(mode="json")
        super().__init__("gpuyard:index:GkeNodeGroup", check_name(name, spec), props, renamed(opts, name, spec))
        child, known_as = pulumi.ResourceOptions(parent=self), spec.known_as(name)
        place = {"project": project, "region": location}
        around = {"interfaces": _interfaces(name, spec, place, child), "policy": _policy(name, spec, place, child)}
        # The autoscaler owns the number of nodes, and a new initial one would replace the pool. Nodes need what the
        # component depends on, and Pulumi orders a component's children by it only when each says so.
        after = opts.depends_on if opts else None
        kept = pulumi.ResourceOptions(
            parent=self, protect=protect, ignore_changes=["initialNodeCount"], depends_on=after
        )
        self.pools = [
            gcp.container.NodePool(
                pool.called(name),
                **node_pool_inputs(pool.spec, location=location, zones=zones, **around),
                cluster=cluster,
                node_config=node_config(
                    known_as, pool.spec, service_account=service_account, tags=tags, ordered=len(spec.ways) > 1
                ),
                opts=kept,
            )
            for pool in pools(spec)
        ]
        if len(spec.ways) > 1:
            declare(name, compute_class.manifest(known_as, [pool.name for pool in self.pools]), child)
        self.register_outputs({"names": [pool.name for pool in self.pools]})


def _interfaces(
    name: str, spec: NodeGroupSpec, place: Mapping[str, str], child: pulumi.ResourceOptions
) -> list[dict[str, Any]]:
    """Networks of the GPUs, each with its subnet, where the group has some of its own."""
    fabric = gpudirect.own_networks(spec.machine, spec.interconnect)
    if spec.interconnect is None or fabric is None:
        return []
    known_as = spec.known_as(name)
    networks = gpudirect.GpuDirectNetworks(
        f"{name}-gpudirect", spec.interconnect, known_as=known_as, fabric=fabric, **place, opts=child
    )
    return networks.interfaces


def _policy(name: str, spec: NodeGroupSpec, place: Mapping[str, str], child: pulumi.ResourceOptions) -> Any:
    """Name of the workload policy, where the group needs one."""
    topology = workload_topology(spec)
    return gcp.compute.ResourcePolicy(name, **place, **policy_inputs(topology), opts=child).name if topology else None


def group_zones(spec: NodeGroupSpec, cluster_zones: Sequence[str]) -> list[str]:
    """The zones of a group in a cluster of these zones.

    Raises ValueError for a zone that the cluster lacks, for several where all nodes must be in one, and for zones that
    cannot start with equal numbers of nodes, which is the only way that GKE starts them.
    """
    return sorted({zone for pool in pools(spec) for zone in _pool_zones(pool.spec, cluster_zones)})


def _pool_zones(spec: NodeGroupSpec, cluster_zones: Sequence[str]) -> list[str]:
    way = spec.ways[0]
    chosen = [way.zone] if isinstance(way, Reservation) else list(spec.zones or cluster_zones)
    for zone in chosen:
        if zone not in cluster_zones:
            raise ValueError(
                f"zone {zone} is not one of the cluster's ({', '.join(cluster_zones)}): "
                "choose one of these, or add the zone to the cluster's zones"
            )
    if len(chosen) > 1 and (together := _together(spec)):
        raise ValueError(f"{together} lies in one zone, and this group has {', '.join(chosen)}: give zones with one")
    if spec.nodes.start % len(chosen):
        raise ValueError(_uneven(spec, len(chosen)))
    return chosen


def _together(spec: NodeGroupSpec) -> str | None:
    """What keeps all nodes of a pool in one zone."""
    machine = catalogue.machine(spec.machine)
    if tpu.hosts(machine, spec.topology) > 1:
        return f"a {spec.topology} slice"
    if tpu.is_tpu(machine) and isinstance(spec.ways[0], FlexStart):
        return "a flex_start pool of TPU"
    if spec.placement:
        return "a compact placement"
    return "the network of GPUDirect" if gpudirect.managed(spec.machine, spec.interconnect) else None


def selector(name: str, spec: NodeGroupSpec) -> dict[str, str]:
    """Labels by which pods find the nodes of the group that the cluster knows as `name`, and by which GKE knows what to
    add for them."""
    labels = base.node_labels(name, {})
    if len(spec.ways) > 1:
        return {**labels, **compute_class.labels(name)}
    if isinstance(spec.ways[0], FlexStart) and not spec.queued:
        labels = {**labels, FLEX_START_LABEL: "true"}
    return {**labels, **tpu.selector(catalogue.machine(spec.machine), spec.topology)}


def taints(name: str, spec: NodeGroupSpec) -> list[base.Taint]:
    """Taints of the nodes of the group that the cluster knows as `name`, beside the accelerator's."""
    of_class = [compute_class.taint(name)] if len(spec.ways) > 1 else []
    return [*of_class, *([ARM] if _is_arm(spec) else []), *spec.taints]


def tolerated(spec: NodeGroupSpec) -> list[str]:
    """Keys of taints that come with the machine, or with the way to pay: jobs of the group tolerate them without saying
    so."""
    found = {compute_class.LABEL: len(spec.ways) > 1, QUEUED_LABEL: spec.queued is not None, ARM.key: _is_arm(spec)}
    return [key for key, there in found.items() if there]


def _is_arm(spec: NodeGroupSpec) -> bool:
    return catalogue.machine(spec.machine).architecture == "arm64"


def provisioning(spec: NodeGroupSpec) -> dict[str, str] | None:
    """Parameters by which Kueue asks GKE for a job's nodes; None where the autoscaler adds them one by one."""
    if spec.queued is None:
        return None
    lasting = spec.queued.max_run_duration
    return {"maxRunDurationSeconds": str(in_seconds(lasting))} if lasting else {}


def workload_topology(spec: NodeGroupSpec) -> str | None:
    """Accelerators that belong together, where a pool must say so by a workload policy."""
    if tpu.needs_policy(catalogue.machine(spec.machine), spec.topology):
        return spec.topology
    family, joined = NVLINK_DOMAIN
    return joined if spec.machine.startswith(family) else None


def policy_inputs(topology: str) -> dict[str, Any]:
    """Inputs of the workload policy that keeps accelerators of this topology together, besides its place."""
    return {"workload_policy": {"type": "HIGH_THROUGHPUT", "accelerator_topology": topology}}


def node_pool_inputs(
    spec: NodeGroupSpec,
    *,
    location: str,
    zones: Sequence[str],
    interfaces: Sequence[Mapping[str, Any]] = (),
    policy: Any = None,
) -> dict[str, Any]:
    """Inputs of a node pool, besides its cluster and its nodes' configuration. `spec` is of that pool alone, `zones`
    are the cluster's; `interfaces` and the name of the workload policy may hold Outputs."""
    chosen = _pool_zones(spec, zones)
    return {
        "location": location,
        "node_locations": chosen,
        # The API counts these in each zone; group_zones sees to it that the zones share them evenly.
        "initial_node_count": spec.nodes.start // len(chosen),
        "autoscaling": _autoscaling(spec),
        # GKE does not repair flex-start nodes. A cluster on a release channel takes no pool without upgrades, queued or
        # not ("Auto_upgrade must be true when release_channel … is set"), and all clusters here are on one.
        "management": {"auto_repair": not isinstance(spec.ways[0], FlexStart), "auto_upgrade": True},
        **_upgrade(spec),
        "network_config": {"enable_private_nodes": True, **_networks(spec, interfaces)},
        **({"queued_provisioning": {"enabled": True}} if spec.queued else {}),
        **_placement(spec, policy),
    }


def _upgrade(spec: NodeGroupSpec) -> dict[str, Any]:
    """Nothing for nodes that live out their time: GKE gives their pool a strategy of its own, SHORT_LIVED, which the
    provider cannot say and GKE lets nobody change. Source: container API, NodePoolUpdateStrategy."""
    if isinstance(spec.ways[0], FlexStart):
        return {}
    return {"upgrade_settings": upgrade_settings(catalogue.machine(spec.machine), spec.upgrade, spec.ways)}


def _autoscaling(spec: NodeGroupSpec) -> dict[str, Any]:
    """GKE says limits of a multi-host slice, and of flex-start with TPU, by zone; these have one zone."""
    machine = catalogue.machine(spec.machine)
    by_zone = tpu.is_tpu(machine) and (tpu.hosts(machine, spec.topology) > 1 or isinstance(spec.ways[0], FlexStart))
    least, most = ("min_node_count", "max_node_count") if by_zone else ("total_min_node_count", "total_max_node_count")
    return {
        least: spec.nodes.min,
        most: spec.nodes.max,
        # Accelerators are taken where there are any; other nodes are spread for the sake of availability.
        "location_policy": "ANY" if machine.accelerators else "BALANCED",
    }


def _networks(spec: NodeGroupSpec, interfaces: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    if gpudirect.managed(spec.machine, spec.interconnect):
        return {"accelerator_network_profile": "auto"}
    return {"additional_node_network_configs": [dict(one) for one in interfaces]} if interfaces else {}


def _placement(spec: NodeGroupSpec, policy: Any) -> dict[str, Any]:
    if policy is not None:
        return {"placement_policy": {"type": "COMPACT", "policy_name": policy}}
    if spec.placement:
        return {"placement_policy": {"type": "COMPACT"}}
    machine = catalogue.machine(spec.machine)
    if tpu.hosts(machine, spec.topology) > 1:
        return {"placement_policy": {"type": "COMPACT", "tpu_topology": spec.topology}}
    return {}


def _uneven(spec: NodeGroupSpec, zones: int) -> str:
    start = spec.nodes.start
    fitting = [n for n in range(spec.nodes.min, spec.nodes.max + 1) if n % zones == 0]
    initial = f"set nodes.initial to {min(fitting, key=lambda n: abs(n - start))}, or " if fitting else ""
    return (
        f"{start} nodes cannot start in {zones} zones, because GKE starts as many in each: "
        f"{initial}name fewer zones for this group"
    )
