"""What a stack costs a month: at its smallest, at creation, and at the most that its scalers may reach."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date as day
from typing import Any

from gpuyard import catalogue
from gpuyard.review.charges import BOUNDS, HOURS_A_MONTH, sums
from gpuyard.review.credits import credits_of
from gpuyard.review.node_group import PAID_WHILE_IDLE, NodeGroup, known_machine
from gpuyard.review.prices import CATALOGUE, Prices
from gpuyard.review.resources import TENANT
from gpuyard.review.tenants import shares
from gpuyard.review.windows import hours

UPPER_BOUND = "; on demand, as an upper bound"
"""Ends the source of a price that is not known itself, and that the on-demand price is never below."""

BELOW_ON_DEMAND = ("spot", "flex_start")
"""Markets that are never dearer than on demand: EC2's default maximum of spot is the on-demand price, Compute Engine's
spot and flex-start are discounts on it. Sources: EC2 user guide, Spot; GKE, about flex-start: up to 53% off."""

Json = dict[str, Any]
Priced = tuple[str, catalogue.Price]
"""A market, and what a machine costs there."""


def cost(
    groups: Sequence[NodeGroup],
    resources: Sequence[Mapping[str, Any]],
    *,
    date: str = "",
    prices: Prices = CATALOGUE,
    charges: Sequence[Json] = (),
) -> Json:
    """The cost part of a resource document as of `date`, in US dollars. A price that is not known is null, never 0."""
    return summed([line(group, date=date, prices=prices) for group in groups], resources, prices, charges, date)


def summed(
    lines: Sequence[Json],
    resources: Sequence[Mapping[str, Any]],
    prices: Prices = CATALOGUE,
    charges: Sequence[Json] = (),
    date: str = "",
) -> Json:
    """The same, from the lines of the groups; `charges` are of what is no machine."""
    known = [one for one in lines if one["month"]]
    credits_ = list(credits_of(known, prices))
    parts = [sums(known), sums(charges), sums(credits_)]
    total = {bound: round(sum(part[bound] for part in parts), 2) for bound in BOUNDS}
    tenants = _tenants(lines, resources)
    quotas = [tenant["quota"] for tenant in tenants.values()]
    complete = len(known) == len(lines) and None not in quotas
    accelerated = [one for one in lines if one["accelerators_a_node"]]
    gpu_hours = {bound: [one["gpu_hours"][bound] for one in accelerated] for bound in BOUNDS}
    return {
        "currency": "USD",
        "hours_a_month": HOURS_A_MONTH,
        "prices": prices.recorded(),
        "lines": list(lines),
        "charges": [*(one for one in charges if one["month"]), *credits_],
        "charges_as_of": _as_of([*(one for one in charges if one["month"]), *credits_], date),
        "not_priced": [_not_priced(one) for one in charges if not one["month"]],
        "total": total,
        "usd_gpu_hour": {
            bound: _each(total[bound], None if None in counts else sum(counts)) if complete else None
            for bound, counts in gpu_hours.items()
        },
        "unknown": [one["urn"] for one in lines if not one["month"]],
        "tenants": tenants,
        "shared": round(total["max"] - sum(quotas), 2) if complete and tenants else None,
    }


def line(group: NodeGroup, *, date: str = "", prices: Prices = CATALOGUE) -> Json:
    """What one group costs; of several machines, with the dearest alone, or with one whose cost is not known."""
    alone = [replace(group, also=()), *(replace(group, machine=m, maximum=n, also=()) for m, n in group.also)]
    found = [_line(one, date=date, prices=prices) for one in alone]
    return next((one for one in found if not one["month"]), None) or max(found, key=lambda one: one["month"]["max"])


def _line(group: NodeGroup, *, date: str, prices: Prices) -> Json:
    machine = known_machine(group.machine)
    markets = (group.market, *group.then)
    found = [(market, _price(group, market, prices)) for market in markets]
    price = found[0][1]
    oldest = min((known.date for _, known in found if known), default="")
    dearest = max((known.usd_hour for _, known in found if known), default=None)
    window = hours(group.window) if group.window else None
    month_hours = window if group.market == "capacity_block" else HOURS_A_MONTH
    nodes = {"min": group.minimum, "initial": group.initial, "max": group.maximum}
    each = machine.accelerators if machine else group.attached[1] if group.attached else 0
    if group.taken:
        # Of shared nodes, the stack pays for the accelerators that it takes.
        accelerators: Json = dict(zip(BOUNDS, group.taken, strict=True))
        month = _month(price, {bound: count / each if each else None for bound, count in accelerators.items()})
    else:
        accelerators = {bound: None if n is None else n * each for bound, n in nodes.items()}
        month = _of_nodes(group, nodes, found)
    gpu_hours = {
        bound: None if n is None or month_hours is None else n * month_hours for bound, n in accelerators.items()
    }
    return {
        "urn": group.urn,
        "name": group.name,
        "group": group.name,
        "cloud": group.cloud,
        "machine": group.machine,
        "market": group.market,
        "then": list(group.then),
        "region": group.region,
        "usd_hour": price.usd_hour if price else None,
        "dearest_usd_hour": dearest,
        "source": price.source if price else None,
        "date": oldest if price else None,
        "age_days": _age(oldest, date),
        "upper_bound": any(known and known.source.endswith(UPPER_BOUND) for _, known in found),
        "accelerators_a_node": each,
        **({"parts": {part.name(group.name): float(part.share) for part in group.parts}} if group.parts else {}),
        "hours": month_hours,
        "nodes": nodes,
        "gpu_hours": gpu_hours,
        "month": month,
        **({"reserved": reserved} if (reserved := list(_reserved(group, found))) else {}),
        "usd_gpu_hour": {bound: _each(month[bound], gpu_hours[bound]) if month else None for bound in BOUNDS},
        "unknown": None if month else _reason(group, found, window),
    }


def _reason(group: NodeGroup, found: Sequence[tuple[str, catalogue.Price | None]], window: float | None) -> str:
    """Why the cost of a group is not known."""
    if group.machine is None:
        return "its machine is not known"
    missing = next((market for market, price in found if price is None), None)
    if missing in ("owned", "shared"):
        return "its owner gives no usd_hour"
    if missing and group.region is None:
        return "its region is not known"
    if missing:
        return f"no {missing} price of {group.machine} in {group.region} is known"
    if window is None and any(market == "capacity_block" for market, _ in found):
        return "when its Capacity Block begins and ends is not known"
    return "its number of nodes is not known"


def _price(group: NodeGroup, market: str, prices: Prices) -> catalogue.Price | None:
    if market in ("owned", "shared"):
        if group.usd_hour is None:
            return None
        return catalogue.Price(
            usd_hour=group.usd_hour, source="the stack: what the owner of the machines charges", date=""
        )
    machine = known_machine(group.machine)
    if group.attached and not (machine and machine.accelerators):
        # What is added to a machine is not in its price.
        return None
    if group.machine is None or group.region is None:
        return None
    # EC2 capacity reservations and Compute Engine reservations are charged at the on-demand rate, used or not.
    found = prices.of(group.cloud, group.region, group.machine, "on_demand" if market == "reservation" else market)
    if found is None and market in BELOW_ON_DEMAND:
        bound = prices.of(group.cloud, group.region, group.machine, "on_demand")
        return replace(bound, source=f"{bound.source}{UPPER_BOUND}") if bound else None
    return found


def _of_nodes(
    group: NodeGroup,
    nodes: Mapping[str, int | None],
    found: Sequence[tuple[str, catalogue.Price | None]],
) -> Json | None:
    """What so many nodes cost. Of several markets, the least counts with the cheapest, the start with the first, and
    the most with the dearest; what is paid while idle is paid at every bound."""
    counts = [count for count in nodes.values() if count is not None]
    idle = [market for market, _ in found if market in PAID_WHILE_IDLE]
    if len(counts) == len(BOUNDS) and not any(counts) and not (idle and group.reserved):
        return dict.fromkeys(BOUNDS, 0.0)
    priced: list[Priced] = [(market, price) for market, price in found if price]
    if len(priced) < len(found) or len(counts) < len(BOUNDS):
        return None
    paid = group.reserved if group.reserved is not None else max(counts)
    base = 0.0
    by_market = dict(priced)
    for market, count, span in _paid(group, idle, paid):
        if count is None or span is None:
            return None
        base += count * by_market[market].usd_hour * span
    running = [price.usd_hour for market, price in priced if market not in PAID_WHILE_IDLE]
    first = priced[0][0] in PAID_WHILE_IDLE
    # What comes before in the order is filled first; a reservation that comes last may stay idle.
    rates = {"min": min(running), "initial": running[0], "max": max(running)} if running else {}
    month: Json = {}
    for bound in BOUNDS:
        beyond = max(0, (nodes[bound] or 0) - (paid if idle and (first or bound == "min") else 0))
        rate = rates.get(bound, priced[0][1].usd_hour)
        month[bound] = round(base + beyond * rate * HOURS_A_MONTH, 2)
    return month


def _paid(
    group: NodeGroup, idle: Sequence[str], reserved: int | None
) -> Iterator[tuple[str, int | None, float | None]]:
    """What is paid while idle: market, machines and hours."""
    for market, count, window in group.paid or [(market, reserved, group.window) for market in idle]:
        block = hours(window) if window else None
        yield market, count, block if market == "capacity_block" else HOURS_A_MONTH


def _reserved(group: NodeGroup, found: Sequence[tuple[str, catalogue.Price | None]]) -> Iterator[Json]:
    """What of a group is paid while idle and may be another's, too."""
    rates = {market: price.usd_hour for market, price in found if price}
    idle = [market for market, _ in found if market in PAID_WHILE_IDLE]
    for called, (market, machines, hours_) in zip(group.reservations, _paid(group, idle, group.reserved), strict=False):
        if called and machines and machines > 0 and hours_ and market in rates:
            yield {"reservation": called, "machines": machines, "usd_hour": rates[market], "hours": hours_}


