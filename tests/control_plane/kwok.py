"""Nodes without machines: kwok says that they are ready, and that pods on them run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from control_plane.processes import Programs, Running
from made import program

STAGES = Path(__file__).parent / "stages"

READY_AFTER = "gpuyard.test/ready-after"
"""A pod with this annotation becomes ready only so long after it started, `90s`: a model that loads."""
COMPLETE_AFTER = "gpuyard.test/complete-after"
"""A pod with this annotation succeeds so long after it started, `0s`: a job that is done. Others run for ever."""

STORAGE_CLASS = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "standard", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
    "provisioner": "volumes.gpuyard.test",
    "volumeBindingMode": "WaitForFirstConsumer",
}
"""Claims bind whatever CSI driver their class names: kwok plays all of them."""

MACHINE = {"cpu": "32", "memory": "256Gi", "pods": "110"}


def start(programs: Programs, kubeconfig: Path) -> Running:
    """Starts kwok for every node of the cluster. It keeps their leases, so the node-lifecycle controller is content."""
    stages = [f"--config={path}" for path in sorted(STAGES.glob("*.yaml"))]
    command = [
        str(program("kwok")),
        f"--kubeconfig={kubeconfig}",
        "--manage-all-nodes=true",
        "--node-lease-duration-seconds=40",
        *stages,
    ]
    return programs.start("kwok", command)


def node(
    name: str, labels: Mapping[str, str], taints: Sequence[Mapping[str, str]], capacity: Mapping[str, str]
) -> dict[str, Any]:
    """A node as its kubelet registers it, with a machine of 32 cores where `capacity` says nothing else."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", **labels}},
        "spec": {"taints": [dict(taint) for taint in taints]} if taints else {},
        "status": {"capacity": {**MACHINE, **capacity}, "allocatable": {**MACHINE, **capacity}},
    }


def takes_pods(found: Mapping[str, Any], taints: Sequence[Mapping[str, str]]) -> bool:
    """Whether a node is ready, and no controller keeps pods off it."""
    ready = any(c["type"] == "Ready" and c["status"] == "True" for c in found["status"].get("conditions", []))
    return ready and len(found["spec"].get("taints", [])) == len(taints)
