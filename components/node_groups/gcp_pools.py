"""A node group on GKE as node pools: one, unless it is paid for in several ways, or has several slices of TPU."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gpuyard import catalogue
from gpuyard.components.node_groups import gcp_tpu as tpu
from gpuyard.components.node_groups.base import Nodes
from gpuyard.components.node_groups.gcp_capacity import Reservation, Way, shares
from gpuyard.components.node_groups.gcp_spec import NodeGroupSpec

NAME_LENGTH = 32
"""A node pool's name has at most 40 characters, and 8 of them are Pulumi's random suffix. Source: GKE."""


@dataclass(frozen=True, slots=True)
class Pool:
    """One node pool of a group."""

    suffix: str
    """What its name has after the group's; empty for the only one."""
    spec: NodeGroupSpec
    """The group, as if this pool were all of it: one way to pay, the nodes of this pool."""

    def called(self, group: str) -> str:
        """The pool's name, before Pulumi's suffix."""
        return f"{group}-{self.suffix}" if self.suffix else group

    @property
    def way(self) -> Way:
        """How its nodes are paid for."""
        return self.spec.ways[0]


def pools(spec: NodeGroupSpec) -> list[Pool]:
    """The node pools of a group; of several ways to pay, in the order in which they are tried."""
    if len(spec.ways) > 1:
        return [
            Pool(suffix, spec.model_copy(update={"capacity": way, "nodes": nodes}))
            for (suffix, way), nodes in zip(_named(spec.ways), shares(spec.ways, spec.nodes), strict=True)
        ]
    slice_nodes = tpu.hosts(catalogue.machine(spec.machine), spec.topology)
    if slice_nodes == 1:
        return [Pool("", spec)]
    return [
        Pool("" if position == 1 else str(position), spec.model_copy(update={"nodes": nodes}))
        for position, nodes in enumerate(_slices(spec.nodes, slice_nodes), start=1)
    ]


def check_name(name: str, spec: NodeGroupSpec) -> str:
    """The name of a group, when it leaves room for the names of its node pools.

    Raises ValueError otherwise.
    """
    room = NAME_LENGTH - max(len(pool.called("")) for pool in pools(spec))
    if len(name) > room:
        raise ValueError(f"the name {name} has {len(name)} characters: give this node group on GKE {room} at most")
    return name


def _named(ways: list[Way]) -> Iterator[tuple[str, Way]]:
    """Names that stay when another way is put before: an order is no identity. Only reservations have a number."""
    reservations = 0
    for way in ways:
        if isinstance(way, Reservation):
            reservations += 1
        number = f"-{reservations}" if isinstance(way, Reservation) and reservations > 1 else ""
        yield f"{way.kind.replace('_', '-')}{number}", way


def _slices(nodes: Nodes, slice_nodes: int) -> Iterator[Nodes]:
    """The nodes of each slice: all of them, or none."""
    for end in range(slice_nodes, nodes.max + 1, slice_nodes):
        least = slice_nodes if end <= nodes.min else 0
        yield Nodes(min=least, initial=slice_nodes if end <= nodes.start else 0, max=slice_nodes)
