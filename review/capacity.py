"""Accelerators: what node groups can grow to, and what tenants may take of them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gpuyard import catalogue
from gpuyard.review import quotas
from gpuyard.review.node_group import PAID_WHILE_IDLE, NodeGroup, known_machine
from gpuyard.review.resources import ENDPOINT, TENANT
from gpuyard.review.tenants import shares, taken

ACCELERATED = {
    "aws": re.compile(r"^(p|g|gr|inf|trn|dl|vt|f)[0-9]"),
    "gcp": re.compile(r"^(a[2-9]|g[2-9]|ct|tpu)"),
}
"""Families of machines with accelerators: a machine of another family has none, even if the catalogue lacks it.
Source: EC2, accelerated computing instances; Compute Engine, accelerator-optimized families and TPU machines."""

Json = dict[str, Any]


def capacity(
    groups: Sequence[NodeGroup],
    resources: Sequence[Mapping[str, Any]],
    snapshots: Sequence[quotas.Snapshot] = (),
    date: str = "",
) -> Json:
    """The capacity part of a resource document. Autoscaler maxima count, not today's nodes.

    `snapshots` are the quotas of accounts that are known, as of `date` (YYYY-MM-DD).
    """
    return summed([line(group) for group in groups], resources, snapshots, date)


def summed(
    lines: Sequence[Json],
    resources: Sequence[Mapping[str, Any]],
    snapshots: Sequence[quotas.Snapshot] = (),
    date: str = "",
) -> Json:
    """The same, from the lines of the groups."""
    accelerators: dict[str, int] = {}
    for one in lines:
        for model, most in _models(one).items():
            accelerators[model] = accelerators.get(model, 0) + most
    return {
        "groups": list(lines),
        "accelerators": dict(sorted(accelerators.items())),
        "total": sum(one["accelerators"]["max"] or 0 for one in lines),
        "tenants": _tenants(resources),
        "quotas": quotas.lines(lines, snapshots, date),
    }


def line(group: NodeGroup) -> Json:
    """What one group has."""
    machine = known_machine(group.machine)
    each, accelerator = _of_a_node(group, machine)
    nodes = {"min": group.minimum, "initial": group.initial, "max": group.maximum}
    accelerators = {bound: None if n is None or each is None else n * each for bound, n in nodes.items()}
    if group.taken:
        # A part of one is one that others cannot have whole.
        accelerators = {bound: math.ceil(count) for bound, count in zip(nodes, group.taken, strict=True)}
    return {
        "urn": group.urn,
        "name": group.name,
        "cloud": group.cloud,
        "machine": group.machine,
        "machine_path": group.machine_path,
        "accelerator": accelerator,
        "resource": machine.resource if machine else None,
        "accelerators_a_node": each,
        "vcpus_a_node": machine.vcpus if machine else None,
        "market": group.market,
        "region": group.region,
        "account": group.account,
        "attached": group.attached[0] if group.attached else None,
        "nodes": nodes,
        "accelerators": accelerators,
        "surge_nodes": group.surge,
        **({"parts": _parts(group)} if group.parts else {}),
        **({"ways": _ways(group)} if group.then or group.also else {}),
    }


def _ways(group: NodeGroup) -> list[Json]:
    """Every machine that a group may have, by every market, and how many nodes of it at the most."""
    found = []
    for name, count in ((group.machine, group.maximum), *group.also):
        machine = known_machine(name)
        each, accelerator = _of_a_node(replace(group, machine=name), machine)
        for market in (group.market, *group.then):
            paid = group.reserved if group.then and market in PAID_WHILE_IDLE else None
            found.append(
                {
                    "machine": name,
                    "market": market,
                    "accelerator": accelerator,
                    "accelerators_a_node": each,
                    "vcpus_a_node": machine.vcpus if machine else None,
                    "nodes": {"max": count if count is None or paid is None else min(count, paid)},
                }
            )
    return found


def _models(line_: Json) -> dict[str, int]:
    """Accelerators that a group may have at the most, by model: it may be of one machine alone, whichever that is."""
    if "ways" not in line_:
        most = line_["accelerators"]["max"]
        return {line_["accelerator"]: most} if line_["accelerator"] and most else {}
    found: dict[str, int] = {}
    for way in line_["ways"]:
        most = (way["nodes"]["max"] or 0) * (way["accelerators_a_node"] or 0)
        if way["accelerator"] and most:
            found[way["accelerator"]] = max(found.get(way["accelerator"], 0), most)
    return found


def _parts(group: NodeGroup) -> Json:
    """What tenants and endpoints take instead of accelerators, by what they call it."""
    return {part.name(group.name): {"resource": part.resource, "a_node": part.a_node} for part in group.parts}


def _of_a_node(group: NodeGroup, machine: catalogue.Machine | None) -> tuple[int | None, str | None]:
    """How many accelerators a node has, and which."""
    if machine and machine.accelerators:
        return machine.accelerators, machine.accelerator
    if group.attached:
        # Limits name models, as the catalogue does, whichever machine has them.
        kind = catalogue.attached_accelerator(group.attached[0])
        return group.attached[1], kind.name if kind else group.attached[0]
    return (0, None) if machine else (_guessed(group), None)


def _guessed(group: NodeGroup) -> int | None:
    """Accelerators of a machine that the catalogue lacks: none, or not known."""
    family = ACCELERATED.get(group.cloud)
    return 0 if group.machine and family and not family.match(group.machine) else None


def _tenants(resources: Sequence[Mapping[str, Any]]) -> Json:
    tenants: Json = {}
    for tenant in (r for r in resources if r["type"] == TENANT):
        tenants[tenant["name"]] = {
            group: {"quota": quota, "borrow": borrow, "endpoints_max": 0}
            for group, (quota, borrow) in sorted(shares(tenant).items())
        }
    for endpoint in (r for r in resources if r["type"] == ENDPOINT):
        name, on, most = taken(endpoint)
        share = tenants.setdefault(name, {}).setdefault(on, {"quota": 0, "borrow": 0, "endpoints_max": 0})
        share["endpoints_max"] += most
    return dict(sorted(tenants.items()))
