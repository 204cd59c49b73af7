"""Stacks with several families of accelerators on the real engine and scheduler: each goes from nothing to nothing, and
a pod that asks for a slice, a GPU, a chip or a topology gets a node that has it, and no other."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from agreement import disagreements
from answers import nodes_of, placed, unplaced
from arriving import cut, eks, gke, join, stranger, system_nodes
from control_plane.plane import ControlPlane, Manifest
from control_plane.processes import until
from deployed import GPU_OPERATOR, KEPT, Deployed, deployed, node_labels
from engine.charts import ChartMirror
from engine.engine import ROOT
from ruamel.yaml import YAML
from shipped_cluster import pod

from gpuyard.components.platform_spec import PlatformSpec

pytestmark = [pytest.mark.engine, pytest.mark.long, pytest.mark.timeout(900)]

GPU, NEURON, TPU = "nvidia.com/gpu", "aws.amazon.com/neuron", "google.com/tpu"

PERSON = {"fraud": "ana", "assistants": "ben", "research": "cem", "vision": "dana"}
"""Tenant to one of its people."""

Platform = Any
"""What a stack's file says, as its author edits it."""


@dataclass(frozen=True)
class Ask:
    """A pod, as one of its tenant's people writes it."""

    tenant: str
    group: str
    takes: Mapping[str, int]
    nodes: Collection[str] = ()
    """Where it belongs."""
    selects: Mapping[str, str] = field(default_factory=dict)
    """Labels beside the group's."""
    tolerates: Sequence[str] = (GPU,)
    part: str = ""
    """The profile of its slices, where the group has several."""

    def pod(self, name: str) -> Manifest:
        """The pod under a name."""
        made = pod(
            name,
            self.tenant,
            priorityClassName=f"gpuyard-{self.group}-{self.part}".removesuffix("-"),
            nodeSelector={"gpuyard.io/node-group": self.group, **self.selects},
            tolerations=[{"key": key, "operator": "Exists", "effect": "NoSchedule"} for key in self.tolerates],
        )
        amounts = {resource: str(count) for resource, count in self.takes.items()}
        made["spec"]["containers"][0]["resources"] = {"requests": amounts, "limits": amounts}
        return made


def begin(stack: Deployed, environment: str, machines: Sequence[str]) -> None:
    """Deploys, with limits that grant the stack these machines, and sees that nothing is left to do."""
    limits = shutil.copytree(ROOT / "policies" / "limits", stack.engine.project / "policies" / "limits")
    path = limits / f"{environment}.yaml"
    content = YAML(typ="safe", pure=True).load(path.read_text())
    granted = {"accelerators": {"max": 64}, "budget": {"month_usd": 200_000, "unknown_price": "advisory"}}
    content.setdefault("stacks", {})[stack.stack] = {**granted, "machines": list(machines)}
    YAML(typ="safe", pure=True).dump(content, path)
    stack.engine.up()
    assert disagreements(stack) == []
    assert set(stack.engine.preview().changes) == {"same"}


def lands(stack: Deployed, *asks: Ask) -> None:
    """Each pod waits while its nodes take none, though all others are free, and then gets one of its own."""
    for number, ask in enumerate(asks):
        name = f"asks-{number}"
        _cordon(stack, ask, True)
        stack.plane.apply([ask.pod(name)], token=stack.plane.token(PERSON[ask.tenant]))
        until(lambda ask=ask, name=name: unplaced(stack.plane, ask.tenant, name), f"{ask} has been looked at")  # type: ignore[misc]
        assert placed(stack.plane, ask.tenant, name) is None
        _cordon(stack, ask, False)
        node = until(lambda ask=ask, name=name: placed(stack.plane, ask.tenant, name), f"{ask} has a node")  # type: ignore[misc]
        assert node in ask.nodes


def _cordon(stack: Deployed, ask: Ask, stays_away: bool) -> None:
    for node in ask.nodes:
        stack.plane.patch(f"/api/v1/nodes/{node}", {"spec": {"unschedulable": stays_away}})


def refused(stack: Deployed, ask: Ask) -> str:
    """What the API server says to the tenant's person."""
    return stack.plane.refusal([ask.pod("refused")], token=stack.plane.token(PERSON[ask.tenant]))