def _month(price: catalogue.Price | None, charged: Mapping[str, float | None]) -> Json | None:
    if all(count == 0 for count in charged.values()):
        return dict.fromkeys(charged, 0.0)
    if price is None or None in charged.values():
        return None
    return {bound: round((count or 0) * price.usd_hour * HOURS_A_MONTH, 2) for bound, count in charged.items()}


def _not_priced(charge: Json) -> Json:
    return {key: charge[key] for key in ("urn", "name", "what")} | {"why": charge["unknown"]}


def _as_of(charges: Sequence[Json], date: str) -> Json | None:
    """The oldest price beside those of machines, and its days until `date`; None where there is none."""
    oldest = min((one["date"] for one in charges if one["date"]), default=None)
    return {"date": oldest, "age_days": _age(oldest, date)} if oldest else None


def _age(priced: str, date: str) -> int | None:
    """Days from the day of a price to another; None where one is not known."""
    return (day.fromisoformat(date) - day.fromisoformat(priced)).days if priced and date else None


def _each(usd: float, gpu_hours: float | None) -> float | None:
    """US dollars for each accelerator-hour that is there; None where there is none."""
    return round(usd / gpu_hours, 4) if gpu_hours else None


def _tenants(lines: Sequence[Json], resources: Sequence[Mapping[str, Any]]) -> Json:
    # By what a tenant's share is called: of a group whose GPUs are divided, a part, which costs its part of a node.
    # Of a group that is several node pools, the dearest counts.
    accelerator_month: dict[str, float] = {}
    not_known = {one["group"] for one in lines if one["dearest_usd_hour"] is None or not one["hours"]}
    for one in lines:
        if one["group"] in not_known or not one["accelerators_a_node"]:
            continue
        for name, share in (one.get("parts") or {one["group"]: 1 / one["accelerators_a_node"]}).items():
            month = one["dearest_usd_hour"] * one["hours"] * share
            accelerator_month[name] = max(accelerator_month.get(name, 0.0), month)
    tenants: Json = {}
    for tenant in (r for r in resources if r["type"] == TENANT):
        promised = shares(tenant)
        quota = {group: own for group, (own, _) in promised.items()}
        worst = {group: own + borrow for group, (own, borrow) in promised.items()}
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
