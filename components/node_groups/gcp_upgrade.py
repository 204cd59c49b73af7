"""How a GKE node group moves to another version: node by node, or with as many new nodes beside the old ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, NonNegativeInt, PositiveInt

from gpuyard import catalogue
from gpuyard.components.node_groups import gcp_tpu as tpu
from gpuyard.components.node_groups.base import Nodes
from gpuyard.components.node_groups.gcp_capacity import FlexStart, Reservation, Way
from gpuyard.components.spec import Duration, Spec, in_seconds

MOST_AT_ONCE = 20
"""Nodes of a pool that GKE upgrades at the same time at the most. Source: GKE, node upgrade strategies."""

LONGEST_SOAK = 7 * 24 * 3600
"""Seconds that the old nodes are kept at the most. Source: GKE, blue-green upgrades: seven days."""


class Surge(Spec):
    """Some nodes at a time."""

    strategy: Literal["surge"]
    """New nodes take the place of old ones, some at a time."""
    max_surge: NonNegativeInt | None = None
    """Nodes that are added while an upgrade lasts. Left out, none to a group with accelerators or on a reservation,
    which nobody has to spare, and one to another."""
    max_unavailable: NonNegativeInt | None = None
    """Nodes that may be missing while an upgrade lasts. Left out, one of a group with accelerators or on a reservation,
    and none of another."""


class BlueGreen(Spec):
    """All nodes twice. An upgrade that fails goes back to the old ones, which are there until its end."""

    strategy: Literal["blue_green"]
    """As many new nodes beside the old ones: while an upgrade lasts, the group has and costs twice as much."""
    batch: PositiveInt = 1
    """Old nodes that are drained at once."""
    soak: Duration = "1h"
    """How long the old nodes are kept after the last is drained, 7d at the most."""


Upgrade = Annotated[Surge | BlueGreen, Field(discriminator="strategy")]


def upgrade_settings(
    machine: catalogue.Machine, upgrade: Surge | BlueGreen | None, ways: Sequence[Way]
) -> dict[str, Any]:
    """How the API wants it. Nobody has a spare accelerator to upgrade by, least of all within a reservation: one node
    at a time makes room."""
    if isinstance(upgrade, BlueGreen):
        rollout = {"batch_node_count": upgrade.batch, "batch_soak_duration": "0s"}
        soak = f"{in_seconds(upgrade.soak)}s"
        settings = {"standard_rollout_policy": rollout, "node_pool_soak_duration": soak}
        return {"strategy": "BLUE_GREEN", "blue_green_settings": settings}
    surge, unavailable = _surge(machine, upgrade, ways)
    return {"strategy": "SURGE", "max_surge": surge, "max_unavailable": unavailable}


def extra_nodes(
    machine: catalogue.Machine, upgrade: Surge | BlueGreen | None, ways: Sequence[Way], nodes: Nodes
) -> int:
    """Nodes that a group has while it is upgraded, beside those of its own."""
    return nodes.max if isinstance(upgrade, BlueGreen) else _surge(machine, upgrade, ways)[0]


def refusals(
    upgrade: Surge | BlueGreen | None,
    machine: catalogue.Machine,
    ways: Sequence[Way],
    nodes: Nodes,
    *,
    compact: bool,
    topology: str | None,
) -> Iterator[str]:
    """Why a group cannot be upgraded like that."""
    if upgrade is None:
        return
    if any(isinstance(way, FlexStart) for way in ways):
        yield (
            f"upgrade {upgrade.strategy} is given, and GKE lets flex_start nodes live out their time instead: "
            "leave upgrade out"
        )
    if isinstance(upgrade, BlueGreen):
        yield from _blue_green_refusals(upgrade, machine, ways, compact=compact, topology=topology)
        return
    surge, unavailable = _surge(machine, upgrade, ways)
    if not 1 <= surge + unavailable <= MOST_AT_ONCE:
        yield (
            f"upgrade.max_surge {surge} and max_unavailable {unavailable} are {surge + unavailable} nodes at once: "
            f"give 1 to {MOST_AT_ONCE} together"
        )
    reserved = sum(way.count for way in ways if isinstance(way, Reservation))
    if surge and reserved and nodes.max + surge > reserved:
        yield (
            f"upgrade.max_surge {surge} needs {nodes.max + surge} machines, and the reservation has {reserved}: "
            f"give max_surge 0 and max_unavailable, or nodes.max {max(reserved - surge, 1)}"
        )


def _surge(machine: catalogue.Machine, upgrade: Surge | None, ways: Sequence[Way]) -> tuple[int, int]:
    """Nodes that are added, and nodes that may be missing."""
    scarce = machine.accelerators or any(isinstance(way, Reservation) for way in ways)
    usual = (0, 1) if scarce else (1, 0)
    if upgrade is None:
        return usual
    surge = usual[0] if upgrade.max_surge is None else upgrade.max_surge
    return surge, usual[1] if upgrade.max_unavailable is None else upgrade.max_unavailable


def _blue_green_refusals(
    upgrade: BlueGreen, machine: catalogue.Machine, ways: Sequence[Way], *, compact: bool, topology: str | None
) -> Iterator[str]:
    bound = {
        "a reservation": any(isinstance(way, Reservation) for way in ways),
        "placement compact": compact,
        f"a {topology} slice": tpu.hosts(machine, topology) > 1,
    }
    for what in (name for name, there in bound.items() if there):
        yield (
            f"upgrade blue_green needs every node twice, and {what} has each once: "
            "give strategy surge, or leave upgrade out"
        )
    if in_seconds(upgrade.soak) > LONGEST_SOAK:
        yield f"upgrade.soak {upgrade.soak} is longer than GKE keeps old nodes: give 7d at the most"
