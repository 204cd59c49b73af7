"""The nodes of a GKE node pool: machine, image, labels, taints, accelerators, disks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpuyard import catalogue
from gpuyard.components.gcp import node_security, resource_labels
from gpuyard.components.node_groups import base, compute_class, gcp_partition
from gpuyard.components.node_groups import gcp_gpudirect as gpudirect
from gpuyard.components.node_groups import gcp_tpu as tpu
from gpuyard.components.node_groups.gcp_capacity import market
from gpuyard.components.node_groups.gcp_spec import LARGE_DISK_GIB, SMALL_DISK_GIB, NodeGroupSpec
from gpuyard.components.spec import in_gib

QUEUED_LABEL = "cloud.google.com/gke-queued"
"""GKE taints nodes of queued provisioning with this key, and leaves the label to their owner. Source:
GoogleCloudPlatform/cluster-toolkit@1047080, gke-node-pool."""

LOCAL_SSD_GB = {"a4x-": 3000, "": 375}
"""Size of a local SSD, by the beginning of the machine's name. Sources: container API,
EphemeralStorageLocalSsdConfig; machine families of k8s.io/gke-autoscaling."""

IMAGE_TYPE = "COS_CONTAINERD"
"""Container-Optimized OS, the one image for which GKE installs either of its driver versions."""

EFFECTS = {"NoSchedule": "NO_SCHEDULE", "PreferNoSchedule": "PREFER_NO_SCHEDULE", "NoExecute": "NO_EXECUTE"}
"""Kubernetes' effects as the container API calls them."""


def node_config(
    name: str, spec: NodeGroupSpec, *, service_account: Any, tags: Mapping[str, str], ordered: bool = False
) -> dict[str, Any]:
    """The configuration of each node. `spec` is of one pool; `ordered` says whether it is one of several of the group.
    `service_account` is an e-mail address, and may be an Output."""
    machine = catalogue.machine(spec.machine)
    return {
        **node_security(service_account),
        "machine_type": machine.name,
        "image_type": IMAGE_TYPE,
        "gvnic": {"enabled": True},
        "labels": _labels(name, spec, ordered),
        "taints": _taints(name, spec, machine, ordered),
        "resource_labels": resource_labels(tags),
        **market(spec.ways[0]),
        **_accelerators(spec, machine),
        **_disks(spec, machine),
    }


def _labels(name: str, spec: NodeGroupSpec, ordered: bool) -> dict[str, str]:
    """The labels that GKE does not set by itself."""
    own = {
        **(compute_class.labels(name) if ordered else {}),
        **({QUEUED_LABEL: "true"} if spec.queued else {}),
        **(gpudirect.DRANET_LABEL if gpudirect.managed(spec.machine, spec.interconnect) else {}),
    }
    return {**base.node_labels(name, spec.labels), **own}


def _taints(name: str, spec: NodeGroupSpec, machine: catalogue.Machine, ordered: bool) -> list[dict[str, str]]:
    """GKE adds the accelerator's taint by itself only where the cluster has another pool already."""
    of_class = [compute_class.taint(name)] if ordered else []
    taints = [*base.accelerator_taints(machine), *of_class, *spec.taints]
    return [{"key": taint.key, "value": taint.value, "effect": EFFECTS[taint.effect]} for taint in taints]


def _accelerators(spec: NodeGroupSpec, machine: catalogue.Machine) -> dict[str, Any]:
    if not machine.accelerators or tpu.is_tpu(machine):
        return {}
    accelerator = {
        # The machine type implies both, yet only with them can the driver be asked for.
        "type": machine.cloud_accelerator,
        "count": machine.accelerators,
        "gpu_driver_installation_config": {"gpu_driver_version": spec.driver.upper()},
        **gcp_partition.accelerator_inputs(spec.partition),
    }
    return {"guest_accelerators": [accelerator]}


def _disks(spec: NodeGroupSpec, machine: catalogue.Machine) -> dict[str, Any]:
    """The boot disk, and local SSDs that come with the machine: these hold images and what pods write."""
    size = next(size for family, size in LOCAL_SSD_GB.items() if machine.name.startswith(family))
    local = {"local_ssd_count": machine.local_disk_gb // size}
    default = LARGE_DISK_GIB if machine.accelerators and not machine.local_disk_gb else SMALL_DISK_GIB
    return {
        "disk_size_gb": in_gib(spec.disk) if spec.disk else default,
        "disk_type": spec.disk_type or machine.boot_disks[0],
        **({"ephemeral_storage_local_ssd_config": local} if machine.local_disk_gb else {}),
    }
