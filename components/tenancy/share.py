"""A tenant's share of the cluster: what all its pods together may hold, and what a pod gets that asks for nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gpuyard.components.scheduling.groups import AcceleratorGroup, class_name
from gpuyard.components.spec import Manifest


def quotas(
    shares: Mapping[str, int], *, groups: Iterable[AcceleratorGroup], cpu: int | None, memory: str | None
) -> list[Manifest]:
    """The most that the namespace may hold. `shares` are accelerators by the name of their group, `groups` all that
    the cluster has.

    Each group's accelerators are counted by the priority class of its pods. A pod of no class that the tenant has a
    share of gets none at all: what no quota counts would be allowed.
    """
    resources = {group.name: group.resource for group in groups}
    counted = [
        _quota(f"share-{group}", {f"requests.{resources[group]}": str(most)}, _classes("In", [class_name(group)]))
        for group, most in shares.items()
    ]
    none = {f"requests.{resource}": "0" for resource in sorted(set(resources.values()))}
    others = [_quota("unclassed", none, _classes("NotIn", [class_name(group) for group in shares]))] if none else []
    return [_quota("share", _everything(cpu, memory)), *counted, *others]


def _everything(cpu: int | None, memory: str | None) -> dict[str, str]:
    # A model server answers whoever reaches it: opening it to the network is the platform's decision.
    hard = {"services.loadbalancers": "0", "services.nodeports": "0"}
    if cpu is not None:
        hard["requests.cpu"] = str(cpu)
    if memory is not None:
        hard["requests.memory"] = memory
    return hard


def _classes(operator: str, names: Sequence[str]) -> dict[str, Any]:
    """Counts pods by their priority class alone; all of them where no class is named."""
    if not names:
        return {}
    scope = {"scopeName": "PriorityClass", "operator": operator, "values": list(names)}
    return {"scopeSelector": {"matchExpressions": [scope]}}


def _quota(name: str, hard: Mapping[str, str], counted: Mapping[str, Any] | None = None) -> Manifest:
    spec = {"hard": dict(hard), **(counted or {})}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": name}, "spec": spec}


def limits() -> Manifest:
    """Small defaults, for sidecars and first tries: whoever needs more says so.

    Memory is limited, because a node's is shared with other tenants. CPU is not: its requests keep a neighbour's part
    free, and a limit would only make a server answer late. There is no maximum beside the namespace's quota.
    """
    least = {"type": "Container", "defaultRequest": {"cpu": "100m", "memory": "256Mi"}, "default": {"memory": "1Gi"}}
    return {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "defaults"}, "spec": {"limits": [least]}}
