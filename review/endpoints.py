"""What a program's endpoints take of its node groups: they keep nodes busy, and accelerators of shared ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from gpuyard.review.node_group import NodeGroup, known_machine
from gpuyard.review.resources import ENDPOINT, Resource
from gpuyard.review.values import mapping, number, text

Taken = Mapping[str, tuple[int, int]]
"""By node group, or part of one, what endpoints take of it, at the least and at the most."""


def taken_of(resources: Iterable[Resource]) -> Taken:
    """What the endpoints among the resources take."""
    found: dict[str, tuple[int, int]] = {}
    for inputs in (resource["inputs"] for resource in resources if resource["type"] == ENDPOINT):
        group, replicas = text(inputs.get("on")) or "", mapping(inputs.get("replicas"))
        each = number(inputs.get("tensor_parallel")) or 1
        least, most = found.get(group, (0, 0))
        least += (number(replicas.get("min")) or 0) * each
        found[group] = least, most + (number(replicas.get("max")) or 0) * each
    return found


def with_endpoints(groups: Iterable[NodeGroup], taken: Taken) -> Iterator[NodeGroup]:
    """The groups with what endpoints take of shared nodes, and otherwise with no fewer nodes than they keep busy: the
    scaler cannot go below that. Where several node pools are one group, the first has as many of them as it can."""
    placed: dict[str, int] = {}
    for group in groups:
        if group.market == "shared":
            yield replace(group, taken=_of_shared(group, taken))
            continue
        offered = _offered(group)
        if not offered or group.minimum is None or group.initial is None or group.maximum is None:
            yield group
            continue
        busy = max(-(-taken.get(name, (0, 0))[0] // a_node) for name, a_node in offered.items())
        nodes = max(min(busy - placed.get(group.name, 0), group.maximum), 0)
        least = max(group.minimum, nodes)
        placed[group.name] = placed.get(group.name, 0) + least
        yield replace(group, minimum=least, initial=max(group.initial, nodes))


def _offered(group: NodeGroup) -> Mapping[str, int]:
    """What endpoints may take of a node of the group, by what they call it, and how many there are."""
    if group.parts:
        return {part.name(group.name): part.a_node for part in group.parts}
    machine = known_machine(group.machine)
    return {group.name: machine.accelerators} if machine and machine.accelerators else {}


def _of_shared(group: NodeGroup, taken: Taken) -> tuple[float, float, float]:
    """Accelerators; parts count as the accelerators that they make up, by which their price goes."""
    machine = known_machine(group.machine)
    if not machine or not group.parts:
        least, most = taken.get(group.name, (0, 0))
        return least, least, most
    low, high = (
        float(
            sum(taken.get(part.name(group.name), (0, 0))[bound] * part.share for part in group.parts)
            * machine.accelerators
        )
        for bound in (0, 1)
    )
    return low, low, high
