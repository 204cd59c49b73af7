"""What the program's workloads take of accelerators, at the most that their scalers may reach.

    workloads        [{urn, path, object, provider, kind, key, name, namespace, namespace_urn, labels, batch,
                       priority_class, queue, deadline, replicas: {declared, max, urn, path},
                       accelerators: {resource: of a pod}, uncounted, wrong, whole, spec, containers}]

One entry for each template of pods that take some, or may: `path` is its spec, `object` the object that it is in, `key`
that one's kind and group, and `namespace_urn` the namespace of the program that it names, if it does. `replicas` are
pods of the template; `max` is left out where it is not known or nothing bounds it, and `urn` and `path` are where it
would be said. `batch` ends by itself, and waits where it does not fit; `deadline` is in seconds. `uncounted` are paths
of accelerators that nobody can count, `wrong` what an API server refuses: see requests.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from gpuyard.review.evaluation.claims import Claims
from gpuyard.review.evaluation.objects import pointer, steps
from gpuyard.review.evaluation.pod_counts import Count, value
from gpuyard.review.evaluation.references import Steps, hidden
from gpuyard.review.evaluation.replicas import BATCH, DEADLINES, SCALED_JOBS, count
from gpuyard.review.evaluation.requests import Requests, requests
from gpuyard.review.values import mapping, number, text

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
"""By which a workload says its LocalQueue. Source: Kueue, "Run a Job"."""

_SCALERS = {
    "HorizontalPodAutoscaler.autoscaling": ("maxReplicas", None, None),
    "ScaledObject.keda.sh": ("maxReplicaCount", SCALED_JOBS, "Deployment"),
}
"""Kinds that scale another object, of whatever kind it is: the field of their maximum, what it is where it is left out,
and which kind they scale where they name none."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Scaler:
    """What scales an object."""

    urn: str
    path: Steps
    most: int | None


@dataclass(frozen=True, slots=True)
class _Holder:
    """The object that a template is in."""

    key: str
    body: Json
    provider: str
    namespace: str
    """URN of the namespace that it names, where that is one of the program's."""


_Target = tuple[str, ...]
"""Provider, namespace, kind and name of what is scaled, the name empty where nobody knows it; or its URN and kind."""


def workloads(rego: Mapping[str, Any], unknown: Mapping[str, list[Steps]]) -> list[Json]:
    """The workloads among what `prepare` made of a program's objects and pods. `unknown` are paths by URN."""
    holders = {
        (entry["urn"], entry["path"]): _Holder(
            key,
            mapping(entry["body"]),
            entry["provider"],
            entry["references"].get(f"{entry['path']}/metadata/namespace", ""),
        )
        for key, entries in rego["objects"].items()
        for entry in entries
    }
    scalers: dict[_Target, list[_Scaler]] = {}
    for target, scaler in _scalers(rego, unknown):
        scalers.setdefault(target, []).append(scaler)
    claims = Claims(rego["objects"])
    found = []
    for pod in rego["pods"]:
        asked = requests(pod["containers"], unknown.get(pod["urn"], ()), steps(pod["path"]))
        holder = holders[pod["urn"], pod["object"]]
        claimed = claims.of(pod, holder.namespace)
        if asked.accelerators or asked.uncounted or asked.wrong or claimed:
            asked = replace(asked, accelerators=asked.accelerators | claimed)
            found.append(_workload(pod, asked, holder, scalers, unknown.get(pod["urn"], [])))
    return found


def _workload(
    pod: Mapping[str, Any],
    asked: Requests,
    holder: _Holder,
    scalers: Mapping[_Target, list[_Scaler]],
    unknown: list[Steps],
) -> Json:
    place = steps(pod["object"])
    way = steps(pod["path"])[len(place) :]
    within = (holder.provider, pod.get("namespace", ""), pod["kind"])
    name = text(pod["name"]) or ""
    targets: set[_Target] = {(pod["urn"], pod["kind"]), (*within, ""), (*within, name)}
    scaler = max((one for target in targets for one in scalers.get(target, ())), key=_largest, default=None)
    if scaler is not None and scaler.most is None:
        # It scales to nobody knows how many.
        counted, source = Count(None, None, ()), (scaler.urn, pointer(scaler.path))
    else:
        counted = count(holder.key, holder.body, way, scaler.most if scaler else None)
        missing = [(*place, *each) for each in counted.rests_on if hidden((*place, *each), unknown)]
        if missing:
            counted = Count(None, None, ())
        rests = missing or [(*place, *each) for each in counted.rests_on]
        source = (pod["urn"], pointer(rests[0]) if rests else pod["path"])
        if scaler is not None and not missing:
            source = (scaler.urn, pointer(scaler.path))
    replicas = {"declared": counted.declared, "max": counted.most, "urn": source[0], "path": source[1]}
    optional: Json = {
        "namespace": pod.get("namespace"),
        "namespace_urn": holder.namespace or None,
        "priority_class": text(pod["spec"].get("priorityClassName")),
        "queue": text(pod["labels"].get(QUEUE_LABEL)),
        "deadline": _deadline(holder, pod),
    }
    own = asked.of_containers
    containers = [entry | {"accelerators": own.get(entry["path"], {})} for entry in pod["containers"]]
    about = {key: pod[key] for key in ("urn", "path", "object", "provider", "kind", "labels")} | {"name": name}
    return (
        about
        | {key: said for key, said in optional.items() if said is not None}
        | {
            "key": holder.key,
            "batch": _ends(holder.key, pod),
            "replicas": {key: said for key, said in replicas.items() if said is not None},
            "accelerators": asked.accelerators,
            "uncounted": asked.uncounted,
            "wrong": asked.wrong,
            "whole": pod["whole"],
            "spec": pod["spec"],
            "containers": containers,
        }
    )


def _deadline(holder: _Holder, pod: Mapping[str, Any]) -> int | None:
    """Seconds after which the pods are ended: the pod's own, or its job's."""
    way = DEADLINES.get(holder.key)
    if way and way[0] == "..":
        way = (*steps(pod["path"])[len(steps(pod["object"])) : -2], *way[1:])
    said = [pod["spec"].get("activeDeadlineSeconds"), value(holder.body, way) if way else None]
    return min((count for count in map(number, said) if count is not None), default=None)


def _ends(key: str, pod: Mapping[str, Any]) -> bool:
    """Whether pods end by themselves."""
    return key in BATCH or (key == "Pod" and pod["spec"].get("restartPolicy") in ("Never", "OnFailure"))


def _scalers(rego: Mapping[str, Any], unknown: Mapping[str, list[Steps]]) -> Iterator[tuple[_Target, _Scaler]]:
    for key, (field, default, usual) in _SCALERS.items():
        for entry in rego["objects"].get(key, ()):
            spec, unclear = mapping(mapping(entry["body"]).get("spec")), unknown.get(entry["urn"], [])
            target, place = mapping(spec.get("scaleTargetRef")), (*steps(entry["path"]), "spec")
            kind, named = text(target.get("kind")) or usual, (*place, "scaleTargetRef", "name")
            name = "" if hidden(named, unclear) else text(target.get("name")) or None
            limit = (*place, field)
            most = None if name == "" or hidden(limit, unclear) else number(spec.get(field, default))
            scaler = _Scaler(entry["urn"], named if name == "" else limit, most)
            if not kind:
                continue
            if urn := entry["references"].get(pointer(named)):
                yield (urn, kind), scaler
            elif name is not None:
                yield (entry["provider"], entry.get("namespace", ""), kind, name), scaler


def _largest(scaler: _Scaler) -> float:
    return float("inf") if scaler.most is None else scaler.most
