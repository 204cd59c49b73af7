"""What the shipped stacks put into a cluster, and nodes as their clouds would bring them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from control_plane.plane import ControlPlane, Manifest
from ruamel.yaml import YAML

from gpuyard.components.managed_platform import ManagedPlatformSpec
from gpuyard.components.node_groups.base import accelerator_taints, node_labels
from gpuyard.components.platform_spec import PlatformSpec
from gpuyard.components.scheduling.groups import class_name
from gpuyard.components.scheduling.kueue import cluster_queue, cohort
from gpuyard.components.stack import load
from gpuyard.review.program.record import find_project, record_program
from gpuyard.review.recording import Resource

ROOT = Path(__file__).parents[2]


def platform(stack: str, change: Callable[[Any], object] = lambda value: None) -> PlatformSpec:
    """A shipped stack, with a change to its file."""
    content = YAML(typ="safe", pure=True).load((ROOT / "stacks" / f"Pulumi.{stack}.yaml").read_text())
    value = content["config"]["gpuyard:platform"]
    change(value)
    return load(value, stack)


@functools.cache
def declared(stack: str) -> list[Resource]:
    """What a stack declares of Kubernetes, as its program registers it."""
    resources = record_program(find_project(ROOT), stack).resources
    return [resource for resource in resources if resource["type"].startswith("kubernetes:")]


def objects(stack: str) -> list[Manifest]:
    """Every object that a stack declares, pods last. Helm's releases are not among them, nor patches of nodes."""
    inputs = [resource["inputs"] for resource in declared(stack)]
    found = [manifest for manifest in inputs if "apiVersion" in manifest and manifest["kind"] != "Node"]
    assert len(found) > 5
    first = {"Namespace": 0, "Deployment": 2}
    return sorted(found, key=lambda manifest: first.get(manifest["kind"], 1))


def queues(spec: PlatformSpec) -> list[Manifest]:
    """What tenants' jobs share, and each tenant's part of it."""
    assert isinstance(spec, ManagedPlatformSpec)
    groups = list(spec.accelerator_groups().values())
    own = [cluster_queue(tenant, groups, shares) for tenant, shares in spec.queued().items()]
    return [cohort(groups, spec.free()), *own]


def node_group(plane: ControlPlane, spec: PlatformSpec, group: str, count: int) -> list[str]:
    """Nodes of a group of a cloud, with its labels, taints and machine."""
    machine = spec.machine(group)
    capacity = {"cpu": str(machine.vcpus), "memory": f"{machine.memory_gib:.0f}Gi"}
    if machine.resource:
        capacity[machine.resource] = str(machine.accelerators)
    labels = node_labels(group, dict(spec.node_groups[group].labels))
    taints = [taint.model_dump() for taint in accelerator_taints(machine)]
    return plane.nodes(group, labels=labels, taints=taints, capacity=capacity, count=count)


def pod(name: str, namespace: str, gpus: int = 0, **spec: Any) -> Manifest:
    """A pod that the restricted standard accepts."""
    amounts: Mapping[str, str] = {"nvidia.com/gpu": str(gpus)} if gpus else {}
    container = {
        "name": "main",
        "image": "registry.example/job@sha256:" + "0" * 64,
        "resources": {"requests": dict(amounts), "limits": dict(amounts)},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    secure = {"runAsNonRoot": True, "runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"securityContext": secure, "containers": [container]} | spec,
    }


def on(group: str) -> dict[str, Any]:
    """What a pod says that asks for accelerators of a node group."""
    toleration = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
    return {
        "priorityClassName": class_name(group),
        "nodeSelector": node_labels(group, {}),
        "tolerations": [toleration],
    }


def job(name: str, namespace: str, gpus: int = 0, **spec: Any) -> Manifest:
    """A job as a tenant writes it: it names neither a queue nor that it is suspended."""
    template = pod(name, namespace, gpus, restartPolicy="Never", **spec)
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": template["metadata"],
        "spec": {"template": {"spec": template["spec"]}},
    }


def monitor(namespace: str, **endpoint: Any) -> Manifest:
    """A ServiceMonitor with two endpoints, of which the second says something more."""
    endpoints = [{"port": "metrics"}, {"port": "http", **endpoint}]
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "ServiceMonitor",
        "metadata": {"name": "probe", "namespace": namespace},
        "spec": {"selector": {"matchLabels": {"app": "x"}}, "endpoints": endpoints},
    }
