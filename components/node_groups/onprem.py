"""Node groups of an on-prem cluster: nodes that are there already, which gpuyard labels where they are named, or bare
hosts that Cluster API makes nodes of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Self

import pulumi
from pydantic import Field, model_validator

from gpuyard import catalogue
from gpuyard.components.kubernetes import PROVIDER_VERSION
from gpuyard.components.node_groups import metal3
from gpuyard.components.node_groups.base import Taint, accelerator_taints, node_labels, taint_refusals
from gpuyard.components.node_groups.existing import InventorySpec
from gpuyard.components.node_groups.interconnect import Infiniband, infiniband_refusals
from gpuyard.components.node_groups.partition import operator_labels
from gpuyard.components.node_groups.upgrade import DriverUpgrade
from gpuyard.components.renaming import renamed
from gpuyard.components.scheduling import topology
from gpuyard.components.spec import LabelKey, Manifest

NodeName = Annotated[str, Field(pattern=r"^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$")]


NVIDIA = "nvidia.com/gpu"

FORCED = {"pulumi.com/patchForce": "true"}
"""A node that moves from one group to another gets the new label while the old group's patch still owns it."""


class NodeGroupSpec(InventorySpec):
    """Nodes of one kind: found by labels that they carry, named one by one, or made of bare hosts."""

    names: list[NodeName] = Field(default_factory=list)
    """Nodes that gpuyard labels with the group's name. Taints stay with whoever runs the machines: a taint that is
    written by two hands is lost by one of them."""
    managed_by: metal3.Metal3Spec | None = None
    """Who makes the nodes of bare hosts, where Cluster API does. Their count, labels and taints are then the group's,
    beside those that gpuyard sets; a change of labels, taints or partition installs the hosts anew."""
    interconnect: Infiniband | None = None
    """Fast network between the nodes, for jobs on several of them (docs/interconnect.md); none when left out."""
    driver_version: Annotated[str, Field(pattern=r"^[1-9][0-9]{2}(\.[0-9]{1,3}){0,2}$")] | None = None
    """NVIDIA's driver on these nodes, where it is another than the cluster's: of a canary, which has the next version
    first. The GPU Operator installs it, by its full version, where cluster.driver is operator; else it is what the
    machines have."""
    upgrade: DriverUpgrade | None = None
    """How the GPU Operator moves these nodes to another driver (docs/upgrading.md); one at a time when left out."""
    topology: list[LabelKey] = Field(default_factory=list)
    """Labels that every node carries already and that say where it stands, the farthest level first, such as
    [example.com/block, example.com/rack]. A job then says how near its pods run to each other."""

    @model_validator(mode="after")
    def _placed(self) -> Self:
        for refusal in topology.refusals(self.topology):
            raise ValueError(refusal)
        if self.topology and not catalogue.machine(self.machine).resource:
            raise ValueError(
                f"topology is given, and machine {self.machine} has no accelerator for jobs to queue for: leave it out"
            )
        for field in ("driver_version", "upgrade"):
            if getattr(self, field) and catalogue.machine(self.machine).resource != NVIDIA:
                raise ValueError(
                    f"{field} is about NVIDIA's driver, and machine {self.machine} has no GPU of NVIDIA's: leave it out"
                )
        if self.interconnect:
            for refusal in infiniband_refusals(catalogue.machine(self.machine)):
                raise ValueError(refusal)
        return self

    @model_validator(mode="after")
    def _selectable(self) -> Self:
        ways = [way for way in ("names", "selector", "managed_by") if getattr(self, way)]
        if len(ways) != 1:
            raise ValueError(
                f"{' and '.join(ways) + ' are' if ways else 'neither names nor selector nor managed_by is'} given: "
                "list the nodes under names (gpuyard labels them), give a selector of labels that they carry, or say "
                "under managed_by who makes them"
            )
        if self.names and not len(self.names) == len(set(self.names)) == self.count:
            raise ValueError(
                f"count is {self.count}, and {len(set(self.names))} different names are given: name each node once"
            )
        if self.labels and self.selector:
            raise ValueError("labels are given, but gpuyard labels only nodes that are named: list them under names")
        if self.managed_by:
            for refusal in taint_refusals(self.taints, accelerator_taints(catalogue.machine(self.machine))):
                raise ValueError(refusal)
        if refused := [label for label in self.labels if self.managed_by and metal3.refused_label(label)]:
            raise ValueError(
                f"labels {', '.join(refused)}: a node may not give itself labels of Kubernetes: give ones of your own"
            )
        if self.partition and self.selector:
            raise ValueError(
                f"partition {self.partition.kind} is given, and the GPU Operator divides the GPUs of nodes by a label, "
                "which gpuyard sets on nodes that are named: list them under names"
            )
        return self


