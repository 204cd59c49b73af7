"""Lengths of the bars in the HTML page: parts of a hundred, each against the longest of its chart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Bar:
    """Lengths from 0 to 100, each of which has the shorter ones in it."""

    least: float
    start: float
    most: float
    limit: float | None = None
    """Where a mark stands; None where there is none."""
    over: bool = False
    """Whether the bar goes past its mark."""


def group_bars(cost: Json) -> dict[str, Bar]:
    """By URN, what a node group costs; without those whose cost is not known."""
    months = {line["urn"]: line["month"] for line in cost.get("lines", ()) if line["month"]}
    longest = max((month["max"] for month in months.values()), default=0)
    return {
        urn: Bar(_of(month["min"], longest), _of(month["initial"], longest), _of(month["max"], longest))
        for urn, month in months.items()
    }


def tenant_bars(cost: Json) -> dict[str, Bar]:
    """By name, what a tenant's quota costs and the worst that it may borrow, with its budget as the mark."""
    tenants = {name: one for name, one in cost.get("tenants", {}).items() if one["worst"] is not None}
    longest = max((max(one["worst"], one["budget"] or 0) for one in tenants.values()), default=0)
    bars = {}
    for name, one in tenants.items():
        quota = _of(one["quota"] or 0, longest)
        limit = None if one["budget"] is None else _of(one["budget"], longest)
        over = one["budget"] is not None and one["worst"] > one["budget"]
        bars[name] = Bar(quota, quota, _of(one["worst"], longest), limit, over)
    return bars


def _of(value: float, longest: float) -> float:
    return round(100 * max(0.0, value) / longest, 2) if longest > 0 else 0.0
