"""Whatever a group on EKS or on-prem says: each problem is a sentence with its place and what to give, or the cloud takes
all that is declared for it, and the review reads it."""

from __future__ import annotations

import copy
import re
from typing import Any

import pulumi
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from oracles.aws import problems
from registered import Resource, registered

from gpuyard import catalogue
from gpuyard.components import stack
from gpuyard.components.aws_platform import AwsPlatformSpec
from gpuyard.components.node_groups import aws, karpenter, onprem
from gpuyard.components.node_groups.aws_capacity import ORDER
from gpuyard.components.onprem_platform import OnPremPlatformSpec
from gpuyard.components.validation import InvalidStack
from gpuyard.review.capacity import capacity
from gpuyard.review.compatibility import compatibility
from gpuyard.review.cost import cost
from gpuyard.review.node_groups import node_groups

Json = dict[str, Any]

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
SAMPLE = settings(max_examples=50, deadline=None, suppress_health_check=SLOW)
SERIES = settings(max_examples=3000, deadline=None, suppress_health_check=SLOW)

SENTENCE = re.compile(r"gpuyard:platform(\.[A-Za-z0-9_-]+)*(: |\.).+")
REMEDY = re.compile(
    r"\b(give|gives?|leave|lower|raise|choose|take|set|use|list|name|say|add|move|look|update|keep|should|did you mean)\b"
)
"""What a message says to do. pydantic's own say what a value should be."""

ZONES = ["us-east-1a", "us-east-1b"]
SUBNETS = {"us-east-1a": "subnet-0123456789abcdef0", "us-east-1b": "subnet-0123456789abcdef1"}
TAGS = {"owner": "ml-platform", "stack": "test"}

AWS: Json = {
    "owner": "ml-platform",
    "cost_center": "4711",
    "cluster": {
        "cloud": "aws",
        "account": "111122223333",
        "region": "us-east-1",
        "kubernetes": "1.35",
        "network": {"cidr": "10.40.0.0/16", "zones": ZONES},
        "admins": ["arn:aws:iam::111122223333:role/platform"],
    },
    "node_groups": {"system": {"machine": "m7i.2xlarge", "nodes": {"min": 3, "max": 3}}},
}
ON_PREM: Json = {
    "owner": "ml-platform",
    "cost_center": "4711",
    "cluster": {"cloud": "onprem", "context": "hall", "kubernetes": "1.35"},
    "node_groups": {"system": {"machine": "onprem-cpu", "count": 1, "names": ["sys-01"]}},
}

COUNTS = st.integers(1, 6)
NODES = st.fixed_dictionaries(
    {"min": st.sampled_from([0, 0, 0, 1, 3]), "max": COUNTS}, optional={"initial": st.integers(0, 4)}
)
IDS = st.sampled_from(["cr-0123456789abcdef0", "cr-0123456789abcdef1", "cr-1"])
RESERVATION = st.fixed_dictionaries(
    {"kind": st.just("reservation"), "id": IDS, "zone": st.sampled_from(ZONES), "count": COUNTS}
)
BLOCK = st.fixed_dictionaries(
    {
        "kind": st.just("capacity_block"),
        "id": IDS,
        "zone": st.sampled_from([*ZONES, "us-east-1c"]),
        "count": COUNTS,
        "start": st.sampled_from(["2026-12-01T11:30:00Z", "2026-12-15T11:30:00Z"]),
        "end": st.sampled_from(["2026-12-15T11:30:00Z", "2026-12-14T11:30:00Z", "2026-12-20T10:00:00Z"]),
    }
)
WAY = st.one_of(st.just({"kind": "on_demand"}), st.just({"kind": "spot"}), RESERVATION, BLOCK)
LABELS = st.dictionaries(
    st.sampled_from(
        ["team", "example.com/rack", "kubernetes.io/os", "karpenter.sh/x", "nvidia.com/mig.config", "gpuyard.io/node-group", "a b"]
    ),
    st.sampled_from(["", "a", "A.b_c-d", "no!"]),
    max_size=2,
)  # fmt: skip
TAINTS = st.lists(
    st.fixed_dictionaries(
        {"key": st.sampled_from(["team", "nvidia.com/gpu", "example.com/x"])},
        optional={
            "value": st.sampled_from(["", "present", "b"]),
            "effect": st.sampled_from(["NoSchedule", "NoExecute", "PreferNoSchedule", "Never"]),
        },
    ),
    max_size=2,
)
DISKS = st.sampled_from(["10Gi", "19Gi", "20Gi", "500Gi", "60000Gi", "1Ti", "70Ti", "5"])


