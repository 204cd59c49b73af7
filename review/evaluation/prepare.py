"""From a resource document to what rules read: `input`.

    urn, project, stack, environment, date    the stack; `urn` is its own
    limits           of its environment, see review/evaluation/limits.py
    by_type          {type: [{urn, name, parent, inputs, unknown, default_tags, references, protect}]}: all but
                     Kubernetes objects; `unknown` are the pointers to inputs that are not known
    objects          {"Deployment.apps": [{urn, provider, path, api, name, namespace, patch, body, references}]}
    pods             [{urn, provider, path, object, kind, name, namespace, labels, spec,
                       containers: [{path, role, container, image}], whole, pod_labels, accelerated}]; `object` is
                     the path of what carries the pod, `labels` are that object's and `pod_labels` the pod's; where it
                     is not `whole`, what is missing may be said by somebody else
    releases         [{urn, provider, chart, repository, version, namespace, values, value_files,
                       images: [{path, image}], grants: [{path, name, capability}]}]: see helm.py
    plain_secrets    [{urn, path, place, name, kind}]
    software         [{urn, path, source, named, product, version, floor, beyond,
                       holes: [{cves, severity, fixed, through}]}], see software.py; `version` is empty where nobody can
                     tell it
    servers          [{urn, path, container, engine, options: {flag: value}, places: {flag: pointer}, environment,
                       models: [{role, name, source, revision, path}], host_network}]: see servers.py
    openings, entrances, permissions, trusts, places, default_places, accelerated: see surface.py
    workloads, cluster_queues, namespaces, queued: of a whole stack, see demand.py
    floors           {checked, age_days} of the table of holes: its newest day
    cost, capacity   as in the document
    comparison       {cost: {bound: {base, head}}} beside the base of a change; empty where there is none
    compatibility    [{urn, path, group, machine, driver, image, status, reason}], as in the document
    waivers          [{rule, resource, ticket, approver, expires, days, state, used, resources, place}], and
    break_glass      [{ticket, by, approver, reason, from, until, state, rules, place}]: of the stack; told to the rules
                     of the group `waivers` alone, which are asked when the others have answered

A member that is null (its value is unknown) is left out, so a rule meets what is missing, never a null, save as an
element of a list. Whole floats are integers: engines print them differently. The spec of a whole pod is in `pods` only,
not in its object's body. `references` says, by JSON pointer, which resource of the program a value names. A namespace
that is not known is left out. Nothing here raises on inputs of any shape.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gpuyard.review.evaluation import demand, pods, servers, software, surface
from gpuyard.review.evaluation import objects as kubernetes
from gpuyard.review.evaluation.helm import release
from gpuyard.review.evaluation.objects import Json, Object, Path, metadata, pointer, steps
from gpuyard.review.evaluation.plain_secrets import in_plain_text
from gpuyard.review.evaluation.references import Part, References, Steps, name
from gpuyard.review.evaluation.rules import Refers

POD = "pod"
"""How METADATA names the spec of any pod."""
CONTAINER = "container"
"""A container that stands in no list of containers: what METADATA says of those of a pod holds for it."""
DEFAULT_TAGS = "defaultTags"
"""An unknown path that no resource has by itself: the tags that its provider gives it are not known."""

_DEFAULT_TAGS_OF = {"aws": ("defaultTags", "tags"), "gcp": ("defaultLabels",)}

Resource = Mapping[str, Any]


@dataclass(slots=True)
class Prepared:
    """What the rules read, and what the evaluator needs to tell what they could not know."""

    input: Json
    parts: dict[str, list[Part]]
    """By URN."""
    unknown: dict[str, list[Steps]]
    """Paths that are not known, by URN, without those that a reference makes clear."""


@dataclass(frozen=True, slots=True)
class _Read:
    """One resource, read once."""

    urn: str
    resource: Resource
    inputs: Json
    objects: list[Object]
    parts: list[Part]
    unknown: list[Steps]


@dataclass(frozen=True, slots=True)
class _Context:
    """One resource and what is known about it from others."""

    read: _Read
    provider: Resource
    references: dict[str, str]
    unknown: list[Steps]
    names: Mapping[str, str]


def prepare(document: Mapping[str, Any], limits: Json, refers: Iterable[Refers] = ()) -> Prepared:
    """Prepares a document. `refers` is what the rules' METADATA says of values that name other resources."""
    preparation = Preparation(refers)
    for resource in document["resources"]:
        preparation.add(resource)
    return preparation.whole(document, limits)


