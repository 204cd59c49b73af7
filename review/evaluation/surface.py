"""What a program shows of itself to a cloud, taken apart once for the rules: additions to their `input`.

openings         [{urn, path, source, ports: [[first, last]], rests_on}]: see openings.py
entrances        [{urn, kind, path, name, namespace, explicit, authenticated, ports, sources, rests_on}]: see
                 entrances.py; `namespace` is left out where it is not known
permissions      [{urn, references, …}]: see permissions.py
trusts           {urn: [service]}: who may take each AWS role, as far as it is known
places           [{urn, path, region, zone}]: see places.py
default_places   {pointer: {region, zone}}: the same of default providers that resources use, which are the stack's
accelerated      [urn]: machines by themselves, and their templates, that have accelerators
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from gpuyard import catalogue
from gpuyard.review.evaluation.entrances import entrances, in_values
from gpuyard.review.evaluation.objects import Json, Object
from gpuyard.review.evaluation.openings import openings
from gpuyard.review.evaluation.permissions import ROLE, permissions, trusts
from gpuyard.review.evaluation.places import default_places, places

LISTS = ("accelerated", "entrances", "openings", "permissions", "places")
"""Members of `input` that are lists."""
OBJECTS = ("default_places", "trusts")
"""Members that are objects."""

_MACHINES = {
    "aws:ec2/instance:Instance": "instanceType",
    "aws:ec2/launchConfiguration:LaunchConfiguration": "instanceType",
    "aws:ec2/launchTemplate:LaunchTemplate": "instanceType",
    "gcp:compute/instance:Instance": "machineType",
    "gcp:compute/instanceTemplate:InstanceTemplate": "machineType",
}


@dataclass(frozen=True, slots=True)
class Seen:
    """A resource of a cloud, and what is known about it from others."""

    urn: str
    type: str
    inputs: Json
    unknown: Collection[tuple[str, ...]]
    references: Mapping[str, str]
    provider: Mapping[str, Any]
    """What the stack's configuration says of its package's; empty where the program names a provider."""


def add(rego: Json, seen: Seen) -> None:
    """Adds a resource that is no object of Kubernetes to what rules read."""
    type_, inputs, about = seen.type, seen.inputs, {"urn": seen.urn}
    rego["openings"] += [about | opening for opening in openings(type_, inputs, seen.unknown)]
    found = about | {"references": seen.references}
    rego["permissions"] += [found | permission for permission in permissions(type_, inputs)]
    if type_ == ROLE:
        rego["trusts"][seen.urn] = trusts(inputs)
    own = [about | place for place in places(type_, inputs)]
    rego["places"] += own
    if not own:
        for place in default_places(type_.partition(":")[0], seen.provider):
            rego["default_places"][place.pop("path")] = place
    if _accelerated(type_, inputs):
        rego["accelerated"].append(seen.urn)


def add_object(rego: Json, item: Object, about: Json) -> None:
    """Adds a Kubernetes object; `about` has its urn, name and namespace."""
    rego["entrances"] += [about | entrance for entrance in entrances(item)]


def add_release(rego: Json, about: Json) -> None:
    """Adds what the values of a Helm release open; `about` is the release as rules read it."""
    named = {key: about[key] for key in ("urn", "namespace") if key in about} | {"name": about["chart"]}
    rego["entrances"] += [named | entrance for entrance in in_values(about["values"])]


def _accelerated(type_: str, inputs: Json) -> bool:
    field = _MACHINES.get(type_)
    if field is None:
        return False
    machine = catalogue.machines().get(str(inputs.get(field)))
    return bool(machine and machine.accelerators) or bool(inputs.get("guestAccelerators"))
