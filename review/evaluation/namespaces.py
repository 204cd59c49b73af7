"""Namespaces, and what quotas and queues let their pods have of accelerators.

    namespaces       [{urn, path, provider, name, labels, limit_range, allowed: {resource: n},
                       asked: [resource], queues: [name], unclear: [{urn, path, name}],
                       quotas: [{urn, path, name, resource, hard, taken, by: [{name, max}],
                                 jobs: [{urn, path, name, max}], uncounted: [{urn, path, name}]}]}]
    queued           [{urn, path, resource, namespaces: [name], queues: [{name, nominal, most}], taken, most, allowed}]

`urn` and `path` are left out of a namespace that the program does not make. `allowed` is what all its pods together may
have, of resources that quotas cap for each of them; `unclear` are quotas of which that is not known; `asked` is what
its workloads ask for. A quota's `taken` is the most
that workloads may take which serve: a job that does not fit beside them waits, so it is compared by itself. An entry of
`queued` is about namespaces that share queues, and these queues: `most` is what they may have beside what is taken. Its
`urn` and `path` are those of a quota.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gpuyard.review.evaluation.objects import metadata
from gpuyard.review.evaluation.references import Steps
from gpuyard.review.evaluation.resource_quotas import Asking, Quota, allowed, asking, quota
from gpuyard.review.values import mapping, text

Json = dict[str, Any]
Key = tuple[str, str]
"""Provider, and a namespace's name, or its URN where the name is not known."""


@dataclass(slots=True)
class _Namespace:
    """A namespace and what is in it."""

    made: Json | None = None
    limit_range: bool = False
    quotas: list[Quota] = field(default_factory=list)
    workloads: list[tuple[Json, Asking]] = field(default_factory=list)
    queues: dict[str, str] = field(default_factory=dict)
    """ClusterQueues by the name of the LocalQueue that leads to them."""


def namespaces(rego: Mapping[str, Any], unknown: Mapping[str, list[Steps]]) -> dict[str, list[Json]]:
    """Both lists, from what `prepare` made of a program's objects, pods, workloads and queues. `unknown` are paths by
    URN."""
    found = _gathered(rego, unknown)
    queues = {(queue["provider"], queue["name"]): queue for queue in rego["cluster_queues"]}
    about = [_about(key, namespace) for key, namespace in sorted(found.items())]
    return {"namespaces": about, "queued": _queued(found, queues)}


def _gathered(rego: Mapping[str, Any], unknown: Mapping[str, list[Steps]]) -> dict[Key, _Namespace]:
    found: dict[Key, _Namespace] = {}
    for entry in rego["objects"].get("Namespace", ()):
        found.setdefault((entry["provider"], text(entry["name"]) or entry["urn"]), _Namespace()).made = entry
    for entry in rego["objects"].get("LimitRange", ()):
        _of(found, entry).limit_range = True
    for entry in rego["objects"].get("ResourceQuota", ()):
        _of(found, entry).quotas.append(quota(entry, unknown.get(entry["urn"], ())))
    for entry in rego["objects"].get("LocalQueue.kueue.x-k8s.io", ()):
        named = text(mapping(mapping(entry["body"]).get("spec")).get("clusterQueue"))
        if named:
            _of(found, entry).queues[text(entry["name"]) or ""] = named
    pods = {(pod["urn"], pod["path"]): pod for pod in rego["pods"]}
    for workload in rego["workloads"]:
        pod = pods[workload["urn"], workload["path"]]
        _of(found, workload).workloads.append((workload, asking(pod)))
    # Of what goes to a namespace that nobody knows, nothing is said.
    return {key: namespace for key, namespace in found.items() if key[1]}


def _of(found: dict[Key, _Namespace], entry: Mapping[str, Any]) -> _Namespace:
    named = entry.get("references", {}).get(f"{entry['path']}/metadata/namespace", "")
    name = entry.get("namespace") or entry.get("namespace_urn") or named
    return found.setdefault((entry["provider"], name), _Namespace())


