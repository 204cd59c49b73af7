"""What the nodes of a live cluster are: which machine of the catalogue, whole or divided, and how many there are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpuyard import catalogue
from gpuyard.catalogue.products import PRODUCT
from gpuyard.review.errors import InputError

INSTANCE_TYPE = "node.kubernetes.io/instance-type"
"""The cloud's name of the machine, which its cloud provider writes on the node."""

NVIDIA = "nvidia.com/gpu"
SHARED = f"{NVIDIA}.shared"
STRATEGIES = {"time-slicing": "time_slicing", "time-sharing": "time_slicing", "mps": "mps"}
"""What NVIDIA's device plugin and GKE call the ways to share a GPU, and what a stack does."""

GKE_SIZE = "cloud.google.com/gke-gpu-partition-size"
GKE_CLIENTS = "cloud.google.com/gke-max-shared-clients-per-gpu"
GKE_STRATEGY = "cloud.google.com/gke-gpu-sharing-strategy"
"""GKE's labels of nodes whose GPUs it divides. Whatever they are, they are offered as nvidia.com/gpu."""

SLICE = re.compile(r"^nvidia\.com/mig-(?P<profile>.+)$")
ACCELERATORS = re.compile(
    r"^(nvidia\.com/(gpu|mig-)|amd\.com/gpu|aws\.amazon\.com/neuron$|habana\.ai/|google\.com/tpu|qualcomm\.com/|"
    r"gpu\.intel\.com/(i915|xe)$)"
)
"""Resources that are accelerators, whether the catalogue knows them or not. Of AWS's Neuron chips the cores and devices
are offered by names of their own too, and are the same ones."""

LASTING = re.compile(
    r"^(?!(node\.kubernetes\.io|node\.cloudprovider\.kubernetes\.io|karpenter\.sh|node\.cilium\.io)/|"
    r"(ToBeDeleted|DeletionCandidateOf)ClusterAutoscaler|ebs\.csi\.aws\.com/agent-not-ready)"
)
"""Taints that stay: not those that controllers put on a node for a while, because of its state."""

DRIVERS = ("nvidia.com/cuda.driver-version.full", "nebius.com/nvidia_driver_version")
"""Labels with the version of the NVIDIA driver: GPU Feature Discovery's, and that of clouds that bring the driver."""

Taint = tuple[str, str, str]
"""Key, value and effect."""


@dataclass(frozen=True, slots=True)
class Node:
    """One node, as far as it matters here."""

    name: str
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    """Those that stay, sorted."""
    capacity: Mapping[str, int]
    """Accelerators by resource name; those that are out of order count."""
    allocatable: Mapping[str, int]
    """The same, those alone that pods can have."""
    kubelet: tuple[int, int] | None
    """Minor version of its kubelet: (1, 35). None where it does not say one."""
    driver: str | None
    """Version of its NVIDIA driver, where a label says it."""
    closed: bool
    """Whether it takes no pods now: not ready, or cordoned."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What nodes of one kind are."""

    machine: str
    """A machine of the catalogue."""
    resource: str
    """What it calls its accelerators, whole."""
    partition: str | None = None
    """How they are divided, as a stack file says it; None where they are whole."""


