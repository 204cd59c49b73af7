"""Measured throughput, and what bounds it."""

from __future__ import annotations

import re

import pytest

from gpuyard import catalogue
from gpuyard.catalogue.throughput import Measurement, decodings, measurements, peaks


@pytest.mark.parametrize("row", measurements(), ids=lambda row: f"{row.model}-{row.accelerator}-{row.tokens_second}")
def test_a_measurement_says_its_conditions_and_its_source(row: Measurement) -> None:
    assert row.accelerator in catalogue.accelerators()
    assert row.engine in ("vllm", "sglang", "tensorrt-llm")
    assert row.weights in ("bf16", "fp8", "fp4", "int4")
    assert row.source
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", row.date)
    assert (row.kind == "serving") == (row.concurrency is not None)


@pytest.mark.parametrize(
    "row", [r for r in measurements() if r.concurrency], ids=lambda r: f"{r.model}-{r.accelerator}-{r.tokens_second}"
)
def test_the_throughput_of_a_served_model_follows_from_its_latencies(row: Measurement) -> None:
    assert row.concurrency
    assert row.ttft_ms
    assert row.tpot_ms
    answer = (row.ttft_ms + row.tpot_ms * (row.output - 1)) / 1e3
    assert row.tokens_second == pytest.approx(row.concurrency * row.output / answer / row.accelerators, rel=1e-3)


def test_peaks_and_decodings_are_of_what_the_catalogue_has_and_smaller_numbers_are_never_slower() -> None:
    for name, peak in peaks().items():
        assert name in catalogue.accelerators()
        assert peak.tflops_16 <= (peak.tflops_8 or peak.tflops_16) <= (peak.tflops_4 or float("inf"))
    for row in decodings().values():
        assert 0 < row.active_b <= row.parameters_b
        known = catalogue.model(row.model)
        assert known is None or row.parameters_b == pytest.approx(known.parameters_b, rel=0.02)
        # Without experts a token uses all but the table of embeddings.
        assert (row.experts is None) == (row.active_b > 0.9 * row.parameters_b)
        assert (row.window is None) == (row.window_bytes == 0)