def _about(key: Key, namespace: _Namespace) -> Json:
    made = namespace.made
    resources = sorted({resource for one in namespace.quotas for resource in one.hard})
    capped = {resource: allowed(namespace.quotas, resource) for resource in resources}
    asked = {resource for workload, _ in namespace.workloads for resource in workload["accelerators"]}
    labels = metadata(mapping(made["body"])).get("labels") if made else None
    return {
        "provider": key[0],
        "name": key[1] if made is None else text(made["name"]) or "",
        **({"urn": made["urn"], "path": made["path"]} if made else {}),
        "labels": labels if isinstance(labels, dict) else {},
        "limit_range": namespace.limit_range,
        "allowed": {resource: most for resource, most in capped.items() if most is not None},
        "asked": sorted(asked),
        "queues": sorted(set(namespace.queues.values())),
        "unclear": [
            {"urn": one.urn, "path": path, "name": one.name} for one in namespace.quotas for path in one.unclear
        ],
        "quotas": [_compared(one, resource, namespace) for one in namespace.quotas for resource in sorted(one.hard)],
    }


def _compared(one: Quota, resource: str, namespace: _Namespace) -> Json:
    """A quota beside what it counts."""
    counted = [workload for workload, pod in namespace.workloads if one.counts(pod) and not _waits(workload, namespace)]
    asking_ = [workload for workload in counted if resource in workload["accelerators"]]
    known = [workload for workload in asking_ if "max" in workload["replicas"]]
    by = [_named(workload, resource) for workload in known if not workload["batch"]]
    path, hard = one.hard[resource]
    return {
        "urn": one.urn,
        "path": path,
        "name": one.name,
        "resource": resource,
        **({} if hard is None else {"hard": hard}),
        "taken": sum(taken["max"] for taken in by),
        "by": [taken for taken in by if taken["max"]],
        "jobs": [_named(workload, resource) | _place(workload) for workload in known if workload["batch"]],
        "uncounted": [
            *(_place(workload) for workload in asking_ if "max" not in workload["replicas"]),
            *({**_place(workload), "path": path} for workload in counted for path in workload["uncounted"]),
        ],
    }


def _waits(workload: Mapping[str, Any], namespace: _Namespace) -> bool:
    """Whether a workload is in a queue, which is counted for what it may have."""
    return workload.get("queue") in namespace.queues


def _named(workload: Mapping[str, Any], resource: str) -> Json:
    each: int = workload["accelerators"][resource]
    return {"name": _called(workload), "max": workload["replicas"]["max"] * each}


def _place(workload: Mapping[str, Any]) -> Json:
    replicas = workload["replicas"]
    return {"name": _called(workload), "urn": replicas["urn"], "path": replicas["path"]}


def _called(workload: Mapping[str, Any]) -> str:
    return f"{workload['kind']} {workload['name'] or workload['urn'].rpartition('::')[2]}"


def _queued(found: Mapping[Key, _Namespace], queues: Mapping[Key, Json]) -> list[Json]:
    lines = []
    for keys in _together(found):
        provider = keys[0][0]
        parts = [found[key] for key in keys]
        names = sorted({queue for part in parts for queue in part.queues.values()})
        own = [queues[provider, name] for name in names if (provider, name) in queues]
        for resource in sorted({resource for queue in own for resource in queue["resources"]}):
            lines.append(_line(keys, parts, own, resource))
    return [line for line in lines if line is not None]


def _line(keys: list[Key], parts: list[_Namespace], own: list[Json], resource: str) -> Json | None:
    bounds = [allowed(part.quotas, resource) for part in parts]
    holders = [one for part in parts for one in part.quotas if resource in one.hard]
    if None in bounds or not holders:
        return None
    having = [queue for queue in own if resource in queue["resources"]]
    counts = [queue["resources"][resource].get("most") for queue in having]
    taken = sum(
        workload["replicas"].get("max", 0) * workload["accelerators"].get(resource, 0)
        for part in parts
        for workload, _ in part.workloads
        if not workload["batch"] and not _waits(workload, part)
    )
    return {
        "urn": holders[0].urn,
        "path": holders[0].hard[resource][0],
        "resource": resource,
        "namespaces": [name for _, name in keys],
        "queues": [{"name": queue["name"], **queue["resources"][resource]} for queue in having],
        "taken": taken,
        **({} if None in counts else {"most": sum(count for count in counts if count is not None)}),
        "allowed": sum(bound for bound in bounds if bound is not None),
    }


def _together(found: Mapping[Key, _Namespace]) -> Iterable[list[Key]]:
    """Namespaces that share queues, in lists."""
    groups: list[tuple[set[Key], list[Key]]] = []
    for key, namespace in sorted(found.items()):
        mine = {(key[0], name) for name in namespace.queues.values()}
        if not mine:
            continue
        members = [key]
        for other in [group for group in groups if group[0] & mine]:
            groups.remove(other)
            mine |= other[0]
            members += other[1]
        groups.append((mine, sorted(members)))
    return [members for _, members in groups]
