"""A GCP stack of many kinds of groups, whole: what is declared for them, and which stacks cannot be."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pulumi
import pytest
from oracles.gcp import problems
from registered import Resource, registered

from gpuyard.components.platform import Platform
from gpuyard.components.stack import load
from gpuyard.components.validation import InvalidStack

OUTPUTS = {
    "gcp:container/cluster:Cluster": {"masterAuth": {"clusterCaCertificate": "Q0E="}, "endpoint": "192.0.2.1"},
    "gcp:serviceaccount/account:Account": {
        "email": "nodes@example-dev.iam.gserviceaccount.com",
        "member": "serviceAccount:nodes@example-dev.iam.gserviceaccount.com",
    },
    "gcp:projects/serviceIdentity:ServiceIdentity": {"member": "serviceAccount:gke@example.iam.gserviceaccount.com"},
}


def stack() -> dict[str, Any]:
    return {
        "owner": "ml",
        "cost_center": "4711",
        "cluster": {
            "cloud": "gcp",
            "project": "example-dev",
            "region": "us-central1",
            "zones": ["us-central1-a", "us-central1-b"],
            "kubernetes": "1.35",
            "network": {"cidr": "10.60.0.0/14"},
            "groups_domain": "example.com",
            "secrets_key": "projects/example-dev/locations/us-central1/keyRings/ring/cryptoKeys/key",
        },
        "node_groups": {
            "system": {"machine": "e2-standard-8", "nodes": {"min": 2, "max": 4}},
            "ordered": {
                "machine": "a3-highgpu-8g",
                "nodes": {"min": 0, "max": 6},
                "capacity": [
                    {"kind": "reservation", "name": "r", "zone": "us-central1-a", "count": 2},
                    {"kind": "on_demand", "max": 4},
                ],
            },
            "queued": {
                "machine": "a3-ultragpu-8g",
                "nodes": {"min": 0, "max": 4},
                "zones": ["us-central1-a"],
                "capacity": {"kind": "flex_start", "queued": True},
                "interconnect": {"kind": "gpudirect"},
            },
            "tcpxo": {
                "machine": "a3-megagpu-8g",
                "nodes": {"min": 0, "max": 4},
                "capacity": {"kind": "spot"},
                "interconnect": {"kind": "gpudirect"},
            },
            "slice": {
                "machine": "ct6e-standard-4t",
                "topology": "4x4",
                "nodes": {"min": 0, "max": 8},
                "zones": ["us-central1-b"],
                "capacity": {"kind": "spot"},
            },
        },
        "tenants": {
            "research": {
                "groups": ["research@example.com"],
                "accelerators": {
                    "ordered": {"quota": 16},
                    "queued": {"quota": 32},
                    "tcpxo": {"quota": 8},
                    "slice": {"quota": 32},
                },
                "monthly_budget": 100000,
            }
        },
    }


@cache
def declared() -> tuple[Resource, ...]:
    spec = load(stack(), "dev")
    return tuple(registered(lambda: Platform("dev", spec, opts=pulumi.ResourceOptions()), OUTPUTS))


def of(kind: str) -> list[Resource]:
    return [resource for resource in declared() if resource["type"].endswith(kind)]


def test_google_cloud_takes_all_of_it() -> None:
    for resource in declared():
        assert problems(resource) == [], resource["name"]


def test_the_cluster_has_several_networks_because_a_group_does() -> None:
    (cluster,) = of("container/cluster:Cluster")
    assert cluster["inputs"]["enableMultiNetworking"] is True
    assert len(of(":Network")) == 1 + 8 + 8, "the cluster's, one a card, and their objects in the cluster"


def test_the_control_plane_reaches_kueue_where_gkes_own_rule_does_not_let_it() -> None:
    (rule,) = [r for r in of(":Firewall") if r["name"] == "dev-control-plane"]
    assert rule["inputs"]["sourceRanges"] == ["10.60.0.0/18"]
    assert rule["inputs"]["allows"] == [{"protocol": "tcp", "ports": ["8082"]}]
    assert rule["inputs"]["targetServiceAccounts"] == ["nodes@example-dev.iam.gserviceaccount.com"]


def test_jobs_find_their_nodes_by_labels_and_tolerate_their_taints() -> None:
    flavors = {r["inputs"]["metadata"]["name"].split("-")[0]: r["inputs"]["spec"] for r in of(":ResourceFlavor")}
    assert flavors["slice"]["nodeLabels"]["cloud.google.com/gke-tpu-topology"] == "4x4"
    assert flavors["ordered"]["nodeLabels"]["cloud.google.com/compute-class"] == "ordered"
    keys = {name: {t["key"] for t in flavor["tolerations"]} for name, flavor in flavors.items()}
    assert keys["ordered"] == {"nvidia.com/gpu", "cloud.google.com/compute-class"}
    assert keys["queued"] == {"nvidia.com/gpu", "cloud.google.com/gke-queued"}
    assert keys["slice"] == {"google.com/tpu"}
    (check,) = of(":AdmissionCheck")
    assert check["inputs"]["metadata"]["name"] == "queued"


def test_pools_with_accelerators_come_after_the_one_without() -> None:
    pools = {r["name"]: r for r in of("nodePool:NodePool")}
    assert set(pools) == {"system", "ordered-reservation", "ordered-on-demand", "queued", "tcpxo", "slice", "slice-2"}
    for name in pools.keys() - {"system"}:
        assert pools["system"]["urn"] in pools[name]["options"]["depends_on"], name


def _serve(spec: dict[str, Any], on: str) -> None:
    spec["endpoints"] = {
        "chat": {
            "tenant": "research",
            "engine": "vllm",
            "on": on,
            "model": {"id": "Qwen/Qwen3-8B", "revision": "0123456789abcdef0123456789abcdef01234567"},
            "replicas": {"min": 1, "max": 1},
        }
    }


MISTAKES: list[tuple[str, Callable[[dict[str, Any]], object], str]] = [
    (
        "endpoint-on-queued",
        lambda s: _serve(s, "queued"),
        "gpuyard:platform.endpoints.chat.on: nodes of queued come for queued jobs alone (flex_start, queued): choose",
    ),
    (
        "topology",
        lambda s: s["node_groups"]["slice"].update(topology="5x5"),
        "gpuyard:platform.node_groups.slice: topology 5x5 is none of ct6e-standard-4t: give one of 2x2, 2x4, 4x4",
    ),
    (
        "way",
        lambda s: s["node_groups"]["ordered"]["capacity"][1].update(kind="preemptible"),
        "gpuyard:platform.node_groups.ordered.capacity.1: kind is 'preemptible': give one of on_demand, spot, reserv",
    ),
    (
        "text",
        lambda s: s["node_groups"]["tcpxo"].update(capacity="spot"),
        "node_groups.tcpxo.capacity: 'spot' (text) given: give a mapping of keys to values, such as {kind: spot}",
    ),
    (
        "version",
        lambda s: s["cluster"].update(kubernetes="1.34"),
        "gpuyard:platform.node_groups.queued: interconnect gpudirect of a3-ultragpu-8g needs Kubernetes 1.35 on GKE",
    ),
    (
        "overlap",
        lambda s: s["node_groups"]["tcpxo"]["interconnect"].update(cidr="10.61.0.0/16"),
        "gpuyard:platform.node_groups.tcpxo: the networks of interconnect gpudirect, 10.61.0.0/16, overlap the cluster",
    ),
    (
        "zone",
        lambda s: s["node_groups"]["slice"].pop("zones"),
        "gpuyard:platform.node_groups.slice: a 4x4 slice lies in one zone, and this group has us-central1-a, us-centr",
    ),
    (
        "name",
        lambda s: s["node_groups"].update({"a-name-that-is-quite-long": s["node_groups"].pop("ordered")}),
        "the name a-name-that-is-quite-long has 25 characters: give this node group on GKE 20 at most",
    ),
    (
        "a reservation that two groups overbook",
        lambda given: given["node_groups"].update(
            more={
                "machine": "a3-highgpu-8g",
                "nodes": {"min": 0, "max": 2},
                "capacity": {"kind": "reservation", "name": "s", "zone": "us-central1-a", "count": 3},
            },
            most={
                "machine": "a3-highgpu-8g",
                "nodes": {"min": 0, "max": 2},
                "capacity": {"kind": "reservation", "name": "s", "zone": "us-central1-a", "count": 3},
            },
        ),
        "node_groups.most.nodes.max: groups more, most have nothing but the 3 machines of s, and may grow to 4 nodes "
        "together: lower nodes.max",
    ),
]


@pytest.mark.parametrize(("change", "message"), [case[1:] for case in MISTAKES], ids=[case[0] for case in MISTAKES])
def test_a_stack_that_cannot_be_gets_one_sentence(change: Callable[[dict[str, Any]], object], message: str) -> None:
    spec = stack()
    change(spec)
    if "a-name-that-is-quite-long" in spec["node_groups"]:
        spec["tenants"] = {}
    with pytest.raises(InvalidStack) as error:
        load(spec, "dev")
    assert message in str(error.value)
    assert len(str(error.value).splitlines()) == 1, str(error.value)
