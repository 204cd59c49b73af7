"""`gpuyard machines`: what it lists, what an hour costs there, and what it says where nothing matches."""

from __future__ import annotations

import json
from typing import Any

import pytest
from command import Answer, gpuyard
from pydantic import ValidationError

from gpuyard import catalogue
from gpuyard.components.node_groups.aws import NodeGroupSpec


def listed(*arguments: str) -> list[dict[str, Any]]:
    answer = gpuyard("machines", *arguments, "--format", "json")
    assert answer.code == 0, answer.err
    found: list[dict[str, Any]] = json.loads(answer.out)
    return found


def names(*arguments: str) -> set[str]:
    return {one["name"] for one in listed(*arguments)}


def lines(answer: Answer, name: str) -> list[str]:
    return next(line.split() for line in answer.out.splitlines() if line.startswith(f"{name} "))


def test_without_a_filter_every_machine_is_listed_in_the_catalogues_order() -> None:
    assert [one["name"] for one in listed()] == list(catalogue.machines())


def test_every_filter_must_match_and_case_does_not_matter() -> None:
    machines = catalogue.machines().values()
    assert names("H100") == {m.name for m in machines if "h100" in f"{m.name} {m.accelerator}".lower()}
    assert names("h100", "GCP") == {name for name in names("h100") if catalogue.machine(name).cloud == "gcp"}
    assert names("amd.com") == names("amd") == {m.name for m in machines if m.resource == "amd.com/gpu"}
    assert names("tpu", "v6E") == {"ct6e-standard-1t", "ct6e-standard-4t", "ct6e-standard-8t"}
    assert names("habana.ai/gaudi") == names("intel") == names("gaudi")
    assert names("aws", "neuron") == names("neuron")
    assert names("l40s", "--cloud", "aws") == {name for name in names("l40s") if name.startswith("g6e.")}


def test_a_machine_says_what_it_has_and_what_runs_there() -> None:
    (one,) = listed("p6-b300")
    assert one["price"].pop("source")
    assert one == {
        "name": "p6-b300.48xlarge",
        "cloud": "aws",
        "architecture": "amd64",
        "accelerator": "B300",
        "accelerators": 8,
        "accelerator_memory_gib": 267.69,
        "vendor": "nvidia",
        "resource": "nvidia.com/gpu",
        "vcpus": 192,
        "memory_gib": 4096,
        "local_disk_gb": 30400,
        "network_gbps": 6400,
        "fabric": {"kind": "efa", "interfaces": 16},
        "partitions": ["1g.34gb", "1g.34gb+me", "1g.67gb", "2g.67gb", "3g.135gb", "4g.135gb", "7g.269gb"],
        "purchase": ["on_demand", "spot", "reservation", "capacity_block"],
        "engines": ["triton", "vllm"],
        "refused": None,
        "price": {
            "usd_hour": 142.416,
            "usd_accelerator_hour": pytest.approx(17.802),
            "region": "us-east-1",
            "date": "2026-07-20",
        },
    }


def test_what_is_not_known_is_null_and_never_zero() -> None:
    machines = {one["name"]: one for one in listed()}
    generic = machines["onprem-b200-x8"]
    assert [generic[key] for key in ("vcpus", "memory_gib", "network_gbps", "price", "fabric")] == [None] * 5
    assert machines["p5e.48xlarge"]["price"] is None
    cpu = machines["m7i.2xlarge"]
    assert (cpu["accelerator_memory_gib"], cpu["price"]["usd_accelerator_hour"], cpu["engines"]) == (None, None, [])
    # Gaudi: what a process sees is not known, what EC2 says is.
    assert machines["dl1.24xlarge"]["accelerator_memory_gib"] == 32
    assert machines["onprem-gaudi3-x8"]["accelerator_memory_gib"] is None


@pytest.mark.parametrize("region", [None, "us-east-1", "eu-central-1"])
def test_a_price_is_the_least_of_all_regions_or_that_of_the_region(region: str | None) -> None:
    for one in listed("aws", *(["--region", region] if region else [])):
        known = {
            where: price.usd_hour
            for (_, where, machine, market), price in catalogue.prices().items()
            if machine == one["name"] and market == "on_demand" and where == (region or where)
        }
        price = one["price"]
        assert (price and price["usd_hour"]) == (min(known.values()) if known else None)
        if price:
            assert known[price["region"]] == price["usd_hour"]


