"""The accelerators that one pod takes, added up as Kubernetes adds them up.

Source: k8s.io/component-helpers, resource, PodRequests: containers run together, and so do init containers that stay
(restartPolicy Always); other init containers run one after the other, before them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gpuyard.review.evaluation.objects import pointer, steps
from gpuyard.review.evaluation.references import Steps
from gpuyard.review.quantities import amount
from gpuyard.review.values import mapping

ACCELERATOR = re.compile(
    r"nvidia\.com/(gpu(\.shared)?|mig-[a-z0-9.+-]+|[pv]gpu)"
    r"|amd\.com/(gpu|[a-z]+_nps[0-9]+)|aws\.amazon\.com/neuron(core|device)?|google\.com/tpu|habana\.ai/gaudi"
    r"|gpu\.intel\.com/(i915|xe)|qualcomm\.com/qaic"
)
"""Names by which device plugins offer accelerators, or parts of them. Sources: NVIDIA's device plugin and its sandbox
device plugin, AMD's, AWS Neuron's, GKE's for TPUs, Habana's, Intel's, Qualcomm's."""

RESOURCES = ("resources", "resourcesPerNode")
"""Where a container says what it takes; a TrainJob says it of each of its nodes."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Requests:
    """What one pod takes."""

    accelerators: dict[str, int]
    """By name of the resource, without those of which it takes none."""
    uncounted: list[str]
    """JSON pointers to what it may take and nobody can count: not known yet, or no quantity."""
    wrong: list[Json]
    """What an API server refuses: `path` of a container's resources, the `resource`, and `why`."""
    of_containers: dict[str, dict[str, int]]
    """By JSON pointer of a container, what that one takes."""


def requests(
    containers: Iterable[Mapping[str, Any]], unknown: Iterable[Steps] = (), pod: Steps | None = None
) -> Requests:
    """What a pod takes, of whose containers `prepare` says place, role and text. `unknown` are paths that are not known
    in the pod's resource, and `pod` is the place of its spec there."""
    hidden = list(unknown)
    together: dict[str, int] = {}
    staying: dict[str, int] = {}
    peak: dict[str, int] = {}
    lists = [] if pod is None else [(*pod, role) for role in ("containers", "initContainers")]
    uncounted = [pointer(path) for path in hidden for place in lists if place[: len(path)] == path]
    wrong: list[Json] = []
    each: dict[str, dict[str, int]] = {}
    for entry in containers:
        if entry["role"] == "ephemeralContainers":
            # They may not ask for resources.
            continue
        container = mapping(entry["container"])
        if not hidden and not any(field in container for field in RESOURCES):
            continue
        own: dict[str, int] = {}
        for path, name, count in _asked(container, steps(entry["path"]), hidden):
            if count is None:
                uncounted.append(path)
            else:
                own[name] = max(count, own.get(name, 0))
        each[entry["path"]] = {name: count for name, count in own.items() if count}
        wrong += _wrong(container, steps(entry["path"]), hidden)
        if entry["role"] == "containers":
            together = _sum(together, own)
        elif container.get("restartPolicy") == "Always":
            staying = _sum(staying, own)
            peak = _most(peak, staying)
        else:
            peak = _most(peak, _sum(staying, own))
    total = _most(_sum(together, staying), peak)
    taken = {name: count for name, count in sorted(total.items()) if count}
    return Requests(taken, sorted(set(uncounted)), wrong, each)


def _asked(container: Json, place: Steps, hidden: list[Steps]) -> Iterator[tuple[str, str, int | None]]:
    """Place, name and number of each accelerator that a container asks for."""
    for field in RESOURCES:
        for part in ("limits", "requests"):
            at = (*place, field, part)
            for name, quantity in mapping(mapping(container.get(field)).get(part)).items():
                if ACCELERATOR.fullmatch(name):
                    count = amount(quantity)
                    yield pointer((*at, name)), name, None if count is None else math.ceil(count)
            yield from ((pointer(path), "", None) for path in hidden if _hides(path, at))


def _wrong(container: Json, place: Steps, hidden: list[Steps]) -> Iterator[Json]:
    """Of accelerators a container has a limit, which is what it requests, in whole numbers. Source: kubernetes v1.37,
    pkg/apis/core/validation, validateContainerResourceRequirements."""
    for field in RESOURCES:
        said = mapping(container.get(field))
        limits, requested = mapping(said.get("limits")), mapping(said.get("requests"))
        for name in sorted({*limits, *requested}):
            at = (*place, field)
            known = not any(_hides(path, (*at, part)) for path in hidden for part in ("limits", "requests"))
            if not ACCELERATOR.fullmatch(name) or not known:
                continue
            limit, request = amount(limits.get(name)), amount(requested.get(name))
            why = ""
            if name not in limits:
                why = "there is a request and no limit"
            elif name in requested and limit != request:
                why = f"{requested[name]} is requested and {limits[name]} is the limit"
            elif limit is None or limit % 1:
                why = f"{limits[name]} is no whole number"
            if why:
                yield {"path": pointer(at), "resource": name, "why": why}


def _hides(path: Steps, at: Steps) -> bool:
    """Whether a path that is not known holds an accelerator of what is at a place, or all that is there."""
    if path[: len(at)] == at and len(path) > len(at):
        return ACCELERATOR.fullmatch(path[len(at)]) is not None
    return at[: len(path)] == path


def _sum(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {name: one.get(name, 0) + other.get(name, 0) for name in {*one, *other}}


def _most(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {name: max(one.get(name, 0), other.get(name, 0)) for name in {*one, *other}}
