"""An on-prem cluster: somebody installed Kubernetes on the machines, gpuyard brings the rest."""

from __future__ import annotations

from typing import Literal

from gpuyard.components.cluster.existing import Cluster, KubeconfigSpec

__all__ = ["Cluster", "ClusterSpec"]


class ClusterSpec(KubeconfigSpec):
    """A cluster of one's own machines."""

    cloud: Literal["onprem"]
    """One's own machines."""
    driver: Literal["host", "operator"] = "host"
    """Who brings the NVIDIA driver: the machine's own system (DGX OS does), or the GPU Operator in a container."""
