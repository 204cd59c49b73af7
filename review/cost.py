"""What a stack costs a month: at its smallest, at creation, and at the most that its scalers may reach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gpuyard import catalogue
from gpuyard.review.capacity import TENANT
from gpuyard.review.node_groups import NodeGroup, known_machine

HOURS_A_MONTH = 730
"""A twelfth of a year of 8,760 hours, as the clouds' own calculators count."""

UPPER_BOUND = "; on demand, as an upper bound"
"""Ends the source of a spot price that is not known itself."""

BOUNDS = ("min", "initial", "max")

Json = dict[str, Any]


def cost(groups: Sequence[NodeGroup], resources: Sequence[Mapping[str, Any]]) -> Json:
    """The cost part of a resource document, in US dollars. A price that is not known is null, never 0."""
    return summed([line(group) for group in groups], resources)


def summed(lines: Sequence[Json], resources: Sequence[Mapping[str, Any]]) -> Json:
    """The same, from the lines of the groups."""
    known = [one for one in lines if one["month"]]
    total = {bound: round(sum(one["month"][bound] for one in known), 2) for bound in BOUNDS}
    tenants = _tenants(lines, resources)
    quotas = [tenant["quota"] for tenant in tenants.values()]
    complete = len(known) == len(lines) and None not in quotas
    return {
        "currency": "USD",
        "hours_a_month": HOURS_A_MONTH,
        "lines": list(lines),
        "total": total,
        "unknown": [one["urn"] for one in lines if not one["month"]],
        "tenants": tenants,
        "shared": round(total["max"] - sum(quotas), 2) if complete and tenants else None,
    }


def line(group: NodeGroup) -> Json:
    """What one group costs."""
    machine = known_machine(group.machine)
    price = _price(group)
    nodes = {"min": group.minimum, "initial": group.initial, "max": group.maximum}
    each = machine.accelerators if machine else 0
    if group.taken:
        # Of shared nodes, the stack pays for the accelerators that it takes.
        accelerators: Json = dict(zip(BOUNDS, group.taken, strict=True))
        charged = {bound: count / each if each else None for bound, count in accelerators.items()}
    else:
        accelerators = {bound: None if n is None else n * each for bound, n in nodes.items()}
        charged = {bound: _charged(group, count) for bound, count in nodes.items()}
    month = _month(price, charged)
    return {
        "urn": group.urn,
        "name": group.name,
        "group": group.name,
        "machine": group.machine,
        "market": group.market,
        "region": group.region,
        "usd_hour": price.usd_hour if price else None,
        "source": price.source if price else None,
        "date": price.date if price else None,
        "upper_bound": bool(price and price.source.endswith(UPPER_BOUND)),
        "accelerators_a_node": each,
        "nodes": nodes,
        "gpu_hours": {bound: None if n is None else n * HOURS_A_MONTH for bound, n in accelerators.items()},
        "month": month,
        "unknown": None if month else _reason(group, price),
    }


def _reason(group: NodeGroup, price: catalogue.Price | None) -> str:
    """Why the cost of a group is not known."""
    if group.machine is None:
        return "its machine is not known"
    if group.market in ("owned", "shared") and price is None:
        return "its owner gives no usd_hour"
    if price is None and group.region is None:
        return "its region is not known"
    if price is None:
        return f"no {group.market} price of {group.machine} in {group.region} is known"
    return "its number of nodes is not known"


def _price(group: NodeGroup) -> catalogue.Price | None:
    if group.market in ("owned", "shared"):
        if group.usd_hour is None:
            return None
        return catalogue.Price(
            usd_hour=group.usd_hour, source="the stack: what the owner of the machines charges", date=""
        )
    if group.machine is None or group.region is None:
        return None
    # EC2 capacity reservations and Compute Engine reservations are charged at the on-demand rate, used or not.
    market = "on_demand" if group.market == "reservation" else group.market
    found = catalogue.price(group.cloud, group.region, group.machine, market)
    if found is None and market == "spot":
        # Spot is never dearer: EC2's default maximum is the on-demand price, Compute Engine's spot is a discount on it.
        bound = catalogue.price(group.cloud, group.region, group.machine, "on_demand")
        return replace(bound, source=f"{bound.source}{UPPER_BOUND}") if bound else None
    return found


def _charged(group: NodeGroup, nodes: int | None) -> int | None:
    """Machines that are paid for: a reservation is charged while idle."""
    if nodes is None or group.market != "reservation":
        return nodes
    return max(nodes, group.reserved if group.reserved is not None else group.maximum or 0)


def _month(price: catalogue.Price | None, charged: Mapping[str, float | None]) -> Json | None:
    if all(count == 0 for count in charged.values()):
        return dict.fromkeys(charged, 0.0)
    if price is None:
        return None
    month: Json = {}
    for bound, count in charged.items():
        if count is None:
            return None
        month[bound] = round(count * price.usd_hour * HOURS_A_MONTH, 2)
    return month


def _tenants(lines: Sequence[Json], resources: Sequence[Mapping[str, Any]]) -> Json:
    accelerator_month = {
        one["group"]: one["usd_hour"] / one["accelerators_a_node"] * HOURS_A_MONTH
        for one in lines
        if one["usd_hour"] is not None and one["accelerators_a_node"]
    }
    tenants: Json = {}
    for tenant in (r for r in resources if r["type"] == TENANT):
        shares = tenant["inputs"].get("accelerators") or {}
        quota = {group: share.get("quota") or 0 for group, share in shares.items()}
        worst = {group: quota[group] + (share.get("borrow") or 0) for group, share in shares.items()}
        tenants[tenant["name"]] = {
            "quota": _sum(quota, accelerator_month),
            "worst": _sum(worst, accelerator_month),
            "budget": tenant["inputs"].get("monthly_budget"),
        }
    return dict(sorted(tenants.items()))


def _sum(accelerators: Mapping[str, int], month: Mapping[str, float]) -> float | None:
    """Dollars a month of so many accelerators of each group; None where a group's price is not known."""
    if any(count and group not in month for group, count in accelerators.items()):
        return None
    return round(sum(count * month.get(group, 0.0) for group, count in accelerators.items()), 2)