class Preparation:
    """Resources on their way to the rules: each is read once, also where one is judged by itself before all are in."""

    def __init__(self, refers: Iterable[Refers] = (), defaults: Mapping[str, Any] | None = None) -> None:
        self._read: dict[str, _Read] = {}
        self._references = References(refers)
        self._names: dict[str, str] = {}
        self._defaults = defaults or {}

    def add(self, resource: Resource) -> None:
        """Reads a resource; one that is there already is taken out."""
        urn = str(resource["urn"])
        inputs = known(resource["inputs"]) if isinstance(resource["inputs"], dict) else {}
        objects = list(kubernetes.objects(resource["type"], inputs, known(resource.get("manifests"))))
        parts = _parts(resource["type"], objects)
        self._read[urn] = _Read(urn, resource, inputs, objects, parts, [steps(path) for path in resource["unknown"]])
        self._names[urn] = name(inputs)
        self._references.add(urn, parts, self._names[urn] or str(resource.get("autoname", "")))

    def parts(self, urn: str) -> list[Part]:
        """What METADATA can name in a resource."""
        return self._read[urn].parts

    def references(self, urn: str) -> tuple[dict[str, str], set[Refers]]:
        """URN by JSON pointer of what a resource names; and what in it may name something that nobody knows yet."""
        read = self._read[urn]
        unknown = list(read.unknown)
        found = self._references.of(read.resource, read.inputs, read.parts, unknown)
        return found, self._references.open(read.inputs, read.parts, unknown)

    def whole(self, document: Mapping[str, Any], limits: Json) -> Prepared:
        """All resources, with what the rest of the document says."""
        self._defaults = document.get("default_providers") or {}
        prepared = Prepared(stack_input(document, limits), {}, {})
        for resource in document["resources"]:
            self._put(prepared, self._read[resource["urn"]])
        prepared.input |= demand.demand(prepared.input, prepared.unknown)
        return prepared

    def one(self, urn: str, stack: Json) -> Prepared:
        """One resource by itself, beside those that it refers to. `stack` is as `stack_input` gives it."""
        prepared = Prepared(stack | _nothing(), {}, {})
        for target in sorted({*self._put(prepared, self._read[urn]).values()} - {urn}):
            self._put(prepared, self._read[target])
        return prepared

    def _put(self, prepared: Prepared, read: _Read) -> dict[str, str]:
        unknown = list(read.unknown)
        named = self._references.of(read.resource, read.inputs, read.parts, unknown)
        provider = self._read.get(read.resource["provider"])
        described = provider.resource if provider else self._defaults.get(read.resource["type"].partition(":")[0])
        _add(prepared.input, _Context(read, described or {}, named, unknown, self._names))
        prepared.parts[read.urn], prepared.unknown[read.urn] = read.parts, unknown
        return named


