"""The state of a stack, as `pulumi stack export` writes it: an audit of what was deployed last.

What the cloud has become since is not in a state: `pulumi refresh` reads that. Secrets are there as ciphertext, and
nobody decrypts them here; what `--show-secrets` wrote is judged, and never shown.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pulumi.runtime.proto import analyzer_pb2

from gpuyard.review.analyzer.registered import BRIDGED, DEFAULTS, PROVIDER, STACK, Registered, is_default_provider
from gpuyard.review.doors import Given
from gpuyard.review.doors.jsonfile import load
from gpuyard.review.errors import InputError
from gpuyard.review.recording import Recording, Resource
from gpuyard.review.recording.echo import struct
from gpuyard.review.recording.values import SECRET, SIGNATURE
from gpuyard.review.unseen import Unseen

REMEDY = "give what `pulumi stack export` writes"

_URN = re.compile(r"(?s)urn:pulumi:(?P<stack>[^:]+)::(?P<project>[^:]+)::(?P<types>.+?)::(?P<name>.+)")
_POSITION = re.compile(r"project:///(?P<file>[^#]+)#(?P<line>[0-9]+)(,[0-9]+)?")
"""Source: pulumi, pkg/resource/deploy/source_eval.go."""

_TEXTS = ("urn", "type", "parent", "provider", "sourcePosition")
_FLAGS = ("custom", "delete", "external", "protect", "retainOnDelete", "pendingReplacement")
_LISTS = ("dependencies", "ignoreChanges", "aliases")

Json = dict[str, Any]


def from_state(path: Path) -> Given:
    """The stack of a file. Raises InputError for a file that is no state, or the state of nothing."""
    content = load(path, REMEDY)
    deployment = content.get("deployment") if isinstance(content, dict) else None
    if not isinstance(deployment, dict):
        raise InputError(f"{path}: is no state of a stack: {REMEDY}")
    listed = deployment.get("resources") or []
    if not isinstance(listed, list):
        raise InputError(f"{path}: deployment.resources: is no list: {REMEDY}")
    entries = [_entry(f"{path}: deployment.resources[{i}]", one) for i, one in enumerate(listed)]
    if not entries:
        raise InputError(f"{path}: has no resource, so nothing is deployed that could be judged: {REMEDY}")
    project, stack = _owner(path, entries)
    there = [one for one in entries if one["type"] != STACK and not _is_gone(one)]
    for urn, count in Counter(one["urn"] for one in there).items():
        if count > 1:
            raise InputError(f"{path}: {count} resources are called {urn}: {REMEDY}")
    registered = Registered()
    resources: list[Resource] = []
    for one in there:
        try:
            resource = _resource(registered, one)
        except ValueError as error:
            raise InputError(f"{path}: {one['urn']}: {error}: {REMEDY}") from None
        if resource is not None:
            resources.append(resource)
    resources.sort(key=lambda resource: resource["urn"])
    config = dict(_configuration(there))
    hidden = [*_hidden(entries, resources), *_cut_off(deployment.get("pending_operations"))]
    return Given(Recording(project, stack, resources, [], 0.0, config), hidden)


def _entry(place: str, given: Any) -> Json:
    if not isinstance(given, dict):
        raise InputError(f"{place}: is no resource: {REMEDY}")
    for key in ("urn", "type"):
        if not given.get(key):
            raise InputError(f"{place}.{key}: is missing: {REMEDY}")
    shapes: list[tuple[tuple[str, ...], type, str]] = [
        (_TEXTS, str, "text"),
        (_FLAGS, bool, "truth value"),
        (("inputs",), dict, "mapping"),
    ]
    for keys, kind, what in shapes:
        for key in keys:
            if given.get(key) is not None and not isinstance(given[key], kind):
                raise InputError(f"{place}.{key}: is no {what}: {REMEDY}")
    for key in _LISTS:
        value = given.get(key) or []
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise InputError(f"{place}.{key}: is no list of texts: {REMEDY}")
    if _URN.fullmatch(given["urn"]) is None:
        raise InputError(f"{place}.urn: {given['urn']!r} is no URN: {REMEDY}")
    return given


def _owner(path: Path, entries: list[Json]) -> tuple[str, str]:
    found = {(match["project"], match["stack"]) for one in entries if (match := _URN.fullmatch(one["urn"]))}
    if len(found) > 1:
        named = ", ".join(sorted(f"{project}/{stack}" for project, stack in found))
        raise InputError(f"{path}: has resources of several stacks ({named}): {REMEDY}")
    return found.pop()


def _is_gone(one: Json) -> bool:
    """Whether its successor is there, or it is not this stack's: it reads what somebody else has made."""
    return bool(one.get("delete") or one.get("pendingReplacement") or one.get("external"))


