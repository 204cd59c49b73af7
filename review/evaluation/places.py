"""Where in the world a program puts things: the regions and zones that resources and their providers name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from gpuyard.review.evaluation.objects import Json, Path, pointer
from gpuyard.review.values import sequence

PROVIDERS = {"pulumi:providers:aws": ("region",), "pulumi:providers:gcp": ("region", "zone")}
"""Of a provider, what places a resource that says nothing itself."""

_FIELDS: Mapping[str, tuple[str, ...]] = {
    "aws": ("region", "availabilityZone", "availabilityZones"),
    "gcp": ("location", "region", "zone", "zones", "nodeLocations", "replicaZones", "distributionPolicyZones"),
}
_ZONE = re.compile(r"(?P<aws>[a-z]{2}(?:-[a-z]+)+-\d+)(?:-[a-z]+-\d+)?[a-z]|(?P<gcp>[a-z]+-[a-z]+\d+)-[a-z]")
"""us-east-1a, us-west-2-lax-1a; us-central1-a."""

_NOWHERE = frozenset({"", "global", "-"})


def places(type_: str, inputs: Json) -> Iterator[Json]:
    """`{path, region, zone}` for every region or zone that a resource names by itself; `zone` only where it is one.

    In lower case: Google's multi-regions are US and EU.
    """
    fields = PROVIDERS.get(type_) or _FIELDS.get(type_.partition(":")[0])
    for field in fields or ():
        value = inputs.get(field)
        if isinstance(value, str):
            yield from _place((field,), value)
        for i, member in enumerate(sequence(value)):
            if isinstance(member, str):
                yield from _place((field, i), member)


def default_places(package: str, provider: Mapping[str, Any]) -> Iterator[Json]:
    """The same of a provider that the engine makes from the stack's configuration, whose keys are the paths."""
    inputs = provider.get("inputs")
    for field in PROVIDERS.get(f"pulumi:providers:{package}", ()):
        value = inputs.get(field) if isinstance(inputs, dict) else None
        if isinstance(value, str):
            yield from _place(("config", f"{package}:{field}"), value)


def _place(path: Path, value: str) -> Iterator[Json]:
    name = value.rpartition("/")[2].lower()
    if name in _NOWHERE:
        return
    zone = _ZONE.fullmatch(name)
    region = (zone["aws"] or zone["gcp"]) if zone else name
    yield {"path": pointer(path), "region": region} | ({"zone": name} if zone else {})
