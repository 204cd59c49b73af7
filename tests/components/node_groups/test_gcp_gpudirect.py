"""GPUDirect on GKE: networks of the GPUs' own."""

from __future__ import annotations

from ipaddress import IPv4Network
from typing import Any

import pytest
from oracles.gcp import problems
from pydantic import ValidationError
from registered import Resource, registered

from gpuyard import catalogue
from gpuyard.components.node_groups.gcp import NodeGroup, NodeGroupSpec, group_zones
from gpuyard.components.node_groups.gcp_gpudirect import check_cluster, own_networks

ZONES = ["us-central1-a", "us-central1-b"]


def spec(machine: str, interconnect: dict[str, Any] | None = None, **given: Any) -> NodeGroupSpec:
    kind = next(kind for kind in ("on_demand", "spot") if kind in catalogue.machine(machine).purchase)
    return NodeGroupSpec.model_validate(
        {
            "machine": machine,
            "nodes": {"min": 0, "max": 4},
            "capacity": {"kind": kind},
            "zones": ZONES[:1],
            "interconnect": {"kind": "gpudirect", **(interconnect or {})},
            **given,
        }
    )


def made(group: NodeGroupSpec, name: str = "h100") -> list[Resource]:
    def build() -> None:
        NodeGroup(
            name,
            group,
            cluster="projects/example-dev/locations/us-central1/clusters/dev",
            location="us-central1",
            zones=ZONES,
            service_account="nodes@example-dev.iam.gserviceaccount.com",
            tags={},
            project="example-dev",
        )

    found = registered(build)
    assert [problems(resource) for resource in found] == [[]] * len(found)
    return found


@pytest.mark.parametrize(("machine", "cards"), [("a3-highgpu-8g", 4), ("a3-megagpu-8g", 8)])
def test_each_card_of_tcpx_and_tcpxo_has_a_network_that_pods_can_name(machine: str, cards: int) -> None:
    found = made(spec(machine))
    by_type: dict[str, list[dict[str, Any]]] = {}
    for resource in found:
        by_type.setdefault(resource["type"], []).append(resource["inputs"])
    assert [n["mtu"] for n in by_type["gcp:compute/network:Network"]] == [8244] * cards
    subnets = [IPv4Network(s["ipCidrRange"]) for s in by_type["gcp:compute/subnetwork:Subnetwork"]]
    assert len(set(subnets)) == cards
    assert not any(a.overlaps(b) for a in subnets for b in subnets if a != b)
    assert len(by_type["gcp:compute/firewall:Firewall"]) == cards
    (pool,) = by_type["gcp:container/nodePool:NodePool"]
    assert len(pool["networkConfig"]["additionalNodeNetworkConfigs"]) == cards
    parameters = by_type["kubernetes:networking.gke.io/v1:GKENetworkParamSet"]
    assert [p["spec"]["deviceMode"] for p in parameters] == ["NetDevice"] * cards
    names = [n["metadata"]["name"] for n in by_type["kubernetes:networking.gke.io/v1:Network"]]
    assert sorted(names) == [f"h100-nic-{position}" for position in range(1, cards + 1)]


def test_the_networks_of_rdma_are_gkes() -> None:
    found = made(spec("a3-ultragpu-8g"))
    assert [resource["type"] for resource in found] == [
        "gpuyard:index:GkeNodeGroup",
        "gcp:container/nodePool:NodePool",
    ]
    pool = found[-1]["inputs"]
    assert pool["networkConfig"] == {"enablePrivateNodes": True, "acceleratorNetworkProfile": "auto"}
    assert pool["nodeConfig"]["labels"]["cloud.google.com/gke-networking-dra-driver"] == "true"


def test_a_renamed_group_keeps_the_names_that_pods_say() -> None:
    found = made(spec("a3-highgpu-8g", was=["h100"]), name="hopper")
    names = [r["inputs"]["metadata"]["name"] for r in found if r["type"].endswith("v1:Network")]
    assert sorted(names) == [f"h100-nic-{position}" for position in range(1, 5)]
    assert all(r["name"].startswith("hopper") for r in found)


def test_only_networks_of_ones_own_need_a_cluster_with_several() -> None:
    assert own_networks("a3-megagpu-8g", spec("a3-megagpu-8g").interconnect) is not None
    assert own_networks("a3-ultragpu-8g", spec("a3-ultragpu-8g").interconnect) is None
    assert own_networks("a3-megagpu-8g", None) is None


@pytest.mark.parametrize(
    ("machine", "interconnect", "given", "message"),
    [
        ("g2-standard-12", {}, {}, "g2-standard-12 has none: leave it out, or choose of a3-"),
        ("a3-ultragpu-8g", {"cidr": "10.0.0.0/16"}, {}, "GKE makes a3-ultragpu-8g's networks: leave cidr out"),
        (
            "a3-ultragpu-8g",
            {},
            {"zones": ZONES},
            "interconnect gpudirect is within one zone, and zones are us-central1-a",
        ),
        (
            "a3-megagpu-8g",
            {"cidr": "10.0.0.0/26"},
            {"nodes": {"min": 0, "max": 5}},
            "has room for 4 nodes, and nodes.max",
        ),
        ("a3-megagpu-8g", {"cidr": "10.0.0.0/31"}, {}, "has room for 0 nodes, and nodes.max is 4: give a wider one"),
        ("a3-megagpu-8g", {"cidr": "10.0.0.1/16"}, {}, "10.0.0.1/16 is not a network: give one such as 192.168.0.0/16"),
        ("a3-megagpu-8g", {"kind": "efa"}, {}, "Input should be 'gpudirect'"),
    ],
)
def test_a_network_that_cannot_be_is_refused(
    machine: str, interconnect: dict[str, Any], given: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValidationError) as error:
        spec(machine, interconnect, **given)
    assert message in str(error.value)


def test_a_machine_whose_networks_are_made_by_hand_is_refused() -> None:
    reserved = {"kind": "reservation", "name": "r", "zone": ZONES[0], "count": 4}
    with pytest.raises(ValidationError, match="needs networks of profile vpc-roce-metal and software on its nodes"):
        NodeGroupSpec.model_validate(
            {
                "machine": "a4x-maxgpu-4g-metal",
                "nodes": {"min": 0, "max": 4},
                "capacity": reserved,
                "interconnect": {"kind": "gpudirect"},
            }
        )


def test_rdma_of_a_group_in_all_zones_is_refused() -> None:
    with pytest.raises(ValueError, match="the network of GPUDirect lies in one zone"):
        group_zones(spec("a3-ultragpu-8g", zones=None), ZONES)


def test_a_cluster_is_new_enough_and_its_addresses_are_apart() -> None:
    rdma, tcpx = spec("a4-highgpu-8g"), spec("a3-highgpu-8g")
    check_cluster(rdma.machine, rdma.interconnect, "1.35", "192.168.0.0/16")
    check_cluster(tcpx.machine, tcpx.interconnect, "1.33", "10.60.0.0/16")
    check_cluster(tcpx.machine, tcpx.interconnect, "1.33", None)
    with pytest.raises(ValueError, match=r"needs Kubernetes 1\.35 on GKE, and the cluster has 1\.34"):
        check_cluster(rdma.machine, rdma.interconnect, "1.34", None)
    with pytest.raises(ValueError, match=r"192\.168\.0\.0/16, overlap the cluster's, 192\.168\.0\.0/20"):
        check_cluster(tcpx.machine, tcpx.interconnect, "1.35", "192.168.0.0/20")
