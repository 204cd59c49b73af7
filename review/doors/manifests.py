"""Plain Kubernetes manifests as a way into the review: what `kubectl apply` would create, whoever has rendered it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gpuyard.review.doors import Given
from gpuyard.review.errors import InputError
from gpuyard.review.recording import Recording, Resource
from gpuyard.review.recording.manifests import MOST_BYTES, placed

STACK = "manifests"
"""What they are called where nobody says under which name they are judged. No name of a folder: its author would choose
the limits by it."""

PROJECT = "manifests"

_SUFFIXES = (".yaml", ".yml", ".json")
_KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "kustomization")
_CHART = "chart.yaml"

Json = dict[str, Any]


def from_manifests(path: Path, stack: str = STACK) -> Given:
    """The objects of a folder, with all folders below it but hidden ones, or of one file, judged as a stack.

    Raises InputError for a file that cannot be read whole, for what is no Kubernetes object, for two objects of one
    name, and where there is none.
    """
    root, files = (path, _files(path)) if path.is_dir() else (path.parent, [path])
    by_urn: dict[str, Resource] = {}
    for file in files:
        for line, body in _objects(file):
            source = f"{file.relative_to(root).as_posix()}:{line}"
            resource = _resource(f"{file}:{line}", body, stack, source)
            there = by_urn.setdefault(resource["urn"], resource)
            if there is not resource:
                raise InputError(
                    f"{file}:{line}: {resource['type']} {resource['name']} is in {there['source']} already: give what "
                    "one cluster gets, as `kustomize build` writes it"
                )
    if not by_urn:
        raise InputError(f"{path}: has no Kubernetes object: give a folder of YAML or JSON files, or one such file")
    return Given(Recording(PROJECT, stack, [by_urn[urn] for urn in sorted(by_urn)], [], 0.0))


def _files(folder: Path) -> list[Path]:
    found = []
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            file = Path(where) / name
            if name.lower() in _KUSTOMIZATIONS:
                raise InputError(
                    f"{file}: its files are patched before they are applied: give what `kustomize build` writes"
                )
            if name.lower() == _CHART:
                raise InputError(f"{file}: a chart has templates, not objects: give what `helm template` writes")
            if name.lower().endswith(_SUFFIXES) and not name.startswith("."):
                found.append(file)
    return found


def _objects(file: Path) -> Iterator[tuple[int, Json]]:
    """Every object of a file, with the line on which its document begins."""
    try:
        with file.open("rb") as opened:
            data = opened.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror}): give files that can be read") from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{file}:{line}: is not UTF-8: save it as UTF-8") from error
    try:
        documents = placed(text)
    except ValueError as error:
        template = "{{" in text
        remedy = "give what `helm template` writes" if template else "give YAML or JSON that Kubernetes takes"
        raise InputError(f"{file}:{error}{', and looks like a template' if template else ''}: {remedy}") from None
    for line, document in documents:
        yield from ((line, body) for body in _items(f"{file}:{line}", document))


def _items(place: str, document: Any) -> Iterator[Json]:
    if not isinstance(document, dict):
        raise InputError(f"{place}: is no Kubernetes object, but a {type(document).__name__}: give objects only")
    for key in ("apiVersion", "kind"):
        if not isinstance(document.get(key), str) or not document[key]:
            raise InputError(f"{place}: is no Kubernetes object, for it has no {key}: keep other files elsewhere")
    items = document.get("items")
    if document["kind"].endswith("List") and items is not None:
        if not isinstance(items, list):
            raise InputError(f"{place}: items of a {document['kind']} is no list: give a list of objects")
        # Members of a typed list may leave out what its kind says.
        own = {"apiVersion": document["apiVersion"], "kind": document["kind"].removesuffix("List")}
        defaults = own if own["kind"] else {}
        for item in items:
            yield from _items(place, defaults | item if isinstance(item, dict) else item)
    else:
        yield document


def _resource(place: str, body: Json, stack: str, source: str) -> Resource:
    metadata = body.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    name, namespace = metadata.get("name") or metadata.get("generateName"), metadata.get("namespace") or ""
    if not isinstance(name, str) or not isinstance(namespace, str):
        raise InputError(f"{place}: {body['kind']} has no name: give metadata.name")
    api = body["apiVersion"]
    type_ = f"kubernetes:{api if '/' in api else f'core/{api}'}:{body['kind']}"
    called = f"{namespace}/{name}" if namespace else name
    return {
        "urn": f"urn:pulumi:{stack}::{PROJECT}::{type_}::{called}",
        "type": type_,
        "name": called,
        "parent": "",
        "custom": True,
        "provider": "",
        "inputs": body,
        "unknown": [],
        "secret": [],
        "options": {},
        "source": source,
    }
