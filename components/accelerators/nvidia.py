"""NVIDIA's software on the nodes of one cluster: each part has one owner, and nvidia.com/gpu one advertiser a node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Literal, Self

import pulumi
from pydantic import Field, ValidationError, model_validator

from gpuyard.components import namespace
from gpuyard.components.accelerators import nvidia_driver
from gpuyard.components.accelerators.nvidia_dividing import dividing_values
from gpuyard.components.accelerators.nvidia_values import exporter_values, operator_values
from gpuyard.components.artifacts import ArtifactsSpec, release_inputs
from gpuyard.components.kubernetes import declare_all, release
from gpuyard.components.node_groups.base import node_labels
from gpuyard.components.node_groups.partition import Divided, Mig, Mps, Partition, TimeSlicing
from gpuyard.components.spec import Manifest, Name, Spec

NAMESPACE = "gpu-operator"

LARGEST_CLUSTER = 15_000
"""Nodes of the largest GKE cluster, so that the quota below never stops a node's exporter.
Source: GKE, quotas and limits."""


class NodeSoftware(Spec):
    """Who brings each part to the nodes of one group: the node's image, the cloud on every new node, whoever runs the
    host, or the GPU Operator in a container."""

    driver: Literal["image", "cloud", "host", "operator"]
    """The kernel driver."""
    toolkit: Literal["image", "cloud", "operator"]
    """The container toolkit, which gives a container its GPUs."""
    advertiser: Literal["image", "cloud", "operator"]
    """The one device plugin that offers nvidia.com/gpu. Two on a node would hand one GPU to two pods."""


class NvidiaSpec(Spec):
    """The software of every NVIDIA node group of a cluster; `decide` makes it."""

    groups: dict[Name, NodeSoftware] = Field(min_length=1)
    """Node groups with NVIDIA GPUs."""
    partitions: dict[Name, Partition] = Field(default_factory=dict)
    """Those whose GPUs are divided, and how."""
    cuttable: list[Name] = Field(default_factory=list)
    """Those whose GPUs the hardware can cut: what makes them whole again stays, so that none is left in slices when the
    last group is cut no more."""
    drivers: dict[Name, nvidia_driver.DriverSpec] = Field(default_factory=dict)
    """The driver of each group whose driver the GPU Operator brings."""

    @model_validator(mode="after")
    def _one_operator(self) -> Self:
        if len({self.groups[group] for group in self.operated}) > 1:
            raise ValueError(
                f"the GPU Operator would run groups {', '.join(self.operated)} in different ways, and a cluster has "
                "one: give these groups one node image"
            )
        strategies = {group: part.mixed for group, part in self.sliced.items()}
        if len(set(strategies.values())) > 1:
            single = ", ".join(group for group, mixed in strategies.items() if not mixed)
            raise ValueError(
                f"the GPU Operator has one strategy for slices, and groups {', '.join(strategies)} would have two: "
                f"give {single} partition.strategy mixed, by which pods ask for nvidia.com/mig-<profile>"
            )
        return self

    @property
    def sliced(self) -> dict[str, Mig]:
        """Groups whose GPUs the GPU Operator cuts."""
        parts = {group: part for group, part in self.partitions.items() if group in self.operated}
        return {group: part for group, part in parts.items() if isinstance(part, Mig)}

    @property
    def shared(self) -> dict[str, Mps | TimeSlicing]:
        """Groups whose GPUs the GPU Operator's device plugin shares out."""
        parts = {group: part for group, part in self.partitions.items() if group in self.operated}
        return {group: part for group, part in parts.items() if not isinstance(part, Mig)}

    @property
    def operated(self) -> list[str]:
        """Groups whose GPUs the GPU Operator advertises and measures."""
        return [name for name, software in self.groups.items() if software.advertiser == "operator"]

    @property
    def built_in(self) -> list[str]:
        """Groups that come with a device plugin. A plain exporter measures them; an operator that the cluster has for
        other groups stays off nodes with the label nvidia.com/gpu.deploy.operands=false, which Bottlerocket groups
        carry. Source: NVIDIA/gpu-operator controllers/state_manager.go."""
        return [name for name, software in self.groups.items() if software.advertiser != "operator"]


PLATFORMS = (
    # Driver, toolkit and containerd's runtime are in the AMI, a device plugin is not.
    # Source: awslabs/amazon-eks-ami templates/al2023; aws-samples/comfyui-on-eks#26: both off in the operator.
    ("aws", "AL2023_*_NVIDIA", NodeSoftware(driver="image", toolkit="image", advertiser="operator")),
    # The device plugin is in the image too, and a second one takes the GPUs away from both.
    # Source: bottlerocket QUICKSTART-EKS.md; bottlerocket-os/bottlerocket#4309.
    ("aws", "BOTTLEROCKET_*_NVIDIA*", NodeSoftware(driver="image", toolkit="image", advertiser="image")),
    # GKE installs the driver that the node pool names and runs its own plugin, which is what Google recommends; the
    # operator would take its place only on nodes that are labelled against it. Source: GKE, NVIDIA GPU Operator.
    ("gcp", "*_CONTAINERD", NodeSoftware(driver="cloud", toolkit="cloud", advertiser="cloud")),
    # The toolkit comes from the operator even where the host has one, because only then its version and what it
    # accepts are known. Source: GPU Operator, pre-installed drivers.
    ("onprem", "host", NodeSoftware(driver="host", toolkit="operator", advertiser="operator")),
    ("onprem", "operator", NodeSoftware(driver="operator", toolkit="operator", advertiser="operator")),
)


