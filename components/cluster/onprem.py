"""An on-prem cluster: somebody installed Kubernetes on the machines, gpuyard brings the rest."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from gpuyard.components.accelerators import nvidia_driver
from gpuyard.components.cluster.existing import Cluster, KubeconfigSpec

__all__ = ["Cluster", "ClusterSpec"]


class ClusterSpec(KubeconfigSpec):
    """A cluster of one's own machines."""

    cloud: Literal["onprem"]
    """One's own machines."""
    driver: Literal["host", "operator"] = "host"
    """Who brings the NVIDIA driver: the machine's own system (DGX OS does), or the GPU Operator in a container. The
    operator installs driver_version, and where that is left out the version that its chart brings; a node group may
    have another."""

    @model_validator(mode="after")
    def _can_be_installed(self) -> Self:
        if self.driver == "operator" and (problem := nvidia_driver.version_problem(self.driver_version)):
            raise ValueError(problem)
        return self
