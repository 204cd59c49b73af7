"""ResourceQuotas: which pods each counts, and what they allow together.

Source: kubernetes v1.37, pkg/quota/v1/evaluator/core/pods.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from gpuyard.review.evaluation.claims import DEVICES
from gpuyard.review.evaluation.objects import pointer, steps
from gpuyard.review.evaluation.references import Steps
from gpuyard.review.evaluation.requests import ACCELERATOR
from gpuyard.review.quantities import amount
from gpuyard.review.values import mapping, sequence, text

REQUESTS = "requests."
"""Of resources that are not Kubernetes' own, a quota limits requests alone. Source: Kubernetes, "Resource Quotas"."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Asking:
    """What a quota's scopes look at in a pod."""

    priority_class: str
    """Empty where it has none."""
    terminating: bool
    """Whether it has a deadline of its own."""
    best_effort: bool
    """Whether it asks for neither CPU nor memory."""


def asking(pod: Mapping[str, Any]) -> Asking:
    """What scopes look at in a pod as `prepare` has it."""
    asks = any(
        name in ("cpu", "memory")
        for entry in pod["containers"]
        for part in ("limits", "requests")
        for name in mapping(mapping(mapping(entry["container"]).get("resources")).get(part))
    )
    spec = pod["spec"]
    return Asking(text(spec.get("priorityClassName")) or "", "activeDeadlineSeconds" in spec, not asks)


@dataclass(frozen=True, slots=True)
class Quota:
    """A ResourceQuota, as far as it is about accelerators."""

    urn: str
    name: str
    hard: dict[str, tuple[str, int | None]]
    """By resource the JSON pointer to the number, and the number; None where it is not known."""
    scopes: tuple[Json, ...]
    unclear: tuple[str, ...]
    """JSON pointers to what it says of accelerators and is not known."""

    def counts(self, pod: Asking) -> bool:
        """Whether the quota counts a pod: all its scopes match."""
        return all(_matches(scope, pod) for scope in self.scopes)


def quota(entry: Mapping[str, Any], unknown: Iterable[Steps] = ()) -> Quota:
    """A ResourceQuota as `prepare` has the object. `unknown` are paths that are not known in its resource."""
    spec = mapping(mapping(entry["body"]).get("spec"))
    named = [{"scopeName": scope, "operator": "Exists"} for scope in sequence(spec.get("scopes"))]
    listed = map(mapping, sequence(mapping(spec.get("scopeSelector")).get("matchExpressions")))
    place = (*steps(entry["path"]), "spec", "hard")
    hard = {
        name.removeprefix(REQUESTS): (pointer((*place, name)), _count(limit))
        for name, limit in mapping(spec.get("hard")).items()
        if _about_an_accelerator(name)
    }
    unclear = tuple(pointer(path) for path in unknown if _about_accelerators(path, place))
    return Quota(entry["urn"], text(entry["name"]) or "", hard, (*named, *listed), unclear)


def _about_an_accelerator(name: str) -> bool:
    """Whether a number of a quota is about accelerators; any class of devices may be one of them."""
    plain = name.removeprefix(REQUESTS)
    return name.endswith(DEVICES) or (plain != name and ACCELERATOR.fullmatch(plain) is not None)


def _about_accelerators(path: Steps, hard: Steps) -> bool:
    """Whether a path is the number of an accelerator, all numbers, or what says which pods are counted."""
    if path[: len(hard)] == hard and len(path) > len(hard):
        return _about_an_accelerator(path[len(hard)])
    spec = hard[:-1]
    scopes = path[: len(spec)] == spec and path[len(spec) : len(spec) + 1] in (("scopes",), ("scopeSelector",))
    return scopes or hard[: len(path)] == path


def allowed(quotas: list[Quota], resource: str) -> int | None:
    """What all pods together may have; None where some pods may have any number."""
    about = [(one, one.hard[resource][1]) for one in quotas if resource in one.hard]
    bounds = [most for one, most in about if not one.scopes and most is not None]
    scoped = [(one, most) for one, most in about if one.scopes and most is not None]
    if scoped and all(any(one.counts(pod) for one, _ in scoped) for pod in _every(one for one, _ in scoped)):
        bounds.append(sum(most for _, most in scoped))
    return min(bounds, default=None)


def _every(quotas: Iterator[Quota]) -> Iterator[Asking]:
    """A pod of each kind that the scopes tell apart."""
    listed = {
        str(value)
        for quota in quotas
        for scope in quota.scopes
        if scope.get("scopeName") == "PriorityClass"
        for value in sequence(scope.get("values"))
    }
    # One without a class, and one of a class that nobody names: no class has a space in its name.
    classes = sorted({*listed, "", "any other"})
    return (Asking(*one) for one in product(classes, (True, False), (True, False)))


def _matches(scope: Mapping[str, Any], pod: Asking) -> bool:
    of_name = _SCOPES.get(str(scope.get("scopeName")))
    return of_name is not None and of_name(scope, pod)


def _class(scope: Mapping[str, Any], pod: Asking) -> bool:
    values = sequence(scope.get("values"))
    match scope.get("operator"):
        case "In":
            return pod.priority_class in values and bool(pod.priority_class)
        case "NotIn":
            return pod.priority_class not in values or not pod.priority_class
        case "Exists":
            return bool(pod.priority_class)
        case "DoesNotExist":
            return not pod.priority_class
        case _:
            return False


_SCOPES: Mapping[str, Callable[[Mapping[str, Any], Asking], bool]] = {
    "BestEffort": lambda _, pod: pod.best_effort,
    "NotBestEffort": lambda _, pod: not pod.best_effort,
    "NotTerminating": lambda _, pod: not pod.terminating,
    "PriorityClass": _class,
    "Terminating": lambda _, pod: pod.terminating,
}
"""Scopes of pods that are told from a pod alone. A quota of any other counts no pod here."""


def _count(quantity: Any) -> int | None:
    count = amount(quantity)
    return None if count is None else int(count)
