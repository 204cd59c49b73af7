"""KEDA, which scales endpoints by what Prometheus measures and by the hour."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pulumi

from gpuyard.components import namespace
from gpuyard.components.artifacts import ArtifactsSpec, release_inputs
from gpuyard.components.kubernetes import declare_all, release

NAMESPACE = "keda"

WEBHOOK_PORT = 10250
"""The port at which a private GKE cluster's control plane may reach its nodes' pods without a firewall rule of ours.
Source: GKE, automatically created firewall rules (tcp 443 and 10250)."""


class Keda(pulumi.ComponentResource):
    """The autoscaler of endpoints."""

    release: pulumi.Resource
    """The release that brings the ScaledObject kind and its controller; endpoints with an autoscaler need it."""

    def __init__(
        self,
        name: str,
        *,
        kubernetes: str,
        artifacts: ArtifactsSpec,
        needs: Sequence[pulumi.Resource] = (),
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`kubernetes` is the cluster's minor version, `needs` the nodes to run on: Helm waits for the pods."""
        super().__init__("gpuyard:index:Keda", name, {}, opts)
        space = namespace.restricted(NAMESPACE, kubernetes)
        made = declare_all(name, [space], pulumi.ResourceOptions(parent=self))
        inputs = release_inputs("keda", NAMESPACE, values(artifacts), artifacts)
        # The release names its namespace as plain text, and nothing in it names the nodes.
        ready = pulumi.ResourceOptions(parent=self, depends_on=[*made, *needs])
        self.release = release(name, inputs, ready)
        self.register_outputs({})


def values(artifacts: ArtifactsSpec) -> dict[str, Any]:
    """Values of the chart: as upstream, with the rights taken away that scaling Deployments does not need."""
    chosen: dict[str, Any] = {
        "webhooks": {"port": WEBHOOK_PORT},
        "service": {"portHttpsTarget": WEBHOOK_PORT},
        # Scales Deployments and StatefulSets, not every kind of every API group.
        "rbac": {"enabledCustomScaledRefKinds": False},
        # Reads secrets of its own namespace, not everybody's: no trigger of ours logs in anywhere.
        "permissions": {"operator": {"restrict": {"secret": True}}, "metricServer": {"restrict": {"secret": True}}},
    }
    if artifacts.images:
        chosen["global"] = {"image": {"registry": artifacts.images}}
    return chosen
