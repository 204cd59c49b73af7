"""The launch template of a managed node group: image, disks, metadata service, reservation and first configuration."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpuyard import catalogue
from gpuyard.components.node_groups import efa
from gpuyard.components.node_groups.partition import Divided, Mig, Mps

NVIDIA = "nvidia.com/gpu"
"""What pods ask for."""

DISK_GIB = range(20, 65_536)
"""Sizes of a root volume in GiB, both ends included: EKS's own default, and the largest gp3 (EC2 API, VolumeSize)."""

LARGE_DISK_GIB, SMALL_DISK_GIB = 200, 50
"""Choices of ours: EKS's 20 GiB hold no CUDA image. Images for machine learning are "commonly tens of gigabytes in
size" (AWS, Karpenter blueprints, dynamic EBS volume sizing), and a node keeps several."""

BOTTLEROCKET_SYSTEM_GIB = 4
"""Size of Bottlerocket's system volume (karpenter-provider-aws, pkg/providers/amifamily/bottlerocket.go)."""

USABLE = 0.85
"""Part of a disk that pods can ask for: kubelet evicts below 10 % free and keeps 1 GiB (amazon-eks-ami,
nodeadm/internal/kubelet/config.go); file systems and images take theirs."""

RAID0 = """apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  instance:
    localStorage:
      strategy: RAID0
"""
"""Puts kubelet, containerd and pod logs of AL2023 on the local disks (amazon-eks-ami, nodeadm/doc/api.md)."""

EPHEMERAL_STORAGE = """[settings.bootstrap-commands.000-mount-instance-storage]
commands = [
    ["apiclient", "ephemeral-storage", "init"],
    ["apiclient", "ephemeral-storage", "bind", "--dirs", "/var/lib/containerd", "/var/lib/kubelet", "/var/log/pods"],
]
essential = true
mode = "always"
"""
"""The same for Bottlerocket (karpenter-provider-aws, pkg/providers/amifamily/bootstrap/bottlerocket.go)."""


@dataclass(frozen=True, slots=True)
class Image:
    """What a node boots from, and where."""

    machine: catalogue.Machine
    system: str
    """al2023 or bottlerocket."""
    disk_gib: int
    reservation: str | None
    """Id of a capacity reservation."""
    block: bool = False
    """Whether the reservation is a Capacity Block."""
    efa: catalogue.Fabric | None = None
    """The fast network that the node takes part in."""
    partition: Divided | None = None
    """How its GPUs are divided."""


def template_inputs(name: str, image: Image, tags: Mapping[str, str]) -> dict[str, Any]:
    """The launch template. EKS refuses a subnet, an instance profile and an instance type in it, and sets its own."""
    inputs: dict[str, Any] = {
        "update_default_version": True,
        # One hop: processes of the node, and no pod but those on the host's network. Pods get their roles from EKS Pod
        # Identity, whose agent is on the host's network, so none needs the node's.
        "metadata_options": {"http_endpoint": "enabled", "http_tokens": "required", "http_put_response_hop_limit": 1},
        "block_device_mappings": block_devices(image),
        "tag_specifications": [
            {"resource_type": kind, "tags": {**tags, "Name": name}} for kind in ("instance", "volume")
        ],
        "tags": dict(tags),
    }
    if first := user_data(image):
        inputs["user_data"] = base64.b64encode(first.encode()).decode()
    return inputs | (reserved(image, image.reservation) if image.reservation else {})


def reserved(image: Image, reservation: str) -> dict[str, Any]:
    """What binds nodes to a reservation. Of a Capacity Block EKS refuses a template that lacks any of this (EKS user
    guide, "Create a managed node group with Capacity Blocks")."""
    target = {"capacity_reservation_target": {"capacity_reservation_id": reservation}}
    if image.block:
        return {
            "instance_type": image.machine.name,
            "instance_market_options": {"market_type": "capacity-block"},
            "capacity_reservation_specification": target,
        }
    # With a target EC2 takes this preference only (hashicorp/terraform-provider-aws, issue 43881).
    preference = {"capacity_reservation_preference": "capacity-reservations-only"}
    return {"capacity_reservation_specification": preference | target}


def block_devices(image: Image) -> list[dict[str, Any]]:
    """The volumes of a node. Bottlerocket keeps its system on the first, and images and pods on the second."""
    if image.system == "bottlerocket":
        return [_volume("/dev/xvda", BOTTLEROCKET_SYSTEM_GIB), _volume("/dev/xvdb", image.disk_gib)]
    return [_volume("/dev/xvda", image.disk_gib)]


def user_data(image: Image) -> str | None:
    """First configuration of a node, on top of what EKS or Karpenter writes; None where it needs none."""
    disks = bool(image.machine.local_disk_gb)
    if image.system == "bottlerocket":
        return "\n".join([*[EPHEMERAL_STORAGE] * disks, *device_plugin(image.partition)]) or None
    return mime(*[RAID0] * disks, *[efa.MEMORY_LIMITS] * bool(image.efa))


def device_plugin(partition: Divided | None) -> list[str]:
    """Settings of Bottlerocket's device plugin, by which it shares a GPU under another name, as the GPU Operator does.
    Sources: bottlerocket.dev, settings.kubelet-device-plugins (1.54.x); EKS user guide, GPU time-slicing."""
    if partition is None or isinstance(partition, Mig):
        return []
    kind = partition.kind.replace("_", "-")
    alone = [] if isinstance(partition, Mps) else ["fail-requests-greater-than-one = true"]
    lines = [
        "[settings.kubelet-device-plugins.nvidia]",
        f'device-sharing-strategy = "{kind}"',
        "",
        f"[settings.kubelet-device-plugins.nvidia.{kind}]",
        f"replicas = {partition.clients}",
        "rename-by-default = true",
        *alone,
    ]
    return ["\n".join(lines) + "\n"]


def mime(*configs: str) -> str | None:
    """Configurations of AL2023's nodeadm as user data, each a part; None where there are none. nodeadm merges them with
    EKS's own part, which has the cluster (amazon-eks-ami, nodeadm/doc/api.md and examples.md)."""
    parts = "".join(f"--BOUNDARY\nContent-Type: application/node.eks.aws\n\n---\n{config}\n" for config in configs)
    head = 'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="BOUNDARY"\n\n'
    return f"{head}{parts}--BOUNDARY--\n" if configs else None


def ephemeral_storage(image: Image) -> str:
    """What pods can ask of a node's disks, as a Kubernetes quantity."""
    if image.machine.local_disk_gb:
        return f"{int(image.machine.local_disk_gb * USABLE)}G"
    return f"{int(image.disk_gib * USABLE)}Gi"


def _volume(device: str, size_gib: int) -> dict[str, Any]:
    # Texts, because the provider's type of both is a text.
    flags = {"encrypted": "true", "delete_on_termination": "true"}
    return {"device_name": device, "ebs": {"volume_size": size_gib, "volume_type": "gp3", **flags}}
