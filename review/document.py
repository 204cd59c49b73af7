"""The resource document: everything that rules, cost and reports know of a stack."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypedDict

from gpuyard.review.recording import Recording, Resource

FORMAT = "gpuyard.document/1"

Json = dict[str, Any]


class Document(TypedDict):
    """What a stack would be, on a day. `cost`, `capacity` and `compatibility` are empty until they are worked out."""

    format: str
    date: str
    """YYYY-MM-DD: prices, waivers and support dates are judged as of this day."""
    project: str
    stack: str
    environment: str
    """Whose limits apply."""
    resources: list[Resource]
    """By URN. Unknown values are null; secret ones are themselves, so never print this: see `public`."""
    default_providers: dict[str, Json]
    """By package, the `inputs` that its default provider takes from the stack's configuration, as aws:region."""
    cost: Json
    capacity: Json
    compatibility: list[Json]
    """Images and node groups that are known not to go together, and endpoints of which it is not known."""


def build(recording: Recording, *, date: str, environment: str) -> Document:
    """The document of a recorded program."""
    document: Document = {
        "format": FORMAT,
        "date": date,
        "project": recording.project,
        "stack": recording.stack,
        "environment": environment,
        "resources": sorted(recording.resources, key=lambda resource: resource["urn"]),
        "default_providers": default_providers(recording.project, recording.config),
        "cost": {},
        "capacity": {},
        "compatibility": [],
    }
    hide(document, contents_of_secrets(document["resources"]))
    return document


def default_providers(project: str, config: Mapping[str, str]) -> dict[str, Json]:
    """By package, what a stack's configuration, without secrets, says of its default provider."""
    found: dict[str, Json] = {}
    for key, value in sorted(config.items()):
        package, _, name = key.partition(":")
        if package not in (project, "pulumi"):
            found.setdefault(package, {"inputs": {}})["inputs"][name] = value
    return found


def contents_of_secrets(resources: Iterable[Resource]) -> Iterator[tuple[str, str]]:
    """What Kubernetes Secrets hold: the SDK marks it for its own Secret class only, not for a manifest."""
    for resource in resources:
        inputs = resource["inputs"]
        if inputs.get("apiVersion") == "v1" and inputs.get("kind") == "Secret":
            yield from ((resource["urn"], f"/{key}") for key in ("data", "stringData") if key in inputs)


def hide(document: Document, places: Iterable[tuple[str, str]]) -> None:
    """Lists more places, each a URN and a JSON pointer, among the secret ones of the document."""
    by_urn = {resource["urn"]: resource for resource in document["resources"]}
    for urn, path in places:
        if path not in by_urn[urn]["secret"]:
            by_urn[urn]["secret"] = sorted([*by_urn[urn]["secret"], path])


def public(document: Document) -> Document:
    """A copy with null for every secret value: the only form that is written or printed."""
    shown = document.copy()
    shown["resources"] = [_public(resource) for resource in document["resources"]]
    return shown


def _public(resource: Resource) -> Resource:
    shown = resource.copy()
    shown.pop("manifests", None)
    for path in resource["secret"]:
        shown["inputs"] = _without(shown["inputs"], path.split("/")[1:])
    return shown


def _without(value: Any, parts: list[str]) -> Any:
    """A copy of a value with null at the end of a way, or where the way leaves what is there."""
    if not parts:
        return None
    key = parts[0].replace("~1", "/").replace("~0", "~")
    if isinstance(value, list) and key.isdecimal() and int(key) < len(value):
        index = int(key)
        return [*value[:index], _without(value[index], parts[1:]), *value[index + 1 :]]
    if isinstance(value, dict) and key in value:
        return {**value, key: _without(value[key], parts[1:])}
    return None


def dumps(content: Any) -> str:
    """A document, or a report with documents in it, as JSON: equal contents give equal bytes.

    Raises ValueError for a number that JSON does not have.
    """
    return json.dumps(content, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