@st.composite
def partitions(draw: st.DrawFn, machine: str) -> Json:
    known = sorted(catalogue.partitions(catalogue.machines()[machine].accelerator or "")) or ["1g.10gb"]
    if draw(st.booleans()):
        return {
            "kind": draw(st.sampled_from(["mps", "time_slicing"])),
            "clients": draw(st.sampled_from([1, 2, 48, 49])),
        }
    profiles = draw(st.dictionaries(st.sampled_from([*known, "9g.99gb"]), st.integers(1, 7), min_size=1, max_size=3))
    strategy = draw(st.sampled_from([None, None, "single", "mixed"]))
    return {"kind": "mig", "profiles": profiles, **({"strategy": strategy} if strategy else {})}


def sometimes(draw: st.DrawFn, found: Json, **parts: st.SearchStrategy[Any]) -> None:
    """Adds each part to a third of what is drawn: with all of them hardly anything would be accepted."""
    for key, strategy in parts.items():
        if draw(st.integers(0, 2)) == 0:
            found[key] = draw(strategy)


def mostly(usual: Any, *others: Any) -> st.SearchStrategy[Any]:
    """The first, most of the time."""
    return st.sampled_from([usual] * 4 * len(others) + [*others])


EKS_MACHINES = sorted(machine.name for machine in catalogue.machines().values() if machine.cloud == "aws")
OWN_MACHINES = sorted(machine.name for machine in catalogue.machines().values() if machine.cloud == "onprem")


@st.composite
def eks_groups(draw: st.DrawFn) -> Json:
    machine = draw(st.sampled_from([*EKS_MACHINES, "a2-highgpu-1g"]))
    found: Json = {"machine": machine, "nodes": draw(NODES)}
    if draw(st.booleans()):
        # What Karpenter takes, mostly, and a managed node group does not.
        found |= {"scaled_by": "karpenter", "nodes": {"min": 0, "max": draw(COUNTS)}}
        ways = draw(st.lists(WAY, min_size=1, max_size=3, unique_by=lambda way: str(way["kind"])))
        sometimes(draw, found, capacity=st.just(sorted(ways, key=lambda way: ORDER.index(way["kind"]))))
    sometimes(draw, found, capacity=st.one_of(WAY, st.lists(WAY, max_size=3)))
    sometimes(draw, found, scaled_by=st.sampled_from(["karpenter", "node_group", "nobody"]))
    sometimes(draw, found, zones=st.sampled_from([ZONES[:1], ZONES, [*ZONES, "us-east-1c"], [ZONES[0]] * 2, []]))
    sometimes(draw, found, os=st.sampled_from(["al2023", "bottlerocket"]))
    sometimes(draw, found, interconnect=st.just({"kind": "efa"}))
    if found.get("scaled_by") != "karpenter" or draw(st.integers(0, 9)) == 0:
        sometimes(draw, found, partition=partitions(machine))
    if draw(st.integers(0, 3)) == 0:
        sometimes(draw, found, labels=LABELS, taints=TAINTS, disk=DISKS)
        sometimes(
            draw, found, release=st.sampled_from(["1.35.0-20260714", "1.47.0-6154605b", "1.33.1-20260714", "latest"])
        )
        sometimes(draw, found, kubernetes=st.sampled_from(["1.35", "1.34", "1.31", "1.36", "2"]))
        sometimes(draw, found, expire_after=st.sampled_from(["720h", "Never", "1h"]))
        sometimes(
            draw, found, upgrade=st.fixed_dictionaries({"max_unavailable": st.sampled_from([1, 100, 0, "25%", "0%"])})
        )
        sometimes(draw, found, was=st.sampled_from([["old"], ["drawn"], []]))
    return found


HOSTS = st.fixed_dictionaries(
    {
        "kind": st.just("metal3"),
        "namespace": st.just("metal"),
        "cluster": mostly("hall", "h" * 57),
        "image": st.fixed_dictionaries(
            {
                "url": mostly("https://images.example/node.qcow2", "ftp://images.example/node"),
                "checksum": mostly("a" * 64, "b" * 128, "c" * 32),
                "kubernetes": mostly("1.35.2", "1.33.0", "1.30.0", "1.36.0", "1.35"),
            }
        ),
        "hosts": mostly({"machine": "dgx-h100"}, {}),
    },
    optional={"management_context": mostly("management", ""), "data_template": st.just("addresses")},
)


