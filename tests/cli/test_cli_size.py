"""`gpuyard size`: what it says, and its refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import gpuyard

FRAUD = Path(__file__).parents[2] / "examples" / "fraud-scoring"
MACHINE = ("--model", "meta-llama/Llama-3.3-70B-Instruct", "--engine", "vllm", "--machine", "p5.48xlarge")
LOAD = ("--rps", "20", "--input", "1024", "--output", "256", "--p99", "20s")
SHARED = ("qwen3-32b", "--stack", "serving", *LOAD)


def test_an_endpoint_is_sized_and_priced_by_its_stack() -> None:
    answer = gpuyard("size", *SHARED, "--rps", "4", "--format", "json")
    assert answer.code == 0, answer.err
    found = json.loads(answer.out)
    assert found["machine"] == "g6e.12xlarge"
    assert found["basis"]["kind"] == "like"
    assert found["plan"]["p99"] <= 20
    # Of somebody else's nodes, one pays for what one takes: accelerators, at the stack's own price.
    assert found["cost"]["usd_month"] == pytest.approx(found["cost"]["accelerators"] / 4 * 10.5 * 730, abs=0.01)


def test_the_reference_load_bears_a_lost_zone_in_the_simulation_too() -> None:
    answer = gpuyard(
        "size", "fraud-score", "--program", FRAUD, "--rps", "100000", "--p99", "50ms", "--simulate", "--format", "json",
        "--measured", FRAUD / "assumed.csv",
    )  # fmt: skip
    assert answer.code == 0, answer.err
    found = json.loads(answer.out)
    assert found["load"]["zones"] == 3
    stack = (FRAUD / "Pulumi.prod-fraud.yaml").read_text()
    assert f"replicas: {{min: {found['plan']['replicas']}, max: {found['plan']['replicas']}}}" in stack
    (lost,) = [one for one in found["simulation"] if one["event"] == "zone lost"]
    assert lost["p99"] <= 0.05
    assert lost["again"] > 0


def test_without_a_stack_a_machine_is_enough() -> None:
    answer = gpuyard("size", *MACHINE, *LOAD, "--tensor-parallel", "2", "--quantization", "fp8")
    assert answer.code == 0, answer.err
    assert "eight of ten such estimates" in answer.out
    assert "?, for the machine's price is not known there: give --region" in " ".join(answer.out.split())


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ((*SHARED, "--p99", "50ms"), "50 ms is out of reach of any number of replicas"),
        (("nobody", *LOAD), "endpoint 'nobody' is in no stack: give one that is (dev: "),
        (("fraud-score", "--stack", "prod-aws", *LOAD), "give its table by --measured"),
        (("qwen3-32b", "--rps", "1", "--p99", "1s"), "give --input and --output"),
        (("qwen3-32b", *LOAD, "--input", "90000"), "more than the 40960 of Qwen/Qwen3-32B"),
        (("qwen3-32b", *MACHINE, *LOAD), "give an ENDPOINT of a stack, or else --model, --engine and --machine"),
        (LOAD, "give an ENDPOINT of a stack, or else --model, --engine and --machine"),
        ((*MACHINE, *LOAD, "--machine", "p9.huge"), "machine 'p9.huge' is not in the catalogue"),
        ((*MACHINE, *LOAD, "--machine", "m7i.2xlarge"), "--machine m7i.2xlarge: has no accelerator"),
        ((*MACHINE, *LOAD, "--engine", "nobody"), "nobody"),
        ((*MACHINE, *LOAD, "--region", "mars"), "--region mars: no such region"),
        ((*MACHINE, *LOAD, "--model", "nobody/model"), "the catalogue does not know nobody/model"),
        ((*MACHINE, *LOAD, "--quantization", "odd"), "'odd': how many bits"),
        ((*MACHINE, *LOAD), "do not fit into 1 x H100-80"),
        ((*MACHINE, *LOAD, "--tensor-parallel", "16"), "a replica takes 16 accelerators"),
        ((*SHARED, "--measured", "nowhere.csv"), "nowhere.csv: No such file or directory"),
        ((*SHARED, "--p99", "50"), "'50' is no time above 0"),
        ((*SHARED, "--p99", "0s"), "'0s' is no time above 0"),
        ((*SHARED, "--rps", "nan"), "--rps"),
        ((*SHARED, "--rps", "0"), "--rps"),
    ],
)
def test_what_cannot_be_sized_is_one_error(arguments: tuple[str, ...], why: str) -> None:
    answer = gpuyard("size", *arguments)
    assert answer.code == 2, answer.out
    assert why in " ".join(answer.err.split())
    assert "Traceback" not in answer.err
    assert answer.out == ""