def change(stack: Deployed, edit: Callable[[Platform], None], *updated: str, created: Collection[str] = ()) -> None:
    """Edits the stack's file and deploys it: these are updated, those created, and nothing else is touched."""
    stack.engine.edit(edit)
    assert stack.engine.up().done() == dict.fromkeys(updated, "update") | dict.fromkeys(created, "create")
    assert disagreements(stack) == []


def end(stack: Deployed, kinds: Collection[str], cloud: Collection[str] = ()) -> None:
    """Takes all down: nodes that came later aside, these kinds are left in the cluster, and these things in the cloud."""
    stack.engine.destroy()
    assert stack.cloud.left() == []
    assert {thing.kind for thing in stack.cloud.remains()} == set(cloud)
    found = {name.rpartition("/")[2] for name in stack.objects() if not name.startswith("apiregistration.k8s.io/")}
    labels = node_labels(stack.plane)
    assert found - labels.keys() == set(kinds)
    assert {name: labels[name] for name in stack.labels} == stack.labels


def aws(platform: Platform) -> None:
    platform["protect"] = False
    platform["node_groups"] = {
        "system": {"machine": "m7i.2xlarge", "nodes": {"min": 3, "max": 5}},
        "l40s": {"machine": "g6e.12xlarge", "nodes": {"min": 0, "max": 2}},
        "inf2": {"machine": "inf2.24xlarge", "nodes": {"min": 0, "max": 1}},
        "burst": {
            "machine": "g6.12xlarge",
            "nodes": {"min": 0, "max": 2},
            "scaled_by": "karpenter",
            "capacity": [{"kind": "spot"}, {"kind": "on_demand"}],
        },
    }
    platform["tenants"]["fraud"]["accelerators"] = {"l40s": {"quota": 8}, "inf2": {"quota": 6}}
    platform["tenants"]["assistants"]["accelerators"] = {"burst": {"quota": 8}}
    del platform["endpoints"]


def aws_grows(platform: Platform) -> None:
    for group in ("inf2", "burst"):
        platform["node_groups"][group]["nodes"]["max"] += 1


def test_eks_with_gpus_and_neuron_in_managed_groups_and_karpenters(tmp_path: Path, charts: ChartMirror) -> None:
    with deployed("prod-aws", tmp_path, charts, edit=aws, bring=system_nodes) as stack:
        begin(stack, "production", ["m7i.*", "g6e.*", "g6.*", "inf2.*"])
        nodes = join(stack, eks(stack))
        assert nodes == {"l40s-0", "inf2-0", "burst-0"}
        stranger(stack, [GPU, NEURON])
        until(
            lambda: set(nodes_of(stack.plane, "neuron", "")) == {"inf2-0"}, "Neuron's agents run there, and there alone"
        )
        lands(
            stack,
            Ask("fraud", "l40s", {GPU: 4}, ["l40s-0"]),
            Ask("fraud", "inf2", {NEURON: 6}, ["inf2-0"], tolerates=[NEURON]),
            Ask("assistants", "burst", {GPU: 4}, ["burst-0"]),
        )
        told = refused(stack, Ask("fraud", "inf2", {GPU: 1}, tolerates=[NEURON]))
        assert f"pods of class gpuyard-inf2 take accelerators: give a container a limit of {NEURON}" in told
        told = refused(stack, Ask("fraud", "burst", {GPU: 1}))
        assert "exceeded quota: unclassed" in told, "it has no share there"

        change(
            stack,
            aws_grows,
            "gpuyard:index:Platform::prod-aws",
            "gpuyard:index:EksNodeGroup::inf2",
            "aws:eks/nodeGroup:NodeGroup::inf2",
            "gpuyard:index:KarpenterNodeGroup::burst",
            "kubernetes:karpenter.sh/v1:NodePool::burst",
            "kubernetes:kueue.x-k8s.io/v1beta2:Cohort::kueue-cohort",
        )
        end(stack, KEPT, {"aws:kms/key:Key"})


