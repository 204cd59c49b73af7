"""What Karpenter may make, as its NodePools say it. A pool grows until the first of its limits is reached."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from operator import ge, gt, le, lt
from typing import Any

from gpuyard import catalogue
from gpuyard.review.node_group import PAID_WHILE_IDLE
from gpuyard.review.quantities import GIB, amount
from gpuyard.review.values import at, mapping, sequence, text

TYPE = "kubernetes:karpenter.sh/v1:NodePool"
"""A NodePool as the Kubernetes provider types it."""

CLOUDS = {"karpenter.k8s.aws": "aws", "eks.amazonaws.com": "aws"}
"""Clouds by the group of the class of nodes: Karpenter's own, and that of EKS Auto Mode."""

MARKETS = (("reserved", "reservation"), ("spot", "spot"), ("on-demand", "on_demand"))
"""Karpenter's capacity types, in the order in which it tries them, and what we call them. Source:
karpenter-provider-aws v1.14.1, concepts/nodepools.md, "Capacity Type"."""

MAKERS = {
    "nvidia.com/gpu": ("gpu", "nvidia"),
    "habana.ai/gaudi": ("gpu", "habana"),
    "aws.amazon.com/neuron": ("accelerator", "aws"),
    "qualcomm.com/qaic": ("accelerator", "qualcomm"),
}
"""How labels call what has a resource: as EC2 does, which lists the first two as GPUs."""

COMPARED: Mapping[str, Callable[[float, float], bool]] = {"Gt": gt, "Lt": lt, "Gte": ge, "Lte": le}

MACHINES = "node.kubernetes.io/instance-type"
CAPACITY = "karpenter.sh/capacity-type"
ZONES = "topology.kubernetes.io/zone"

NODE_POOL = "karpenter.sh/nodepool"
"""Label of each node, with the name of the pool that made it."""

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Pool:
    """A NodePool. None is not known."""

    cloud: str
    region: str | None
    """Region of the zones that it names."""
    machines: list[str]
    """Machine types that it may take: those that it names, or those of the catalogue that fit what it asks for."""
    machine_path: str
    """JSON pointer to them."""
    markets: tuple[str, ...]
    """How it pays, in the order in which it tries."""
    kept: int
    """Nodes that are there without a pod that needs them."""
    node_class: str | None
    labels: Any


def is_pool(inputs: Json) -> bool:
    """Whether an object is a NodePool, whatever resource of the program brings it."""
    return str(inputs.get("apiVersion", "")).startswith("karpenter.sh/") and inputs.get("kind") == "NodePool"


def pool(inputs: Json) -> Pool:
    """Reads a NodePool."""
    template = mapping(at(inputs, "spec", "template"))
    spec = mapping(template.get("spec"))
    reference = mapping(spec.get("nodeClassRef"))
    path, machines = _values(spec, MACHINES)
    cloud = CLOUDS.get(str(reference.get("group")), "other")
    return Pool(
        cloud=cloud,
        region=_region(_values(spec, ZONES)[1]),
        machines=_fitting(spec, cloud) if machines is None else machines,
        machine_path=path,
        markets=_markets(spec),
        kept=int(amount(at(inputs, "spec", "replicas")) or 0),
        node_class=text(reference.get("name")),
        labels=at(template, "metadata", "labels"),
    )


