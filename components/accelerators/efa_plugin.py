"""The device plugin that offers the EFAs of nodes to pods: EKS's images have the driver, and not the plugin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pulumi

from gpuyard.components.accelerators.nvidia_values import TOLERATIONS
from gpuyard.components.artifacts import ArtifactsSpec, release_inputs
from gpuyard.components.kubernetes import release
from gpuyard.components.node_groups.base import GROUP_LABEL

CHART = "aws-efa-k8s-device-plugin"

NAMESPACE = "kube-system"
"""Where AWS puts it. Source: aws/eks-charts, stable/aws-efa-k8s-device-plugin/README.md."""


class EfaPlugin(pulumi.ComponentResource):
    """Offers vpc.amazonaws.com/efa on the nodes of some groups."""

    def __init__(
        self,
        name: str,
        groups: Sequence[str],
        *,
        artifacts: ArtifactsSpec,
        needs: Sequence[pulumi.Resource] = (),
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`groups` are the names by which the cluster knows the groups with EFA; `needs` is as for other releases."""
        super().__init__("gpuyard:index:EfaPlugin", name, {"groups": list(groups)}, opts)
        inputs = release_inputs(CHART, NAMESPACE, values(groups, artifacts), artifacts, awaited=False)
        release(name, inputs, pulumi.ResourceOptions(parent=self, depends_on=list(needs)))
        self.register_outputs({})


def values(groups: Sequence[str], artifacts: ArtifactsSpec) -> dict[str, Any]:
    """Values of the chart: on the groups' nodes, in place of its own list of machines, and whatever their taints."""
    chosen: dict[str, Any] = {
        "supportedInstanceLabels": {"keys": [GROUP_LABEL], "values": list(groups)},
        "tolerations": TOLERATIONS,
    }
    if artifacts.images:
        chosen["image"] = {"repository": f"{artifacts.images}/eks/{CHART}"}
    return chosen