COMPUTE_CLASSES: Manifest = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "computeclasses.cloud.google.com"},
    "spec": {
        "group": "cloud.google.com",
        "scope": "Cluster",
        "names": {"kind": "ComputeClass", "plural": "computeclasses", "singular": "computeclass"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
            }
        ],
    },
}
"""A stand-in for the kind that GKE brings."""


def gke_cluster(plane: ControlPlane, spec: PlatformSpec) -> None:
    """What a cluster of GKE has before any node with accelerators."""
    plane.apply([COMPUTE_CLASSES])
    system_nodes(plane, spec)


def gcp(platform: Platform) -> None:
    slices = {"machine": "ct5lp-hightpu-4t", "zones": ["us-central1-a"]}
    platform["node_groups"] = {
        "system": {"machine": "e2-standard-8", "nodes": {"min": 2, "max": 4}},
        "l4": {
            "machine": "g2-standard-12",
            "nodes": {"min": 0, "max": 2},
            "partition": {"kind": "time_slicing", "clients": 2},
        },
        "a100": {
            "machine": "a2-highgpu-1g",
            "nodes": {"min": 0, "max": 2},
            "capacity": [{"kind": "spot", "max": 1}, {"kind": "on_demand", "max": 1}],
        },
        "v5e": {**slices, "topology": "2x4", "nodes": {"min": 0, "max": 2}},
        "v5e-small": {**slices, "topology": "2x2", "nodes": {"min": 0, "max": 1}},
    }
    quotas = {"l4": 4, "a100": 2, "v5e": 8, "v5e-small": 4}
    platform["tenants"]["research"]["accelerators"] = {group: {"quota": quota} for group, quota in quotas.items()}
    del platform["endpoints"]


def gcp_grows(platform: Platform) -> None:
    platform["node_groups"]["v5e"]["nodes"]["max"] += 2


def test_gke_with_shared_gpus_tpu_slices_and_ways_to_pay_in_order(tmp_path: Path, charts: ChartMirror) -> None:
    with deployed("dev", tmp_path, charts, edit=gcp, bring=gke_cluster) as stack:
        begin(stack, "development", ["e2-*", "g2-*", "a2-*", "ct5lp-*"])
        nodes = join(stack, gke(stack))
        assert nodes == {"l4-0", "a100-0", "a100-1", "v5e-0", "v5e-1", "v5e-small-0"}
        stranger(stack, [GPU, TPU])
        with_gpus = {"l4-0", "a100-0", "a100-1"}
        until(
            lambda: set(nodes_of(stack.plane, "gpu-operator", "")) == with_gpus, "exporters run there, and there alone"
        )
        kind, shape = "cloud.google.com/gke-tpu-accelerator", "cloud.google.com/gke-tpu-topology"
        large, small = ({kind: "tpu-v5-lite-podslice", shape: topology} for topology in ("2x4", "2x2"))
        in_order = {"cloud.google.com/compute-class": "a100"}
        of_the_slice = Ask("research", "v5e", {TPU: 4}, ["v5e-0", "v5e-1"], large, [TPU])
        lands(
            stack,
            Ask("research", "l4", {GPU: 1}, ["l4-0"]),
            Ask("research", "l4", {GPU: 1}, ["l4-0"]),
            Ask("research", "a100", {GPU: 1}, ["a100-0", "a100-1"], in_order, [GPU, *in_order]),
            of_the_slice,
            of_the_slice,
            Ask("research", "v5e-small", {TPU: 4}, ["v5e-small-0"], small, [TPU]),
        )
        told = refused(stack, Ask("research", "v5e", {TPU: 4}, selects=small, tolerates=[TPU]))
        assert "pods of class gpuyard-v5e run on nodes of group v5e" in told

        change(
            stack,
            gcp_grows,
            "gpuyard:index:Platform::dev",
            "gpuyard:index:GkeNodeGroup::v5e",
            "kubernetes:kueue.x-k8s.io/v1beta2:Cohort::kueue-cohort",
            # A node pool is one slice.
            created=["gcp:container/nodePool:NodePool::v5e-2"],
        )
        stay = (
            "gcp:kms/keyRing:KeyRing",
            "gcp:kms/cryptoKey:CryptoKey",
            "gcp:projects/serviceIdentity:ServiceIdentity",
        )
        end(stack, KEPT - GPU_OPERATOR, stay)


