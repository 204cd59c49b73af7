"""Nodes as clouds and operators make them: of what a deployment told them, never of what the stack's file says."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from control_plane import kwok
from control_plane.plane import ControlPlane
from control_plane.processes import until
from deployed import Deployed
from shipped_cluster import node_group

from gpuyard import catalogue
from gpuyard.components.managed_platform import CloudPlatformSpec
from gpuyard.components.platform_spec import PlatformSpec

GROUP = "gpuyard.io/node-group"

EFFECTS = {"NO_SCHEDULE": "NoSchedule", "PREFER_NO_SCHEDULE": "PreferNoSchedule", "NO_EXECUTE": "NoExecute"}
"""Taints' effects, as both clouds call them and as Kubernetes does."""

ONE_HOST = {"ct5lp-hightpu-4t": "2x2"}
"""How the chips of a TPU machine are joined that is a slice of its own. Source: GKE, plan TPUs."""


@dataclass(frozen=True)
class Machines:
    """Machines of one kind that joined the cluster."""

    labels: Mapping[str, str]
    taints: Sequence[Mapping[str, str]]
    offered: Mapping[str, int]
    """What their device plugin counts."""
    count: int = 1


def system_nodes(plane: ControlPlane, spec: PlatformSpec) -> None:
    """The nodes that are there before any with accelerators: charts' pods wait for them."""
    assert isinstance(spec, CloudPlatformSpec)
    for group, part in spec.node_groups.items():
        if spec.machine(group).resource is None:
            node_group(plane, spec, group, part.nodes.start)


def join(stack: Deployed, machines: Iterator[Machines]) -> set[str]:
    """Lets machines join; returns the names of all nodes, `<group>-<number>`, once pods can go there."""
    made = {}
    counted: dict[str, int] = {}
    for each in machines:
        group = each.labels[GROUP]
        keys = {taint["key"] for taint in each.taints if taint["effect"] == "NoSchedule"}
        assert keys & each.offered.keys(), f"any pod would go to the nodes of {group}"
        for _ in range(each.count):
            number = counted[group] = counted.get(group, -1) + 1
            offered = {resource: str(amount) for resource, amount in each.offered.items()}
            made[f"{group}-{number}"] = kwok.node(f"{group}-{number}", each.labels, each.taints, offered)
    _ready(stack.plane, made)
    return set(made)


def stranger(stack: Deployed, offered: Sequence[str]) -> None:
    """A node of somebody else's: it offers plenty of everything, without a label or a taint."""
    made = {"stranger-0": kwok.node("stranger-0", {}, [], dict.fromkeys(offered, "64"))}
    _ready(stack.plane, made)


def _ready(plane: ControlPlane, made: Mapping[str, Any]) -> None:
    plane.apply(made.values())

    def there() -> bool:
        nodes = {name: plane.get(f"/api/v1/nodes/{name}") for name in made}
        return all(kwok.takes_pods(node, made[name]["spec"].get("taints", [])) for name, node in nodes.items())

    until(there, f"nodes {sorted(made)} are ready")


def eks(stack: Deployed) -> Iterator[Machines]:
    """A node of each managed node group that has accelerators, and one of each pool of Karpenter's."""
    for group in stack.cloud.resources("aws:eks/nodeGroup:NodeGroup"):
        if offered := _whole(group.inputs["instanceTypes"][0]):
            yield Machines(group.inputs["labels"], _taints(group.inputs["taints"]), offered)
    for pool in stack.get("/apis/karpenter.sh/v1/nodepools")["items"]:
        template = pool["spec"]["template"]
        wanted = {each["key"]: each["values"] for each in template["spec"]["requirements"]}
        labels = template["metadata"]["labels"] | {"karpenter.sh/nodepool": pool["metadata"]["name"]}
        [machine] = wanted["node.kubernetes.io/instance-type"]
        yield Machines(labels, template["spec"]["taints"], _whole(machine))


def gke(stack: Deployed) -> Iterator[Machines]:
    """A node of each node pool that has accelerators, or the nodes of a slice, with GKE's own labels."""
    for pool in stack.cloud.resources("gcp:container/nodePool:NodePool"):
        config = pool.inputs["nodeConfig"]
        offered, own, count = _whole(config["machineType"]), {}, 1
        for accelerator in config.get("guestAccelerators", []):
            shared = accelerator.get("gpuSharingConfig", {}).get("maxSharedClientsPerGpu", 1)
            offered = {"nvidia.com/gpu": accelerator["count"] * shared}
        if "google.com/tpu" in offered:
            topology = pool.inputs.get("placementPolicy", {}).get("tpuTopology") or ONE_HOST[config["machineType"]]
            own = {
                "cloud.google.com/gke-tpu-accelerator": "tpu-v5-lite-podslice",
                "cloud.google.com/gke-tpu-topology": topology,
            }
            rows, columns = map(int, topology.split("x"))
            count = rows * columns // offered["google.com/tpu"]
        if offered:
            yield Machines(config["labels"] | own, _taints(config["taints"]), offered, count)


def cut(stack: Deployed, gpus: int) -> dict[str, dict[str, str]]:
    """What the GPU Operator makes of nodes with so many GPUs each: it cuts those whose label names a configuration.

    Returns what each node then offers of NVIDIA's.
    """
    policy = stack.get("/apis/nvidia.com/v1/clusterpolicies/cluster-policy")["spec"]
    assert policy["mig"]["strategy"] == "mixed"
    config = policy["migManager"]["config"]
    data = stack.get(f"/api/v1/namespaces/gpu-operator/configmaps/{config['name']}")["data"]
    known = json.loads(data["config.yaml"])["mig-configs"]
    found = {}
    for node in stack.get("/api/v1/nodes")["items"]:
        name, label = node["metadata"]["name"], node["metadata"]["labels"].get("nvidia.com/mig.config")
        if "nvidia.com/gpu" not in node["status"]["capacity"]:
            continue
        [devices] = known[label or config["default"]]
        slices = devices.get("mig-devices", {})
        offered = {f"nvidia.com/mig-{profile}": str(count * gpus) for profile, count in slices.items()}
        offered["nvidia.com/gpu"] = "0" if devices["mig-enabled"] else str(gpus)
        stack.plane.patch(f"/api/v1/nodes/{name}/status", {"status": {"capacity": offered, "allocatable": offered}})
        found[name] = offered
    return found


def _whole(machine: str) -> dict[str, int]:
    known = catalogue.machine(machine)
    return {known.resource: known.accelerators} if known.resource else {}


def _taints(given: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    return [{**taint, "effect": EFFECTS[taint["effect"]]} for taint in given]