@st.composite
def own_groups(draw: st.DrawFn) -> Json:
    machine = draw(st.sampled_from([*OWN_MACHINES, "g6e.12xlarge", "a2-highgpu-1g"]))
    count = draw(mostly(1, 2, 3, 0))
    found: Json = {"machine": machine, "count": count}
    ways: dict[str, st.SearchStrategy[Any]] = {
        "names": mostly([f"n-{number}" for number in range(count)], ["n-1", "n-1"], ["sys-01"], ["N 1"]),
        "selector": st.sampled_from([{"example.com/kind": "dgx"}, {}]),
        "managed_by": HOSTS,
    }
    for key in draw(st.sampled_from([["names"], ["names"], ["selector"], ["managed_by"], [], list(ways)])):
        found[key] = draw(ways[key])
    sometimes(draw, found, usd_hour=mostly(24.5, 0, -1, "a"), partition=partitions(machine))
    if draw(st.booleans()):
        sometimes(draw, found, labels=LABELS, taints=TAINTS)
        sometimes(draw, found, driver_version=st.sampled_from(["580.126.09", "580", "12"]))
        sometimes(draw, found, upgrade=st.fixed_dictionaries({"max_unavailable": st.sampled_from([1, "25%", 0])}))
        sometimes(draw, found, topology=st.sampled_from([["example.com/block", "example.com/rack"], ["a", "a"], []]))
        sometimes(
            draw,
            found,
            interconnect=st.sampled_from([{"kind": "infiniband"}, {"kind": "infiniband", "driver": "operator"}]),
        )
    return found


def loaded(content: Json, group: Json) -> Any:
    """The stack with the group; None where it is refused, as it must be."""
    value = copy.deepcopy(content)
    value["node_groups"]["drawn"] = group
    try:
        return stack.load(value, "test")
    except InvalidStack as refusal:
        event("refused")
        for line in str(refusal).splitlines():
            assert SENTENCE.fullmatch(line), line
            assert REMEDY.search(line), line
        return None


def reviewed(resources: list[Resource], name: str, nodes: int, whole: bool) -> None:
    """The review finds one group of that many nodes at the most, and neither invents a cost nor ends."""
    resources = [{**resource, "unknown": [], "secret": [], "custom": True} for resource in resources]
    [found] = [group for group in node_groups(resources) if group.name == name]
    assert found.maximum == nodes
    lines = cost([found], resources)["lines"]
    assert all(one["month"] is not None or one["unknown"] for one in lines)
    parts = sum(part.a_node * nodes for part in found.parts)
    machine = catalogue.machines()[found.machine or ""]
    assert whole or not machine.accelerators or parts >= machine.accelerators * nodes
    assert capacity([found], resources)["groups"][0]["accelerators"]["max"] == nodes * machine.accelerators
    compatibility([found], resources)


def of_eks(content: Json) -> None:
    spec = loaded(AWS, content)
    if spec is None:
        return
    assert isinstance(spec, AwsPlatformSpec)
    group = spec.node_groups["drawn"]
    event(f"taken, by {group.scaled_by}")

    def build() -> None:
        network = pulumi.CustomResource("test:index:Network", "network")
        common: Json = {"subnets": SUBNETS, "tags": TAGS, "security_group": "sg-0123456789abcdef0"}
        opts = pulumi.ResourceOptions(depends_on=[network])
        if group.scaled_by == "karpenter":
            karpenter.NodeGroup("drawn", group, **common, instance_profile="test-karpenter", opts=opts)
            return
        role = "arn:aws:iam::111122223333:role/node"
        aws.NodeGroup(
            "drawn", group, **common, cluster_name="test", node_role_arn=role, kubernetes_version="1.35", opts=opts
        )

    made = registered(build, {"aws:ec2/launchTemplate:LaunchTemplate": {"latestVersion": 3}})
    assert [found for resource in made for found in problems(resource)] == []
    reviewed(made, "drawn", group.nodes.max, whole=group.partition is None)


def of_ones_own(content: Json) -> None:
    spec = loaded(ON_PREM, content)
    if spec is None:
        return
    assert isinstance(spec, OnPremPlatformSpec)
    group = spec.node_groups["drawn"]
    event("taken")
    made = registered(lambda: onprem.NodeGroup("drawn", group))
    objects = [resource for resource in made if resource["type"].startswith("kubernetes:")]
    assert len(objects) == (3 if group.managed_by else len(group.names))
    for resource in objects:
        labels = resource["inputs"]["metadata"].get("labels", {})
        assert all(
            re.fullmatch(r"([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?", value) for value in labels.values()
        )
        assert len(resource["inputs"]["metadata"]["name"]) <= 253
    reviewed(made, "drawn", group.count, whole=group.partition is None)


@SAMPLE
@given(content=eks_groups())
def test_a_group_on_eks_is_refused_in_a_sentence_or_taken_whole(content: Json) -> None:
    of_eks(content)


@SAMPLE
@given(content=own_groups())
def test_a_group_of_ones_own_is_refused_in_a_sentence_or_taken_whole(content: Json) -> None:
    of_ones_own(content)


@pytest.mark.long
@SERIES
@given(content=eks_groups())
def test_thousands_of_groups_on_eks(content: Json) -> None:
    of_eks(content)


@pytest.mark.long
@SERIES
@given(content=own_groups())
def test_thousands_of_groups_of_ones_own(content: Json) -> None:
    of_ones_own(content)