def _resource(registered: Registered, one: Json) -> Resource | None:
    inputs = told = _readable(one.get("inputs") or {})
    if _package(one) in BRIDGED:
        # Of an empty one the reader would believe that nobody has asked its provider.
        inputs.setdefault(DEFAULTS, [])
        told = _without_lists(inputs)
    registered.defaults(_message(one, inputs))
    resource = registered.resource(_message(one, told))
    if resource is None:
        return None
    options = resource["options"]
    if one.get("dependencies"):
        options["depends_on"] = sorted({*one["dependencies"]})
    if one.get("retainOnDelete"):
        options["retain_on_delete"] = True
    if position := _POSITION.fullmatch(one.get("sourcePosition") or ""):
        resource["source"] = f"{position['file']}:{position['line']}"
    resource["custom"] = one.get("custom") is True
    return resource


def _message(one: Json, inputs: Json) -> Any:
    """As the engine hands a resource to a policy pack."""
    match = _URN.fullmatch(one["urn"])
    provider = (one.get("provider") or "").rpartition("::")[0]
    return analyzer_pb2.AnalyzeRequest(
        type=one["type"],
        urn=one["urn"],
        name=match["name"] if match else "",
        properties=struct(inputs),
        provider=analyzer_pb2.AnalyzerProviderResource(urn=provider),
        options=analyzer_pb2.AnalyzerResourceOptions(
            parent=one.get("parent") or "",
            protect=one.get("protect") is True,
            ignoreChanges=one.get("ignoreChanges") or [],
            aliases=one.get("aliases") or [],
        ),
    )


def _package(one: Json) -> str:
    match = _URN.fullmatch((one.get("provider") or "").rpartition("::")[0])
    return match["types"].rpartition("$")[2].removeprefix(PROVIDER) if match else ""


def _readable(value: Any) -> Any:
    """Secrets as the engine's protocol has them: with their value where the file tells it, without one where it does
    not. Raises ValueError for a secret whose text is no JSON."""
    if isinstance(value, list):
        return [_readable(member) for member in value]
    if not isinstance(value, dict):
        return value
    if value.get(SIGNATURE) == SECRET:
        if not isinstance(value.get("plaintext"), str):
            return {SIGNATURE: SECRET}
        try:
            return {SIGNATURE: SECRET, "value": _readable(json.loads(value["plaintext"]))}
        except (ValueError, RecursionError):
            raise ValueError("the plaintext of a secret is no JSON") from None
    return {key: _readable(member) for key, member in value.items()}


def _without_lists(value: Any) -> Any:
    """Without the lists of defaults, which a policy pack does not get to see either."""
    if isinstance(value, list):
        return [_without_lists(member) for member in value]
    if isinstance(value, dict):
        return {key: _without_lists(member) for key, member in value.items() if key != DEFAULTS}
    return value


def _configuration(entries: list[Json]) -> Iterator[tuple[str, str]]:
    """What default providers were given by the stack's configuration; not where two of them disagree."""
    said: dict[str, set[str]] = {}
    for one in entries:
        if is_default_provider(one["urn"], one.get("parent") or ""):
            package = one["type"].removeprefix(PROVIDER)
            for name, value in (one.get("inputs") or {}).items():
                said.setdefault(f"{package}:{name}", set()).add(value if isinstance(value, str) else "")
    for key, values in said.items():
        if len(values) == 1 and "" not in values:
            yield key, next(iter(values))


def _hidden(entries: list[Json], resources: list[Resource]) -> Iterator[Unseen]:
    for resource in resources:
        # What a Secret holds is judged by nobody.
        for path in resource["secret"] if resource["inputs"].get("kind") != "Secret" else ():
            if path in resource["unknown"]:
                yield Unseen(resource["urn"], f"{resource['name']}{path}, which is a secret of the state")
    for one in entries:
        if one.get("delete") or one.get("pendingReplacement"):
            yield Unseen(one["urn"], f"the {_name(one)} that is still to be deleted")
        elif one.get("external"):
            yield Unseen(one["urn"], f"{_name(one)}, which somebody else has made")


def _cut_off(operations: Any) -> Iterator[Unseen]:
    """What a run was making when it was cut off: it may be there, and no resource of the state says so."""
    for one in operations if isinstance(operations, list) else ():
        resource = one.get("resource") if isinstance(one, dict) else None
        if isinstance(resource, dict) and one.get("type") == "creating" and isinstance(resource.get("urn"), str):
            yield Unseen(resource["urn"], f"{_name(resource)}, whose creation was cut off")


def _name(one: Mapping[str, Any]) -> str:
    return str(one["urn"]).rpartition("::")[2]
