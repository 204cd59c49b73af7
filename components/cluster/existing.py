"""A cluster that others run. A stack on it declares namespaced objects only."""

from __future__ import annotations

from typing import Annotated, Literal

import pulumi
import pulumi_kubernetes
from pydantic import Field

from gpuyard.components.spec import Spec

KubernetesVersion = Annotated[str, Field(pattern=r"^1\.[0-9]{2}$")]
"""A minor version of Kubernetes, quoted: "1.35"."""


class KubeconfigSpec(Spec):
    """A cluster's address and who one is there, as kubectl has it."""

    kubeconfig: Annotated[str, Field(pattern=r"^[^\s:{}]+$")] | None = None
    """Path of a kubeconfig file on the machine that deploys; as kubectl finds it when left out. Its credentials never
    enter the stack's state."""
    context: Annotated[str, Field(min_length=1)]
    """Context in that file. It tells one cluster from another: with another context, everything is made anew."""
    was: Annotated[str, Field(min_length=1)] | None = None
    """The context's first name, where the same cluster goes by another one now: nothing is made anew."""
    kubernetes: KubernetesVersion
    """Minor version that the cluster runs."""
    driver_version: Annotated[str, Field(pattern=r"^[1-9][0-9]{2}(\.[0-9]{1,3}){0,2}$")] | None = None
    """NVIDIA's driver on the nodes, by version or branch, quoted: "580.126.09" or "580". Where it is left out, nobody
    knows before the deployment whether an image's CUDA runs on it, and the review says so."""


class ClusterSpec(KubeconfigSpec):
    """A cluster that others run."""

    cloud: Literal["existing"]
    """A cluster that others run."""
    prometheus: Annotated[str, Field(pattern=r"^https?://[a-zA-Z0-9.-]+(:[0-9]{1,5})?(/[^\s@]*)?$")] | None = None
    """Address of the cluster's Prometheus, for autoscaling by load; without it an endpoint's replicas are fixed."""


class Cluster(pulumi.ComponentResource):
    """The way into a cluster that exists already."""

    kubernetes: pulumi_kubernetes.Provider
    """Provider for everything inside the cluster."""

    def __init__(
        self, name: str, spec: KubeconfigSpec, *, protect: bool = False, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        """While `protect` is on, nothing moves to another cluster: it would be made anew there, and deleted here."""
        super().__init__("gpuyard:index:ExistingCluster", name, spec.model_dump(mode="json"), opts)
        self.kubernetes = pulumi_kubernetes.Provider(
            name, **provider_inputs(name, spec), opts=pulumi.ResourceOptions(parent=self, protect=protect)
        )
        self.register_outputs({})


def provider_inputs(name: str, spec: KubeconfigSpec) -> dict[str, str | bool | None]:
    """Inputs of the Kubernetes provider: a fixed identifier, or an edit of the kubeconfig would replace everything."""
    return {
        "kubeconfig": spec.kubeconfig,
        "context": spec.context,
        "cluster_identifier": f"{name}/{spec.was or spec.context}",
        "enable_server_side_apply": True,
    }
