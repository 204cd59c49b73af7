"""What Karpenter may make, as its NodePools say it. A pool grows until the first of its limits is reached."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import ge, gt, le, lt
from typing import Any

from gpuyard import catalogue
from gpuyard.review.disks import Disk

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

COMPARED: Mapping[Any, Callable[[float, float], bool]] = {"Gt": gt, "Lt": lt, "Gte": ge, "Lte": le}

MACHINES = "node.kubernetes.io/instance-type"
CAPACITY = "karpenter.sh/capacity-type"
ZONES = "topology.kubernetes.io/zone"

QUANTITY = re.compile(r"^([0-9]+(?:\.[0-9]+)?)(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$")
UNITS = {"": 1, "m": 0.001} | {
    letter + suffix: base**power
    for suffix, base in (("", 1000), ("i", 1024))
    for power, letter in enumerate("KMGTPE" if suffix else "kMGTPE", start=1)
}
"""Kubernetes' quantities. Source: k8s.io/apimachinery, pkg/api/resource."""

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
    template = _mapping(_mapping(inputs.get("spec")).get("template"))
    spec = _mapping(template.get("spec"))
    reference = _mapping(spec.get("nodeClassRef"))
    path, machines = _values(spec, MACHINES)
    cloud = CLOUDS.get(str(reference.get("group")), "other")
    return Pool(
        cloud=cloud,
        region=_region(_values(spec, ZONES)[1]),
        machines=_fitting(spec, cloud) if machines is None else machines,
        machine_path=path,
        markets=_markets(spec),
        kept=int(_amount(_mapping(inputs.get("spec")).get("replicas")) or 0),
        node_class=reference.get("name") if isinstance(reference.get("name"), str) else None,
        labels=_mapping(template.get("metadata")).get("labels"),
    )


