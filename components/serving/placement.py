"""Where an endpoint runs, and whether it can."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gpuyard import catalogue
from gpuyard.components.node_groups.base import Taint
from gpuyard.components.node_groups.offers import Offer
from gpuyard.components.serving import compatibility, template
from gpuyard.components.serving.model import StoredModel
from gpuyard.components.serving.sizing import loaded_bytes
from gpuyard.components.serving.spec import EndpointSpec
from gpuyard.components.spec import GIB

CLOUD_OF_STORE = {"s3": "aws", "gs": "gcp"}
"""The only cloud whose clusters give pods an identity for such a store."""


@dataclass(frozen=True)
class Placement:
    """A namespace and a node group, as an endpoint sees them."""

    group: str
    """Name of the node group."""
    namespace: str
    """The tenant's namespace."""
    machine: catalogue.Machine
    """Machine of its nodes."""
    nodes: int
    """Most nodes that the group can have."""
    selector: Mapping[str, str]
    """Labels by which a pod finds its nodes."""
    offer: Offer | None = None
    """What its pods ask for there; None where there is no accelerator."""
    region: str | None = None
    """Region of the cluster, where it has one."""
    prometheus: str | None = None
    """Address of the Prometheus that the autoscaler asks, and whose operator reads ServiceMonitors. None: there is
    neither, so no monitor is declared and replicas cannot follow the load."""
    spare: int = 0
    """Accelerators of the group that are left for a rollout, beyond what the tenant's endpoints take at the most."""
    promised: int = 0
    """Accelerators of the group that all tenants together may hold, those of a rollout included."""
    priority_class: str | None = None
    """PriorityClass of the pods, by which the cluster's quotas tell this group from others; None where they do not."""
    taints: Sequence[Taint] = ()
    """Taints of the nodes, beside the one that keeps other pods off accelerators."""
    driver: str | None = None
    """Version of the GPUs' driver on the nodes, or its branch; None where it is not known."""


def surges(spec: EndpointSpec, placement: Placement) -> bool:
    """Whether a rollout starts a new replica before it ends an old one: it needs room in the tenant's quota, and a
    place on a node, however all others are spread. Where that is not certain, a replica goes before one comes: one that
    waited for a place might wait for ever, for the others stay where they are."""
    # A node has no place for the replica only while so many of its accelerators are in use.
    crowded = (placement.offer.a_node if placement.offer else 0) - spec.accelerators + 1
    others = placement.promised - spec.accelerators
    return placement.spare >= spec.accelerators and others < placement.nodes * crowded


def problems(name: str, spec: EndpointSpec, placement: Placement) -> list[str]:
    """Everything that keeps the endpoint off its node group, a sentence each; empty where nothing does."""
    engine = template.load(spec.engine)
    machine, offer = placement.machine, placement.offer
    where = f"endpoints.{name}"
    if offer is None:
        return [
            f"{where}.on: node group {placement.group} has {machine.name}, which has no accelerator: "
            "give a node group that has"
        ]
    found = [
        _wrong_accelerator(spec, engine, machine),
        _spread(spec, machine, offer),
        _format(spec, engine, machine),
        _software(spec, engine, placement),
        _room(spec, placement, offer),
        _memory(spec, engine, machine, offer),
        _identity(spec, machine),
        _region(spec, placement),
        _load(spec, placement),
    ]
    return [f"{where}.{problem}" for problem in found if problem]


def _wrong_accelerator(spec: EndpointSpec, engine: template.ServingTemplate, machine: catalogue.Machine) -> str | None:
    if machine.resource in engine.accelerators:
        return None
    return (
        f"on: {machine.name} offers {machine.resource}, and the image of engine {spec.engine} computes on "
        f"{', '.join(engine.accelerators)}: give a node group that offers it"
    )


def _spread(spec: EndpointSpec, machine: catalogue.Machine, offer: Offer) -> str | None:
    spread, there = spec.accelerators, offer.a_node
    if offer.divided and spread > 1:
        return (
            f"tensor_parallel: {spread} is given, and the node group offers parts of GPUs ({offer.resource}), which "
            "cannot compute as one: leave it out, or take a larger part or a group of whole GPUs"
        )
    if there % spread == 0:
        return None
    why = "is more than" if spread > there else "does not divide"
    fitting = ", ".join(str(n) for n in range(1, there + 1) if there % n == 0)
    return f"tensor_parallel: {spread} {why} the {there} accelerators of {machine.name}: give one of {fitting}"


