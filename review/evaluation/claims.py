"""Accelerators that pods claim as devices (Dynamic Resource Allocation), counted as quotas count them.

Each pod gets a claim of its own from a ResourceClaimTemplate. What several pods share by the name of a ResourceClaim is
not the pods' number, and is left out.
Source: kubernetes v1.36, pkg/quota/v1/evaluator/core/resource_claims.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gpuyard.review.values import at, mapping, number, sequence, text

DEVICES = ".deviceclass.resource.k8s.io/devices"
"""How the resource ends of which a quota counts a class of devices, after the name of the class."""

_CLASSES = ("gaudi.intel.com", "gpu.amd.com", "gpu.nvidia.com", "mig.nvidia.com", "neuron.aws.com", "tpu.google.com")
"""Classes that the drivers of accelerators bring, which are the names of the drivers too, but for mig.nvidia.com.
Sources: examples of the drivers of Intel, AMD, NVIDIA, AWS and Google."""

_ALL = 32
"""As which a quota counts all devices that match: the most that one claim gets."""

Json = dict[str, Any]


class Claims:
    """The templates of claims of a program, and its classes of devices."""

    def __init__(self, objects: Mapping[str, list[Json]]) -> None:
        own = objects.get("DeviceClass.resource.k8s.io", [])
        # A class of one's own selects by an expression, in which the driver is named.
        selecting = [one for one in own if any(driver in str(one["body"]) for driver in _CLASSES)]
        self._classes = {*_CLASSES, *(text(one["name"]) or "" for one in selecting)}
        self._templates = {
            _key(one, one["name"], one["references"].get(f"{one['path']}/metadata/namespace", "")): mapping(one["body"])
            for one in objects.get("ResourceClaimTemplate.resource.k8s.io", [])
        }

    def of(self, pod: Mapping[str, Any], namespace_urn: str) -> dict[str, int]:
        """What a pod claims, by the name that quotas have for it. `namespace_urn` is the namespace that its object
        names, where that is one of the program's."""
        found: dict[str, int] = {}
        for claim in map(mapping, sequence(pod["spec"].get("resourceClaims"))):
            template = self._templates.get(_key(pod, claim.get("resourceClaimTemplateName"), namespace_urn), {})
            for request in map(mapping, sequence(at(template, "spec", "spec", "devices", "requests"))):
                for class_, count in _largest(request).items():
                    if class_ in self._classes:
                        found[class_ + DEVICES] = found.get(class_ + DEVICES, 0) + count
        return found


def _key(entry: Mapping[str, Any], name: Any, namespace_urn: str) -> tuple[str, str, str]:
    return entry["provider"], entry.get("namespace") or namespace_urn, text(name) or ""


def _largest(request: Mapping[str, Any]) -> dict[str, int]:
    """Of alternatives the largest of each class."""
    found: dict[str, int] = {}
    for class_, count in _alternatives(request):
        found[class_] = max(count, found.get(class_, 0))
    return found


def _alternatives(request: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    # v1beta1 has the fields of `exactly` in the request itself.
    for one in (request, mapping(request.get("exactly")), *map(mapping, sequence(request.get("firstAvailable")))):
        class_ = text(one.get("deviceClassName"))
        if class_:
            count = _ALL if one.get("allocationMode") == "All" else number(one.get("count", 1))
            yield class_, _ALL if count is None else count
