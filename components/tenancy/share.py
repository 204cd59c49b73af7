"""A tenant's share of the cluster: what all its pods together may hold, and what a pod gets that asks for nothing."""

from __future__ import annotations

from collections.abc import Mapping

from gpuyard.components.spec import Manifest


def quota(shares: Mapping[str, int], *, resources: Mapping[str, str], cpu: int | None, memory: str | None) -> Manifest:
    """The most that the namespace may hold. `shares` are accelerators a node group, `resources` the resource name of
    every accelerator group of the cluster.

    Groups whose accelerators share a name are counted together, because a quota sees only the name. A resource that
    the cluster has and the tenant has no share of is 0: a quota that does not name it would allow all of it.
    """
    totals = dict.fromkeys(sorted(set(resources.values())), 0)
    for group, count in shares.items():
        totals[resources[group]] += count
    hard = {f"requests.{resource}": str(total) for resource, total in totals.items()}
    if cpu is not None:
        hard["requests.cpu"] = str(cpu)
    if memory is not None:
        hard["requests.memory"] = memory
    # A model server answers whoever reaches it: opening it to the network is the platform's decision.
    hard |= {"services.loadbalancers": "0", "services.nodeports": "0"}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "share"}, "spec": {"hard": hard}}


def limits() -> Manifest:
    """Small defaults, for sidecars and first tries: whoever needs more says so.

    Memory is limited, because a node's is shared with other tenants. CPU is not: its requests keep a neighbour's part
    free, and a limit would only make a server answer late. There is no maximum beside the namespace's quota.
    """
    least = {"type": "Container", "defaultRequest": {"cpu": "100m", "memory": "256Mi"}, "default": {"memory": "1Gi"}}
    return {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "defaults"}, "spec": {"limits": [least]}}
