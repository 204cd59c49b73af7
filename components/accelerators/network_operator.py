"""NVIDIA's network operator: the driver of InfiniBand cards, where hosts have none, and the plugin that offers them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pulumi

from gpuyard import catalogue
from gpuyard.components import namespace
from gpuyard.components.accelerators.nvidia_values import TOLERATIONS
from gpuyard.components.artifacts import ArtifactsSpec, release_inputs
from gpuyard.components.kubernetes import declare, declare_all, release
from gpuyard.components.spec import Manifest

CHART = NAMESPACE = "network-operator"

RESOURCE = "rdma/infiniband"
"""What pods ask for. The plugin puts rdma/ before the name of its list. Source: Mellanox/k8s-rdma-shared-dev-plugin."""

PODS = 63
"""Pods that may hold the cards of a node at once; they share them all. Source: NVIDIA's own examples, rdmaHcaMax."""

POLICY = "nic-cluster-policy"
"""The operator obeys the policy of this name alone. Source: Mellanox/network-operator, controllers."""


@dataclass(frozen=True, slots=True)
class Infiniband:
    """The groups of a cluster whose nodes have InfiniBand."""

    selectors: Sequence[Mapping[str, str]]
    """Labels of the nodes of each group."""
    driver: Literal["host", "operator"]
    """Who brings the cards' driver."""
    brings_nfd: bool
    """Whether the operator brings Node Feature Discovery, without which it finds no card. A cluster has one; the GPU
    Operator's labels cards too, and NVIDIA recommends that one (network operator, platform support)."""


class NetworkOperator(pulumi.ComponentResource):
    """The operator, and the one policy that says what it does."""

    def __init__(
        self,
        name: str,
        spec: Infiniband,
        *,
        artifacts: ArtifactsSpec,
        needs: Sequence[pulumi.Resource] = (),
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`needs` is what must be there before: nodes, and Node Feature Discovery where others bring it."""
        super().__init__("gpuyard:index:NetworkOperator", name, {"driver": spec.driver}, opts)
        [space] = declare_all(name, [namespace.privileged(NAMESPACE)], pulumi.ResourceOptions(parent=self))
        inputs = release_inputs(CHART, NAMESPACE, values(spec, artifacts), artifacts, awaited=False)
        operator = release(name, inputs, pulumi.ResourceOptions(parent=self, depends_on=[space, *needs]))
        # Its kind comes with the release, and what it started goes only while the operator is there.
        after = pulumi.ResourceOptions(parent=self, depends_on=[operator])
        declare(f"{name}-policy", policy(spec, artifacts), after)
        self.register_outputs({})


def values(spec: Infiniband, artifacts: ArtifactsSpec) -> dict[str, Any]:
    """Values of the chart. The operator's own work is said by the policy, not here."""
    chosen: dict[str, Any] = {
        # The rules label cards for a discovery that does not do so itself, as the GPU Operator's does.
        "nfd": {"enabled": spec.brings_nfd, "deployNodeFeatureRules": spec.brings_nfd},
    }
    if spec.brings_nfd:
        chosen["node-feature-discovery"] = {"worker": {"tolerations": TOLERATIONS}}
    if artifacts.images:
        chosen["operator"] = {
            "repository": f"{artifacts.images}/nvidia/cloud-native",
            "ofedDriver": {"initContainer": {"repository": f"{artifacts.images}/nvidia/mellanox"}},
        }
        if spec.brings_nfd:
            image = {"repository": f"{artifacts.images}/nvidia/mellanox/node-feature-discovery"}
            chosen["node-feature-discovery"]["image"] = image
    return chosen


def policy(spec: Infiniband, artifacts: ArtifactsSpec) -> Manifest:
    """What runs on the nodes of the groups: the plugin, and the driver where no host has it."""
    # Cards of NVIDIA whose port is InfiniBand: storage and management cards speak Ethernet.
    cards = {"vendors": ["15b3"], "linkTypes": ["infiniband"]}
    shared = {"resourceName": RESOURCE.partition("/")[2], "rdmaHcaMax": PODS, "selectors": cards}
    found: dict[str, Any] = {
        "tolerations": TOLERATIONS,
        "nodeAffinity": _nodes(spec.selectors),
        "rdmaSharedDevicePlugin": {
            **_image("k8s-rdma-shared-dev-plugin", artifacts),
            "config": json.dumps({"configList": [shared]}),
        },
    }
    if spec.driver == "operator":
        # One node at a time, emptied first: without its network a job would hang.
        found["ofedDriver"] = {
            **_image("doca-driver", artifacts),
            "upgradePolicy": {
                "autoUpgrade": True,
                "maxParallelUpgrades": 1,
                "drain": {"enable": True, "force": True, "deleteEmptyDir": True},
            },
        }
    return {
        "apiVersion": "mellanox.com/v1alpha1",
        "kind": "NicClusterPolicy",
        "metadata": {"name": POLICY},
        "spec": found,
    }


def gpu_driver(spec: Infiniband) -> dict[str, Any]:
    """What a GPU Operator that brings the GPU driver is told of these cards: it builds GPUDirect RDMA against the
    cards' driver, and waits for it. Source: GPU Operator, "GPUDirect RDMA and GPUDirect Storage"."""
    return {"enabled": True, "useHostMofed": spec.driver == "host"}


def _nodes(selectors: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    terms = [
        {"matchExpressions": [{"key": key, "operator": "In", "values": [value]} for key, value in labels.items()]}
        for labels in selectors
    ]
    return {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}


def _image(name: str, artifacts: ArtifactsSpec) -> dict[str, str]:
    """An image as the policy names it, in three parts."""
    found = catalogue.image(name)
    path, _, image = found.repository.rpartition("/")
    return {"image": image, "repository": f"{artifacts.images or found.registry}/{path}", "version": found.tag}
