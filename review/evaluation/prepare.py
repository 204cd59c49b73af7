"""From a resource document to what rules read: `input`.

    urn, project, stack, environment, date    the stack; `urn` is its own
    limits           of its environment, see review/evaluation/limits.py
    by_type          {type: [{urn, name, parent, inputs, unknown, default_tags, references}]}: all but Kubernetes
                     objects; `unknown` are the pointers to inputs that are not known
    objects          {"Deployment.apps": [{urn, path, api, name, namespace, patch, body, references}]}
    pods             [{urn, path, object, kind, name, namespace, labels, spec,
                       containers: [{path, role, container, image}]}]; `object` is the path of what carries the pod
    releases         [{urn, chart, repository, namespace, values, images: [{path, image}],
                       grants: [{path, name, capability}]}]
    plain_secrets    [{urn, path, place, name, kind}]
    cost, capacity   as in the document

A member that is null (its value is unknown) is left out, so a rule meets what is missing, never a null, save as an
element of a list. Whole floats are integers: engines print them differently. A pod's spec is in `pods` only, not in its
object's body. `references` says, by JSON pointer, which resource of the program a value names. A namespace that is not
known is left out. Nothing here raises on inputs of any shape.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gpuyard.review.evaluation import objects as kubernetes
from gpuyard.review.evaluation.helm import release
from gpuyard.review.evaluation.objects import Json, Object, Path, metadata, pointer, steps
from gpuyard.review.evaluation.plain_secrets import in_plain_text
from gpuyard.review.evaluation.references import Part, References, Steps, name
from gpuyard.review.evaluation.rules import Refers

POD = "pod"
"""How METADATA names the spec of any pod."""
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
class _Context:
    """One resource and what is known about it."""

    resource: Resource
    inputs: Json
    objects: list[Object]
    provider: Resource
    references: dict[str, str]
    unknown: list[Steps]
    names: Mapping[str, str]

    @property
    def urn(self) -> str:
        return str(self.resource["urn"])


def prepare(document: Mapping[str, Any], limits: Json, refers: Iterable[Refers] = ()) -> Prepared:
    """Prepares a document. `refers` is what the rules' METADATA says of values that name other resources."""
    resources: list[Resource] = document["resources"]
    inputs = {r["urn"]: known(r["inputs"]) if isinstance(r["inputs"], dict) else {} for r in resources}
    found = {r["urn"]: list(kubernetes.objects(r["type"], inputs[r["urn"]])) for r in resources}
    parts = {r["urn"]: _parts(r, found[r["urn"]]) for r in resources}
    unknown = {r["urn"]: [steps(path) for path in r["unknown"]] for r in resources}
    references = References(inputs, parts, refers)
    names = {urn: name(given) for urn, given in inputs.items()}
    providers = {r["urn"]: r for r in resources if r["type"].startswith("pulumi:providers:")}
    defaults = document.get("default_providers") or {}
    prepared = Prepared(_stack(document, limits), parts, unknown)
    for r in resources:
        urn = r["urn"]
        provider = providers.get(r["provider"]) or defaults.get(r["type"].partition(":")[0]) or {}
        named = references.of(r, unknown[urn])
        _add(prepared.input, _Context(r, inputs[urn], found[urn], provider, named, unknown[urn], names))
    return prepared


def known(value: Any) -> Any:
    """The value without members that are null, whole floats as integers."""
    if isinstance(value, dict):
        return {str(key): known(member) for key, member in value.items() if member is not None}
    if isinstance(value, list):
        return [known(member) for member in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _stack(document: Mapping[str, Any], limits: Json) -> Json:
    stack, project = document["stack"], document["project"]
    return {
        "urn": f"urn:pulumi:{stack}::{project}::pulumi:pulumi:Stack::{project}-{stack}",
        "project": project,
        "stack": stack,
        "environment": document["environment"],
        "date": document["date"],
        "limits": known(limits),
        "by_type": {},
        "objects": {},
        "pods": [],
        "releases": [],
        "plain_secrets": [],
        "cost": known(document.get("cost") or {}),
        "capacity": known(document.get("capacity") or {}),
    }


def _parts(resource: Resource, found: list[Object]) -> list[Part]:
    parts = [Part(resource["type"], ())]
    for item in found:
        parts.append(Part(item.type, item.path))
        parts += [Part(POD, path) for path, _ in kubernetes.pod_specs(item)]
    return parts


def _add(rego: Json, context: _Context) -> None:
    resource, inputs, urn = context.resource, context.inputs, context.urn
    for item in context.objects:
        _add_object(rego, item, context)
    if not context.objects:
        entry = {key: resource[key] for key in ("urn", "name", "parent", "unknown")}
        entry |= {"inputs": inputs, "default_tags": _default_tags(context), "references": context.references}
        rego["by_type"].setdefault(resource["type"], []).append(entry)
    if resource["type"].startswith(kubernetes.HELM):
        namespace = _namespace(inputs.get("namespace"), ("namespace",), context)
        rego["releases"].append({"urn": urn, **release(inputs)} | ({"namespace": namespace} if namespace else {}))
    secret = frozenset(resource["secret"])
    plain = in_plain_text(resource["type"], inputs, context.objects, secret)
    rego["plain_secrets"] += [{"urn": urn, **secret_} for secret_ in plain]


def _add_object(rego: Json, item: Object, context: _Context) -> None:
    about = metadata(item.body)
    common = {"urn": context.urn, "name": about.get("name", "")}
    namespace = _namespace(about.get("namespace"), (*item.path, "metadata", "namespace"), context)
    if namespace:
        common["namespace"] = namespace
    labels = about.get("labels")
    described = {"object": pointer(item.path), "kind": item.kind, "labels": labels if isinstance(labels, dict) else {}}
    body = item.body
    for path, spec in kubernetes.pod_specs(item):
        rego["pods"].append(common | described | kubernetes.pod(spec, path))
        body = _without(body, path[len(item.path) :])
    placed = {"path": pointer(item.path), "api": item.api, "patch": item.patch, "references": context.references}
    rego["objects"].setdefault(item.key, []).append(common | placed | {"body": body})


def _namespace(own: Any, place: Path, context: _Context) -> str:
    """The namespace that an object or a release goes to, which says it at a place; empty where that is not known."""
    if own is not None:
        return own if isinstance(own, str) else ""
    if pointer(place) in context.references:
        return context.names[context.references[pointer(place)]]
    here = tuple(str(step) for step in place)
    provider = context.provider
    if any(here[: len(path)] == path for path in context.unknown) or "/namespace" in provider.get("unknown", ()):
        return ""
    given = provider.get("inputs")
    default = given.get("namespace") if isinstance(given, dict) else None
    return default if isinstance(default, str) and default else "default"


def _without(body: Any, path: Path) -> Any:
    """A copy without the member at `path`; what lies beside the path is shared."""
    if not path or not isinstance(body, dict | list):
        return {}
    first, rest = path[0], path[1:]
    if isinstance(body, list):
        return [_without(member, rest) if i == first else member for i, member in enumerate(body)]
    if first not in body:
        return body
    if not rest:
        return {key: value for key, value in body.items() if key != first}
    return body | {first: _without(body[first], rest)}


def _default_tags(context: _Context) -> Json:
    """Tags that the provider gives to each of its resources: JSON text, as all inputs of providers are."""
    field = _DEFAULT_TAGS_OF.get(str(context.resource["type"]).partition(":")[0])
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
