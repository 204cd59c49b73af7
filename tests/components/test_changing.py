"""What edits of a stack file do to what exists: ordinary ones replace nothing, and what would be replaced is guarded."""

from __future__ import annotations

import functools
from typing import Any

import pytest
from plans import Change, Plan, Resources, plan, resources

Described = dict[str, Any]


@functools.cache
def shipped(stack: str) -> Resources:
    return resources(stack)


def planned(stack: str, change: Change) -> Plan:
    return plan(shipped(stack), resources(stack, change))


def put(path: str, value: Any) -> Change:
    """Sets one value of the platform; None takes the key out."""
    *parents, key = path.split("/")

    def change(platform: Described) -> None:
        place = functools.reduce(lambda found, step: found.setdefault(step, {}), parents, platform)
        if value is None:
            del place[key]
        else:
            place[key] = value

    return change


NEWCOMERS = {"groups": ["newcomers"], "accelerators": {"l40s": {"quota": 4}}, "monthly_budget": 20000}
SPARE = {"machine": "g6e.4xlarge", "nodes": {"min": 0, "max": 2}, "capacity": {"kind": "spot"}}

ORDINARY: list[tuple[str, Change]] = [
    ("prod-aws", put("node_groups/l40s/nodes", {"min": 2, "max": 8})),
    ("prod-aws", put("node_groups/h100/nodes", {"min": 0, "initial": 1, "max": 4})),
    ("prod-aws", put("node_groups/l40s/labels", {"example.com/tier": "a"})),
    ("prod-aws", put("node_groups/l40s/taints", [{"key": "example.com/tier", "value": "a"}])),
    ("prod-aws", put("node_groups/l40s/disk", "300Gi")),
    ("prod-aws", put("node_groups/spare", SPARE)),
    ("prod-aws", put("node_groups/h100/capacity/id", "cr-0123456789abcdef1")),
    ("prod-aws", put("cluster/kubernetes", "1.36")),
    ("prod-aws", put("cluster/addons", {"kube-proxy": "v1.8.7-eksbuild.2"})),
    ("prod-aws", put("cluster/api/allow", ["198.51.100.0/24"])),
    ("prod-aws", put("cluster/api", None)),
    (
        "prod-aws",
        put("cluster/admins", ["arn:aws:iam::111122223333:role/platform", "arn:aws:iam::111122223333:role/b"]),
    ),
    ("prod-aws", put("cluster/network/nat", "one")),
    ("prod-aws", put("owner", "somebody-else")),
    ("prod-aws", put("artifacts", {"images": "mirror.example/ai", "charts": "oci://mirror.example/charts"})),
    ("prod-aws", put("tenants/newcomers", NEWCOMERS)),
    ("prod-aws", put("tenants/fraud/accelerators/l40s", {"quota": 12, "borrow": 2})),
    ("prod-aws", put("tenants/fraud/groups", ["fraud-ml", "fraud-ops"])),
    ("prod-aws", put("tenants/fraud/viewers", ["audit"])),
    ("prod-aws", put("endpoints/llama-70b/image", "mirror.example/ai/vllm:v1@sha256:" + "0" * 64)),
    ("prod-aws", put("endpoints/llama-70b/replicas", {"min": 2, "max": 2})),
    ("prod-aws", put("endpoints/llama-70b/context", 16384)),
    ("prod-aws", put("endpoints/llama-70b", None)),
    ("prod-aws", put("monitoring/retention", "30d")),
    ("prod-aws", put("monitoring/alerts", None)),
    ("prod-aws", put("protect", False)),
    ("dev", put("node_groups/l4/nodes", {"min": 0, "max": 5})),
    ("dev", put("node_groups/l4/labels", {"example.com/tier": "a"})),
    ("dev", put("node_groups/l4/machine", "g2-standard-16")),
    ("dev", put("node_groups/l4/zones", ["us-central1-a"])),
    (
        "dev",
        lambda p: [
            put("cluster/zones", ["us-central1-a", "us-central1-b", "us-central1-c"])(p),
            put("node_groups/system/nodes/initial", 3)(p),
        ],
    ),
    ("dev", put("cluster/kubernetes", "1.36")),
    ("dev", put("cluster/channel", "stable")),
    ("dev", put("cluster/api/allow", ["198.51.100.0/24"])),
    ("dev", put("owner", "somebody-else")),
    ("onprem", put("cluster/kubernetes", "1.36")),
    ("onprem", put("cluster/kubeconfig", "other.yaml")),
    ("onprem", lambda p: p["cluster"].update(context="renamed", was="dgx")),
    ("onprem", put("tenants/vision/accelerators/dgx", {"quota": 16})),
    ("serving", put("endpoints/qwen3-32b/replicas", {"min": 2, "max": 2})),
    ("serving", lambda p: p["cluster"].update(context="renamed", was="prod-assistants")),
]