class NodeGroup(pulumi.ComponentResource):
    """Nodes of an on-prem cluster that pods select as one group."""

    machines: list[pulumi.Resource]
    """What makes the nodes, where Cluster API does: without it they go."""

    def __init__(
        self,
        name: str,
        spec: NodeGroupSpec,
        *,
        management: pulumi.ProviderResource | None = None,
        protect: bool = False,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`management` declares objects in the cluster that makes the nodes, where one does. While `protect` is on, the
        machines that it makes are not deleted."""
        super().__init__("gpuyard:index:NodeInventory", name, spec.model_dump(mode="json"), renamed(opts, name, spec))
        child = pulumi.ResourceOptions(parent=self, version=PROVIDER_VERSION)
        for patch in node_patches(spec.known_as(name), spec):
            # A patch owns only the labels that it writes; the node stays its kubelet's.
            known = patch_name(name, patch["metadata"]["name"])
            pulumi.CustomResource("kubernetes:core/v1:NodePatch", known, patch, child)
        self.machines = []
        if spec.managed_by:
            made = metal3.Machines(
                name,
                spec.known_as(name),
                spec.managed_by,
                count=spec.count,
                labels=own_labels(spec.known_as(name), spec),
                taints=machine_taints(spec),
                protect=protect,
                opts=pulumi.ResourceOptions(parent=self, provider=management),
            )
            self.machines.append(made.deployment)
        self.register_outputs({})


def patch_name(group: str, node: str) -> str:
    """What the stack's state calls the patch of a node."""
    return f"{group}-{node}"


def own_labels(name: str, spec: NodeGroupSpec) -> dict[str, str]:
    """The labels that gpuyard gives the nodes of the group that the cluster knows as `name`."""
    return {**node_labels(name, spec.labels), **operator_labels(spec.partition)}


def machine_taints(spec: NodeGroupSpec) -> list[Taint]:
    """The taints that bare hosts join with."""
    return [*accelerator_taints(catalogue.machine(spec.machine)), *spec.taints]


def node_patches(name: str, spec: NodeGroupSpec) -> list[Manifest]:
    """One patch a named node, with the group's labels."""
    labels = own_labels(name, spec)
    return [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": node, "labels": labels, "annotations": FORCED}}
        for node in spec.names
    ]


def node_selector(name: str, spec: NodeGroupSpec) -> dict[str, str]:
    """The labels by which a pod finds a node of the group."""
    return dict(spec.selector) or node_labels(name, {})


def problems(groups: Mapping[str, NodeGroupSpec], kubernetes: str) -> Iterator[str]:
    """What keeps these groups from being those of one cluster of that minor version, a sentence each."""
    made = {name: (group.known_as(name), group.managed_by) for name, group in groups.items() if group.managed_by}
    yield from metal3.problems(made, kubernetes)
    owner: dict[str, str] = {}
    patches: dict[str, tuple[str, str]] = {}
    for name, group in groups.items():
        for node in group.names:
            known = patch_name(name, node)
            other, its = patches.setdefault(known, (name, node))
            if other != name and its != node:
                yield (
                    f"node_groups.{name}: its node {node} and node {its} of group {other} would both be {known} in the "
                    "stack's state: give the group another name"
                )
        if twice := [node for node in group.names if owner.setdefault(node, name) != name]:
            first = owner[twice[0]]
            yield f"node_groups.{name}.names: {', '.join(twice)} of group {first}: name each node in one group"
