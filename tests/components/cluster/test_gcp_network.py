from __future__ import annotations

from ipaddress import IPv4Network

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from gpuyard.components.cluster.gcp_network import (
    NARROWEST,
    WIDEST,
    ExistingNetwork,
    NetworkSpec,
    OwnNetwork,
    most_nodes,
    nat_inputs,
    ranges,
    subnet_inputs,
)

EXISTING = {
    "network": "projects/host/global/networks/shared",
    "subnetwork": "projects/host/regions/us-central1/subnetworks/gke",
    "pods_range": "gke-pods",
    "services_range": "gke-services",
}


@st.composite
def networks(draw: st.DrawFn) -> str:
    length = draw(st.integers(WIDEST, NARROWEST))
    inside_10 = draw(st.integers(0, 2 ** (length - 8) - 1))
    return f"{IPv4Network((10 << 24 | inside_10 << (32 - length), length))}"


@given(networks())
def test_the_parts_of_a_network_lie_in_it_and_apart(cidr: str) -> None:
    whole = IPv4Network(cidr)
    parts = [IPv4Network(block) for block in ranges(cidr).values()]
    assert all(part.subnet_of(whole) for part in parts)
    assert not any(a.overlaps(b) for a in parts for b in parts if a is not b)
    assert sum(part.num_addresses for part in parts) <= whole.num_addresses


@given(networks())
def test_every_node_that_is_promised_has_an_address_and_a_block_for_its_pods(cidr: str) -> None:
    parts = {name: IPv4Network(block) for name, block in ranges(cidr).items()}
    nodes = most_nodes(OwnNetwork(cidr=cidr))
    assert nodes is not None
    assert nodes >= 8
    assert nodes * 256 <= parts["pods"].num_addresses
    assert nodes <= parts["nodes"].num_addresses - 4
    assert 16 <= parts["services"].prefixlen <= 27, "the bounds of GKE"


def test_a_sixteen_is_divided_as_documented() -> None:
    assert ranges("10.60.0.0/16") == {"nodes": "10.60.0.0/20", "pods": "10.60.128.0/17", "services": "10.60.16.0/20"}
    assert most_nodes(OwnNetwork(cidr="10.60.0.0/16")) == 128
    assert most_nodes(OwnNetwork(cidr="10.60.0.0/14")) == 512


@pytest.mark.parametrize(
    ("cidr", "message"),
    [
        ("10.60.0.1/16", "is an address inside 10.60.0.0/16, not a network: give 10.60.0.0/16"),
        ("10.60.0.0/33", "is not an IPv4 network: give one such as 10.60.0.0/16"),
        ("300.0.0.0/16", "is not an IPv4 network"),
        ("8.8.0.0/16", "holds public addresses: take it from 10.0.0.0/8"),
        ("10.60.0.0/24", "cannot be divided into nodes, pods and services: give a /12 to a /20"),
        ("10.0.0.0/8", "cannot be divided"),
    ],
)
def test_a_network_that_cannot_serve_is_refused(cidr: str, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        OwnNetwork(cidr=cidr)


def test_a_network_is_told_by_its_keys() -> None:
    adapter: TypeAdapter[OwnNetwork | ExistingNetwork] = TypeAdapter(NetworkSpec)
    assert isinstance(adapter.validate_python({"cidr": "10.0.0.0/16"}), OwnNetwork)
    assert isinstance(adapter.validate_python(EXISTING), ExistingNetwork)
    assert most_nodes(ExistingNetwork.model_validate(EXISTING)) is None
    with pytest.raises(ValidationError, match=r"cidr\s+Extra inputs"):
        adapter.validate_python({**EXISTING, "cidr": "10.0.0.0/16"})


def test_nodes_reach_google_privately_and_the_rest_through_nat() -> None:
    subnet = subnet_inputs(OwnNetwork(cidr="10.60.0.0/16"))
    assert subnet["private_ip_google_access"] is True
    assert {r["range_name"]: r["ip_cidr_range"] for r in subnet["secondary_ip_ranges"]} == {
        "pods": "10.60.128.0/17",
        "services": "10.60.16.0/20",
    }
    assert nat_inputs()["source_subnetwork_ip_ranges_to_nat"] == "ALL_SUBNETWORKS_ALL_IP_RANGES"
