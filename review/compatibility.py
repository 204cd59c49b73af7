"""Whether the images of a program run on the drivers and GPUs of its node groups, as far as the program tells.

A pod is judged where it says on which node group it runs: as the pod of an endpoint, or by labels that the group, its
cloud or Karpenter gives its nodes. Of an endpoint it is said too where that is not known; of other pods it is not, for
most have their nodes in another program.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpuyard import catalogue
from gpuyard.catalogue.compatibility import DRIVER
from gpuyard.review import karpenter
from gpuyard.review.evaluation import objects as kubernetes
from gpuyard.review.evaluation.pods import Pod, as_read, pods
from gpuyard.review.node_group import NodeGroup, known_machine
from gpuyard.review.places import Place, fits, has, places
from gpuyard.review.resources import EKS_CLUSTER, ENDPOINT, Resource
from gpuyard.review.values import at, mapping, text

CLUSTERS = ("gpuyard:index:ExistingCluster", "gpuyard:index:GkeCluster")
"""Components whose inputs say which driver the nodes have."""

OPERATOR = "gpu-operator"

ACCELERATORS = ("nvidia.com/", "amd.com/", "aws.amazon.com/neuron", "google.com/tpu", "habana.ai/")
"""How resources begin that only a device plugin of accelerators offers."""

Json = dict[str, Any]


def compatibility(groups: Sequence[NodeGroup], resources: Sequence[Resource]) -> list[Json]:
    """The compatibility part of a resource document: what is refused, and of endpoints what is not known.

    A line is `{urn, path, group, machine, driver, image, status: refused | unknown, reason}`; `image` is null where it
    is the node group itself whose driver cannot run its GPUs. Each machine that a group may have is looked at.
    """
    by_urn = {resource["urn"]: resource for resource in resources}
    nodes = [
        _Nodes(place, _driver(place, by_urn), _accelerator(place))
        for group in groups
        for place in places(group, by_urn)
    ]
    lines = [line for one in nodes for line in _of_group(one)]
    if not any(one.accelerator for one in nodes):
        return lines
    alone = {line["reason"] for line in lines}
    for resource in resources:
        endpoint = _endpoint(resource, by_urn)
        for found in kubernetes.objects(resource["type"], resource["inputs"], resource.get("manifests")):
            for pod in pods(found):
                lines += _of_pod(resource, pod, _placed(pod.spec, endpoint, nodes), said=endpoint is not None)
    # What holds for the group whatever the image is said of the group alone.
    return [line for line in lines if line["image"] is None or line["reason"] not in alone]


@dataclass(frozen=True, slots=True)
class _Nodes:
    """One machine of a node group, and the driver on it."""

    place: Place
    driver: str | None
    accelerator: catalogue.Accelerator | None

    @property
    def group(self) -> NodeGroup:
        return self.place.group


def _of_group(nodes: _Nodes) -> Iterator[Json]:
    verdict = catalogue.runs_on(nodes.accelerator, nodes.driver, None) if nodes.accelerator else None
    if verdict and verdict.status == "refused":
        yield _line(nodes.group.urn, nodes.group.machine_path, nodes, None, verdict)


def _of_pod(resource: Resource, pod: Pod, found: Sequence[_Nodes], *, said: bool) -> Iterator[Json]:
    """The lines of a pod that runs on some of these nodes; `said` is whether also what is not known is."""
    for container in as_read(pod)["containers"]:
        if container["role"] != "containers" or not _takes_accelerators(container["container"]):
            continue
        image = container.get("image")
        runtime = catalogue.runtime_of_image(image["repository"], image["tag"]) if image else None
        there = [
            (nodes, catalogue.runs_on(nodes.accelerator, nodes.driver, runtime))
            for nodes in found
            if nodes.accelerator and has(nodes.place, container["container"])
        ]
        told = [one for one in there if one[1].status == "refused" or (one[1].status == "unknown" and said)]
        # Of several groups nobody knows which one the pod gets: that it runs on none of them is known all the same.
        if len({nodes.group.name for nodes, _ in there}) > 1:
            told = told[:1] if all(verdict.status == "refused" for _, verdict in there) else []
        reference = image["reference"] if image else "that is not known"
        seen = set()
        for nodes, verdict in told:
            if verdict.reason not in seen:
                yield _line(resource["urn"], f"{container['path']}/image", nodes, reference, verdict)
            seen.add(verdict.reason)


def _line(urn: str, path: str, nodes: _Nodes, image: str | None, verdict: catalogue.Verdict) -> Json:
    return {
        "urn": urn,
        "path": path,
        "group": nodes.group.name,
        "machine": nodes.place.machine,
        "driver": nodes.driver,
        "image": image,
        "status": verdict.status,
        "reason": verdict.reason,
    }


def _placed(spec: Json, endpoint: Resource | None, nodes: Sequence[_Nodes]) -> list[_Nodes]:
    """The nodes on which a pod may run; none where the program does not tell."""
    if endpoint is None:
        return [one for one in nodes if fits(spec, one.place)]
    on = str(endpoint["inputs"].get("on")).partition("/")[0]
    return [one for one in nodes if one.group.name == on]


def _endpoint(resource: Resource, by_urn: Mapping[str, Resource]) -> Resource | None:
    parent = by_urn.get(resource["parent"])
    return parent if parent and parent["type"] == ENDPOINT else None


def _takes_accelerators(container: Json) -> bool:
    limits = mapping(at(container, "resources", "limits"))
    return any(str(name).startswith(ACCELERATORS) for name in limits)


def _accelerator(place: Place) -> catalogue.Accelerator | None:
    machine, attached = known_machine(place.machine), place.group.attached
    if machine and machine.accelerator:
        return catalogue.accelerator(machine.accelerator)
    return catalogue.attached_accelerator(attached[0]) if attached else None


def _driver(place: Place, by_urn: Mapping[str, Resource]) -> str | None:
    """The driver on nodes: their image's, or what the cluster's owner says."""
    resource = by_urn[place.group.urn]
    if place.group.cloud == "aws":
        return _driver_of_image(place, resource, by_urn)
    cluster = _cluster(resource, by_urn)
    stated = resource["inputs"].get("driver_version") or cluster.get("driver_version")
    if stated is None and cluster.get("driver") == "operator":
        return catalogue.node_driver("operator", catalogue.chart(OPERATOR).version, str(cluster.get("kubernetes")))
    said = text(stated)
    return said if said and DRIVER.match(said) else None


def _driver_of_image(place: Place, resource: Resource, by_urn: Mapping[str, Resource]) -> str | None:
    """The driver of EKS's image: of a managed node group's type and release, or of the alias that Karpenter is told."""
    inputs = resource["inputs"]
    machine = known_machine(place.machine)
    image, release = text(inputs.get("amiType")), inputs.get("releaseVersion")
    if karpenter.is_pool(inputs):
        family, release = karpenter.image_of(inputs, (one["inputs"] for one in by_urn.values())) or ("", None)
        image = catalogue.eks_image(machine, family) if machine else None
    if image is None or not isinstance(release, str | None) or "/releaseVersion" in resource["unknown"]:
        return None
    clusters = {text(one["inputs"].get("version")) for one in by_urn.values() if one["type"] == EKS_CLUSTER}
    version = text(inputs.get("version")) or (clusters.pop() if len(clusters) == 1 else None)
    return catalogue.node_driver("aws", image, str(version), machine=place.machine or "", release=release)


def _cluster(resource: Resource, by_urn: Mapping[str, Resource]) -> Json:
    """Inputs of gpuyard's component for the cluster of a node group: the one beside it, or beside its component."""
    parents = {resource["parent"]}
    if parent := by_urn.get(resource["parent"]):
        parents.add(parent["parent"])
    found = (other["inputs"] for other in by_urn.values() if other["type"] in CLUSTERS and other["parent"] in parents)
    return next(found, {})
