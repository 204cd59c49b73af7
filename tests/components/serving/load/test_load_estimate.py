"""The bound, and estimates from what was measured near by."""

from __future__ import annotations

import dataclasses
import statistics

import pytest

from gpuyard.catalogue.throughput import Measurement, measurements
from gpuyard.components.serving.load import roofline
from gpuyard.components.serving.load.estimate import errors, estimate
from gpuyard.components.serving.load.roofline import Conditions
from gpuyard.components.serving.load.speed import largest_batch, speed, weights_format

LLAMA = Conditions("meta-llama/Llama-3.3-70B-Instruct", "H100-80", 2, "vllm", "fp8", 1024, 1024)


def conditions(row: Measurement) -> Conditions:
    return Conditions(
        row.model, row.accelerator, row.accelerators, row.engine, row.weights, row.input, row.output, row.data
    )


@pytest.mark.parametrize("row", measurements(), ids=lambda row: f"{row.model}-{row.accelerator}-{row.tokens_second}")
def test_nothing_that_was_measured_is_faster_than_the_bound(row: Measurement) -> None:
    counts = [row.concurrency] if row.concurrency else [1 << power for power in range(5, 15)]
    bound = max(count * row.output / roofline.seconds(conditions(row), count) for count in counts)
    assert row.tokens_second <= bound / row.accelerators


def test_the_bound_of_a_dense_model_is_its_weights_read_once_a_token() -> None:
    one = dataclasses.replace(LLAMA, accelerators=1, weights="fp8", input=1, output=1000)
    # 69.502e9 bytes of weights, without the table of embeddings, and 500.5 tokens * 163,840 bytes of cache at 3,350 GB/s, and one token's 139 GFLOP.
    assert roofline.seconds(one, 1) == pytest.approx(1000 * (69.502e9 + 501 * 163_840) / 3.35e12, rel=1e-4)


def test_a_mixture_of_experts_reads_few_experts_for_one_request_and_nearly_all_for_many() -> None:
    one = Conditions("openai/gpt-oss-120b", "H100-80", 1, "vllm", "fp4", 1, 1000)
    alone, many = roofline.seconds(one, 1), roofline.seconds(one, 256)
    assert alone == pytest.approx(1000 * 5.131e9 / 2 / 3.35e12, rel=0.05)
    assert many > 10 * alone


def test_an_answer_takes_longer_the_more_are_in_flight_and_the_fewer_accelerators_there_are() -> None:
    times = [roofline.seconds(LLAMA, count) for count in (1, 2, 8, 64, 512)]
    assert times == sorted(times)
    assert roofline.seconds(dataclasses.replace(LLAMA, accelerators=4), 8) < roofline.seconds(LLAMA, 8)


def test_a_measured_point_is_estimated_from_itself_and_its_neighbours_and_one_left_out_is_not() -> None:
    found = estimate(LLAMA, 64)
    assert found.basis == "measured"
    assert (found.from_[0].accelerator, found.from_[0].accelerators, found.from_[0].weights) == ("H100-80", 2, "fp8")
    for error in errors("measured"):
        assert error.estimated <= error.bound
        others = [e for e in errors("measured") if dataclasses.replace(e.measurement, model="", source="", date="") == dataclasses.replace(error.measurement, model="", source="", date="")]  # fmt: skip
        assert len({e.estimated for e in others}) == 1  # One run under two names never sees itself.


def test_estimates_are_no_worse_than_the_documentation_says() -> None:
    same, others = ([abs(error.error) for error in errors(basis)] for basis in ("measured", "like"))
    assert len(same) == len(others) == 64
    assert statistics.median(same) <= 0.21
    assert max(same) <= 2.2
    assert statistics.median(others) <= 0.23


def test_a_model_that_nobody_measured_is_taken_to_be_as_near_to_its_bound_as_others() -> None:
    found = estimate(dataclasses.replace(LLAMA, model="Qwen/Qwen3-32B", accelerator="L40S"), 16)
    assert found.basis == "like"
    assert found.low < 1 < found.high
    with pytest.raises(roofline.UnknownBound, match="--measured"):
        estimate(dataclasses.replace(LLAMA, model="nobody/model"), 16)
    with pytest.raises(roofline.UnknownBound, match="T4 has no bandwidth"):
        estimate(dataclasses.replace(LLAMA, accelerator="T4"), 16)


def test_a_batch_is_what_memory_holds_beside_the_weights() -> None:
    # (2 * 79.19 GiB * 0.9 - 70.552e9 bytes) / (2048 tokens * 163,840 bytes)
    assert largest_batch(LLAMA) == 245
    with pytest.raises(ValueError, match="do not fit into 1 x H100-80"):
        largest_batch(dataclasses.replace(LLAMA, accelerators=1, weights="bf16"))
    assert speed(LLAMA).curve.points[-1].concurrency == 245


@pytest.mark.parametrize(
    ("quantization", "expected"),
    [
        (None, "bf16"),
        ("fp8", "fp8"),
        ("mxfp8", "fp8"),
        ("modelopt_fp4", "fp4"),
        ("awq", "int4"),
        ("gptq_marlin", "int4"),
    ],
)
def test_the_engines_name_of_a_quantization_says_its_bits(quantization: str | None, expected: str) -> None:
    assert weights_format(quantization, "bf16") == expected


def test_a_quantization_of_unknown_bits_is_refused() -> None:
    with pytest.raises(ValueError, match="'mystery': how many bits"):
        weights_format("mystery", "bf16")
