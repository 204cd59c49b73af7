"""Networks between accelerators of different machines: EFA of AWS, GPUDirect of Google."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal, cast, get_args

from gpuyard.catalogue.tables import load

FabricKind = Literal["efa", "tcpx", "tcpxo", "rdma"]
"""EFA on AWS; on GCP GPUDirect-TCPX (A3 High), -TCPXO (A3 Mega) and -RDMA over RoCE (A3 Ultra and newer)."""


@dataclass(frozen=True, slots=True)
class Fabric:
    """The network between accelerators that a machine takes part in, beside its ordinary one."""

    machine: str
    """A key of the machines."""
    kind: FabricKind
    interfaces: int
    """Interfaces of the fabric that a machine has at most. AWS: pods ask for as many `vpc.amazonaws.com/efa`."""
    network_cards: int
    """Network cards of the machine, those that carry no fabric with them."""
    first_card: int
    """Index of the first network card that carries an interface of the fabric; those after it carry one each.

    AWS: 0, where the interface is the second device of card 0, or 1 where card 0 is for the ordinary network alone.
    """
    mtu: int | None
    """GCP: bytes of the fabric's networks; None on AWS, where the driver sets it, and where it is not known."""
    network_profile: str | None
    """GCP's RDMA: the profile of its network without the zone, such as vpc-roce; None elsewhere."""
    source: str
    date: str
    """The day that the source is of, YYYY-MM-DD."""


@cache
def fabrics() -> Mapping[str, Fabric]:
    """Every fabric by its machine."""
    return load("fabrics.csv", _fabric)


def fabric(machine: str) -> Fabric | None:
    """The fabric of that machine, or None: one that has none, or that is not known."""
    return fabrics().get(machine)


def _fabric(columns: dict[str, str]) -> tuple[str, Fabric]:
    if columns["kind"] not in get_args(FabricKind):
        raise ValueError(f"kind {columns['kind']!r} is none of {', '.join(get_args(FabricKind))}")
    row = Fabric(
        machine=columns["machine"],
        kind=cast(FabricKind, columns["kind"]),
        interfaces=int(columns["interfaces"]),
        network_cards=int(columns["network_cards"]),
        first_card=int(columns["first_card"]),
        mtu=int(columns["mtu"]) if columns["mtu"] else None,
        network_profile=columns["network_profile"] or None,
        source=columns["source"],
        date=columns["date"],
    )
    return row.machine, row
