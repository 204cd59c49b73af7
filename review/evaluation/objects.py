"""Kubernetes objects of a program, whatever resource carries them, and the pods in them.

An object is what its apiVersion and kind say: the Pulumi type is only asked where the inputs leave them out. Typed
classes, CustomResource, Patch types, List kinds and the `objs` of a ConfigGroup all come out the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gpuyard.review.evaluation.images import image

PREFIX = "kubernetes:"
CONTAINERS = ("containers", "initContainers", "ephemeralContainers")
HELM = "kubernetes:helm.sh/"
CONFIG_GROUP = "kubernetes:yaml/v2:ConfigGroup"

_TEMPLATE = ("spec", "template", "spec")
_POD_SPECS = {
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
_DEEP = 24
"""A pod spec further down in a custom resource is not looked for: the deepest known, RayService's, is at 6."""

Path = tuple[str | int, ...]
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Object:
    """One Kubernetes object inside a resource."""

    api: str
    """apiVersion."""
    kind: str
    path: Path
    """Where it lies in the resource's inputs: () for a resource of its own."""
    body: Json
    patch: bool
    """Whether it changes a part of an object that somebody else made."""

    @property
    def key(self) -> str:
        """Kind and API group, as kubectl writes them: `NetworkPolicy.networking.k8s.io`, `Pod`."""
        group = self.api.rpartition("/")[0]
        # Both groups served these kinds once, with the same shape.
        group = {"extensions": "networking.k8s.io" if self.kind == "NetworkPolicy" else "apps"}.get(group, group)
        return f"{self.kind}.{group}" if group else self.kind

    @property
    def type(self) -> str:
        """The type that METADATA writes: `kubernetes:apps/v1:Deployment`."""
        return f"{PREFIX}{self.api if '/' in self.api else f'core/{self.api}'}:{self.kind}"


def objects(type_: str, inputs: Json) -> Iterator[Object]:
    """The Kubernetes objects that a resource declares."""
    if type_ == CONFIG_GROUP:
        yield from _items(inputs.get("objs"), ("objs",), "", "", patch=False)
    elif type_.startswith(PREFIX):
        api, _, kind = type_.removeprefix(PREFIX).rpartition(":")
        patch = kind.endswith("Patch")
        if api and not api.startswith(("helm.sh/", "yaml", "kustomize")):
            api = api.removeprefix("core/")
            yield from _objects(inputs, (), api, kind.removesuffix("Patch"), patch=patch)


def _objects(body: Json, path: Path, api: str, kind: str, *, patch: bool) -> Iterator[Object]:
    api = body["apiVersion"] if isinstance(body.get("apiVersion"), str) else api
    kind = body["kind"] if isinstance(body.get("kind"), str) else kind
    if kind.endswith("List") and isinstance(body.get("items"), list):
        yield from _items(body["items"], (*path, "items"), api, kind.removesuffix("List"), patch=patch)
    elif kind:
        yield Object(api, kind, path, body, patch)


def _items(items: Any, path: Path, api: str, kind: str, *, patch: bool) -> Iterator[Object]:
    if isinstance(items, list) and len(path) < _DEEP:
        for i, item in enumerate(items):
            if isinstance(item, dict):
                yield from _objects(item, (*path, i), api, kind, patch=patch)


def pod_specs(found: Object) -> Iterator[tuple[Path, Json]]:
    """Where an object carries pod specs, and these. A kind that nobody told us of is searched for them."""
    steps = _POD_SPECS.get(found.key)
    if steps is None:
        if found.key not in ("ConfigMap", "Secret", "CustomResourceDefinition.apiextensions.k8s.io"):
            yield from _search(found.body, found.path)
        return
    spec: Any = found.body
    for step in steps:
        spec = member(spec, step)
    # Without a spec that is known there is still a pod: its place says what is unknown.
    yield (*found.path, *steps), spec if isinstance(spec, dict) else {}


def _search(value: Any, path: Path) -> Iterator[tuple[Path, Json]]:
    if len(path) > _DEEP:
        return
    if isinstance(value, dict):
        containers = value.get("containers")
        if isinstance(containers, list) and any(
            isinstance(c, dict) and ("image" in c or "name" in c) for c in containers
        ):
            yield path, value
            return
        for key, member in value.items():
            yield from _search(member, (*path, key))
    elif isinstance(value, list):
        for i, member in enumerate(value):
            yield from _search(member, (*path, i))


def containers(spec: Json, path: Path) -> Iterator[tuple[str, Path, Json]]:
    """Every container of a pod: the list that it is in, its place, and itself."""
    for role in CONTAINERS:
        listed = spec.get(role)
        for i, container in enumerate(listed if isinstance(listed, list) else []):
            if isinstance(container, dict):
                yield role, (*path, role, i), container


def pod(spec: Json, path: Path) -> Json:
    """A pod as rules read it: its spec without the containers, and these one by one with their image taken apart."""
    listed = []
    for role, place, container in containers(spec, path):
        entry: Json = {"path": pointer(place), "role": role, "container": container}
        reference = container.get("image")
        if isinstance(reference, str) and reference:
            entry["image"] = image(reference)
        listed.append(entry)
    rest = {key: value for key, value in spec.items() if key not in CONTAINERS}
    return {"path": pointer(path), "spec": rest, "containers": listed}


def metadata(body: Mapping[str, Any]) -> Json:
    """The metadata of an object, empty where it has none."""
    found = body.get("metadata")
    return found if isinstance(found, dict) else {}


def member(value: Any, step: str | int) -> Any:
    """The member of a mapping or a list at one step of a path; None where there is none."""
    if isinstance(value, dict):
        return value.get(step)
    if isinstance(value, list) and str(step).isdecimal() and int(step) < len(value):
        return value[int(step)]
    return None


def pointer(path: Path) -> str:
    """The JSON pointer of a path."""
    return "".join(f"/{step}" if isinstance(step, int) else "/" + _escaped(step) for step in path)


def _escaped(step: str) -> str:
    return step.replace("~", "~0").replace("/", "~1")


def steps(pointer: str) -> tuple[str, ...]:
    """The steps of a JSON pointer."""
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])
