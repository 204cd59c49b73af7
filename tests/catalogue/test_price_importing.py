"""Price lists of others, in the form in which they publish them: only whole prices of whole lists are taken."""

from __future__ import annotations

import csv
import io

import pytest

from gpuyard.catalogue.importing import import_list

AWS_PREAMBLE = (
    ("FormatVersion", "v1.0"),
    ("Disclaimer", "This pricing list is for informational purposes only."),
    ("Publication Date", "2026-09-24T19:47:12Z"),
    ("Version", "20260924194712"),
    ("OfferCode", "AmazonEC2"),
)
P5 = {
    "SKU": "A",
    "TermType": "OnDemand",
    "Unit": "Hrs",
    "PricePerUnit": "55.0400000000",
    "Currency": "USD",
    "Product Family": "Compute Instance",
    "Location Type": "AWS Region",
    "Instance Type": "p5.48xlarge",
    "Tenancy": "Shared",
    "Operating System": "Linux",
    "operation": "RunInstances",
    "CapacityStatus": "Used",
    "GPU": "8",
    "MarketOption": "OnDemand",
    "Pre Installed S/W": "NA",
    "Region Code": "us-east-1",
}
AWS_HEADER = list(P5)
"""The columns of AmazonEC2/current/us-east-1/index.csv that say anything of a machine, in its order."""
GPUHUNT_HEADER = (
    "instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot,disk_size,gpu_vendor,flags,cpu_arch,"
    "provider_data"
)
SKYPILOT_AWS = (
    "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region,AvailabilityZone,Arch"
)
SKYPILOT_GCP = (
    "InstanceType,vCPUs,MemoryGiB,AcceleratorName,AcceleratorCount,GpuInfo,Region,AvailabilityZone,Price,SpotPrice"
)


def offer_file(*rows: dict[str, str], preamble: tuple[tuple[str, str], ...] = AWS_PREAMBLE) -> list[str]:
    """Lines as AWS writes them: every field that says anything is quoted."""
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerows([*preamble, AWS_HEADER, *([row[name] for name in AWS_HEADER] for row in rows)])
    return text.getvalue().splitlines(keepends=True)


def lines(*texts: str) -> list[str]:
    return [f"{text}\n" for text in texts]


def test_the_offer_file_of_ec2_gives_the_price_of_a_linux_machine_on_demand_and_its_day() -> None:
    others = [
        P5 | {"TermType": "Reserved", "PricePerUnit": "30.0"},
        P5 | {"Operating System": "Windows", "PricePerUnit": "60.0"},
        P5 | {"Tenancy": "Dedicated", "PricePerUnit": "58.0"},
        P5 | {"CapacityStatus": "UnusedCapacityReservation", "PricePerUnit": "55.04"},
        P5 | {"Pre Installed S/W": "SQL Web", "operation": "RunInstances:0200", "PricePerUnit": "57.0"},
        P5 | {"Location Type": "AWS Local Zone", "Region Code": "us-east-1-bos-1", "PricePerUnit": "66.0"},
        P5 | {"Instance Type": "x9.unheard-of", "PricePerUnit": "1.0"},
    ]
    found = import_list(offer_file(*others, P5), None)
    assert found.kind == "aws"
    assert list(found.rows) == [("aws", "us-east-1", "p5.48xlarge", "on_demand")]
    price = found.rows["aws", "us-east-1", "p5.48xlarge", "on_demand"]
    assert (price.usd_hour, price.date) == (55.04, "2026-09-24")
    assert price.source == "AWS price list AmazonEC2 20260924194712, Linux"


def test_a_capacity_block_that_the_offer_file_gives_for_nothing_is_no_price() -> None:
    block = P5 | {"MarketOption": "CapacityBlock", "operation": "RunInstances", "PricePerUnit": "0.0000000000"}
    found = import_list(offer_file(block, P5, block), None)
    assert [price.usd_hour for price in found.rows.values()] == [55.04]
    assert sum(found.left_out.values()) == 2


def test_bare_metal_is_a_machine_too() -> None:
    metal = P5 | {
        "Instance Type": "g4dn.metal",
        "Product Family": "Compute Instance (bare metal)",
        "PricePerUnit": "7.824",
    }
    assert ("aws", "us-east-1", "g4dn.metal", "on_demand") in import_list(offer_file(metal), None).rows


@pytest.mark.parametrize("dropped", [1, 40, 150])
def test_an_offer_file_that_is_cut_short_is_refused_whatever_its_last_row_is(dropped: int) -> None:
    for last in (P5, P5 | {"Operating System": "Windows"}):
        text = "".join(offer_file(P5, last)).rstrip("\n")[:-dropped]
        with pytest.raises(ValueError, match="cut short"):
            import_list(text.splitlines(keepends=True), None)


def test_an_offer_file_in_another_currency_is_refused() -> None:
    with pytest.raises(ValueError, match=r"p5.48xlarge is in CNY, and gpuyard counts in US dollars"):
        import_list(offer_file(P5 | {"Currency": "CNY", "Region Code": "cn-north-1"}), None)


