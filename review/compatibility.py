"""Whether the images of a program run on the drivers and GPUs of its node groups, as far as the program tells.

A pod is judged where it says on which node group it runs: as the pod of an endpoint, or by labels that the group gives
its nodes. Of an endpoint it is said too where that is not known; of other pods it is not, for most have their nodes in
another program.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gpuyard import catalogue
from gpuyard.catalogue.compatibility import DRIVER
from gpuyard.review.evaluation import objects as kubernetes
from gpuyard.review.node_group import NodeGroup, known_machine
from gpuyard.review.resources import ENDPOINT, Resource
from gpuyard.review.values import at, mapping, text

CLUSTERS = ("gpuyard:index:ExistingCluster", "gpuyard:index:GkeCluster")
"""Components whose inputs say which driver the nodes have."""

OPERATOR = "gpu-operator"

ACCELERATORS = ("nvidia.com/", "amd.com/", "aws.amazon.com/neuron", "google.com/tpu", "habana.ai/")
"""How resources begin that only a device plugin of accelerators offers."""

INSTANCE_TYPE = "node.kubernetes.io/instance-type"

Json = dict[str, Any]


def compatibility(groups: Sequence[NodeGroup], resources: Sequence[Resource]) -> list[Json]:
    """The compatibility part of a resource document: what is refused, and of endpoints what is not known.

    A line is `{urn, path, group, machine, driver, image, status: refused | unknown, reason}`; `image` is null where it
    is the node group itself whose driver cannot run its GPUs.
    """
    by_urn = {resource["urn"]: resource for resource in resources}
    drivers = {group.urn: _driver(group, by_urn) for group in groups}
    lines = [line for group in groups for line in _of_group(group, drivers[group.urn])]
    if not any(_accelerator(group) for group in groups):
        return lines
    alone = {line["reason"] for line in lines}
    for resource in resources:
        for found in kubernetes.objects(resource["type"], resource["inputs"]):
            for path, spec in kubernetes.pod_specs(found):
                lines += _of_pod(resource, path, spec, _placed(resource, spec, groups, by_urn), drivers, by_urn)
    # What holds for the group whatever the image is said of the group alone.
    return [line for line in lines if line["image"] is None or line["reason"] not in alone]


def _of_group(group: NodeGroup, driver: str | None) -> Iterator[Json]:
    accelerator = _accelerator(group)
    verdict = catalogue.runs_on(accelerator, driver, None) if accelerator else None
    if verdict and verdict.status == "refused":
        yield _line(group.urn, group.machine_path, group, driver, None, verdict)


def _of_pod(
    resource: Resource,
    path: kubernetes.Path,
    spec: Json,
    group: NodeGroup | None,
    drivers: Mapping[str, str | None],
    by_urn: Mapping[str, Resource],
) -> Iterator[Json]:
    accelerator = _accelerator(group) if group else None
    if group is None or accelerator is None:
        return
    driver = drivers[group.urn]
    for container in kubernetes.pod(spec, path)["containers"]:
        if container["role"] != "containers" or not _takes_accelerators(container["container"]):
            continue
        image = container.get("image")
        runtime = catalogue.runtime_of_image(image["repository"], image["tag"]) if image else None
        verdict = catalogue.runs_on(accelerator, driver, runtime)
        if verdict.status == "refused" or (verdict.status == "unknown" and _endpoint(resource, by_urn)):
            reference = image["reference"] if image else "that is not known"
            yield _line(resource["urn"], f"{container['path']}/image", group, driver, reference, verdict)


def _line(
    urn: str, path: str, group: NodeGroup, driver: str | None, image: str | None, verdict: catalogue.Verdict
) -> Json:
    return {
        "urn": urn,
        "path": path,
        "group": group.name,
        "machine": group.machine,
        "driver": driver,
        "image": image,
        "status": verdict.status,
        "reason": verdict.reason,
    }


def _placed(
    resource: Resource, spec: Json, groups: Sequence[NodeGroup], by_urn: Mapping[str, Resource]
) -> NodeGroup | None:
    """The node group on which a pod runs; None where the program does not tell, or tells several machines."""
    endpoint = _endpoint(resource, by_urn)
    if endpoint:
        on = str(endpoint["inputs"].get("on")).partition("/")[0]
        found = [group for group in groups if group.name == on]
    else:
        wanted = spec.get("nodeSelector")
        if not isinstance(wanted, dict) or not wanted:
            return None
        found = [group for group in groups if wanted.items() <= _labels(group, by_urn).items()]
    # Several node pools may be one group; of different machines nobody knows which the pod gets.
    return found[0] if len({group.machine for group in found}) == 1 else None


def _endpoint(resource: Resource, by_urn: Mapping[str, Resource]) -> Resource | None:
    parent = by_urn.get(resource["parent"])
    return parent if parent and parent["type"] == ENDPOINT else None


def _labels(group: NodeGroup, by_urn: Mapping[str, Resource]) -> Json:
    """Labels that every node of a group has, as far as the program says."""
    inputs = by_urn[group.urn]["inputs"]
    config = inputs.get("nodeConfig")
    given = mapping((config if isinstance(config, dict) else inputs).get("labels"))
    machine = {INSTANCE_TYPE: group.machine} if group.machine and group.cloud in ("aws", "gcp") else {}
    return {**machine, **given}


def _takes_accelerators(container: Json) -> bool:
    limits = mapping(at(container, "resources", "limits"))
    return any(str(name).startswith(ACCELERATORS) for name in limits)


def _accelerator(group: NodeGroup) -> catalogue.Accelerator | None:
    machine = known_machine(group.machine)
    return catalogue.accelerator(machine.accelerator) if machine and machine.accelerator else None


def _driver(group: NodeGroup, by_urn: Mapping[str, Resource]) -> str | None:
    """The driver on the nodes of a group: its image's, or what the cluster's owner says."""
    resource = by_urn[group.urn]
    if group.cloud == "aws":
        image, version = resource["inputs"].get("amiType"), resource["inputs"].get("version")
        return catalogue.node_driver("aws", image, str(version)) if isinstance(image, str) else None
    cluster = _cluster(resource, by_urn)
    stated = resource["inputs"].get("driver_version") or cluster.get("driver_version")
    if stated is None and cluster.get("driver") == "operator":
        return catalogue.node_driver("operator", catalogue.chart(OPERATOR).version, str(cluster.get("kubernetes")))
    said = text(stated)
    return said if said and DRIVER.match(said) else None


def _cluster(resource: Resource, by_urn: Mapping[str, Resource]) -> Json:
    """Inputs of gpuyard's component for the cluster of a node group: the one beside it, or beside its component."""
    parents = {resource["parent"]}
    if parent := by_urn.get(resource["parent"]):
        parents.add(parent["parent"])
    found = (other["inputs"] for other in by_urn.values() if other["type"] in CLUSTERS and other["parent"] in parents)
    return next(found, {})
