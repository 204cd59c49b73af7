"""The three levels of quota in one answer: what the cloud's account allows, what the cluster has, what may be paid.

Each line says what a stack may need at the most, and what it may have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gpuyard.review.judge import Review
from gpuyard.review.report.summary import money

UNITS = {"vcpus": "vCPUs", "gpus": "GPUs", "nodes": "nodes"}

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
        yield Level("account", what, f"{need} {UNITS[quota['unit']]}", limit, _state(quota))


def _state(quota: Json) -> str:
    parts = [f"not checked: {quota['unchecked']}"] if quota["unchecked"] else []
    if quota["usage"] is not None:
        parts.append(f"{quota['usage']:,.0f} in use")
    if quota["fetched"]:
        parts.append(f"as of {quota['fetched']}, {quota['age_days']} days ago")
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
            known = [most for most in there[name] if most is not None]
            limit = f"{sum(known):,}" if len(known) == len(there[name]) else "?"
            yield Level("cluster", f"tenants' shares of {name}", f"{count:,}", limit, "")


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
            yield Level("budget", f"tenant {name}", money(tenant["worst"]), money(tenant["budget"]), "")
    limit = (review.limits.get("budget") or {}).get("month_usd")
    if limit is not None and cost["lines"]:
        note = "without what has no known price" if cost["unknown"] else ""
        yield Level("budget", "the stack", money(cost["total"]["max"]), money(limit), note)
