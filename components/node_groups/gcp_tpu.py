"""TPU slices on GKE: which there are, how many nodes they have, and how pods find them.

A slice of one machine is a node like any other. A slice of several is a node pool that is made as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gpuyard import catalogue
from gpuyard.components.node_groups.base import Nodes

RESOURCE = "google.com/tpu"
"""What pods ask for. Source: GKE, plan TPUs."""

ACCELERATOR_LABEL = "cloud.google.com/gke-tpu-accelerator"
TOPOLOGY_LABEL = "cloud.google.com/gke-tpu-topology"
"""Labels that GKE puts on nodes with TPUs, and by which pods must select them. Source: GKE, plan TPUs."""

POLICY_FAMILIES = ("tpu7x-",)
"""Machines whose slices are told by a workload policy instead of by tpu_topology. Source: GKE, TPU7x (Ironwood)."""


SHOWN = 8
"""Topologies that a message names, the smallest first."""


def is_tpu(machine: catalogue.Machine) -> bool:
    """Whether a machine has TPU chips."""
    return machine.resource == RESOURCE


def hosts(machine: catalogue.Machine, topology: str | None) -> int:
    """Nodes of a slice; 1 for a machine that has no TPU."""
    return catalogue.slices(machine.name)[topology].hosts if topology else 1


def refusals(
    machine: catalogue.Machine, topology: str | None, nodes: Nodes, zones: Sequence[str] | None
) -> Iterator[str]:
    """Why there is no such slice, or no such number of them."""
    known = catalogue.slices(machine.name)
    if topology is None:
        if is_tpu(machine):
            yield f"machine {machine.name} has TPU chips, and no topology is given: give one of {_choices(known)}"
        return
    if not is_tpu(machine):
        yield f"topology {topology} is given, and machine {machine.name} has no TPU: leave topology out"
        return
    if topology not in known:
        yield f"topology {topology} is none of {machine.name}: give one of {_choices(known)}"
        return
    slice_nodes = known[topology].hosts
    for field, count in {"max": nodes.max, "min": nodes.min, "initial": nodes.start}.items():
        if count % slice_nodes:
            whole = count // slice_nodes * slice_nodes
            choices = " or ".join(str(n) for n in (whole, whole + slice_nodes) if n or field != "max")
            yield (
                f"nodes.{field} {count} is no whole number of slices: a {topology} slice of {machine.name} has "
                f"{slice_nodes} nodes, so give {choices}"
            )
            return
    if slice_nodes > 1 and zones and len(zones) > 1:
        yield f"zones {', '.join(zones)} are given, and a slice lies in one zone: name one"


def needs_policy(machine: catalogue.Machine, topology: str | None) -> bool:
    """Whether a slice is told by a workload policy; of one node, its topology follows from the machine."""
    return machine.name.startswith(POLICY_FAMILIES) and hosts(machine, topology) > 1


def selector(machine: catalogue.Machine, topology: str | None) -> dict[str, str]:
    """Labels by which pods find a slice; GKE sets them."""
    if topology is None or machine.cloud_accelerator is None:
        return {}
    return {ACCELERATOR_LABEL: machine.cloud_accelerator, TOPOLOGY_LABEL: topology}


def _choices(known: Mapping[str, catalogue.Slice]) -> str:
    rest = f" or one of {len(known) - SHOWN} larger ones" if len(known) > SHOWN else ""
    return ", ".join(list(known)[:SHOWN]) + rest
