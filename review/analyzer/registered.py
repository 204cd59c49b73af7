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

BRIDGED = frozenset({"aws", "gcp"})
"""Packages of which the provider's check lists its defaults, and drops what a program says under that name. Any other
passes on what the program wrote, which may hide an input in that way. Source: pulumi-terraform-bridge, pkg/tfbridge."""

_DEFAULT_NAME = re.compile(r"default(_\d+_\d+_\d+.*)?")
"""Source: pulumi, pkg/resource/deploy/providers/provider.go, DefaultName."""

Json = dict[str, Any]


class Registered:
    """Reads registrations of one deployment, each once."""

    def __init__(self) -> None:
        self._reader = Reader()
        self._defaults: dict[str, Mapping[str, Any]] = {}
        self._providers: set[str] = set()
        """Those of the program: one may have a name that the engine gives too."""

    def defaults(self, message: Any) -> None:
        """Keeps what the provider has added to a resource's inputs: only Remediate's message tells."""
        fields = message.properties.fields
        if not _is_bridged(message) or not fields:
            return
        places = list(_added(fields, ()))
        inputs = self._reader.read(message.properties)[0] if places else {}
        self._defaults[message.urn] = {place: at(inputs, place) for place in places}

    def resource(self, message: Any) -> Resource | None:
        """The resource of an Analyze message; None for what the engine makes by itself or leaves out.

        Raises ValueError for a number that JSON does not have.
        """
        if message.type == STACK or is_default_provider(message.urn, message.options.parent):
            return None
        if message.type.startswith(PROVIDER):
            self._providers.add(message.urn)
        defaults = self._defaults.pop(message.urn, None)
        if _is_bridged(message) and not message.properties.fields and defaults is None:
            # Not targeted, and not there yet: the engine creates nothing, and asks no provider for the inputs. A
            # provider that was asked leaves something, at least an empty list of defaults.
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
            "provider": "" if provider not in self._providers and is_default_provider(provider) else provider,
            "inputs": inputs,
            "unknown": unknown,
            "secret": secret,
            "options": _options(message.options),
        }
        autoname = _without_defaults(resource, defaults or {}) or _without_autoname(inputs)
        if autoname:
            resource["autoname"] = autoname
        resource["secret"] = sorted({*resource["secret"], *(path for _, path in contents_of_secrets([resource]))})
        return resource


def is_default_provider(urn: str, parent: str = "") -> bool:
    """Whether the engine makes the provider of this URN, from the stack's configuration.

    It gives it no parent, not even the stack, which every provider of a program has.
    """
    type_, name = _type_and_name(urn)
    return not parent and type_.startswith(PROVIDER) and _DEFAULT_NAME.fullmatch(name) is not None


def _is_bridged(message: Any) -> bool:
    """Whether the provider of a resource lists the defaults that it adds."""
    type_ = _type_and_name(message.provider.urn)[0].rpartition("$")[2]
    return type_.startswith(PROVIDER) and type_.removeprefix(PROVIDER) in BRIDGED


def _type_and_name(urn: str) -> tuple[str, str]:
    """Of a URN, whose name may hold anything: the type, after those of its parents and `$`, and the name."""
    parts = urn.split("::", 3)
    return (parts[2], parts[3]) if len(parts) > 3 else ("", "")


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
