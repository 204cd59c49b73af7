"""Measured throughput of language models, and the figures that bound what an accelerator can reach."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from gpuyard.catalogue.tables import load, number


@dataclass(frozen=True, slots=True)
class Measurement:
    """What a server of a model gave, and under which conditions."""

    model: str
    """Id on Hugging Face."""
    accelerator: str
    """A key of the accelerators."""
    engine: str
    """vllm, sglang or tensorrt-llm."""
    version: str
    """Of the engine; empty where the source says none."""
    weights: str
    """Format of the weights: bf16, fp8, fp4 or int4."""
    input: int
    """Tokens of each request."""
    output: int
    """Tokens of each answer."""
    accelerators: int
    """That one server used."""
    tensor: int
    expert: int
    data: int
    """Parallel layout: tensor, expert, and data parallel attention."""
    kind: str
    """serving: clients that each wait for their answer. maximum: as many requests as the publisher found best, without
    regard to latency."""
    concurrency: int | None
    """Requests in flight; None where the source does not say it."""
    ttft_ms: float | None
    """Mean time to the first token, ms."""
    tpot_ms: float | None
    """Mean time between two tokens, ms."""
    tokens_second: float
    """Output tokens a second of one accelerator. Of kind serving: concurrency * output / (time to first token + time
    between tokens * (output - 1)) / accelerators."""
    source: str
    date: str
    """The day of the measurement, or on which the source was read, YYYY-MM-DD."""


@dataclass(frozen=True, slots=True)
class Peak:
    """The most that an accelerator does, as its maker says; no program reaches it."""

    accelerator: str
    bandwidth_gbs: float
    """Of its memory, GB/s of 1e9 bytes; where sources disagree, the greater."""
    tflops_16: float
    """Dense, at 16 bits a number."""
    tflops_8: float | None
    """Dense, at 8 bits of floating point; None where it has none."""
    tflops_4: float | None
    """Dense, at 4 bits of floating point; None where it has none."""
    source: str
    date: str
    """The day that the source was read, YYYY-MM-DD."""


@dataclass(frozen=True, slots=True)
class Decoding:
    """What a model reads and multiplies for each token."""

    model: str
    """Id on Hugging Face."""
    parameters_b: float
    """All parameters, in units of 1e9."""
    active_b: float
    """Parameters that one token uses, without the table of embeddings, in units of 1e9."""
    experts: int | None
    """Experts of a layer, of which a token uses some; None for a model that has none."""
    cache_bytes: int
    """Bytes of key-value cache a token of context at 16 bits, of layers that see all of it; one copy."""
    window_bytes: int
    """The same of layers that see the last `window` tokens alone."""
    window: int | None
    source: str
    date: str
    """The day that the source was read, YYYY-MM-DD."""


@cache
def measurements() -> tuple[Measurement, ...]:
    """Every measurement, in the order of the table."""
    return tuple(load("throughput.csv", _measurement).values())


@cache
def peaks() -> Mapping[str, Peak]:
    """The peaks by accelerator."""
    return load("peaks.csv", _peak)


@cache
def decodings() -> Mapping[str, Decoding]:
    """What decoding takes, by model."""
    return load("decoding.csv", _decoding)


def _measurement(columns: dict[str, str]) -> tuple[str, Measurement]:
    concurrency = number(columns["concurrency"])
    row = Measurement(
        model=columns["model"],
        accelerator=columns["accelerator"],
        engine=columns["engine"],
        version=columns["version"],
        weights=columns["weights"],
        input=int(columns["input"]),
        output=int(columns["output"]),
        accelerators=int(columns["accelerators"]),
        tensor=int(columns["tensor"]),
        expert=int(columns["expert"]),
        data=int(columns["data"]),
        kind=columns["kind"],
        concurrency=None if concurrency is None else int(concurrency),
        ttft_ms=number(columns["ttft_ms"]),
        tpot_ms=number(columns["tpot_ms"]),
        tokens_second=float(columns["tokens_second"]),
        source=columns["source"],
        date=columns["date"],
    )
    # One source has several measurements, so a row is its own key.
    return repr(row), row


def _peak(columns: dict[str, str]) -> tuple[str, Peak]:
    row = Peak(
        accelerator=columns["accelerator"],
        bandwidth_gbs=float(columns["bandwidth_gbs"]),
        tflops_16=float(columns["tflops_16"]),
        tflops_8=number(columns["tflops_8"]),
        tflops_4=number(columns["tflops_4"]),
        source=columns["source"],
        date=columns["date"],
    )
    return row.accelerator, row


def _decoding(columns: dict[str, str]) -> tuple[str, Decoding]:
    window, experts = number(columns["window"]), number(columns["experts"])
    row = Decoding(
        model=columns["model"],
        parameters_b=float(columns["parameters_b"]),
        active_b=float(columns["active_b"]),
        experts=None if experts is None else int(experts),
        cache_bytes=int(columns["cache_bytes"]),
        window_bytes=int(columns["window_bytes"]),
        window=None if window is None else int(window),
        source=columns["source"],
        date=columns["date"],
    )
    return row.model, row
