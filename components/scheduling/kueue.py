"""Kueue, which holds tenants' jobs until their share has room, lends what is idle, and takes it back.

Serving is not queued: what endpoints may take at the most is kept out of the queues.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi

from gpuyard.components import namespace
from gpuyard.components.artifacts import ArtifactsSpec, release_inputs
from gpuyard.components.kubernetes import declare, declare_all, release
from gpuyard.components.namespace import TENANT_LABEL
from gpuyard.components.scheduling import topology
from gpuyard.components.scheduling.groups import AcceleratorGroup
from gpuyard.components.scheduling.kueue_values import NAMESPACE, values
from gpuyard.components.spec import Manifest

API = "kueue.x-k8s.io/v1beta2"
"""The version that Kueue 0.17 stores, and 0.19 too."""

COHORT = "gpuyard"
"""All tenants of a platform lend to each other."""

LOCAL_QUEUE = "default"
"""Kueue puts a job that names no queue into the one of this name. Source: Kueue, LocalQueue defaulting."""

MOST = 8
"""Labels that a ResourceFlavor may name, and taints. Source: Kueue, ResourceFlavor."""

PROVISIONING_CLASS = "queued-provisioning.gke.io"
"""What gives all nodes of a job at once: GKE's queued provisioning, the one cloud that has it. Source: GKE, flex-start
with queued provisioning."""

EFFECTS = ("NoSchedule", "NoExecute")
"""Taints that Kueue looks at. Source: Kueue, ResourceFlavor: PreferNoSchedule is ignored."""


@dataclass(frozen=True)
class Queued:
    """What a tenant's jobs may hold of one node group, in accelerators."""

    own: int
    """Always, and back at once when lent."""
    borrow: int = 0
    """On top, while nobody else needs them."""
    lend: int | None = None
    """Of its own, how many others may use while they are idle; all when None."""


