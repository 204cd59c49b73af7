"""Values of the two charts that bring NVIDIA's software: gpu-operator and dcgm-exporter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gpuyard import catalogue
from gpuyard.components.accelerators import nvidia_driver
from gpuyard.components.node_groups.base import GROUP_LABEL

TOLERATIONS = [{"operator": "Exists"}]
"""A node's agent belongs on it whatever its taints are. The list replaces the chart's, which knows the GPU taint."""

GKE_DRIVER = "/home/kubernetes/bin/nvidia"
"""Where GKE puts the driver's libraries. Source: GoogleCloudPlatform/prometheus-engine examples/nvidia-dcgm."""

COUNTERS = {
    "name": "exporter-metrics-volume",
    "mountPath": "/etc/dcgm-exporter/default-counters.csv",
    "subPath": "default-counters.csv",
}
"""The chart's own mount, which a list of ours would take away."""

REPOSITORIES = {
    "operator": "nvidia",
    "validator": "nvidia",
    "driver": "nvidia",
    "toolkit": "nvidia/k8s",
    "devicePlugin": "nvidia",
    "gfd": "nvidia",
    "dcgmExporter": "nvidia/k8s",
}
"""Paths below nvcr.io of the operator's images that are used here. Source: gpu-operator v26.7.0 values.yaml."""


def operator_values(*, driver: bool, toolkit: bool, images: str | None, monitored: bool) -> dict[str, Any]:
    """Values of gpu-operator. `driver` and `toolkit` say whether the operator brings them; it advertises the GPUs.

    `images` is a registry that mirrors the upstream ones, `monitored` whether the ServiceMonitor kind is there.
    """
    values: dict[str, Any] = {
        "driver": nvidia_driver.values() if driver else {"enabled": False},
        "toolkit": {"enabled": toolkit},
        "devicePlugin": {"enabled": True},
        "gfd": {"enabled": True},
        "dcgmExporter": {"enabled": True, "serviceMonitor": _monitor(monitored)},
        # Devices come by CDI, which the toolkit's escapes CVE-2024-0132 and CVE-2025-23359 do not reach.
        "cdi": {"enabled": True},
        # Two privileged DaemonSets less. Groups whose GPUs can be cut turn the first on.
        "migManager": {"enabled": False},
        "ccManager": {"enabled": False},
        "daemonsets": {"tolerations": TOLERATIONS},
        # A node whose taint the worker does not tolerate gets no labels, and so none of the above.
        "node-feature-discovery": {"worker": {"tolerations": TOLERATIONS}},
    }
    if toolkit:
        # Or any pod could name GPUs in its environment and get them without asking the scheduler.
        refusal = {"name": "ACCEPT_NVIDIA_VISIBLE_DEVICES_ENVVAR_WHEN_UNPRIVILEGED", "value": "false"}
        values["toolkit"]["env"] = [refusal]
        # What the catalogue's floors are held against, whatever the chart's own is.
        values["toolkit"]["version"] = catalogue.image("nvidia-container-toolkit").tag
    if images:
        for part, path in REPOSITORIES.items():
            values.setdefault(part, {})["repository"] = f"{images}/{path}"
        values["driver"]["manager"] = {"repository": f"{images}/nvidia/cloud-native"}
        values["node-feature-discovery"]["image"] = {"repository": f"{images}/nfd/node-feature-discovery"}
    return values


def exporter_values(groups: Sequence[str], *, on_gke: bool, images: str | None, monitored: bool) -> dict[str, Any]:
    """Values of dcgm-exporter for the nodes of `groups`. `images` and `monitored` are as for the operator."""
    groups_only = {"matchExpressions": [{"key": GROUP_LABEL, "operator": "In", "values": list(groups)}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [groups_only]}}
    values: dict[str, Any] = {
        "affinity": {"nodeAffinity": required},
        "tolerations": TOLERATIONS,
        "serviceMonitor": _monitor(monitored),
    }
    if images:
        values["image"] = {"repository": f"{images}/nvidia/k8s/dcgm-exporter"}
    if on_gke:
        # GKE hands out devices by its plugin alone: an exporter that requests none must see the node's, and its driver.
        # An API server refuses a privileged container that also forbids the escalation of privileges.
        values["securityContext"] = {"privileged": True, "allowPrivilegeEscalation": True}
        values["extraHostVolumes"] = [{"name": "nvidia-driver", "hostPath": GKE_DRIVER}]
        driver = {"name": "nvidia-driver", "mountPath": "/usr/local/nvidia", "readOnly": True}
        values["extraVolumeMounts"] = [COUNTERS, driver]
        values["extraEnv"] = [{"name": "LD_LIBRARY_PATH", "value": "/usr/local/nvidia/lib64"}]
    return values


def _monitor(enabled: bool) -> dict[str, Any]:
    """A GPU's series carry the namespace, pod and container that use it, as the exporter says. Without the relabelling
    a GPU that nobody uses would get the exporter's own, and look used."""
    exporters_own = {"action": "labeldrop", "regex": "namespace|pod|container"}
    return {"enabled": enabled, "honorLabels": True, "relabelings": [exporters_own]}
