"""From the engine's messages to resources as a recording has them.

The engine sends inputs after the provider's check, which adds names and defaults. A rule must see what the program
says, so these are taken out again: cloud providers list theirs under `__defaults`, and Kubernetes' annotates a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from gpuyard.review.document import contents_of_secrets
from gpuyard.review.recording import Resource
from gpuyard.review.recording.values import SIGNATURE, Reader, at, pointer

STACK = "pulumi:pulumi:Stack"
PROVIDER = "pulumi:providers:"
DEFAULTS = "__defaults"
AUTONAMED = "pulumi.com/autonamed"
"""Annotation of an object whose name Kubernetes' provider chose. Source: pulumi-kubernetes, pkg/metadata."""

_DEFAULT_PROVIDER = re.compile(rf"{PROVIDER}[^:]+::default(_\d+_\d+_\d+.*)?$")
"""What the engine makes by itself for resources without a provider of their own. Source: deploy/providers."""

Json = dict[str, Any]


class Registered:
    """Reads registrations of one deployment, each once."""

    def __init__(self) -> None:
        self._reader = Reader()
        self._defaults: dict[str, Mapping[str, Any]] = {}

    def defaults(self, urn: str, properties: Any) -> None:
        """Keeps what the provider has added to a resource's inputs: only Remediate's message tells."""
        places = list(_added(properties.fields, ()))
        if places:
            inputs = self._reader.read(properties)[0]
            self._defaults[urn] = {place: at(inputs, place) for place in places}

    def resource(self, message: Any) -> Resource | None:
        """The resource of an Analyze message; None for what the engine makes by itself.

        Raises ValueError for a number that JSON does not have.
        """
        if message.type == STACK or is_default_provider(message.urn):
            return None
        try:
            inputs, unknown, secret = self._reader.read(message.properties)
        except ValueError as error:
            raise ValueError(f"{message.urn}: {error}") from None
        provider = message.provider.urn
        resource: Resource = {
            "urn": message.urn,
            "type": message.type,
            "name": message.name,
            "parent": message.options.parent,
            "custom": bool(provider) or message.type.startswith(PROVIDER),
            "provider": "" if is_default_provider(provider) else provider,
            "inputs": inputs,
            "unknown": unknown,
            "secret": secret,
            "options": _options(message.options),
        }
        autoname = _without_defaults(resource, self._defaults.pop(message.urn, {})) or _without_autoname(inputs)
        if autoname:
            resource["autoname"] = autoname
        resource["secret"] = sorted({*resource["secret"], *(path for _, path in contents_of_secrets([resource]))})
        return resource


def is_default_provider(urn: str) -> bool:
    """Whether the engine has made a provider, from the stack's configuration."""
    return _DEFAULT_PROVIDER.search(urn) is not None


def _options(options: Any) -> Json:
    found: Json = {}
    if options.protect:
        found["protect"] = True
    if options.ignoreChanges:
        found["ignore_changes"] = list(options.ignoreChanges)
    if options.aliases:
        found["aliases"] = sorted(options.aliases)
    return found


def _added(fields: Any, path: tuple[Any, ...]) -> Iterator[str]:
    """JSON pointers of what a provider has added, at any depth."""
    if SIGNATURE in fields:
        if "value" in fields:
            yield from _added_to(fields["value"], path)
        return
    if DEFAULTS in fields:
        for name in fields[DEFAULTS].list_value.values:
            if name.string_value in fields:
                yield pointer((name.string_value, path))
    for key, value in fields.items():
        yield from _added_to(value, (key, path))


def _added_to(value: Any, path: tuple[Any, ...]) -> Iterator[str]:
    kind = value.WhichOneof("kind")
    if kind == "struct_value":
        yield from _added(value.struct_value.fields, path)
    elif kind == "list_value":
        for index, item in enumerate(value.list_value.values):
            yield from _added_to(item, (index, path))


def _without_defaults(resource: Resource, defaults: Mapping[str, Any]) -> str:
    """Takes defaults out of the inputs; returns the name that was among them, or nothing."""
    name = ""
    for place, value in defaults.items():
        parent, _, key = place.rpartition("/")
        try:
            holder = at(resource["inputs"], parent)
        except (KeyError, IndexError):
            continue
        key = key.replace("~1", "/").replace("~0", "~")
        # Another pack may have changed it since: then it is no default.
        if not isinstance(holder, dict) or key not in holder or holder[key] != value:
            continue
        del holder[key]
        for marks in (resource["unknown"], resource["secret"]):
            marks[:] = [mark for mark in marks if mark != place and not mark.startswith(f"{place}/")]
        if place == "/name" and isinstance(value, str):
            name = value
    return name


def _without_autoname(inputs: Json) -> str:
    metadata = inputs.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    if not isinstance(metadata, dict) or not isinstance(annotations, dict) or annotations.get(AUTONAMED) != "true":
        return ""
    del annotations[AUTONAMED]
    if not annotations:
        del metadata["annotations"]
    name = metadata.pop("name", "")
    return name if isinstance(name, str) else ""
