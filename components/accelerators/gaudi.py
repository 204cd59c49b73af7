"""Intel Gaudi's software: the device plugin and the metric exporter, of which only images are published for all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpuyard.components.accelerators.families import Family, NodeSoftware, Request
from gpuyard.components.artifacts import image
from gpuyard.components.spec import Manifest

NAMESPACE = "habana-system"

TOLERATIONS = [{"operator": "Exists"}]
"""A node's agent belongs on it whatever its taints are."""

PORT = 41611
"""The exporter's. Source of what it is given: opea-project/Enterprise-Inference@58296b6, habana-metrics.yml."""

OWNERS = NodeSoftware(driver="host", advertiser="gpuyard")
"""Source: HabanaAI/habanalabs-k8s-device-plugin v1.16.0, README: needs the host's driver and its container runtime."""


def agents(request: Request) -> list[Manifest]:
    """A device plugin and an exporter for the nodes of each group, and what has Prometheus ask the exporter."""
    objects = []
    for group, selector in request.groups.items():
        objects += [
            _daemon_set(f"device-plugin-{group}", selector, _plugin(request), mounted="device-plugins"),
            _daemon_set(f"metric-exporter-{group}", selector, _exporter(request), mounted="pod-resources"),
        ]
    if request.monitored:
        labels = {"app.kubernetes.io/component": "metric-exporter"}
        endpoint = {"port": "metrics", "interval": "30s"}
        objects.append(
            {
                "apiVersion": "monitoring.coreos.com/v1",
                "kind": "PodMonitor",
                "metadata": {"name": "metric-exporter", "namespace": NAMESPACE},
                "spec": {"selector": {"matchLabels": labels}, "podMetricsEndpoints": [endpoint]},
            }
        )
    return objects


def _plugin(request: Request) -> dict[str, Any]:
    return {"name": "device-plugin", "image": image("gaudi-device-plugin", request.artifacts)}


def _exporter(request: Request) -> dict[str, Any]:
    return {
        "name": "metric-exporter",
        "image": image("gaudi-metric-exporter", request.artifacts),
        "env": [{"name": "LD_LIBRARY_PATH", "value": "/usr/lib/habanalabs"}],
        "ports": [{"name": "metrics", "containerPort": PORT}],
    }


def _daemon_set(name: str, selector: Mapping[str, str], container: dict[str, Any], *, mounted: str) -> Manifest:
    """`mounted` is the folder of kubelet's that the agent reaches into."""
    path = f"/var/lib/kubelet/{mounted}"
    labels = {"app.kubernetes.io/name": name, "app.kubernetes.io/component": container["name"]}
    reaches_into = {
        "securityContext": {"privileged": True},
        "resources": {"requests": {"cpu": "50m", "memory": "64Mi"}, "limits": {"memory": "512Mi"}},
        "volumeMounts": [{"name": "host", "mountPath": path}],
    }
    pod = {
        "automountServiceAccountToken": False,
        "priorityClassName": "system-node-critical",
        "nodeSelector": dict(selector),
        "tolerations": TOLERATIONS,
        # The exporter counts on the host's network; both take addresses from none of the cluster's.
        "hostNetwork": True,
        "containers": [container | reaches_into],
        "volumes": [{"name": "host", "hostPath": {"path": path}}],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels},
        "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod}},
    }


FAMILY = Family(
    name="gaudi",
    resource="habana.ai/gaudi",
    namespace=NAMESPACE,
    platforms=[("onprem", "*", OWNERS)],
    objects=agents,
)
"""Intel Gaudi 2 and 3."""
