"""What every node group says, whatever its cloud."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, NonNegativeInt, PositiveInt, model_validator

from gpuyard import catalogue
from gpuyard.components.node_groups import partition as partitions
from gpuyard.components.spec import KeyedSpec, LabelKey, LabelValue, Spec

GROUP_LABEL = "gpuyard.io/node-group"
"""Every node carries its group's name under this key; pods select a group by it."""


OPERATOR_PARTS = "nvidia.com/gpu.deploy."
"""Begins the labels by which the GPU Operator's parts find their nodes. Source: NVIDIA/gpu-operator,
controllers/state_manager.go."""


def _known_machine(name: str) -> str:
    return catalogue.machine(name).name


MachineName = Annotated[str, AfterValidator(_known_machine)]
"""A machine of the catalogue."""


class Nodes(Spec):
    """Numbers of nodes, always totals over all zones."""

    min: NonNegativeInt
    """The scaler keeps at least so many nodes."""
    initial: NonNegativeInt | None = None
    """Nodes at creation; `min` when left out. Later the scaler owns the number."""
    max: PositiveInt
    """The scaler never goes above this; quota and cost are judged by it."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.min > self.max:
            raise ValueError(f"min {self.min} is above max {self.max}: raise max or lower min")
        if self.initial is not None and not self.min <= self.initial <= self.max:
            raise ValueError(
                f"initial {self.initial} is outside min {self.min} to max {self.max}: choose a number between"
            )
        return self

    @property
    def start(self) -> int:
        """Nodes at creation."""
        return self.min if self.initial is None else self.initial


class Taint(Spec):
    """A Kubernetes taint."""

    key: LabelKey
    """What pods tolerate it by."""
    value: LabelValue = ""
    """Told apart by it, where one key has several."""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] = "NoSchedule"
    """What happens to pods that do not tolerate it."""


class NodeGroupSpec(KeyedSpec):
    """Machines of one kind that scale as one."""

    machine: MachineName
    """Machine type, as its cloud names it: one of catalogue/data/machines."""
    labels: dict[LabelKey, LabelValue] = Field(default_factory=dict)
    """Labels of every node, beside those that gpuyard sets."""
    partition: partitions.Partition | None = None
    """Every NVIDIA GPU of a node for several pods: cut into slices (mig), or shared (mps, time_slicing). Tenants'
    shares and endpoints then count slices, or places on a GPU. Whole accelerators when left out."""

    @model_validator(mode="after")
    def _divisible(self) -> Self:
        for label in (partitions.MIG_LABEL, partitions.SHARING_LABEL):
            if label in self.labels:
                raise ValueError(
                    f"label {label} divides GPUs behind the back of quotas and prices: give partition instead"
                )
        for label in self.labels:
            if label == GROUP_LABEL:
                raise ValueError(f"label {label} is the group's name, which gpuyard sets: leave it out")
            if label.startswith(OPERATOR_PARTS):
                raise ValueError(
                    f"label {label} tells the GPU Operator which of its parts a node has, which gpuyard decides, so "
                    "that one alone offers the GPUs: leave it out"
                )
        for refusal in self.partition_refusals():
            raise ValueError(refusal)
        return self

    def partition_refusals(self) -> Iterator[str]:
        """Why the GPUs of these nodes cannot be divided so. A cloud that divides them itself says what it can do."""
        if self.partition:
            yield from partitions.refusals(self.partition, catalogue.machine(self.machine))


class ScaledNodeGroupSpec(NodeGroupSpec):
    """Machines that a cloud adds and removes."""

    nodes: Nodes
    """How many, over all zones."""
    taints: list[Taint] = Field(default_factory=list)
    """Taints of every node, beside the one that keeps other pods off accelerators."""

    @model_validator(mode="after")
    def _tainted(self) -> Self:
        for refusal in taint_refusals(self.taints, accelerator_taints(catalogue.machine(self.machine))):
            raise ValueError(refusal)
        return self


def kubernetes_owns(label: str) -> bool:
    """Whether a label's prefix is one that Kubernetes keeps for itself."""
    return within(label, ("kubernetes.io", "k8s.io"))


def within(label: str, domains: Sequence[str]) -> bool:
    """Whether a label's prefix is one of these domains, or lies below one."""
    prefix = label.rpartition("/")[0]
    return any(prefix == domain or prefix.endswith(f".{domain}") for domain in domains)


def accelerator_taints(machine: catalogue.Machine) -> list[Taint]:
    """Keeps pods without an accelerator off expensive nodes. GKE sets the same taint itself on its GPU pools."""
    return [Taint(key=machine.resource, value="present")] if machine.resource else []


def zone_refusals(zones: Sequence[str] | None) -> Iterator[str]:
    """Why a group could not be in these zones, whatever its cluster: nodes and subnets are counted by zone."""
    if zones and len(set(zones)) < len(zones):
        yield f"zones {', '.join(zones)} names a zone twice: give each zone once"


def taint_refusals(given: Sequence[Taint], others: Sequence[Taint] = ()) -> Iterator[str]:
    """Why a node could not have these taints beside `others`: a node takes a key with an effect once, whatever the
    value (Kubernetes, pkg/apis/core/validation, validateNodeTaints)."""
    taken = {(taint.key, taint.effect) for taint in others}
    for position, taint in enumerate(given):
        called = f"taint {taint.key} with effect {taint.effect}"
        if (taint.key, taint.effect) in taken:
            yield f"{called} is there already, with the accelerators of the machine: leave it out"
        elif (taint.key, taint.effect) in {(before.key, before.effect) for before in given[:position]}:
            yield f"{called} is given twice, and a node has it once: take one out"


def node_labels(name: str, labels: dict[str, str]) -> dict[str, str]:
    """The labels of every node of the group that the cluster knows as `name`."""
    return {**labels, GROUP_LABEL: name}
