"""The three levels of quota in one answer: what the cloud's account allows, what the cluster has, what may be paid.

Each line says what a stack may need at the most, and what it may have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from gpuyard.review.judge import Review
from gpuyard.review.report.summary import money

UNITS = {"vcpus": "vCPUs", "gpus": "GPUs", "chips": "chips", "nodes": "nodes"}

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Level:
    """One quota."""

    level: str
    """account, cluster or budget."""
    what: str
    need: str
    limit: str
    """`?` where it is not known."""
    note: str
    """How old the limit is, or why it is not known."""
    used: float | None = field(default=None, compare=False)
    """The need as a part of the limit; None where one is not known, or there is no limit."""


def levels(review: Review) -> list[Level]:
    """Every quota of a stack, the cloud's first."""
    document = review.document
    return [*_accounts(document["capacity"]), *_cluster(document["capacity"]), *_budgets(review)]


def _accounts(capacity: Json) -> Iterator[Level]:
    for quota in capacity.get("quotas", ()):
        limit = "?" if quota["limit"] is None else "no limit" if quota["limit"] < 0 else f"{quota['limit']:,.0f}"
        need = f"{quota['need']:,}"
        if quota["uncounted"]:
            need = f"{need} + {', '.join(quota['uncounted'])}"
        what = f"{quota['name']}, {quota['region'] or 'region not known'}"
        used = None if quota["uncounted"] else _part(quota["need"], quota["limit"])
        yield Level("account", what, f"{need} {UNITS[quota['unit']]}", limit, _state(quota), used)


def _part(need: float | None, limit: float | None) -> float | None:
    return need / limit if need is not None and limit is not None and limit > 0 else None


def _state(quota: Json) -> str:
    parts = [f"not checked: {quota['unchecked']}"] if quota["unchecked"] else []
    if quota["usage"] is not None:
        parts.append(f"{quota['usage']:,.0f} in use")
    if quota["fetched"]:
        days = quota["age_days"]
        when = f"{days} days ago" if days >= 0 else f"{-days} days after the review"
        parts.append(f"as of {quota['fetched']}, {when}")
    if quota.get("surge"):
        parts.append(f"up to {quota['surge']:,} more while nodes are upgraded")
    return ", ".join(parts)


def _cluster(capacity: Json) -> Iterator[Level]:
    """Kueue and the namespaces' ResourceQuotas hand out what tenants are promised of a group, or of its parts."""
    promised: dict[str, int] = {}
    for shares in capacity["tenants"].values():
        for name, share in shares.items():
            promised[name] = promised.get(name, 0) + max(share["quota"], share["endpoints_max"])
    there: dict[str, list[int | None]] = {}
    for group in capacity["groups"]:
        for name, most in _offered(group).items():
            there.setdefault(name, []).append(most)
    for name, count in sorted(promised.items()):
        if name in there:
            known = [offered for offered in there[name] if offered is not None]
            most = sum(known) if len(known) == len(there[name]) else None
            limit = "?" if most is None else f"{most:,}"
            yield Level("cluster", f"tenants' shares of {name}", f"{count:,}", limit, "", _part(count, most))


def _offered(group: Json) -> dict[str, int | None]:
    """What a group offers at the most, by what tenants call it; of somebody else's nodes that is not known."""
    if group["cloud"] == "existing":
        return {}
    nodes, parts = group["nodes"]["max"], group.get("parts")
    if not parts:
        return {group["name"]: group["accelerators"]["max"]}
    return {name: None if nodes is None else nodes * part["a_node"] for name, part in parts.items()}


def _budgets(review: Review) -> Iterator[Level]:
    cost = review.document["cost"]
    for name, tenant in cost["tenants"].items():
        if tenant["budget"] is not None:
            used = _part(tenant["worst"], tenant["budget"])
            yield Level("budget", f"tenant {name}", money(tenant["worst"]), money(tenant["budget"]), "", used)
    limit = (review.limits.get("budget") or {}).get("month_usd")
    if limit is not None and cost["lines"]:
        note = "without what has no known price" if cost["unknown"] else ""
        used = None if cost["unknown"] else _part(cost["total"]["max"], limit)
        yield Level("budget", "the stack", money(cost["total"]["max"]), money(limit), note, used)