class Kueue(pulumi.ComponentResource):
    """The queues of all tenants, and the controller that works them off."""

    queues: dict[str, pulumi.Resource]
    """The ClusterQueue of each tenant. A tenant's namespace needs it: it is deleted first, with its jobs, because a
    queue that has running jobs stays."""

    def __init__(
        self,
        name: str,
        groups: Sequence[AcceleratorGroup],
        *,
        tenants: Mapping[str, Mapping[str, Queued]],
        free: Mapping[str, int],
        kubernetes: str,
        artifacts: ArtifactsSpec,
        needs: Sequence[pulumi.Resource] = (),
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`tenants` is what the jobs of each may hold, by node group; `free` the accelerators that are nobody's own;
        `kubernetes` the cluster's minor version; `needs` the nodes to run on: Helm waits for the pods."""
        super().__init__("gpuyard:index:Kueue", name, {}, opts)
        made = declare_all(name, [namespace.restricted(NAMESPACE, kubernetes)], pulumi.ResourceOptions(parent=self))
        inputs = release_inputs("kueue", NAMESPACE, values(artifacts), artifacts)
        # The release names its namespace as plain text, and nothing in it names the nodes.
        controller = release(name, inputs, pulumi.ResourceOptions(parent=self, depends_on=[*made, *needs]))
        # The release brings their kinds, and the controller that must still be there when they are deleted.
        after = pulumi.ResourceOptions(parent=self, depends_on=[controller])
        levels = declare_all(f"{name}-topology", topology.topologies(group.levels for group in groups), after)
        # A flavor names its topology as plain text, and a topology that a flavor names stays.
        placed = pulumi.ResourceOptions(parent=self, depends_on=[controller, *levels])
        kinds = [
            *[declare(f"{name}-flavor-{group.name}", flavor(group), placed) for group in groups],
            declare(f"{name}-cohort", cohort(groups, free), after),
            *[declare(f"{name}-check-{m['metadata']['name']}", m, after) for m in provisioning_checks(groups)],
        ]
        # A queue names its flavors and its cohort as plain text. A flavor that a queue uses stays.
        queue = pulumi.ResourceOptions(parent=self, depends_on=[controller, *kinds])
        self.queues = {
            tenant: declare(f"{name}-queue-{tenant}", cluster_queue(tenant, groups, shares), queue)
            for tenant, shares in tenants.items()
        }
        self.register_outputs({})


def flavors(groups: Iterable[AcceleratorGroup]) -> list[Manifest]:
    """A ResourceFlavor a node group: a job that gets it is sent to the group's nodes, and tolerates their
    accelerators' taint. Taints of the group's own keep away jobs that do not tolerate them."""
    return [flavor(group) for group in groups]


def flavor_name(group: AcceleratorGroup) -> str:
    """The group's own name. Of a flavor with a topology Kueue lets nobody change nodes, tolerations and topology: its
    name follows from them, so that a new one comes, queues take it, and the old one goes."""
    if not group.levels:
        return group.name
    return f"{group.name}-{topology.digest([dict(group.selector), group.key, *group.tolerated, list(group.levels)])}"


def cohort(groups: Sequence[AcceleratorGroup], free: Mapping[str, int]) -> Manifest:
    """What all tenants share: accelerators that are nobody's own, so only who may borrow gets them."""
    quotas = {group.name: {"nominalQuota": str(free[group.name])} for group in groups}
    return {
        "apiVersion": API,
        "kind": "Cohort",
        "metadata": {"name": COHORT},
        "spec": {"resourceGroups": _resource_groups(groups, quotas)},
    }


def cluster_queue(tenant: str, groups: Sequence[AcceleratorGroup], shares: Mapping[str, Queued]) -> Manifest:
    """A tenant's queue. `shares` are by node group; of a group that is not there, its jobs get nothing."""
    quotas = {name: _quota(share) for name, share in shares.items()}
    return {
        "apiVersion": API,
        "kind": "ClusterQueue",
        "metadata": {"name": tenant, "labels": {TENANT_LABEL: tenant}},
        "spec": {
            "cohortName": COHORT,
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": tenant}},
            # In strict order, a job that waits for one node group would hold up those for all others.
            "queueingStrategy": "BestEffortFIFO",
            # Who needs its own gets it back from whoever borrowed it; among a tenant's jobs only a higher priority
            # ends one that runs.
            "preemption": {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"},
            "resourceGroups": _resource_groups([group for group in groups if group.name in quotas], quotas),
            **_checked([group for group in groups if group.name in quotas]),
        },
    }


def provisioning_checks(groups: Iterable[AcceleratorGroup]) -> list[Manifest]:
    """What a job passes before it starts on a node group whose nodes the cloud gives for a whole job at once: Kueue
    asks the cloud for them, and starts the job when they are there."""
    found: list[Manifest] = []
    for group in groups:
        if group.provisioning is None:
            continue
        request: dict[str, Any] = {"provisioningClassName": PROVISIONING_CLASS, "managedResources": [group.resource]}
        if group.provisioning:
            request["parameters"] = dict(group.provisioning)
        kind = {"apiGroup": API.partition("/")[0], "kind": "ProvisioningRequestConfig", "name": group.name}
        check = {"controllerName": "kueue.x-k8s.io/provisioning-request", "parameters": kind}
        found += [
            {"apiVersion": API, "kind": name, "metadata": {"name": group.name}, "spec": spec}
            for name, spec in (("ProvisioningRequestConfig", request), ("AdmissionCheck", check))
        ]
    return found


def local_queue(tenant: str) -> Manifest:
    """The way from a tenant's namespace into its queue, for jobs that name no queue too."""
    return {
        "apiVersion": API,
        "kind": "LocalQueue",
        "metadata": {"name": LOCAL_QUEUE, "namespace": tenant, "labels": {TENANT_LABEL: tenant}},
        "spec": {"clusterQueue": tenant},
    }


def problems(groups: Mapping[str, AcceleratorGroup]) -> list[str]:
    """What Kueue could not say of a node group, one sentence each, which starts with its path. `groups` are by key."""
    found = []
    for key, group in groups.items():
        if len(group.selector) > MOST:
            found.append(
                f"node_groups.{key}.selector: {len(group.selector)} labels are given, and queues know nodes by {MOST} "
                "at most: leave out those that follow from others"
            )
        if len(_taints(group)) > MOST:
            found.append(
                f"node_groups.{key}.taints: {len(_taints(group))} taints are given, and queues know {MOST} at most: "
                "take some out"
            )
    return found


def flavor(group: AcceleratorGroup) -> Manifest:
    """The ResourceFlavor of a node group."""
    spec: dict[str, Any] = {
        "nodeLabels": dict(group.selector),
        "tolerations": [
            {"key": key, "operator": "Exists", "effect": "NoSchedule"} for key in (group.key, *group.tolerated)
        ],
    }
    if taints := _taints(group):
        spec["nodeTaints"] = taints
    if group.levels:
        spec["topologyName"] = topology.name(group.levels)
    return {"apiVersion": API, "kind": "ResourceFlavor", "metadata": {"name": flavor_name(group)}, "spec": spec}


def _checked(groups: Iterable[AcceleratorGroup]) -> dict[str, Any]:
    """The checks of a queue: each for the jobs of its own node group."""
    checks = [
        {"name": group.name, "onFlavors": [flavor_name(group)]} for group in groups if group.provisioning is not None
    ]
    return {"admissionChecksStrategy": {"admissionChecks": checks}} if checks else {}


def _taints(group: AcceleratorGroup) -> list[dict[str, str]]:
    """The taints that Kueue looks at."""
    return [taint.model_dump() for taint in group.taints if taint.effect in EFFECTS]


def _quota(share: Queued) -> dict[str, str]:
    """Quantities are texts, as the API server stores them."""
    quota = {"nominalQuota": str(share.own), "borrowingLimit": str(share.borrow)}
    return quota if share.lend is None else quota | {"lendingLimit": str(share.lend)}


def _resource_groups(
    groups: Sequence[AcceleratorGroup], quotas: Mapping[str, Mapping[str, str]]
) -> list[dict[str, Any]]:
    """One a resource name, with the quota of each node group that offers it."""
    by_resource: dict[str, list[AcceleratorGroup]] = {}
    for group in groups:
        by_resource.setdefault(group.resource, []).append(group)
    return [
        {
            "coveredResources": [resource],
            "flavors": [
                {"name": flavor_name(group), "resources": [{"name": resource, **quotas[group.name]}]}
                for group in offering
            ],
        }
        for resource, offering in by_resource.items()
    ]
