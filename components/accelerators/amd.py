"""AMD's software: the GPU Operator, told by a DeviceConfig a node group what to bring to its nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpuyard.components.accelerators.families import Family, NodeSoftware, Request
from gpuyard.components.artifacts import ArtifactsSpec, image
from gpuyard.components.spec import Manifest

NAMESPACE = "kube-amd-gpu"
"""Where upstream's instructions put the operator. Source: ROCm/gpu-operator v1.5.1, docs/installation."""

TOLERATIONS = [{"operator": "Exists"}]
"""A node's agent belongs on it whatever its taints are."""

EXPORTER_PORT = 5000

OWNERS = NodeSoftware(driver="host", advertiser="gpuyard")
"""The operator could build the driver, but only into a registry of one's own, by Kernel Module Management and with
cert-manager. A host that has amdgpu needs neither. Source: ROCm/gpu-operator v1.5.1, docs/drivers/installation.md."""


def values(request: Request) -> dict[str, Any]:
    """Values of gpu-operator-charts: its controller alone."""
    chosen: dict[str, Any] = {
        # Nodes are found by the labels of their group, so this needs none of the cluster's one Node Feature Discovery.
        "node-feature-discovery": {"enabled": False},
        "installdefaultNFDRule": False,
        # Of all parts these alone need cert-manager (charts/kmm/templates).
        "kmm": {"enabled": False, "watch": False},
        # Repair is the platform's; and this one brings Argo Workflows.
        "remediation": {"enabled": False, "installCRDs": False},
        # The chart's own DeviceConfig is never upgraded, and would take nodes of all groups.
        "crds": {"defaultCR": {"install": False}},
        "defaultDCMConfigMap": {"install": False},
        # amd.com/gpu has one advertiser, the device plugin.
        "draDriver": {"deviceClass": {"create": False}},
    }
    if request.artifacts.images:
        chosen["controllerManager"] = {
            "manager": {"image": {"repository": f"{request.artifacts.images}/rocm/amd-gpu-operator"}}
        }
    return chosen


def device_config(group: str, selector: Mapping[str, str], artifacts: ArtifactsSpec, *, monitored: bool) -> Manifest:
    """What the operator brings to the nodes of a group."""
    return {
        "apiVersion": "amd.com/v1alpha1",
        "kind": "DeviceConfig",
        "metadata": {"name": group, "namespace": NAMESPACE},
        "spec": {
            "selector": dict(selector),
            "driver": {"enable": False},
            "commonConfig": {"initContainerImage": image("busybox", artifacts)},
            "devicePlugin": {
                "enableDevicePlugin": True,
                "devicePluginImage": image("amd-device-plugin", artifacts),
                "devicePluginTolerations": TOLERATIONS,
                # The group's label says what a node has, and the labeller has no image but a moving one.
                "enableNodeLabeller": False,
            },
            "metricsExporter": {
                "enable": True,
                "image": image("amd-metrics-exporter", artifacts),
                "serviceType": "ClusterIP",
                "port": EXPORTER_PORT,
                "tolerations": TOLERATIONS,
                "prometheus": {"serviceMonitor": {"enable": monitored, "honorLabels": True}},
            },
            "draDriver": {"enable": False},
        },
    }


def _configs(request: Request) -> list[Manifest]:
    return [
        device_config(group, selector, request.artifacts, monitored=request.monitored)
        for group, selector in request.groups.items()
    ]


FAMILY = Family(
    name="amd",
    resource="amd.com/gpu",
    namespace=NAMESPACE,
    platforms=[("onprem", "*", OWNERS)],
    charts=lambda request: {"gpu-operator-charts": values(request)},
    objects=_configs,
)
"""AMD Instinct GPUs, which AWS and Google Cloud do not have."""