def test_an_offer_file_of_another_service_or_without_a_column_is_refused() -> None:
    other = (*AWS_PREAMBLE[:4], ("OfferCode", "AmazonRDS"))
    with pytest.raises(ValueError, match="it is the offer file of 'AmazonRDS'"):
        import_list(offer_file(P5, preamble=other), None)
    renamed = [line.replace('"MarketOption"', '"Market"') for line in offer_file(P5)]
    with pytest.raises(ValueError, match="the columns MarketOption are missing"):
        import_list(renamed, None)


@pytest.mark.parametrize(
    ("first", "said"),
    [
        ('{"formatVersion": "v1.0"}', "it is JSON: give the CSV form"),
        ("a,b,c", "it begins with 'a,b,c'"),
        ("", "it begins with ''"),
    ],
)
def test_what_is_no_price_list_is_refused(first: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        import_list(lines(first), "2026-09-24")


def test_a_catalog_of_gpuhunt_gives_a_price_a_market_and_region() -> None:
    found = import_list(
        lines(
            GPUHUNT_HEADER,
            "p5.48xlarge,us-east-1,55.04,192,2048.0,8,H100,80.0,False,,nvidia,,x86,{}",
            "p5.48xlarge,us-east-1,21.5,192,2048.0,8,H100,80.0,True,,nvidia,,x86,{}",
            "g2-standard-8,us-central1-a,0.853624,8,32.0,1,L4,24.0,False,,nvidia,,x86,{}",
            "g2-standard-8,us-central1-b,0.853624,8,32.0,1,L4,24.0,False,,nvidia,,x86,{}",
        ),
        "2026-08-19",
    )
    assert {sold: price.usd_hour for sold, price in found.rows.items()} == {
        ("aws", "us-east-1", "p5.48xlarge", "on_demand"): 55.04,
        ("aws", "us-east-1", "p5.48xlarge", "spot"): 21.5,
        ("gcp", "us-central1", "g2-standard-8", "on_demand"): 0.853624,
    }
    assert {price.date for price in found.rows.values()} == {"2026-08-19"}


def test_machines_that_gpuhunt_has_for_a_time_or_with_other_accelerators_are_no_machines_on_demand() -> None:
    found = import_list(
        lines(
            GPUHUNT_HEADER,
            'a3-highgpu-8g,us-central1-a,40.0,208,1872.0,8,H100,80.0,False,,nvidia,gcp-dws-calendar-mode,x86,"{""a"": 1}"',
            "e2-standard-8,us-central1-a,9.9,8,32.0,1,T4,16.0,False,,nvidia,,x86,{}",
        ),
        "2026-08-19",
    )
    assert found.rows == {}
    assert sorted(found.left_out) == [
        "another number of accelerators than the machine has",
        "reserved for a time (calendar mode)",
    ]


def test_a_vms_csv_of_skypilot_gives_the_highest_price_of_a_regions_zones() -> None:
    found = import_list(
        lines(
            SKYPILOT_AWS,
            "g6.xlarge,L4,1.0,4.0,16.0,x,0.8048,0.301,us-east-1,use1-az1,x86_64",
            "g6.xlarge,L4,1.0,4.0,16.0,x,0.8048,0.412,us-east-1,use1-az2,x86_64",
            "g6.xlarge,L4,1.0,4.0,16.0,x,0.8048,,us-east-2,use2-az1,x86_64",
        ),
        "2026-11-01",
    )
    assert {sold[1:]: price.usd_hour for sold, price in found.rows.items()} == {
        ("us-east-1", "g6.xlarge", "on_demand"): 0.8048,
        ("us-east-1", "g6.xlarge", "spot"): 0.412,
        ("us-east-2", "g6.xlarge", "on_demand"): 0.8048,
    }


def test_a_google_machine_costs_what_skypilot_says_of_it_and_of_its_accelerators() -> None:
    found = import_list(
        lines(
            SKYPILOT_GCP,
            "a2-highgpu-1g,12.0,85.0,,,,us-central1,us-central1-a,0.73948,0.36975",
            "a2-highgpu-8g,96.0,680.0,,,,us-central1,us-central1-a,5.91582,2.958",
            "a2-ultragpu-1g,12.0,170.0,,,,us-central1,us-central1-a,1.09962,0.54978",
            "e2-standard-8,8.0,32.0,,,,us-central1,us-central1-a,0.26804,0.09",
            ",,,A100,1,x,us-central1,us-central1-a,2.93391,1.46695",
            ",,,A100-80GB,1,x,us-central1,us-central1-a,3.92808,1.57",
        ),
        "2026-11-01",
    )
    prices = {sold[2:]: price.usd_hour for sold, price in found.rows.items()}
    assert prices[("a2-highgpu-1g", "on_demand")] == pytest.approx(3.67339), (
        "0.73948 is that of its vCPUs and memory alone"
    )
    assert prices[("e2-standard-8", "on_demand")] == 0.26804
    assert ("a2-highgpu-8g", "on_demand") not in prices, "no row has the price of eight A100"
    assert ("a2-ultragpu-1g", "on_demand") not in prices, "its local disk is in no row"
    assert found.left_out["its price lacks that of its accelerators or local disks"] == 2


@pytest.mark.parametrize("header", [GPUHUNT_HEADER, SKYPILOT_AWS])
def test_a_catalog_that_says_no_day_needs_one(header: str) -> None:
    with pytest.raises(ValueError, match="says no day: give --date"):
        import_list(lines(header), None)


def test_a_catalog_that_is_cut_short_is_refused() -> None:
    with pytest.raises(ValueError, match="a row has 3 of 14 columns"):
        import_list(lines(GPUHUNT_HEADER, "p5.48xlarge,us-east-1,55.04"), "2026-08-19")


@pytest.mark.parametrize("price", ["", "x", "nan", "inf", "-1"])
def test_a_price_that_is_none_is_refused(price: str) -> None:
    with pytest.raises(ValueError, match="is no price"):
        import_list(offer_file(P5 | {"PricePerUnit": price}), None)


def test_a_machine_of_tpu_costs_what_a_lists_slices_cost_by_the_chip() -> None:
    # Rows of skypilot-catalog v8, and of gpuhunt's catalog.
    skypilot = import_list(
        lines(
            SKYPILOT_GCP,
            ",,,tpu-v6e-16,1,tpu-v6e-16,us-central1,us-central1-a,43.2,8.70733",
            ",,,tpu-v6e-32,1,tpu-v6e-32,us-central1,us-central1-a,86.4,17.41466",
            ",,,tpu-v6e-32,1,tpu-v6e-32,us-central1,us-central1-b,86.4,17.41466",
            ",,,tpu-v6e-256,1,tpu-v6e-256,us-central1,us-central1-b,691.2,139.31725",
            ",,,tpu-v5p-8,1,tpu-v5p-8,us-east5,us-east5-a,16.8,",
            ",,,tpu-v5p-16,1,tpu-v5p-16,us-east5,us-east5-a,33.6,",
        ),
        "2026-11-01",
    )
    assert {sold[1:]: price.usd_hour for sold, price in skypilot.rows.items()} == {
        ("us-central1", "ct6e-standard-1t", "on_demand"): 2.7,
        ("us-central1", "ct6e-standard-4t", "on_demand"): 10.8,
        ("us-central1", "ct6e-standard-8t", "on_demand"): 21.6,
        ("us-central1", "ct6e-standard-1t", "spot"): pytest.approx(0.544208),
        ("us-central1", "ct6e-standard-4t", "spot"): pytest.approx(2.176832),
        ("us-central1", "ct6e-standard-8t", "spot"): pytest.approx(4.353664),
        ("us-east5", "ct5p-hightpu-4t", "on_demand"): 16.8,
    }, "v5p-8 has four chips, for its name counts cores"
    gpuhunt = import_list(
        lines(GPUHUNT_HEADER, "v5litepod-8,us-west4-a,9.6,224,384.0,1,v5litepod-8,128.0,False,,google,,x86,{}"),
        "2026-11-01",
    )
    assert {sold[2]: price.usd_hour for sold, price in gpuhunt.rows.items()} == {
        "ct5lp-hightpu-1t": 1.2,
        "ct5lp-hightpu-4t": 4.8,
        "ct5lp-hightpu-8t": 9.6,
    }
    assert {price.source for price in gpuhunt.rows.values()} == {"gpuhunt catalog, by the chip"}


def test_a_figure_that_stands_for_no_price_of_a_tpu_is_none() -> None:
    found = import_list(
        lines(
            SKYPILOT_GCP,
            ",,,tpu-v6e-16,1,tpu-v6e-16,asia-east1,asia-east1-c,700.0,700.0",
            ",,,tpu-v6e-32,1,tpu-v6e-32,asia-east1,asia-east1-c,700.0,700.0",
            ",,,tpu-v6e-32,1,tpu-v6e-32,us-south1,us-south1-a,700.0,",
            ",,,tpu-v3-8,1,tpu-v3-8,us-central1,us-central1-a,8.0,2.4",
        ),
        "2026-11-01",
    )
    assert found.rows == {}
    assert found.left_out == {"slices of TPU do not agree on the price of a chip": 9}


def test_the_price_on_demand_of_a_machine_that_is_only_reserved_is_what_its_reservation_costs() -> None:
    row = "a3-ultragpu-8g,us-central1-a,84.8,224,2952.0,8,H200,141.0,False,,nvidia,,x86,{}"
    found = import_list(lines(GPUHUNT_HEADER, row), "2026-11-01")
    assert ("gcp", "us-central1", "a3-ultragpu-8g", "on_demand") in found.rows
    alone = "a3-highgpu-1g,us-central1-a,11.0,26,234.0,1,H100,80.0,False,,nvidia,,x86,{}"
    assert import_list(lines(GPUHUNT_HEADER, alone), "2026-11-01").left_out == {"not sold as on_demand": 1}
