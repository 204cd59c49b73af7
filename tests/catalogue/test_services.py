"""Prices of what is no machine, prices of one's own, and how long EKS supports a version."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest

from gpuyard import catalogue
from gpuyard.catalogue.pricing import read_prices

HEADER = "cloud,region,machine,market,usd_hour,source,date,machines\n"


@pytest.mark.parametrize("key", catalogue.service_prices(), ids="/".join)
def test_a_price_of_a_service_has_a_unit_a_source_and_a_day(key: tuple[str, str, str]) -> None:
    price = catalogue.service_prices()[key]
    assert price.unit in ("hour", "month")
    assert 0.001 < price.usd < 1
    assert len(price.source) > 20
    assert date.fromisoformat(price.date)


def test_the_services_that_cost_most_have_their_known_prices() -> None:
    # As the clouds' price pages have them, in US dollars.
    for cloud, region, service, usd in (
        ("aws", "us-east-1", "nat_gateway", 0.045),
        ("aws", "us-east-1", "gp3_gib", 0.08),
        ("aws", "eu-west-1", "control_plane", 0.10),
        ("gcp", "us-central1", "pd-balanced_gib", 0.10),
        ("gcp", None, "control_plane", 0.10),
    ):
        price = catalogue.service_price(cloud, region, service)
        assert price is not None
        assert price.usd == usd
    assert catalogue.service_price("aws", "eu-west-1", "nat_gateway") is None
    assert catalogue.service_price("aws", None, "nat_gateway") is None


def test_versions_of_eks_leave_standard_support_one_after_the_other() -> None:
    until = [catalogue.eks_versions()[f"1.{minor}"].standard_until for minor in range(29, 37)]
    assert until == sorted(until)
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", day) for day in until)
    assert catalogue.eks_version("1.28") is None


def test_a_file_of_ones_own_is_read_as_it_is_documented(tmp_path: Path) -> None:
    file = tmp_path / "prices.csv"
    file.write_text(
        f"{HEADER}aws,us-east-1,p5.48xlarge,capacity_block,31.464,an offering of 2026-11-01,2026-11-01,\n"
        "aws,us-east-1,p5.48xlarge,committed,38.5,three years,2026-01-01,4\n"
    )
    found = read_prices(file)
    assert found["aws", "us-east-1", "p5.48xlarge", "capacity_block"].usd_hour == 31.464
    assert found["aws", "us-east-1", "p5.48xlarge", "committed"].machines == 4


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("aws,us-east-1,p5.48xlarge,reservation,1,s,2026-01-01,", "a reservation is charged at the on_demand price"),
        ("aws,us-east-1,p5.48xlarge,sport,1,s,2026-01-01,", "market 'sport' has no price"),
        ("aws,us-east-1,p5.48xlarge,spot,0,s,2026-01-01,", "usd_hour 0 is no price"),
        ("aws,us-east-1,p5.48xlarge,spot,nan,s,2026-01-01,", "usd_hour nan is no price"),
        ("aws,us-east-1,p5.48xlarge,spot,12 USD,s,2026-01-01,", "could not convert"),
        ("aws,us-east-1,p5.48xlarge,spot,1,,2026-01-01,", "source must be given"),
        ("aws,us-east-1,p5.48xlarge,spot,1,s,today,", "date 'today' is no day"),
        ("aws,us-east-1,p5.48xlarge,spot,1,s,2026-13-01,", "month must be in 1..12"),
        ("aws,us-east-1,p5.48xlarge,committed,1,s,2026-01-01,", "a committed price, and no other, says how many"),
        ("aws,us-east-1,p5.48xlarge,spot,1,s,2026-01-01,3", "a committed price, and no other, says how many"),
        ("aws,us-east-1,p5.48xlarge,committed,1,s,2026-01-01,some", "machines 'some' is no number"),
        ("aws,us-east-1", "another number of columns"),
    ],
)
def test_a_wrong_row_of_ones_own_names_its_line(tmp_path: Path, row: str, said: str) -> None:
    file = tmp_path / "prices.csv"
    file.write_text(f"{HEADER}{row}\n")
    with pytest.raises(ValueError, match=r"prices.csv line 2: .*" + re.escape(said)):
        read_prices(file)


def test_a_file_of_ones_own_without_the_columns_or_that_is_no_text_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "prices.csv"
    file.write_text("cloud,region,machine\n")
    with pytest.raises(ValueError, match="the columns market, usd_hour, source, date are missing"):
        read_prices(file)
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="is no CSV file in UTF-8"):
        read_prices(file)
    file.write_text(f"{HEADER}" + "aws,us-east-1,a,spot,1,s,2026-01-01,\n" * 2)
    with pytest.raises(ValueError, match="has a row already"):
        read_prices(file)
