"""Kubernetes objects of a program, whatever resource carries them.

An object is what its apiVersion and kind say: the Pulumi type is only asked where the inputs leave them out. Typed
classes, CustomResource, Patch types, List kinds, and the objects, texts and files of a ConfigGroup all come out the
same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gpuyard.review.recording.manifests import documents

PREFIX = "kubernetes:"
HELM = "kubernetes:helm.sh/"
TEXT = "yaml"
"""The input that holds manifests as text, or as a list of texts: an object's path goes on into what a text says."""
_FROM_ELSEWHERE = ("kubernetes:helm.sh/", "kubernetes:kustomize", "kubernetes:yaml")
"""Types whose inputs are not the object itself."""

DEEPEST = 24
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


def objects(type_: str, inputs: Json, manifests: Mapping[str, Any] | None = None) -> Iterator[Object]:
    """The Kubernetes objects that a resource declares; `manifests` are those of files that its inputs name."""
    if type_.startswith(_FROM_ELSEWHERE):
        if type_.startswith("kubernetes:yaml"):
            yield from _items(inputs.get("objs"), ("objs",), "", "", patch=False)
            for path, items in texts(inputs):
                yield from _items(items, path, "", "", patch=False)
            for field, items in (manifests or {}).items():
                yield from _items(items, (field,), "", "", patch=False)
    elif type_.startswith(PREFIX):
        api, _, kind = type_.removeprefix(PREFIX).rpartition(":")
        patch = kind.endswith("Patch")
        if api:
            api = api.removeprefix("core/")
            yield from _objects(inputs, (), api, kind.removesuffix("Patch"), patch=patch)


def texts(inputs: Mapping[str, Any]) -> Iterator[tuple[Path, list[Any] | None]]:
    """What each text of manifests among the inputs says, and where the text is; None for one that cannot be read."""
    given = inputs.get(TEXT)
    if isinstance(given, str):
        yield (TEXT,), documents(given)
    elif isinstance(given, list):
        for i, text in enumerate(given):
            yield (TEXT, i), documents(text) if isinstance(text, str) else None


def _objects(body: Json, path: Path, api: str, kind: str, *, patch: bool) -> Iterator[Object]:
    api = body["apiVersion"] if isinstance(body.get("apiVersion"), str) else api
    kind = body["kind"] if isinstance(body.get("kind"), str) else kind
    if kind.endswith("List") and isinstance(body.get("items"), list):
        yield from _items(body["items"], (*path, "items"), api, kind.removesuffix("List"), patch=patch)
    elif kind:
        yield Object(api, kind, path, body, patch)


def _items(items: Any, path: Path, api: str, kind: str, *, patch: bool) -> Iterator[Object]:
    if isinstance(items, list) and len(path) < DEEPEST:
        for i, item in enumerate(items):
            if isinstance(item, dict):
                yield from _objects(item, (*path, i), api, kind, patch=patch)


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


def without(value: Any, path: Path) -> Any:
    """A copy without the member at `path`; what lies beside the path is shared."""
    if not path or not isinstance(value, dict | list):
        return {}
    first, rest = path[0], path[1:]
    if isinstance(value, list):
        return [without(member, rest) if i == first else member for i, member in enumerate(value)]
    if first not in value:
        return value
    if not rest:
        return {key: member for key, member in value.items() if key != first}
    return value | {first: without(value[first], rest)}


def pointer(path: Path) -> str:
    """The JSON pointer of a path."""
    return "".join(f"/{step}" if isinstance(step, int) else "/" + _escaped(step) for step in path)


def _escaped(step: str) -> str:
    return step.replace("~", "~0").replace("/", "~1")


def steps(pointer: str) -> tuple[str, ...]:
    """The steps of a JSON pointer."""
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])
