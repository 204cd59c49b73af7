"""Prices: only real ones, of machines and markets that exist; what is not known is None."""

from __future__ import annotations

import re

import botocore.session
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuyard import catalogue
from gpuyard.catalogue.pricing import Sold


@pytest.mark.parametrize("sold", catalogue.prices(), ids="/".join)
def test_a_price_is_of_a_machine_that_is_sold_so(sold: Sold) -> None:
    cloud, region, machine, market = sold
    assert catalogue.machine(machine).cloud == cloud
    assert market in catalogue.machine(machine).purchase
    assert 0.01 < catalogue.prices()[sold].usd_hour < 500
    assert re.fullmatch(r"[a-z]+-[a-z]+-?[0-9]", region)


def test_regions_of_aws_prices_are_regions_that_have_eks() -> None:
    known = botocore.session.get_session().get_available_regions("eks")
    assert {region for cloud, region, _, _ in catalogue.prices() if cloud == "aws"} <= set(known)


def test_every_aws_machine_has_its_on_demand_price_but_those_not_sold_so_in_us_east_1() -> None:
    without = {
        name
        for name, machine in catalogue.machines().items()
        if machine.cloud == "aws" and catalogue.price("aws", "us-east-1", name, "on_demand") is None
    }
    assert without == {
        "dl2q.24xlarge",
        "p5e.48xlarge",
        "p6e-gb200.36xlarge",
        "trn2.3xlarge",
        "trn2.48xlarge",
        "trn2u.48xlarge",
    }


@pytest.mark.parametrize(
    ("cloud", "region", "machine", "market"),
    [
        ("aws", "eu-central-1", "p5.48xlarge", "on_demand"),
        ("aws", "us-east-1", "p5.48xlarge", "spot"),
        ("aws", "us-east-1", "p5e.48xlarge", "on_demand"),
        ("aws", "us-east-1", "p5.49xlarge", "on_demand"),
        ("gcp", "us-central1", "p5.48xlarge", "on_demand"),
        ("gcp", "us-central1", "a4-highgpu-8g", "on_demand"),
        ("gcp", "us-central1", "a3-ultragpu-8g", "spot"),
        ("gcp", "us-central1", "a3-highgpu-1g", "on_demand"),
        ("onprem", "", "dgx-h100", "on_demand"),
    ],
)
def test_a_price_that_is_not_known_is_none(cloud: str, region: str, machine: str, market: str) -> None:
    assert catalogue.price(cloud, region, machine, market) is None


@given(st.text(), st.text(), st.text(), st.text())
def test_asking_for_anything_never_fails(cloud: str, region: str, machine: str, market: str) -> None:
    found = catalogue.price(cloud, region, machine, market)
    assert found is None or found.usd_hour > 0


def test_the_placeholders_of_googles_autoscaler_are_not_taken_for_prices() -> None:
    # 140.1 and 98.085 stand there for A3 Ultra, A4 and A4X alike; 0.76 and 0.23 for a g2-standard-4.
    assert not {140.1, 98.085, 0.76, 0.23} & {price.usd_hour for price in catalogue.prices().values()}


# Copied by hand from the clouds' public price pages, in US dollars an hour.
BY_HAND = {
    ("aws", "us-east-1", "m7i.2xlarge", "on_demand"): 0.4032,
    ("aws", "us-east-1", "g4dn.xlarge", "on_demand"): 0.526,
    ("aws", "us-east-1", "g5.xlarge", "on_demand"): 1.006,
    ("aws", "us-east-1", "g6.xlarge", "on_demand"): 0.8048,
    ("aws", "us-east-1", "g6e.12xlarge", "on_demand"): 10.49264,
    ("aws", "us-east-1", "p5.48xlarge", "on_demand"): 55.04,
    ("aws", "us-east-1", "trn1.32xlarge", "on_demand"): 21.50,
    ("aws", "us-east-1", "inf2.xlarge", "on_demand"): 0.7582,
    ("gcp", "us-central1", "a3-highgpu-8g", "on_demand"): 88.49,
}


@pytest.mark.parametrize("sold", BY_HAND, ids="/".join)
def test_a_price_is_the_one_that_the_cloud_publishes(sold: Sold) -> None:
    price = catalogue.price(*sold)
    assert price is not None
    assert price.usd_hour == pytest.approx(BY_HAND[sold], abs=1e-5)


# Google sells these by the part. us-central1, US dollars an hour of a vCPU, a GiB and a GPU:
# kubernetes/autoscaler cloudprovider/gce/gce_price_info.go, and skypilot-org/skypilot-catalog for the GPUs.
PARTS = {
    "e2-standard": (0.02181159, 0.00292353, 0.0),
    "n2-standard": (0.031611, 0.004237, 0.0),
    "g2-standard": (0.024988, 0.002927, 0.56004),
    "a2-highgpu": (0.031611, 0.004237, 2.933908),
}


@pytest.mark.parametrize(
    "name", [n for n, m in catalogue.machines().items() if m.cloud == "gcp" and n.rpartition("-")[0] in PARTS]
)
def test_the_price_of_a_google_machine_is_the_sum_of_its_parts(name: str) -> None:
    machine = catalogue.machine(name)
    cpu, memory, gpu = PARTS[name.rpartition("-")[0]]
    price = catalogue.price("gcp", "us-central1", name, "on_demand")
    assert price is not None
    parts = machine.vcpus * cpu + machine.memory_gib * memory + machine.accelerators * gpu
    assert price.usd_hour == pytest.approx(parts, rel=1e-4)


def test_a_cpu_machine_of_twice_the_size_costs_twice_as_much_on_aws() -> None:
    sizes = ["large", "xlarge", "2xlarge", "4xlarge", "8xlarge"]
    for family in ("c7i", "m6i", "m7i", "r7i"):
        found = [catalogue.price("aws", "us-east-1", f"{family}.{size}", "on_demand") for size in sizes]
        hours = [price.usd_hour for price in found if price]
        assert len(hours) == len(sizes)
        assert hours == pytest.approx([hours[0] * 2**n for n in range(len(sizes))])


def test_a_spot_machine_is_cheaper_than_the_same_on_demand() -> None:
    compared = 0
    for (cloud, region, machine, market), spot in catalogue.prices().items():
        on_demand = catalogue.price(cloud, region, machine, "on_demand")
        if market == "spot" and on_demand:
            compared += 1
            assert spot.usd_hour < on_demand.usd_hour
    assert compared >= 20