class NvidiaSoftware(pulumi.ComponentResource):
    """Drivers, toolkit, device plugin and GPU metrics, as far as the nodes do not come with them."""

    def __init__(
        self,
        name: str,
        spec: NvidiaSpec,
        *,
        artifacts: ArtifactsSpec,
        monitors: pulumi.Resource | None = None,
        needs: Sequence[pulumi.Resource] = (),
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`monitors` is the release that brings the ServiceMonitor kind; without it no monitor is made. `needs` are the
        nodes that the operator itself runs on."""
        super().__init__("gpuyard:index:NvidiaSoftware", name, spec.model_dump(mode="json"), opts)
        [space] = declare_all(name, [namespace.privileged(NAMESPACE)], pulumi.ResourceOptions(parent=self))
        quotas = declare_all(name, critical_pods(spec), pulumi.ResourceOptions(parent=self, depends_on=[space]))
        # Pods of the releases are refused before the quota is there, and monitors before their kind is.
        first = [space, *quotas, *([monitors] if monitors else []), *needs]
        ready = pulumi.ResourceOptions(parent=self, depends_on=first)
        releases = [
            release(f"{name}-{chart}", release_inputs(chart, NAMESPACE, values, artifacts, awaited=False), ready)
            for chart, values in charts(spec, artifacts, monitored=monitors is not None).items()
        ]
        # Drivers need the chart that brings their kind, and the operator that ends them.
        after = pulumi.ResourceOptions.merge(ready, pulumi.ResourceOptions(depends_on=releases))
        declare_all(name, drivers(spec, artifacts), after)
        self.register_outputs({})


def decide(
    cloud: str,
    images: Mapping[str, str],
    partitions: Mapping[str, Divided] | None = None,
    installed: Mapping[str, nvidia_driver.DriverSpec] | None = None,
    cuttable: Sequence[str] = (),
) -> NvidiaSpec:
    """Who owns what, from the node image of each NVIDIA node group, how the GPUs of some are divided, and those of
    which could be cut.

    An image is the amiType of EKS, the image type of GKE, or, on-prem, who brings the driver: host or operator. In the
    case of the operator `installed` says which driver each group gets; one that it lacks gets the chart's.
    Raises ValueError for an image that is not known to carry what an NVIDIA node needs, and for groups that one
    operator cannot serve.
    """
    groups = {group: _software(cloud, group, image) for group, image in images.items()}
    drivers = {
        group: (installed or {}).get(group)
        or nvidia_driver.DriverSpec(version=nvidia_driver.chart_version(), selector=node_labels(group, {}))
        for group, software in groups.items()
        if software.driver == "operator"
    }
    try:
        return NvidiaSpec(groups=groups, partitions=dict(partitions or {}), cuttable=sorted(cuttable), drivers=drivers)
    except ValidationError as error:
        raise ValueError("; ".join(str(each["ctx"]["error"]) for each in error.errors())) from None


def _software(cloud: str, group: str, image: str) -> NodeSoftware:
    known = [(pattern, software) for place, pattern, software in PLATFORMS if place == cloud]
    for pattern, software in known:
        if fnmatchcase(image.upper(), pattern.upper()):
            return software
    choices = " or ".join(pattern for pattern, _ in known) or "nothing on this cloud"
    raise ValueError(
        f"node group {group} has the node image {image!r}, and who brings NVIDIA's driver to it is not known: "
        f"give an image like {choices}"
    )


def charts(spec: NvidiaSpec, artifacts: ArtifactsSpec, *, monitored: bool) -> dict[str, dict[str, Any]]:
    """The charts that the cluster needs, with their values: the operator, an exporter for the other groups, or both."""
    needed: dict[str, dict[str, Any]] = {}
    if spec.operated:
        software = spec.groups[spec.operated[0]]
        needed["gpu-operator"] = operator_values(
            driver=software.driver == "operator",
            toolkit=software.toolkit == "operator",
            images=artifacts.images,
            monitored=monitored,
        ) | dividing_values(
            spec.sliced.values(),
            spec.shared.values(),
            software.driver,
            artifacts.images,
            cuttable=not set(spec.cuttable).isdisjoint(spec.operated),
        )
    if spec.built_in:
        on_gke = any(spec.groups[group].driver == "cloud" for group in spec.built_in)
        needed["dcgm-exporter"] = exporter_values(
            spec.built_in, on_gke=on_gke, images=artifacts.images, monitored=monitored
        )
    return needed


def drivers(spec: NvidiaSpec, artifacts: ArtifactsSpec) -> list[Manifest]:
    """The drivers that the GPU Operator brings, an object a node group."""
    return [nvidia_driver.nvidia_driver(group, driver, artifacts) for group, driver in spec.drivers.items()]


def critical_pods(spec: NvidiaSpec) -> list[Manifest]:
    """GKE refuses pods of the system's priority classes outside kube-system, unless a quota of the namespace allows
    them. Source: NVIDIA/aicr recipes/components/gpu-operator, gke-resource-quota.yaml."""
    if all(software.driver != "cloud" for software in spec.groups.values()):
        return []
    classes = {"operator": "In", "scopeName": "PriorityClass", "values": ["system-node-critical"]}
    return [
        {
            "apiVersion": "v1",
            "kind": "ResourceQuota",
            "metadata": {"name": "critical-pods", "namespace": NAMESPACE},
            "spec": {"hard": {"pods": str(LARGEST_CLUSTER)}, "scopeSelector": {"matchExpressions": [classes]}},
        }
    ]