def most_nodes(inputs: Json, machine: catalogue.Machine | None, *, alone: bool) -> int | None:
    """Nodes of a machine that a NodePool may grow to; None where nothing bounds it, or what bounds it is not known.

    `alone` says that the pool has no other machine: then a node that would cross a limit is not made. Of several,
    smaller ones may fill the rest, which counts as one node more.
    """
    spec = _mapping(inputs.get("spec"))
    given, kept = _mapping(spec.get("limits")), _amount(spec.get("replicas"))
    bounds = []
    for resource, limit in given.items():
        amount, each = _amount(limit), _each(resource, machine)
        if amount is not None and each:
            bounds.append(int(amount // each) if alone or resource == "nodes" else int(-(-amount // each)))
    # A pool of a fixed size goes beyond it only while nodes are replaced, and then up to its limit of nodes.
    return min(bounds) if bounds else int(kept) if kept is not None else None


def disks(node_class: Json) -> tuple[Disk, ...]:
    """The volumes of an EC2NodeClass; of one that names none, they are Karpenter's, and not known."""
    mappings = _mapping(node_class.get("spec")).get("blockDeviceMappings")
    volumes = [one.get("ebs") for one in mappings if isinstance(one, dict)] if isinstance(mappings, list) else []
    found = tuple(_disk(volume) for volume in volumes if isinstance(volume, dict))
    return found or (Disk(None, None),)


def class_of(found: Pool, objects: Iterable[Json]) -> Json | None:
    """The inputs of the EC2NodeClass that a pool names."""
    return next(
        (
            inputs
            for inputs in objects
            if inputs.get("kind") == "EC2NodeClass"
            and str(inputs.get("apiVersion", "")).startswith("karpenter.k8s.aws/")
            and _mapping(inputs.get("metadata")).get("name") == found.node_class
        ),
        None,
    )


def bought(component: Json | None, markets: Sequence[str]) -> tuple[tuple[str, ...], int | None]:
    """How the group of a component pays, and the machines that it has reserved: the component says what of the reserved
    ones are Capacity Blocks, and how many there are. Without a component, what the pool says."""
    ways = list(_ways(component.get("capacity"))) if component else []
    kinds = tuple(dict.fromkeys(kind for kind, _ in ways))
    counts = [count for _, count in ways if count]
    return kinds or tuple(markets), sum(counts) if counts else None


def _ways(given: Any) -> Iterator[tuple[str, int | None]]:
    for way in given if isinstance(given, list) else [given]:
        kind, count = _mapping(way).get("kind"), _amount(_mapping(way).get("count"))
        if isinstance(kind, str):
            yield kind, None if count is None else int(count)


def _markets(spec: Json) -> tuple[str, ...]:
    _, named = _values(spec, CAPACITY)
    # A pool that names none may use all but reservations, which it would have to be given.
    wanted = ["spot", "on-demand"] if named is None else named
    return tuple(ours for theirs, ours in MARKETS if theirs in wanted) or ("on_demand",)


def _values(spec: Json, key: str) -> tuple[str, list[str] | None]:
    """Where a requirement is, and what it allows; None where the pool does not say."""
    requirements = spec.get("requirements")
    for position, requirement in enumerate(requirements if isinstance(requirements, list) else []):
        if _mapping(requirement).get("key") == key and requirement.get("operator") == "In":
            values = requirement.get("values")
            path = f"/spec/template/spec/requirements/{position}/values"
            return path, [one for one in values if isinstance(one, str)] if isinstance(values, list) else []
    return "/spec/template/spec/requirements", None


def _fitting(spec: Json, cloud: str) -> list[str]:
    """The catalogue's machines that fit the requirements; those on labels that are not read here narrow nothing."""
    requirements = spec.get("requirements")
    wanted = [_mapping(one) for one in requirements] if isinstance(requirements, list) else []
    rows = (machine for machine in catalogue.machines().values() if machine.cloud == cloud)
    return [machine.name for machine in rows if all(_fits(_labels(machine), one) for one in wanted)]


def _labels(machine: catalogue.Machine) -> dict[str, str | None]:
    """What Karpenter says of a machine, None for what it does not have. Source: karpenter-provider-aws v1.14.1,
    reference/instance-types.md."""
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
        "instance-gpu-count": machine.accelerators if gpu else None,
        "instance-gpu-manufacturer": maker if gpu else None,
        "instance-gpu-memory": machine.accelerator_memory_mib if gpu else None,
        "instance-accelerator-name": machine.cloud_accelerator if other else None,
        "instance-accelerator-count": machine.accelerators if other else None,
        "instance-accelerator-manufacturer": maker if other else None,
    }
    texts = {f"karpenter.k8s.aws/{key}": None if value is None else str(value) for key, value in of_machine.items()}
    return texts | {"kubernetes.io/arch": machine.architecture}


def _fits(labels: Mapping[str, str | None], requirement: Json) -> bool:
    key, values = str(requirement.get("key")), requirement.get("values")
    if key not in labels or (values is not None and not isinstance(values, list)):
        return True
    has, first = labels[key], _amount((values or [None])[0])
    number = _amount(has)
    match requirement.get("operator"):
        case "In":
            return has in (values or [])
        case "NotIn":
            return has not in (values or [])
        case "Exists":
            return has is not None
        case "DoesNotExist":
            return has is None
        case operator if number is None or first is None:
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
        return machine.accelerators
    return {"cpu": machine.vcpus, "memory": machine.memory_gib * 2**30}.get(resource)


def _amount(value: Any) -> float | None:
    if isinstance(value, bool) or value is None:
        return None
    found = QUANTITY.match(str(int(value)) if isinstance(value, float) and value.is_integer() else str(value))
    return float(found[1]) * UNITS[found[2] or ""] if found else None


def _disk(volume: Json) -> Disk:
    size, kind = _amount(volume.get("volumeSize")), volume.get("volumeType")
    iops, mibps = _amount(volume.get("iops")), _amount(volume.get("throughput"))
    return Disk(
        kind if isinstance(kind, str) else None,
        None if size is None else int(size // 2**30),
        None if iops is None else int(iops),
        None if mibps is None else int(mibps),
    )


def _mapping(value: Any) -> Json:
    return value if isinstance(value, dict) else {}