def known(value: Any) -> Any:
    """The value without members that are null, whole floats as integers."""
    if isinstance(value, dict):
        return {str(key): known(member) for key, member in value.items() if member is not None}
    if isinstance(value, list):
        return [known(member) for member in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def stack_urn(project: str, stack: str) -> str:
    """The URN of the stack itself, as the engine makes it."""
    return f"urn:pulumi:{stack}::{project}::pulumi:pulumi:Stack::{project}-{stack}"


def stack_input(document: Mapping[str, Any], limits: Json) -> Json:
    """What rules read of a stack as a whole, and no resource yet."""
    stack, project = document["stack"], document["project"]
    return {
        "urn": stack_urn(project, stack),
        "project": project,
        "stack": stack,
        "environment": document["environment"],
        "date": document["date"],
        "limits": known(limits),
        "cost": known(document.get("cost") or {}),
        "capacity": known(document.get("capacity") or {}),
        "comparison": known(document.get("comparison") or {}),
        "compatibility": known(document.get("compatibility") or []),
        "floors": software.table(document["date"]),
    } | _nothing()


def _nothing() -> Json:
    own = ("waivers", "break_glass", "pods", "releases", "plain_secrets", "software", "servers")
    lists = (*own, *surface.LISTS, *demand.LISTS)
    return {name: {} for name in ("by_type", "objects", *surface.OBJECTS)} | {name: [] for name in lists}


def _parts(type_: str, found: list[Object]) -> list[Part]:
    parts = [Part(type_, ())]
    for item in found:
        parts.append(Part(item.type, item.path))
        for pod in pods.pods(item):
            parts.append(Part(POD, pod.path))
            parts += [Part(CONTAINER, place) for place in pod.alone]
    return parts


def _add(rego: Json, context: _Context) -> None:
    resource, inputs, urn = context.read.resource, context.read.inputs, context.read.urn
    for item in context.read.objects:
        _add_object(rego, item, context)
    if not context.read.objects:
        entry = {key: resource[key] for key in ("urn", "name", "parent", "unknown")}
        entry |= {"inputs": inputs, "default_tags": _default_tags(context), "references": context.references}
        entry["protect"] = resource["options"].get("protect") is True
        rego["by_type"].setdefault(resource["type"], []).append(entry)
        default = {} if resource["provider"] else context.provider
        seen = surface.Seen(urn, resource["type"], inputs, context.read.unknown, context.references, default)
        surface.add(rego, seen)
    if resource["type"].startswith(kubernetes.HELM):
        namespace = _namespace(inputs.get("namespace"), ("namespace",), context)
        about = {"urn": urn, "provider": resource["provider"], **release(inputs)}
        about |= {"namespace": namespace} if namespace else {}
        rego["releases"].append(about)
        surface.add_release(rego, about)
        rego["software"] += software.of_release(about)
        rego["servers"] += servers.of_release(about)
    secret = frozenset(resource["secret"])
    plain = in_plain_text(resource["type"], inputs, context.read.objects, secret)
    rego["plain_secrets"] += [{"urn": urn, **secret_} for secret_ in plain]


def _add_object(rego: Json, item: Object, context: _Context) -> None:
    about = metadata(item.body)
    common = {"urn": context.read.urn, "name": about.get("name", "")}
    namespace = _namespace(about.get("namespace"), (*item.path, "metadata", "namespace"), context)
    if namespace:
        common["namespace"] = namespace
    labels = about.get("labels")
    described = {"object": pointer(item.path), "kind": item.kind, "labels": labels if isinstance(labels, dict) else {}}
    body = item.body
    described["provider"] = context.read.resource["provider"]
    for pod in pods.pods(item):
        prepared = common | described | pods.as_read(pod)
        rego["pods"].append(prepared)
        rego["software"] += software.of_pod(prepared)
        rego["servers"] += servers.of_pod(prepared)
        if pod.whole:
            body = kubernetes.without(body, pod.path[len(item.path) :])
    rego["software"] += software.of_object(context.read.urn, item)
    rego["servers"] += servers.of_object(context.read.urn, item)
    surface.add_object(rego, item, common)
    placed = {"path": pointer(item.path), "api": item.api, "patch": item.patch, "references": context.references}
    placed["provider"] = context.read.resource["provider"]
    rego["objects"].setdefault(item.key, []).append(common | placed | {"body": body})


def _namespace(own: Any, place: Path, context: _Context) -> str:
    """The namespace that an object or a release goes to, which says it at a place; empty where that is not known."""
    if pointer(place) in context.references:
        return context.names[context.references[pointer(place)]]
    if own is not None:
        return own if isinstance(own, str) else ""
    here = tuple(str(step) for step in place)
    provider = context.provider
    if any(here[: len(path)] == path for path in context.unknown) or "/namespace" in provider.get("unknown", ()):
        return ""
    given = provider.get("inputs")
    default = given.get("namespace") if isinstance(given, dict) else None
    return default if isinstance(default, str) and default else "default"


def _default_tags(context: _Context) -> Json:
    """Tags that the provider gives to each of its resources: JSON text, as all inputs of providers are."""
    field = _DEFAULT_TAGS_OF.get(str(context.read.resource["type"]).partition(":")[0])
    given = context.provider.get("inputs")
    if field is None or not isinstance(given, dict):
        return {}
    if any(path.startswith(f"/{field[0]}") for path in context.provider.get("unknown", ())):
        context.unknown.append((DEFAULT_TAGS,))
    value = given.get(field[0])
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return {}
    for step in field[1:]:
        value = value.get(step) if isinstance(value, dict) else None
    return known(value) if isinstance(value, dict) else {}
