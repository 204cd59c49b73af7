"""Values of Kueue's chart: its controller manages jobs of tenants' namespaces, and counts accelerators only."""

from __future__ import annotations

import json
from typing import Any

from gpuyard.components.artifacts import ArtifactsSpec
from gpuyard.components.scheduling.groups import TENANTS_ONLY

NAMESPACE = "kueue-system"

WEBHOOK_PORT = 10250
"""As KEDA's: the port at which a private GKE cluster's control plane may reach pods."""

NOT_COUNTED = (
    "cpu",
    "memory",
    "ephemeral-storage",
    "hugepages-",
    "vpc.amazonaws.com/",
    "networking.gke.io.networks/",
    "rdma/",
    "nvidia.com/hostdev",
    "openshift.io/",
)
"""Beginnings of resource names that queues do not count; a job that asks for another one that no queue has would wait
for ever. The tenant's ResourceQuota caps CPU and memory, and network devices come with the node: EFA, GKE's networks,
RDMA shared by its device plugin, host devices as NVIDIA's network operator calls them, SR-IOV of its own operator."""


def values(artifacts: ArtifactsSpec) -> dict[str, Any]:
    """Values of the chart: as upstream, with a configuration of our own."""
    chosen: dict[str, Any] = {
        # The chart takes it as one text, and JSON is YAML.
        "managerConfig": {"controllerManagerConfigYaml": json.dumps(configuration(), indent=2)},
        "webhookService": {"ports": [{"port": 443, "protocol": "TCP", "targetPort": WEBHOOK_PORT}]},
    }
    if artifacts.images:
        chosen["controllerManager"] = {"manager": {"image": {"repository": f"{artifacts.images}/kueue/kueue"}}}
    return chosen


def configuration() -> dict[str, Any]:
    """The controller's configuration, whole: the chart has no other way to say a part of it."""
    return {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "health": {"healthProbeBindAddress": ":8081"},
        "metrics": {"bindAddress": ":8443"},
        "webhook": {"port": WEBHOOK_PORT},
        "leaderElection": {"leaderElect": True, "resourceName": "c1f6bfd2.kueue.x-k8s.io"},
        "controller": {"groupKindConcurrency": {"Job.batch": 5, "Workload.kueue.x-k8s.io": 5}},
        "clientConnection": {"qps": 50, "burst": 100},
        # A job of a tenant never runs beside its queue: without one it stays suspended.
        "manageJobsWithoutQueueName": True,
        # The chart also keeps its webhooks to these namespaces: a controller that is down holds up nobody else's jobs.
        "managedJobsNamespaceSelector": TENANTS_ONLY,
        # Pods and Deployments are not among them, because they serve.
        "integrations": {"frameworks": ["batch/job"]},
        "resources": {"excludeResourcePrefixes": list(NOT_COUNTED)},
    }
