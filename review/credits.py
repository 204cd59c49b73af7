"""What comes off the sum of node groups: commitments, and reservations that several use, which are paid once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gpuyard.review.charges import BOUNDS, HOURS_A_MONTH
from gpuyard.review.prices import Prices

COMMITTED = ("on_demand", "reservation")
"""Markets whose machines a commitment makes cheaper. Sources: EC2 user guide, Capacity Reservations; Compute Engine,
committed use discounts."""

Json = dict[str, Any]


def credits_of(lines: Sequence[Json], prices: Prices) -> Iterator[Json]:
    """Every credit on the lines of groups whose cost is known."""
    once = list(_paid_once(lines))
    yield from once
    yield from _commitments(lines, once, prices)


def _paid_once(lines: Sequence[Json]) -> Iterator[Json]:
    """Each line has all of its group's reservations. Of one that several name, the others' are taken off; where all
    together may have more nodes than it has machines, some of these come from elsewhere, and are paid."""
    users: dict[str, list[tuple[Json, Json]]] = {}
    for line in lines:
        for reserved in line.get("reserved", ()):
            users.setdefault(reserved["reservation"], []).append((line, reserved))
    for called, used in sorted(users.items()):
        if len(used) < 2:
            continue
        once = max(used, key=lambda one: _idle(one[1]))
        machines = max(reserved["machines"] for _, reserved in used)
        over = sum(_idle(reserved) for _, reserved in used) - _idle(once[1])
        elsewhere = max(line["dearest_usd_hour"] or 0.0 for line, _ in used) * HOURS_A_MONTH
        month = {}
        for bound in BOUNDS:
            wanted = sum(min(line["nodes"][bound] or 0, reserved["machines"]) for line, reserved in used)
            month[bound] = round(-max(0.0, over - max(0, wanted - machines) * elsewhere), 2)
        line, reserved = once
        yield _credit(line, called, "reservation that several groups use, paid once", reserved["usd_hour"], month)


def _idle(reserved: Mapping[str, Any]) -> float:
    """What a reservation costs a month, used or not."""
    return float(reserved["machines"] * reserved["usd_hour"] * reserved["hours"])


def _commitments(lines: Sequence[Json], once: Sequence[Json], prices: Prices) -> Iterator[Json]:
    """What commitments take off: so many machines at their price, in place of the on-demand one. The part of a
    commitment that this stack does not use is paid all the same, and is no cost of this stack."""
    for (cloud, region, machine, market), price in sorted(prices.own.items()):
        if market != "committed":
            continue
        covered = [
            one
            for one in lines
            if (one["cloud"], one["region"], one["machine"]) == (cloud, region, machine)
            and one["usd_hour"]
            and one["market"] in COMMITTED
            and not one["then"]
        ]
        saved = covered[0]["usd_hour"] - price.usd_hour if covered else 0
        if saved <= 0:
            continue
        urns = {one["urn"] for one in covered}
        counted = [*covered, *(credit for credit in once if credit["urn"] in urns)]
        month = {}
        for bound in BOUNDS:
            charged = sum(one["month"][bound] for one in counted) / covered[0]["usd_hour"] / HOURS_A_MONTH
            month[bound] = round(-min(charged, price.machines or 0) * saved * HOURS_A_MONTH, 2)
        source = {"source": price.source, "date": price.date}
        yield _credit(covered[0], machine, f"commitment for {price.machines} machines", saved, month) | source


def _credit(line: Json, name: str, what: str, usd: float, month: Mapping[str, float]) -> Json:
    return {
        "urn": line["urn"],
        "name": name,
        "what": what,
        "region": line["region"],
        "usd": -usd,
        "unit": "hour",
        "source": line["source"],
        "date": line["date"],
        "amount": None,
        "month": dict(month),
        "unknown": None,
    }
