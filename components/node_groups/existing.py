"""Node groups of a cluster that is there already: an inventory, nothing is created."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Self

import pulumi
from pydantic import Field, PositiveInt, model_validator

from gpuyard.components.node_groups.base import GROUP_LABEL, Taint, taint_refusals
from gpuyard.components.node_groups.base import NodeGroupSpec as BaseNodeGroupSpec
from gpuyard.components.node_groups.offers import Offer, part_name
from gpuyard.components.renaming import renamed
from gpuyard.components.scheduling.groups import class_name
from gpuyard.components.spec import LabelKey, LabelValue, Usd


class InventorySpec(BaseNodeGroupSpec):
    """Nodes of one kind that are there already."""

    count: PositiveInt
    """Nodes that the group has."""
    selector: dict[LabelKey, LabelValue] = Field(default_factory=dict)
    """Labels that these nodes, and no others, carry already. Pods select the group by them."""
    taints: list[Taint] = Field(default_factory=list)
    """Taints that these nodes carry, beside the one of their accelerators: pods for them tolerate each. Nobody writes
    them on nodes that are there already."""
    usd_hour: Usd | None = None
    """Amortised price of one node an hour: purchase over its life, power, space, people. Unknown when left out."""

    @model_validator(mode="after")
    def _tainted(self) -> Self:
        for refusal in taint_refusals(self.taints):
            raise ValueError(refusal)
        return self


class NodeGroupSpec(InventorySpec):
    """Nodes of one kind that somebody else runs."""

    priority_class: Annotated[str, Field(pattern=r"^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$")] | None = None
    """PriorityClass of pods that take these accelerators, where quotas of the cluster ask for one. When left out, that
    of gpuyard, gpuyard-<group>, where the selector names a group of gpuyard, and none elsewhere."""

    @model_validator(mode="after")
    def _selectable(self) -> Self:
        if not self.selector:
            raise ValueError("selector is empty, so no pod could find these nodes: give the labels that they carry")
        return self


class NodeGroup(pulumi.ComponentResource):
    """Nodes of somebody else's cluster, so that cost and placement know of them. It has no children: this stack pays
    for the accelerators that its endpoints take, not for the nodes."""

    def __init__(self, name: str, spec: NodeGroupSpec, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("gpuyard:index:SharedNodes", name, spec.model_dump(mode="json"), renamed(opts, name, spec))
        self.register_outputs({})


def overlaps(selectors: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """Which groups, by key, find nodes that are another's too, a sentence each: nodes with all labels of one selector
    and more carry those of the shorter one as well. They would be counted twice, and a GPU Operator that brings drivers
    refuses both groups'."""
    for name, labels in selectors.items():
        for other, more in selectors.items():
            # Of two that are equal, the later one is told.
            later = list(selectors).index(name) > list(selectors).index(other)
            if name != other and labels.items() <= more.items() and (later or labels != more):
                said = ", ".join(f"{key}: {value}" for key, value in labels.items())
                yield (
                    f"node_groups.{name}.selector: {{{said}}} finds the nodes of {other} too, which carry these labels "
                    "among theirs: add a label that only its own nodes carry"
                )


def priority_class(spec: NodeGroupSpec, offer: Offer | None) -> str | None:
    """The class that the platform, whose nodes these are, counts what the group offers by."""
    group = spec.selector.get(GROUP_LABEL)
    return spec.priority_class or (class_name(part_name(group, offer)) if group else None)


def node_selector(spec: NodeGroupSpec) -> dict[str, str]:
    """The labels by which a pod finds a node of the group."""
    return dict(spec.selector)