def _format(spec: EndpointSpec, engine: template.ServingTemplate, machine: catalogue.Machine) -> str | None:
    if spec.quantization is None or machine.accelerator is None:
        return None
    needed = engine.quantizations[spec.quantization].format
    accelerator = catalogue.accelerator(machine.accelerator)
    if needed is None or needed in accelerator.formats:
        return None
    unpacked = [value for value, format_ in engine.quantizations.items() if format_.format is None][:3]
    return (
        f"quantization: {spec.quantization} needs {needed} arithmetic, which {accelerator.name} ({machine.name}) "
        f"lacks: choose a node group whose accelerator has it, or a format that is unpacked, such as "
        f"{', '.join(unpacked)}"
    )


def _software(spec: EndpointSpec, engine: template.ServingTemplate, placement: Placement) -> str | None:
    if placement.machine.resource not in engine.accelerators:
        return None
    refusal = compatibility.endpoint_problem(spec, engine.image, placement.machine, placement.driver)
    return f"image: {refusal}" if refusal else None


def _room(spec: EndpointSpec, placement: Placement, offer: Offer) -> str | None:
    """One group's nodes against one endpoint. Whether several endpoints fit together is the quota's question."""
    if spec.accelerators > offer.a_node:
        return None
    a_node = offer.a_node // spec.accelerators
    if a_node * placement.nodes >= spec.replicas.max:
        return None
    return (
        f"replicas.max: {spec.replicas.max} replicas of {spec.accelerators} accelerators need "
        f"{-(-spec.replicas.max // a_node)} nodes, and {placement.group} has at most {placement.nodes}: "
        f"lower it to {a_node * placement.nodes}, or raise the group's nodes"
    )


def _memory(
    spec: EndpointSpec, engine: template.ServingTemplate, machine: catalogue.Machine, offer: Offer
) -> str | None:
    """A necessary condition only: what passes may still not fit, for caches and activations come on top."""
    memory = offer.memory
    if engine.weights_share is None or memory == 0:
        return None
    each = loaded_bytes(spec, engine) / spec.accelerators
    if each <= memory * engine.weights_share:
        return None
    room = memory * engine.weights_share / GIB
    one, remedy = f"one of {machine.name}", "raise tensor_parallel, quantise, or choose a larger accelerator"
    if offer.divided:
        one, remedy = f"one {offer.profile or 'part'} of {machine.name}", "quantise, or choose a larger part"
    return (
        f"model: its weights alone are at least {each / GIB:.1f} GiB on each of {spec.accelerators} accelerators, and "
        f"engine {spec.engine} uses at most {room:.1f} GiB of {one}: {remedy}"
    )


def _identity(spec: EndpointSpec, machine: catalogue.Machine) -> str | None:
    if not isinstance(spec.model, StoredModel) or spec.model.role is None:
        return None
    cloud = CLOUD_OF_STORE[spec.model.source]
    if machine.cloud == cloud:
        return None
    return (
        f"model.role: pods on {machine.name} ({machine.cloud}) cannot become {spec.model.role}: copy the model to a "
        "store of that cloud, or to a volume of the cluster and give pvc://claim/path"
    )


def _region(spec: EndpointSpec, placement: Placement) -> str | None:
    if not isinstance(spec.model, StoredModel) or spec.model.source != "s3":
        return None
    if spec.model.region or (placement.region and placement.machine.cloud == "aws"):
        return None
    return f"model.region: is missing, and this cluster is in no region of AWS: give the region of {spec.model.uri}"


def _load(spec: EndpointSpec, placement: Placement) -> str | None:
    if not spec.autoscaled or placement.prometheus is not None:
        return None
    return (
        f"replicas: min {spec.replicas.min} and max {spec.replicas.max} differ, but no Prometheus is known that could "
        "measure the load: make them equal, add monitoring, or say where an existing cluster has its Prometheus"
    )