@pytest.mark.parametrize(("stack", "change"), ORDINARY, ids=[f"{n}-{stack}" for n, (stack, _) in enumerate(ORDINARY)])
def test_an_ordinary_edit_replaces_nothing(stack: str, change: Change) -> None:
    found = planned(stack, change)
    assert found.replaced == {}
    assert found.created or found.deleted or found.changed or found.before != found.after, "nothing was edited"


# What each of these takes away is what the plan shows as protected; docs/changing.md lists them.
REPLACING: list[tuple[str, Change]] = [
    ("prod-aws", put("node_groups/l40s/machine", "g6e.24xlarge")),
    ("prod-aws", put("node_groups/l40s/capacity", {"kind": "spot"})),
    ("prod-aws", put("node_groups/l40s/zones", ["us-east-1a"])),
    ("prod-aws", put("node_groups/system/os", "bottlerocket")),
    ("prod-aws", put("cluster/network/zones", ["us-east-1a", "us-east-1b", "us-east-1c"])),
    ("dev", put("node_groups/l4/machine", "g2-standard-24")),
    ("dev", put("node_groups/l4/driver", "latest")),
    ("dev", put("node_groups/l4/capacity", {"kind": "on_demand"})),
    ("onprem", put("cluster/context", "another-cluster")),
]


@pytest.mark.parametrize(("stack", "change"), REPLACING, ids=[f"{n}-{stack}" for n, (stack, _) in enumerate(REPLACING)])
def test_what_an_edit_would_replace_is_protected(stack: str, change: Change) -> None:
    before = resources(stack, put("protect", True))
    found = plan(before, resources(stack, put("protect", True), change))
    assert found.replaced
    assert all(before[found.continues[urn]]["options"].get("protect") for urn in found.replaced)


@pytest.mark.parametrize("path", ["tenants/fraud", "monitoring", "node_groups/h100"])
def test_what_holds_data_or_nodes_is_not_taken_out_of_a_stack_unless_it_is_unprotected(path: str) -> None:
    def change(platform: Described) -> None:
        put(path, None)(platform)
        part, _, key = path.partition("/")
        if part != "monitoring":
            platform["endpoints"] = {}
            for tenant in platform["tenants"].values():
                tenant["accelerators"].pop(key, None)
        else:
            for endpoint in platform["endpoints"].values():
                endpoint["replicas"] = {"min": 1, "max": 1}

    found = planned("prod-aws", change)
    kept = [urn for urn in found.deleted if found.before[urn]["options"].get("protect")]
    types = {"tenants": "Namespace", "monitoring": "Namespace", "node_groups": "NodeGroup"}
    assert [urn.rpartition("::")[0].rpartition(":")[2] for urn in kept] == [types[path.partition("/")[0]]]


PROTECTED = {
    "prod-aws": {"Cluster", "Key", "NodeGroup", "Namespace", "kubernetes"},
    "dev": {"Cluster", "CryptoKey", "NodePool", "Namespace", "kubernetes"},
    "onprem": {"Namespace", "kubernetes"},
}


@pytest.mark.parametrize("stack", PROTECTED)
def test_protection_covers_what_holds_data_or_carries_all_else_and_can_be_lifted(stack: str) -> None:
    found = resources(stack, put("protect", None) if stack == "dev" else lambda p: None)
    kept = [r for r in found.values() if r["options"].get("protect")]
    assert {r["type"].rpartition(":")[2] for r in kept} == PROTECTED[stack]
    spaces = {r["inputs"]["metadata"]["name"] for r in kept if r["type"] == "kubernetes:core/v1:Namespace"}
    tenants = {r["name"] for r in found.values() if r["type"] == "gpuyard:index:Tenant"}
    assert spaces == {*tenants, "monitoring"}, "namespaces of operators hold nothing that is not declared"
    lifted = resources(stack, put("protect", False))
    assert not any(r["options"].get("protect") for r in lifted.values())
    assert not any(r["inputs"].get("deletionProtection") for r in lifted.values())


def test_a_minor_version_goes_from_the_control_plane_over_the_add_ons_to_the_nodes() -> None:
    found = planned(
        "prod-aws", lambda p: p["cluster"].update(kubernetes="1.36", addons={"kube-proxy": "v1.8.7-eksbuild.2"})
    )
    changed = {urn for urn, paths in found.changed.items() if {"version", "addonVersion"} & paths}
    [cluster] = [urn for urn in changed if found.after[urn]["type"] == "aws:eks/cluster:Cluster"]
    [proxy] = [urn for urn in changed if found.after[urn]["type"] == "aws:eks/addon:Addon"]
    groups = [urn for urn in changed if found.after[urn]["type"] == "aws:eks/nodeGroup:NodeGroup"]
    assert len(groups) == 3
    assert cluster in found.after[proxy]["options"]["depends_on"]
    assert all(proxy in found.after[group]["options"]["depends_on"] for group in groups)
    others = {
        urn for urn, paths in found.changed.items() if urn.rpartition("::")[0].rpartition("$")[2].startswith("aws:")
    }
    assert others == changed, "nothing else of the cloud moves with it"
