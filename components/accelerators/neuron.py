"""AWS Neuron's software: the device plugin by its chart, and neuron-monitor, which has none."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from gpuyard.components.accelerators.families import Family, NodeSoftware, Request
from gpuyard.components.artifacts import image
from gpuyard.components.node_groups.base import GROUP_LABEL
from gpuyard.components.spec import Manifest

NAMESPACE = "neuron"

TOLERATIONS = [{"operator": "Exists"}]
"""A node's agent belongs on it whatever its taints are."""

PORT = 8000

CONFIGURATION = "/opt/aws/neuron/bin/neuron-monitor.conf"
"""Where neuron-monitor's image looks for its configuration. Source: awslabs/operator-for-ai-chips-on-aws@5ca9ebf,
internal/nodemetrics/nodemetrics.go."""

MEASURED = {
    "period": "5s",
    "neuron_runtimes": [
        {
            "tag_filter": ".*",
            "metrics": [{"type": "neuroncore_counters"}, {"type": "memory_used"}, {"type": "execution_stats"}],
        }
    ],
    "system_metrics": [{"type": "memory_info"}, {"period": "5s", "type": "neuron_hw_counters"}],
}
"""What neuron-monitor reads. Source of the names: the same, config/nodemetrics."""

OWNERS = NodeSoftware(driver="image", advertiser="gpuyard")
"""Source: awslabs/amazon-eks-ami, templates/al2023: the Neuron image has the driver, and no device plugin."""


def values(request: Request) -> dict[str, Any]:
    """Values of neuron-helm-chart: its device plugin alone."""
    plugin: dict[str, Any] = {
        "enabled": True,
        # Takes the place of the chart's list of machines, which lacks what comes after it.
        "affinity": {"nodeAffinity": _on(request.groups)},
        "tolerations": TOLERATIONS,
    }
    if request.artifacts.images:
        plugin["image"] = {"repository": f"{request.artifacts.images}/neuron/neuron-device-plugin"}
    return {
        "devicePlugin": plugin,
        # The other advertiser of the same devices.
        "draDriver": {"enabled": False},
        # Places pods that take some of a node's devices, and more than one. It is a second scheduler of the cluster,
        # whose image must be of the cluster's version, and pods must name it.
        "scheduler": {"enabled": False},
        "ultraserverOperator": {"enabled": False},
        # EKS's node monitoring agent sees the same faults, and has nodes replaced.
        "npd": {"enabled": False},
    }


def monitor(request: Request) -> list[Manifest]:
    """neuron-monitor on every node, and what has Prometheus ask it."""
    labels = {"app.kubernetes.io/name": "neuron-monitor", "app.kubernetes.io/managed-by": "gpuyard"}
    metadata = {"name": "neuron-monitor", "namespace": NAMESPACE, "labels": labels}
    objects: list[Manifest] = [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"monitor": json.dumps(MEASURED)}},
        {
            "apiVersion": "apps/v1",
            "kind": "DaemonSet",
            "metadata": metadata,
            "spec": {
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": _pod(request)},
            },
        },
    ]
    if request.monitored:
        endpoint = {"port": "metrics", "interval": "30s"}
        spec = {"selector": {"matchLabels": labels}, "podMetricsEndpoints": [endpoint]}
        kind = {"apiVersion": "monitoring.coreos.com/v1", "kind": "PodMonitor"}
        objects.append({**kind, "metadata": metadata, "spec": spec})
    return objects


def _pod(request: Request) -> dict[str, Any]:
    container = {
        "name": "neuron-monitor",
        "image": image("neuron-monitor", request.artifacts),
        "command": ["/opt/bin/entrypoint.sh"],
        "args": ["--port", str(PORT), "--neuron-monitor-config", CONFIGURATION],
        "ports": [{"name": "metrics", "containerPort": PORT}],
        # It reads the devices of all pods of the node.
        "securityContext": {"privileged": True, "runAsUser": 0},
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}},
        "volumeMounts": [
            {"name": "root", "mountPath": "/host/root", "readOnly": True},
            {"name": "sys", "mountPath": "/host/sys", "readOnly": True},
            {"name": "configuration", "mountPath": CONFIGURATION, "subPath": "monitor", "readOnly": True},
        ],
    }
    return {
        "automountServiceAccountToken": False,
        "affinity": {"nodeAffinity": _on(request.groups)},
        "tolerations": TOLERATIONS,
        "containers": [container],
        "volumes": [
            {"name": "root", "hostPath": {"path": "/"}},
            {"name": "sys", "hostPath": {"path": "/sys"}},
            {"name": "configuration", "configMap": {"name": "neuron-monitor"}},
        ],
    }


def _on(groups: Iterable[str]) -> dict[str, Any]:
    """The groups' nodes only."""
    wanted = {"matchExpressions": [{"key": GROUP_LABEL, "operator": "In", "values": list(groups)}]}
    return {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [wanted]}}


FAMILY = Family(
    name="neuron",
    resource="aws.amazon.com/neuron",
    namespace=NAMESPACE,
    platforms=[("aws", "AL2023_*_NEURON", OWNERS)],
    charts=lambda request: {"neuron-helm-chart": values(request)},
    objects=monitor,
)
"""AWS Trainium and Inferentia."""
