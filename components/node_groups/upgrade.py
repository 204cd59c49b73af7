"""How many nodes of a group go without their pods at once while the group moves to another version."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Discriminator, Field, Tag

from gpuyard.components.spec import Duration, Spec, pattern

Part = Annotated[str, pattern(r"^([1-9][0-9]?|100)%$", "a number of nodes, or a part of the group such as 25%")]
"""A part of a group's nodes, in percent."""


def _shape(value: Any) -> str:
    return "part" if isinstance(value, str) else "number"


Nodes = Annotated[
    Annotated[int, Field(ge=1, le=100), Tag("number")] | Annotated[Part, Tag("part")], Discriminator(_shape)
]
"""Nodes of a group, 1 to 100, or a part of it."""


class Upgrade(Spec):
    """How a group moves to another version of its image or its driver."""

    max_unavailable: Nodes = 1
    """Nodes that are upgraded at once: 1 to 100, or a part of the group such as 25%."""


class DriverUpgrade(Upgrade):
    """How the GPU Operator moves a group to another driver."""

    wait_for_jobs: Duration | None = None
    """How long a node that is cordoned waits for pods of Jobs to end by themselves. Left out, they are evicted as other
    pods are that have GPUs."""
