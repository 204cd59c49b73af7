"""Nodes that gpuyard does not make: owned machines, and nodes of somebody else's cluster."""

from __future__ import annotations

from gpuyard.review.node_group import NodeGroup
from gpuyard.review.resources import Resource
from gpuyard.review.values import MOST, number, text


def owned(resource: Resource) -> NodeGroup:
    """Reads an inventory of owned machines."""
    count = number(resource["inputs"].get("count"))
    return NodeGroup(
        urn=resource["urn"],
        name=resource["name"],
        cloud="onprem",
        region=None,
        machine=text(resource["inputs"].get("machine")),
        machine_path="/machine",
        market="owned",
        minimum=count,
        initial=count,
        maximum=count,
        usd_hour=_price(resource),
    )


def shared(resource: Resource) -> NodeGroup:
    """Reads nodes of somebody else's cluster: how many there are is its owner's, what endpoints take is the stack's."""
    return NodeGroup(
        urn=resource["urn"],
        name=resource["name"],
        cloud="existing",
        region=None,
        machine=text(resource["inputs"].get("machine")),
        machine_path="/machine",
        market="shared",
        minimum=None,
        initial=None,
        maximum=None,
        usd_hour=_price(resource),
    )


def _price(resource: Resource) -> float | None:
    """What its owner charges; a price below 0 is none, and would hide what others cost."""
    price = resource["inputs"].get("usd_hour")
    if isinstance(price, bool) or not isinstance(price, int | float) or not 0 <= price <= MOST:
        return None
    return float(price)
