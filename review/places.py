"""Where pods may run: the machines of a program's node groups, as the scheduler tells them apart.

What every node of a group has is known from the program: its labels, and those that its cloud or Karpenter gives by
the machine. Labels that software finds out on the node are not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpuyard.review import karpenter
from gpuyard.review.node_group import NodeGroup, known_machine
from gpuyard.review.quantities import amount
from gpuyard.review.resources import Resource
from gpuyard.review.values import at, mapping, sequence, text

INSTANCE_TYPE = "node.kubernetes.io/instance-type"

ANYWHERE = ("kubernetes.io/arch", "kubernetes.io/os")
"""Labels that say of no group that a pod belongs there."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Place:
    """One machine of a node group, which has one or several."""

    group: NodeGroup
    machine: str | None
    labels: Mapping[str, frozenset[str]]
    """The values that a label may have on such a node, by its key."""


def places(group: NodeGroup, by_urn: Mapping[str, Resource]) -> list[Place]:
    """Each machine that a group may have."""
    inputs = by_urn[group.urn]["inputs"]
    machines = dict.fromkeys([group.machine, *(name for name, _ in group.also)])
    return [Place(group, machine, dict(_labels(group, machine, inputs))) for machine in machines]


def fits(pod: Json, place: Place) -> bool:
    """Whether the spec of a pod names labels of a place, and none that it lacks; a pod that names none may belong to
    anybody's nodes."""
    selector = mapping(pod.get("nodeSelector"))
    asked: list[Json] = [{"key": key, "operator": "In", "values": [value]} for key, value in selector.items()]
    terms = sequence(
        at(pod, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
    )
    # A pod may use any of the terms, and keeps all of one.
    ways = [[*asked, *map(mapping, sequence(mapping(term).get("matchExpressions")))] for term in terms] or [asked]
    return any(_names(way, place.labels) for way in ways)


def has(place: Place, container: Json) -> bool:
    """Whether a node of a place has the accelerators that a container asks for, as far as both are known."""
    machine = known_machine(place.machine)
    limits = mapping(at(container, "resources", "limits"))
    if machine is None or machine.resource is None:
        return True
    if machine.resource not in limits:
        # Parts of a GPU have names of their own.
        return any(_same_maker(name, machine.resource) for name in limits)
    wanted = amount(limits[machine.resource])
    return wanted is None or place.group.parts != () or wanted <= machine.accelerators


def _same_maker(name: str, resource: str) -> bool:
    return str(name).partition("/")[0] == resource.partition("/")[0]


def _names(requirements: Sequence[Json], labels: Mapping[str, frozenset[str]]) -> bool:
    named = [one for one in requirements if one.get("key") not in ANYWHERE]
    return any(one.get("operator") in ("In", "Exists") for one in named) and all(
        _holds(one, labels) for one in requirements
    )


def _holds(requirement: Json, labels: Mapping[str, frozenset[str]]) -> bool:
    """Whether a node may meet a requirement. Of a label that is not known here, or a value, nobody knows."""
    key = str(requirement.get("key"))
    if key not in labels:
        return key in ANYWHERE
    if any(not isinstance(value, str) for value in sequence(requirement.get("values"))):
        return False
    return any(karpenter.meets(value, requirement) for value in labels[key])


def _labels(group: NodeGroup, machine: str | None, inputs: Json) -> Iterator[tuple[str, frozenset[str]]]:
    found: Json = {}
    row = known_machine(machine)
    if group.cloud in ("aws", "gcp"):
        found |= {INSTANCE_TYPE: machine, "kubernetes.io/arch": row.architecture if row else None}
    if karpenter.is_pool(inputs):
        if row:
            found |= karpenter.labels_of(row)
        found |= mapping(at(inputs, "spec", "template", "metadata", "labels"))
        found |= {karpenter.NODE_POOL: text(at(inputs, "metadata", "name"))}
        for key, values in karpenter.allowed(inputs):
            if key not in found:
                yield key, frozenset(values)
    elif group.cloud == "aws":
        found |= mapping(inputs.get("labels")) | {"eks.amazonaws.com/nodegroup": inputs.get("nodeGroupName")}
    else:
        config = inputs.get("nodeConfig")
        found |= mapping((config if isinstance(config, dict) else inputs).get("labels"))
        if group.cloud == "gcp":
            kind = group.attached[0] if group.attached else row.cloud_accelerator if row else None
            found |= {"cloud.google.com/gke-nodepool": inputs.get("name"), "cloud.google.com/gke-accelerator": kind}
    yield from ((key, frozenset([value])) for key, value in found.items() if isinstance(value, str))
