"""The pods in Kubernetes objects of every kind.

Kubernetes' own kinds say where a pod is; any other kind is searched for lists of containers. What a custom resource
has beside such a list is data, in pods.yaml.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

from gpuyard.review.evaluation.images import image
from gpuyard.review.evaluation.objects import DEEPEST, Json, Object, Path, member, metadata, pointer
from gpuyard.review.program.goyaml import parse
from gpuyard.review.values import mapping

CONTAINERS = ("containers", "initContainers", "ephemeralContainers")

ACCELERATORS = ("nvidia.com/", "amd.com/gpu", "aws.amazon.com/neuron", "google.com/tpu", "habana.ai/")
"""How the names of resources begin that only a device plugin of accelerators offers."""

_TEMPLATE = ("spec", "template", "spec")
OWN: dict[str, tuple[str, ...]] = {
    "CronJob.batch": ("spec", "jobTemplate", "spec", "template", "spec"),
    "DaemonSet.apps": _TEMPLATE,
    "Deployment.apps": _TEMPLATE,
    "Job.batch": _TEMPLATE,
    "Pod": ("spec",),
    "PodTemplate": ("template", "spec"),
    "ReplicaSet.apps": _TEMPLATE,
    "ReplicationController": _TEMPLATE,
    "StatefulSet.apps": _TEMPLATE,
}
"""Kubernetes' own kinds that carry a pod, and where."""
QUOTES = ("ConfigMap", "Secret", "CustomResourceDefinition.apiextensions.k8s.io")
"""Kinds in which what looks like a pod is none."""

Container = tuple[str, Path, Json]
"""The list that a container is in, its place, and itself."""


@dataclass(frozen=True, slots=True)
class Pod:
    """The spec of a pod, as far as an object says it."""

    path: Path
    spec: Json
    containers: tuple[Container, ...]
    whole: bool
    """Whether what the object does not say is said nowhere: an operator may add the rest to a custom resource, and a
    patch changes a pod that somebody else wrote."""
    labels: Json
    """Its own, which its template gives it."""

    @property
    def alone(self) -> list[Path]:
        """Places of the containers that stand in no list of containers."""
        return [place for _, place, _ in self.containers if place[len(self.path)] not in CONTAINERS]


@dataclass(frozen=True, slots=True)
class Kinds:
    """What pods.yaml says, by kind and group."""

    whole: frozenset[str]
    containers: dict[str, list[tuple[str, ...]]]
    settings: dict[str, list[tuple[str, ...]]]


@cache
def kinds() -> Kinds:
    """What is known of kinds that are not Kubernetes' own."""
    said: Any = parse(files("gpuyard.review.evaluation").joinpath("pods.yaml").read_text("utf-8"))
    ways = {
        part: {kind: [tuple(way.split("/")) for way in listed] for kind, listed in said[part].items()}
        for part in ("containers", "settings")
    }
    return Kinds(frozenset(said["whole"]), ways["containers"], ways["settings"])


def pods(found: Object) -> Iterator[Pod]:
    """The pods of an object, each place once."""
    steps = OWN.get(found.key)
    if steps is not None:
        spec: Any = found.body
        for step in steps:
            spec = member(spec, step)
        # Without a spec that is known there is still a pod: its place says what is unknown.
        yield _pod(found, (*found.path, *steps), spec if isinstance(spec, dict) else {}, whole=not found.patch)
    elif found.key not in QUOTES:
        yield from _custom(found)


def _custom(found: Object) -> Iterator[Pod]:
    known = kinds()
    whole = found.key in known.whole and not found.patch
    listed = {path: _pod(found, path, spec, whole=whole) for path, spec in _search(found.body, found.path)}
    for way in known.settings.get(found.key, ()):
        for path, spec in _at(found.body, found.path, way):
            listed.setdefault(path, _pod(found, path, spec, whole=False))
    for way in known.containers.get(found.key, ()):
        for path, container in _at(found.body, found.path, way):
            above = path[:-1]
            holder = listed.get(above) or _pod(found, above, _holder(found, above), whole=False)
            one = ("containers", path, container)
            listed[above] = replace(holder, containers=(*holder.containers, one), whole=False)
    yield from listed.values()


def _holder(found: Object, path: Path) -> Json:
    value: Any = found.body
    for step in path[len(found.path) :]:
        value = member(value, step)
    return value if isinstance(value, dict) else {}


def _at(value: Any, path: Path, way: tuple[str, ...]) -> Iterator[tuple[Path, Json]]:
    """Every mapping at a way in which `*` is any member."""
    if not way:
        if isinstance(value, dict):
            yield path, value
        return
    first, rest = way[0], way[1:]
    if first != "*":
        yield from _at(member(value, first), (*path, first), rest)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _at(inner, (*path, key), rest)
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from _at(inner, (*path, i), rest)


def _search(value: Any, path: Path) -> Iterator[tuple[Path, Json]]:
    """Every mapping with a list of containers. One may hold another: KServe writes the workers of a model into its
    pod."""
    if len(path) > DEEPEST:
        return
    if isinstance(value, dict):
        listed = [value.get(role) for role in CONTAINERS]
        if any(_is_list_of_containers(each) for each in listed):
            yield path, value
        for key, inner in value.items():
            if key not in CONTAINERS:
                yield from _search(inner, (*path, key))
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from _search(inner, (*path, i))


def _is_list_of_containers(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(c, dict) and ("image" in c or "name" in c) for c in value)


def _pod(found: Object, path: Path, spec: Json, *, whole: bool) -> Pod:
    labels = metadata(_holder(found, path[:-1])).get("labels")
    listed = tuple(
        (role, (*path, role, i), container)
        for role in CONTAINERS
        for i, container in enumerate(spec[role] if isinstance(spec.get(role), list) else ())
        if isinstance(container, dict)
    )
    return Pod(path, spec, listed, whole, labels if isinstance(labels, dict) else {})


def as_read(found: Pod) -> Json:
    """A pod as rules read it: its spec without the containers, and these one by one with their image taken apart."""
    listed = []
    for role, place, container in found.containers:
        entry: Json = {"path": pointer(place), "role": role, "container": container}
        reference = container.get("image")
        if isinstance(reference, str) and reference:
            entry["image"] = image(reference)
        listed.append(entry)
    own = {place[len(found.path)] for _, place, _ in found.containers}
    rest = {key: value for key, value in found.spec.items() if key not in CONTAINERS and key not in own}
    return {
        "path": pointer(found.path),
        "spec": rest,
        "containers": listed,
        "whole": found.whole,
        "pod_labels": found.labels,
        "accelerated": _accelerated(found),
    }


def _accelerated(found: Pod) -> bool:
    """Whether the pod asks for accelerators: by name, or by a claim on devices."""
    asked = [
        name
        for _, _, container in found.containers
        for part in ("limits", "requests")
        for name in mapping(mapping(container.get("resources")).get(part))
    ]
    return bool(found.spec.get("resourceClaims")) or any(name.startswith(ACCELERATORS) for name in asked)