def read(item: Any) -> Node:
    """A node of the API's answer. Raises InputError for what is none."""
    try:
        metadata, spec, status = item["metadata"], item.get("spec") or {}, item["status"]
        taints = [(t["key"], t.get("value") or "", t["effect"]) for t in spec.get("taints") or []]
        ready = any(c["type"] == "Ready" and c["status"] == "True" for c in status.get("conditions") or [])
        return Node(
            name=metadata["name"],
            labels=metadata.get("labels") or {},
            taints=tuple(sorted(taint for taint in taints if LASTING.match(taint[0]))),
            capacity=_accelerators(status.get("capacity") or {}),
            allocatable=_accelerators(status.get("allocatable") or {}),
            kubelet=_minor((status.get("nodeInfo") or {}).get("kubeletVersion") or ""),
            driver=_driver(metadata.get("labels") or {}),
            closed=not ready or bool(spec.get("unschedulable")),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError("a node in the cluster's answer is none: ask the cluster's own API, not a copy") from error


def kind(node: Node) -> Kind | str:
    """What a node with accelerators is, or why that is not known."""
    offered = {name: count for name, count in node.capacity.items() if count}
    slices = {found["profile"]: count for name, count in offered.items() if (found := SLICE.match(name))}
    if slices:
        return _sliced(node, slices, offered)
    if len(offered) > 1:
        return f"offers {' and '.join(sorted(offered))} on one node"
    ((resource, count),) = offered.items()
    gke = [node.labels.get(label, "") for label in (GKE_SIZE, GKE_CLIENTS, GKE_STRATEGY)]
    if gke[0]:
        return (
            "has GPUs that are cut and shared, which a stack cannot say" if gke[1] else _cut_alike(node, gke[0], count)
        )
    if gke[1] or resource == SHARED:
        labels = (f"{NVIDIA}.replicas", f"{NVIDIA}.sharing-strategy")
        clients, strategy = gke[1:] if gke[1] else (node.labels.get(label, "") for label in labels)
        return _shared(node, resource, count, clients, strategy)
    product = node.labels.get(PRODUCT, "")
    if product.endswith("-SHARED"):
        return f"shares GPUs under the name of whole ones, {resource}, which a stack cannot tell apart"
    if "-MIG-" in product:
        return _cut_alike(node, product.partition("-MIG-")[2], count)
    machine = _machine(node, count)
    return machine if isinstance(machine, str) else Kind(machine.name, resource)


def _sliced(node: Node, slices: Mapping[str, int], offered: Mapping[str, int]) -> Kind | str:
    """Slices that have names of their own (MIG strategy mixed): GPUs are counted apart from them."""
    counted = node.labels.get(f"{NVIDIA}.count", "")
    if not counted.isdecimal() or not int(counted) or len(slices) < len(offered):
        return f"offers {', '.join(sorted(offered))}, and does not say of how many GPUs"
    gpus = int(counted)
    uneven = [profile for profile, count in slices.items() if count % gpus]
    if uneven:
        return f"has {gpus} GPUs that are not cut alike ({', '.join(uneven)})"
    machine = _machine(node, gpus)
    if isinstance(machine, str):
        return machine
    names = {row.resource: profile for profile, row in catalogue.partitions(machine.accelerator or "").items()}
    profiles = {names.get(f"nvidia.com/mig-{said}", said): count // gpus for said, count in slices.items()}
    if unknown := [profile for profile in profiles if profile not in names.values()]:
        return f"has slices {', '.join(unknown)}, which the catalogue does not know of {machine.accelerator}"
    return Kind(machine.name, NVIDIA, _mig(profiles, ", strategy: mixed" if len(profiles) == 1 else ""))


def _cut_alike(node: Node, profile: str, count: int) -> Kind | str:
    """Slices of one profile under the name of whole GPUs (MIG strategy single): no label counts the GPUs."""
    product = catalogue.product(node.labels)
    known = catalogue.partitions(product.accelerator) if product else {}
    named = catalogue.machines().get(node.labels.get(INSTANCE_TYPE, ""))
    most = known[profile].most if profile in known else 0
    gpus = named.accelerators if named else count // most if most and not count % most else 0
    if not gpus or count % gpus:
        return f"offers {count} slices {profile}, and does not say of how many GPUs"
    machine = _machine(node, gpus)
    return machine if isinstance(machine, str) else Kind(machine.name, NVIDIA, _mig({profile: count // gpus}))


def _shared(node: Node, resource: str, count: int, clients: str, strategy: str) -> Kind | str:
    said = STRATEGIES.get(strategy)
    if said is None or not clients.isdecimal() or int(clients) < 2 or count % int(clients):
        return f"offers {count} {resource}, and does not say how its GPUs are shared"
    machine = _machine(node, count // int(clients))
    if isinstance(machine, str):
        return machine
    if (machine.cloud == "gcp") != (resource == NVIDIA):
        return f"shares GPUs as {resource}, by which a stack does not know those of {machine.name}"
    return Kind(machine.name, NVIDIA, f"{{kind: {said}, clients: {clients}}}")


def _mig(profiles: Mapping[str, int], strategy: str = "") -> str:
    said = ", ".join(f"{profile}: {count}" for profile, count in sorted(profiles.items()))
    return f"{{kind: mig, profiles: {{{said}}}{strategy}}}"


def _machine(node: Node, count: int) -> catalogue.Machine | str:
    """The machine of a node with so many accelerators: as its cloud names it, or by accelerator and count."""
    machines = catalogue.machines()
    named = machines.get(node.labels.get(INSTANCE_TYPE, ""))
    if named and named.accelerators == count:
        return named
    product = catalogue.product(node.labels)
    if product is None:
        keys = dict.fromkeys(label for label, _ in catalogue.products())
        said = "".join(f", {key} {node.labels[key]}" for key in keys if key in node.labels)
        return f"has {count} accelerators{said}, and no label says a kind that is known"
    own = [m for m in machines.values() if m.accelerator == product.accelerator and m.name.startswith("onprem-")]
    exact = [machine for machine in own if machine.accelerators == count]
    if exact:
        return exact[0]
    known = ", ".join(machine.name for machine in own) or "none with these"
    return f"has {count} {product.accelerator}, and the catalogue has no machine with as many ({known})"


def _accelerators(resources: Mapping[str, str]) -> dict[str, int]:
    counted = {name: str(value) for name, value in resources.items() if ACCELERATORS.match(name)}
    return {name: int(value) for name, value in counted.items() if value.isdecimal()}


def _driver(labels: Mapping[str, str]) -> str | None:
    said = next((labels[key] for key in DRIVERS if key in labels), "")
    found = re.match(r"^[1-9][0-9]{2}(\.[0-9]{1,3}){0,2}", said)
    return found[0] if found else None


def _minor(version: str) -> tuple[int, int] | None:
    found = re.match(r"^v?(\d+)\.(\d+)", version)
    return (int(found[1]), int(found[2])) if found else None
