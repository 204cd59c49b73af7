"""Node groups of an on-prem cluster: machines that are racked already; gpuyard labels those that are named."""

from __future__ import annotations

from typing import Annotated, Self

import pulumi
from pydantic import Field, model_validator

from gpuyard.components.kubernetes import PROVIDER_VERSION
from gpuyard.components.node_groups.base import node_labels
from gpuyard.components.node_groups.existing import InventorySpec
from gpuyard.components.renaming import renamed
from gpuyard.components.spec import Manifest

NodeName = Annotated[str, Field(pattern=r"^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$")]


FORCED = {"pulumi.com/patchForce": "true"}
"""A node that moves from one group to another gets the new label while the old group's patch still owns it."""


class NodeGroupSpec(InventorySpec):
    """Nodes of one kind, found by labels that they carry or named one by one."""

    names: list[NodeName] = Field(default_factory=list)
    """Nodes that gpuyard labels with the group's name. Taints stay with whoever runs the machines: a taint that is
    written by two hands is lost by one of them."""

    @model_validator(mode="after")
    def _selectable(self) -> Self:
        if bool(self.names) == bool(self.selector):
            raise ValueError(
                f"{'both names and selector are' if self.names else 'neither names nor selector is'} given: "
                "list the nodes under names (gpuyard labels them), or give a selector of labels that they carry"
            )
        if self.names and not len(self.names) == len(set(self.names)) == self.count:
            raise ValueError(
                f"count is {self.count}, and {len(set(self.names))} different names are given: name each node once"
            )
        if self.labels and not self.names:
            raise ValueError("labels are given, but gpuyard labels only nodes that are named: list them under names")
        return self


class NodeGroup(pulumi.ComponentResource):
    """Nodes of an on-prem cluster that pods select as one group."""

    def __init__(self, name: str, spec: NodeGroupSpec, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("gpuyard:index:NodeInventory", name, spec.model_dump(mode="json"), renamed(opts, name, spec))
        child = pulumi.ResourceOptions(parent=self, version=PROVIDER_VERSION)
        for patch in node_patches(spec.known_as(name), spec):
            # A patch owns only the labels that it writes; the node stays its kubelet's.
            known = patch_name(name, patch["metadata"]["name"])
            pulumi.CustomResource("kubernetes:core/v1:NodePatch", known, patch, child)
        self.register_outputs({})


def patch_name(group: str, node: str) -> str:
    """What the stack's state calls the patch of a node."""
    return f"{group}-{node}"


def node_patches(name: str, spec: NodeGroupSpec) -> list[Manifest]:
    """One patch a named node, with the group's labels."""
    labels = node_labels(name, spec.labels)
    return [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": node, "labels": labels, "annotations": FORCED}}
        for node in spec.names
    ]


def node_selector(name: str, spec: NodeGroupSpec) -> dict[str, str]:
    """The labels by which a pod finds a node of the group."""
    return dict(spec.selector) or node_labels(name, {})