GPUS = 8
"""Of a machine of the hall."""


def hall(plane: ControlPlane, spec: PlatformSpec) -> None:
    """Machines as they stand in a hall: none is cut, none has a label of ours, and who runs them set the taint."""
    taints = [{"key": GPU, "value": "present", "effect": "NoSchedule"}]
    machine = {"cpu": "224", "memory": "2048Gi", GPU: str(GPUS)}
    plane.nodes("head")
    for group in spec.node_groups:
        plane.nodes(group, taints=taints, capacity=machine)


def onprem(platform: Platform) -> None:
    dgx = {"machine": "dgx-h100", "count": 1, "usd_hour": 24.5}
    platform["protect"] = False
    platform["node_groups"] = {
        "whole": {**dgx, "names": ["whole-0"]},
        "cut": {**dgx, "names": ["cut-0"], "partition": {"kind": "mig", "profiles": {"3g.40gb": 1, "1g.10gb": 2}}},
    }
    quotas = {"whole": 8, "cut/1g.10gb": 16, "cut/3g.40gb": 8}
    platform["tenants"]["vision"]["accelerators"] = {part: {"quota": quota} for part, quota in quotas.items()}
    platform["tenants"]["vision"]["monthly_budget"] = 40_000
    platform["endpoints"] = {
        "qwen3-8b": {
            "tenant": "vision",
            "engine": "vllm",
            "on": "cut/3g.40gb",
            "model": {"id": "Qwen/Qwen3-8B", "revision": "0123456789abcdef0123456789abcdef01234567"},
            "quantization": "fp8",
            "context": 16384,
            "replicas": {"max": 1},
        }
    }
    del platform["monitoring"]


def onprem_cuts_more(platform: Platform) -> None:
    platform["node_groups"]["cut"]["partition"]["profiles"]["1g.10gb"] = 4


def test_a_hall_with_whole_gpus_and_slices_of_two_sizes(tmp_path: Path, charts: ChartMirror) -> None:
    small, large = "nvidia.com/mig-1g.10gb", "nvidia.com/mig-3g.40gb"
    with deployed("onprem", tmp_path, charts, edit=onprem, bring=hall) as stack:
        begin(stack, "production", ["dgx-h100"])
        assert cut(stack, GPUS) == {"whole-0": {GPU: "8"}, "cut-0": {GPU: "0", small: "16", large: "8"}}
        stranger(stack, [GPU, small, large])
        served = "app.kubernetes.io/name=qwen3-8b"
        until(lambda: nodes_of(stack.plane, "vision", served) == ["cut-0"], "the endpoint has its slice")
        lands(
            stack,
            Ask("vision", "whole", {GPU: 8}, ["whole-0"]),
            Ask("vision", "cut", {small: 16}, ["cut-0"], part="1g.10gb"),
            Ask("vision", "cut", {large: 6}, ["cut-0"], part="3g.40gb"),
        )
        told = refused(stack, Ask("vision", "cut", {small: 1, large: 1}, part="1g.10gb"))
        assert f"pods of class gpuyard-cut-1g.10gb take {small} alone" in told
        assert "exceeded quota: share-cut-3g.40gb" in refused(stack, Ask("vision", "cut", {large: 2}, part="3g.40gb"))

        change(
            stack,
            onprem_cuts_more,
            "gpuyard:index:Platform::onprem",
            "gpuyard:index:NodeInventory::cut",
            "kubernetes:core/v1:NodePatch::cut-cut-0",
            "gpuyard:index:NvidiaSoftware::nvidia",
            "kubernetes:helm.sh/v3:Release::nvidia-gpu-operator",
            "kubernetes:kueue.x-k8s.io/v1beta2:Cohort::kueue-cohort",
            # A slice's part of the machine is smaller where there are more, and so is what the pod asks for beside it.
            "kubernetes:apps/v1:Deployment::qwen3-8b",
        )
        assert cut(stack, GPUS)["cut-0"] == {GPU: "0", small: "32", large: "8"}
        end(stack, GPU_OPERATOR)
