"""The fast network between the nodes of a group, and what software in a pod sets to use it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from gpuyard import catalogue
from gpuyard.components.spec import Spec


class Efa(Spec):
    """AWS's Elastic Fabric Adapter, on every network card of a machine that carries one."""

    kind: Literal["efa"]
    """AWS's Elastic Fabric Adapter. The group keeps to one zone, in which its traffic stays."""


class Infiniband(Spec):
    """InfiniBand between machines of one's own, over cards of NVIDIA (Mellanox)."""

    kind: Literal["infiniband"]
    """InfiniBand. Pods ask for rdma/infiniband: 1, and get all cards of their node; up to 63 pods share them."""
    driver: Literal["host", "operator"] = "host"
    """Who brings the cards' driver, DOCA-OFED: the machine's own system (DGX OS does), or NVIDIA's network operator in
    a container. A cluster has one network operator, so all its groups say the same."""


def settings(fabric: str, resource: str) -> Mapping[str, str]:
    """Environment variables of a pod with such accelerators on such a fabric, as the catalogue knows them."""
    return catalogue.nccl(fabric, resource)


def efa_refusals(machine: catalogue.Machine) -> Iterator[str]:
    """Why nodes of that machine could not have EFA."""
    found = catalogue.fabric(machine.name)
    if found and found.kind == "efa":
        return
    yield f"machine {machine.name} has no EFA: {_instead(machine)}, or leave interconnect out"


def infiniband_refusals(machine: catalogue.Machine) -> Iterator[str]:
    """Why nodes of that machine have no use for InfiniBand."""
    if not machine.resource:
        yield f"machine {machine.name} has no accelerator that InfiniBand would join: leave interconnect out"


def _instead(machine: catalogue.Machine) -> str:
    """Machines that have EFA: those with the same accelerator, where there are any."""
    known = [name for name, fabric in catalogue.fabrics().items() if fabric.kind == "efa"]
    same = [name for name in known if _accelerator(name) == machine.accelerator]
    return f"choose one that has, such as {', '.join((same or known)[:3])}"


def _accelerator(name: str) -> str | None:
    found = catalogue.machines().get(name)
    return found.accelerator if found else None