def most_nodes(inputs: Json, machine: catalogue.Machine | None, *, alone: bool) -> int | None:
    """Nodes of a machine that a NodePool may grow to; None where nothing bounds it, or what bounds it is not known.

    `alone` says that the pool has no other machine: then a node that would cross a limit is not made. Of several,
    smaller ones may fill the rest, which counts as one node more.
    """
    spec = mapping(inputs.get("spec"))
    given, kept = mapping(spec.get("limits")), amount(spec.get("replicas"))
    bounds = []
    for resource, limit in given.items():
        most, each = amount(limit), _each(resource, machine)
        if most is not None and each:
            bounds.append(int(most // each) if alone or resource == "nodes" else int(-(-most // each)))
    # A pool of a fixed size goes beyond it only while nodes are replaced, and then up to its limit of nodes.
    return min(bounds) if bounds else int(kept) if kept is not None else None


def class_of(name: str | None, objects: Iterable[Json]) -> Json | None:
    """The inputs of the EC2NodeClass of that name, as a pool gives it."""
    return next(
        (
            inputs
            for inputs in objects
            if inputs.get("kind") == "EC2NodeClass"
            and str(inputs.get("apiVersion", "")).startswith("karpenter.k8s.aws/")
            and at(inputs, "metadata", "name") == name
        ),
        None,
    )


def image_of(inputs: Json, objects: Iterable[Json]) -> tuple[str, str | None] | None:
    """The operating system of a NodePool's nodes and the release of its image, None for the latest; None where its
    class names images otherwise than by EKS's own alias."""
    named = text(at(inputs, "spec", "template", "spec", "nodeClassRef", "name"))
    terms = sequence(at(class_of(named, objects), "spec", "amiSelectorTerms"))
    alias = text(mapping(terms[0]).get("alias")) if len(terms) == 1 else None
    if alias is None:
        return None
    family, _, release = alias.partition("@")
    return family, None if release == "latest" else release


def bought(component: Json | None, markets: Sequence[str]) -> tuple[tuple[str, ...], int | None]:
    """How the group of a component pays, and the machines that it has reserved: the component says what of the reserved
    ones are Capacity Blocks, and how many there are. Without a component, what the pool says."""
    ways = list(_ways(component.get("capacity"))) if component else []
    kinds = tuple(dict.fromkeys(kind for kind, _ in ways))
    counts = [count for kind, count in ways if kind in PAID_WHILE_IDLE]
    known = [count for count in counts if count is not None]
    return kinds or tuple(markets), sum(known) if known and len(known) == len(counts) else None


def _ways(given: Any) -> Iterator[tuple[str, int | None]]:
    for way in given if isinstance(given, list) else [given]:
        kind, count = mapping(way).get("kind"), amount(mapping(way).get("count"))
        if isinstance(kind, str):
            yield kind, None if count is None else int(count)


def _markets(spec: Json) -> tuple[str, ...]:
    _, named = _values(spec, CAPACITY)
    # A pool that names none may use all but reservations, which it would have to be given.
    wanted = ["spot", "on-demand"] if named is None else named
    return tuple(ours for theirs, ours in MARKETS if theirs in wanted) or ("on_demand",)


def _values(spec: Json, key: str) -> tuple[str, list[str] | None]:
    """Where a requirement is, and what it allows; None where the pool does not say."""
    for position, requirement in enumerate(map(mapping, sequence(spec.get("requirements")))):
        if requirement.get("key") == key and requirement.get("operator") == "In":
            path = f"/spec/template/spec/requirements/{position}/values"
            return path, [one for one in sequence(requirement.get("values")) if isinstance(one, str)]
    return "/spec/template/spec/requirements", None


def _fitting(spec: Json, cloud: str) -> list[str]:
    """The catalogue's machines that fit the requirements; those on labels that are not read here narrow nothing."""
    wanted = [mapping(one) for one in sequence(spec.get("requirements"))]
    rows = (machine for machine in catalogue.machines().values() if machine.cloud == cloud)
    return [machine.name for machine in rows if all(_fits(labels_of(machine), one) for one in wanted)]


def allowed(inputs: Json) -> Iterator[tuple[str, list[str]]]:
    """Each label of which a NodePool says the values that its nodes may have."""
    for requirement in map(mapping, sequence(at(inputs, "spec", "template", "spec", "requirements"))):
        values = [value for value in sequence(requirement.get("values")) if isinstance(value, str)]
        if requirement.get("operator") == "In" and isinstance(requirement.get("key"), str):
            yield requirement["key"], values


@cache
def labels_of(machine: catalogue.Machine) -> Mapping[str, str | None]:
    """What Karpenter says of a machine, None for what it does not have. Source: karpenter-provider-aws v1.14.1,
    reference/instance-types.md and pkg/providers/instancetype/types.go."""
    family, _, size = machine.name.partition(".")
    kind, maker = MAKERS.get(machine.resource or "", (None, None))
    gpu, other = kind == "gpu", kind == "accelerator"
    found = re.match(r"^([a-z]+)([0-9]+)", family)
    of_machine: dict[str, Any] = {
        "instance-family": family,
        "instance-size": size,
        "instance-category": found[1] if found else None,
        "instance-generation": found[2] if found else None,
        "instance-cpu": machine.vcpus,
        "instance-memory": int(machine.memory_gib * 1024),
        "instance-gpu-name": machine.cloud_accelerator if gpu else None,
        "instance-gpu-count": _counted(machine) if gpu else None,
        "instance-gpu-manufacturer": maker if gpu else None,
        "instance-gpu-memory": machine.accelerator_memory_mib if gpu else None,
        "instance-accelerator-name": machine.cloud_accelerator if other else None,
        "instance-accelerator-count": machine.accelerators if other else None,
        "instance-accelerator-manufacturer": maker if other else None,
    }
    texts = {f"karpenter.k8s.aws/{key}": None if value is None else str(value) for key, value in of_machine.items()}
    return texts | {"kubernetes.io/arch": machine.architecture}


def _counted(machine: catalogue.Machine) -> int:
    """Accelerators of a machine as Karpenter counts them: EC2 says that a share of a GPU is none
    (karpenter-provider-aws, issue 8368)."""
    kind = catalogue.accelerator(machine.accelerator) if machine.accelerator else None
    return 0 if kind and kind.part_of else machine.accelerators


def _fits(labels: Mapping[str, str | None], requirement: Json) -> bool:
    key = str(requirement.get("key"))
    return key not in labels or meets(labels[key], requirement)


def meets(has: str | None, requirement: Json) -> bool:
    """Whether a label with that value, or none, meets a requirement of a NodePool or of a pod."""
    values, number = requirement.get("values"), amount(has)
    match str(requirement.get("operator")):
        case "Exists":
            return has is not None
        case "DoesNotExist":
            return has is None
        case _ if not isinstance(values, list) or None in values:
            # One that is not known may be what the machine has.
            return True
        case "In":
            return has in values
        case "NotIn":
            return has not in values
        case operator if (first := amount(next(iter(values), None))) is None or number is None:
            return operator not in COMPARED
        case operator:
            return COMPARED[operator](number, first) if operator in COMPARED else True


def _region(zones: list[str] | None) -> str | None:
    regions = {zone[:-1] for zone in zones or [] if zone[-1:].isalpha()}
    return regions.pop() if len(regions) == 1 else None


def _each(resource: str, machine: catalogue.Machine | None) -> float | None:
    """How much of a limited resource one node takes; None for what a node has not, or nobody knows."""
    if resource == "nodes":
        return 1
    if machine is None:
        return None
    if resource == machine.resource:
        return _counted(machine)
    return {"cpu": machine.vcpus, "memory": machine.memory_gib * GIB}.get(resource)
