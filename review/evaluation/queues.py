"""Kueue's queues: what each may have of accelerators, its own and what it may borrow.

    cluster_queues   [{urn, path, provider, name, cohort, resources: {resource: {nominal, most, path}},
                       unlimited: [{resource, path}], uncounted}]

`most` is the nominal quota and what may be borrowed: no more than the others of the cohort lend, where the program has
others. It is left out where nothing bounds it. `unlimited` are quotas without a borrowing limit that have something to
borrow, `path` is the last quota of the resource. `uncounted` are paths of quotas that are not known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gpuyard.review.evaluation.objects import pointer, steps
from gpuyard.review.evaluation.references import Steps, hidden
from gpuyard.review.evaluation.requests import ACCELERATOR
from gpuyard.review.quantities import amount
from gpuyard.review.values import mapping, sequence, text

CLUSTER_QUEUE = "ClusterQueue.kueue.x-k8s.io"
COHORT = "Cohort.kueue.x-k8s.io"

Json = dict[str, Any]
Pool = tuple[str, str]
"""Provider, and the cohort at the top of a tree of cohorts."""


@dataclass(frozen=True, slots=True)
class _Quota:
    """The quota of one resource in one flavor. None is not known, or not said."""

    flavor: str
    resource: str
    path: str
    nominal: int | None
    borrowing: int | None
    lending: int | None
    says_borrowing: bool
    known: bool

    @property
    def lent(self) -> int:
        """What others may have of it."""
        own = self.nominal or 0
        return own if self.lending is None else min(own, self.lending)


def cluster_queues(rego: Mapping[str, Any], unknown: Mapping[str, list[Steps]]) -> list[Json]:
    """The queues among what `prepare` made of a program's objects. `unknown` are paths by URN."""
    parents = _parents(rego)
    queues = [
        (entry, _pool(entry, _cohort(entry), parents), list(_quotas(entry, unknown)))
        for entry in rego["objects"].get(CLUSTER_QUEUE, ())
    ]
    cohorts = [
        (entry, _pool(entry, text(entry["name"]), parents), list(_quotas(entry, unknown)))
        for entry in rego["objects"].get(COHORT, ())
    ]
    found = []
    for entry, pool, quotas in queues:
        beside = [(one, own) for one, their_pool, own in (*queues, *cohorts) if their_pool == pool and one is not entry]
        # A cohort that says nothing of its own lends nothing; whether there are other queues, it does not tell.
        alone = not any(own for _, own in beside)
        others = [quota for _, own in beside for quota in own]
        found.append(_queue(entry, pool, quotas, others, alone=alone))
        groups = (*steps(entry["path"]), "spec", "resourceGroups")
        if any(groups[: len(path)] == path for path in unknown.get(entry["urn"], ())):
            found[-1]["uncounted"].append(pointer(groups))
    return found


def _queue(entry: Json, pool: Pool | None, quotas: list[_Quota], others: list[_Quota], *, alone: bool) -> Json:
    resources: dict[str, Json] = {}
    unlimited, uncounted = [], []
    for quota in quotas:
        if not quota.known:
            uncounted.append(quota.path)
        offered = sum(one.lent for one in others if (one.flavor, one.resource) == (quota.flavor, quota.resource))
        borrowed = _borrowed(quota, offered, shared=pool is not None, alone=alone)
        if pool is not None and quota.known and not quota.says_borrowing and (alone or offered):
            unlimited.append({"resource": quota.resource, "path": quota.path})
        own = resources.setdefault(quota.resource, {"nominal": 0, "most": 0, "path": quota.path})
        own["nominal"] += quota.nominal or 0
        own["most"] = None if own["most"] is None or borrowed is None else own["most"] + (quota.nominal or 0) + borrowed
        own["path"] = quota.path
    return {
        "urn": entry["urn"],
        "path": entry["path"],
        "provider": entry["provider"],
        "name": text(entry["name"]) or "",
        **({"cohort": pool[1]} if pool else {}),
        "resources": {name: {key: n for key, n in own.items() if n is not None} for name, own in resources.items()},
        "unlimited": unlimited,
        "uncounted": uncounted,
    }


def _borrowed(quota: _Quota, offered: int, *, shared: bool, alone: bool) -> int | None:
    """What a queue may borrow in a flavor; None where nothing bounds it."""
    if not quota.known:
        return None
    if not shared:
        return 0
    limit = quota.borrowing if quota.says_borrowing else None
    if alone:
        return limit
    return offered if limit is None else min(limit, offered)


def _quotas(entry: Json, unknown: Mapping[str, list[Steps]]) -> Iterator[_Quota]:
    unclear = unknown.get(entry["urn"], [])
    base = (*steps(entry["path"]), "spec", "resourceGroups")
    groups = sequence(mapping(mapping(entry["body"]).get("spec")).get("resourceGroups"))
    for i, group in enumerate(map(mapping, groups)):
        for j, flavor in enumerate(map(mapping, sequence(group.get("flavors")))):
            for k, quota in enumerate(map(mapping, sequence(flavor.get("resources")))):
                name = text(quota.get("name")) or ""
                if ACCELERATOR.fullmatch(name):
                    path = pointer((*base, i, "flavors", j, "resources", k))
                    nominal = _count(quota.get("nominalQuota"))
                    yield _Quota(
                        flavor=str(flavor.get("name")),
                        resource=name,
                        path=path,
                        nominal=nominal,
                        borrowing=_count(quota.get("borrowingLimit")),
                        lending=_count(quota.get("lendingLimit")),
                        says_borrowing="borrowingLimit" in quota,
                        known=nominal is not None and not hidden(steps(path), unclear),
                    )


def _count(quantity: Any) -> int | None:
    count = amount(quantity)
    return None if count is None else int(count)


def _parents(rego: Mapping[str, Any]) -> dict[Pool, str]:
    found = {}
    for entry in rego["objects"].get(COHORT, ()):
        parent = text(mapping(mapping(entry["body"]).get("spec")).get("parentName"))
        name = text(entry["name"])
        if parent and name:
            found[entry["provider"], name] = parent
    return found


def _cohort(queue: Json) -> str | None:
    """The cohort that a queue is in: v1beta1 has another name for the field."""
    spec = mapping(mapping(queue["body"]).get("spec"))
    return text(spec.get("cohortName")) or text(spec.get("cohort"))


def _pool(entry: Json, name: str | None, parents: Mapping[Pool, str]) -> Pool | None:
    """The tree of cohorts that a cohort is in, by the one at its top."""
    if not name:
        return None
    seen = {name}
    while (parent := parents.get((entry["provider"], name))) and parent not in seen:
        name = parent
        seen.add(name)
    return entry["provider"], name