@pytest.mark.parametrize("width", [80, 120])
def test_the_table_fits_the_terminal_and_cuts_off_nothing(width: int) -> None:
    answer = gpuyard("machines", COLUMNS=str(width))
    assert answer.code == 0
    assert max(map(len, answer.out.splitlines())) <= width
    assert "…" not in answer.out
    for name, machine in catalogue.machines().items():
        cells = lines(answer, name)
        if machine.accelerator:
            assert cells[1] == str(machine.accelerators)
    assert lines(answer, "p5.48xlarge")[1:10] == ["8", "H100-80", "79.2", "192", "2048", "3200", "6.880", "DSRB"] + (
        ["triton,"] if width == 120 else []
    )
    assert lines(answer, "a4x-highgpu-4g")[1:9] == ["4", "GB200", "184.3", "140", "884", "2000", "?", "R"]
    assert lines(answer, "onprem-h100-80-x8")[1:9] == ["8", "H100-80", "79.2", "?", "?", "?", "-", "-"]
    assert "D on demand, S spot, R reservation, B capacity block, F flex start" in answer.out
    assert ("runs on nvidia.com/gpu: triton, vllm" in answer.out) == (width == 80)


def test_a_filter_that_matches_nothing_is_wrong_input_and_names_what_is_near() -> None:
    answer = gpuyard("machines", "h1000")
    assert (answer.code, answer.out) == (2, "")
    assert "no machine matches 'h1000'" in answer.err
    assert "nearest: H100-80" in answer.err
    answer = gpuyard("machines", "p5.48xlarg", "aws", "--cloud", "gcp")
    assert answer.code == 2
    assert "no machine of gcp matches 'p5.48xlarg aws'" in answer.err
    assert "p5.48xlarge" not in answer.err


def test_a_region_that_nobody_knows_is_wrong_input_and_names_what_is_near() -> None:
    answer = gpuyard("machines", "h100", "--region", "us-est-1")
    assert (answer.code, answer.out) == (2, "")
    assert "--region us-est-1" in answer.err
    assert "us-east-1" in answer.err
    assert gpuyard("machines", "h100", "--cloud", "azure").code == 2


def test_what_a_machine_is_for_is_what_a_stack_may_use_it_for() -> None:
    """The list asks what refuses: a machine that each node group is refused runs nothing."""
    found = {one["name"]: one for one in listed()}
    assert {name for name, one in found.items() if one["refused"]} == {"dl1.24xlarge", "dl2q.24xlarge"}
    for one in found.values():
        if one["cloud"] != "aws":
            continue
        refusals = [_refused(one["name"], system) for system in ("al2023", "bottlerocket")]
        assert one["refused"] is None or all(refusals), one["name"]
        assert one["refused"] or None in refusals, one["name"]
        assert one["refused"] is None or one["refused"] in str(refusals[0])
        assert not (one["refused"] and one["engines"])
    gpus = {name for name, one in found.items() if one["resource"] == "nvidia.com/gpu" and not one["engines"]}
    assert gpus == {"p3dn.24xlarge"}, "the images of both engines begin with compute capability 7.5"


def test_the_table_says_what_no_node_group_can_have() -> None:
    assert "in no node group: machine dl1.24xlarge has Gaudi" in gpuyard("machines", "dl1", COLUMNS="160").out
    assert "in no node group" not in gpuyard("machines", "g7", "g6f").out


def _refused(machine: str, system: str) -> str | None:
    purchase = catalogue.machine(machine).purchase[0]
    window = {"start": "2026-12-01T11:30:00Z", "end": "2026-12-15T11:30:00Z"}
    reserved = {"id": "cr-0123456789abcdef0", "zone": "us-east-1a", "count": 4}
    capacity = {"kind": purchase} if purchase == "on_demand" else {"kind": purchase, **reserved, **window}
    try:
        NodeGroupSpec.model_validate(
            {"machine": machine, "os": system, "nodes": {"min": 0, "max": 4}, "capacity": capacity}
        )
    except ValidationError as error:
        return str(error)
    return None
