"""The least time that a model takes on accelerators, from what it must read and multiply. Nothing is faster."""

from __future__ import annotations

from dataclasses import dataclass

from gpuyard.catalogue.throughput import Decoding, Peak, decodings, peaks

BITS = {"fp32": 32, "bf16": 16, "fp16": 16, "fp8": 8, "int8": 8, "fp4": 4, "mxfp4": 4, "nvfp4": 4, "int4": 4}
"""Bits of a weight in each format, without its scales: a bound must not count more than every loader reads."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """One server of a model, and the requests that it gets."""

    model: str
    """Id on Hugging Face."""
    accelerator: str
    """A key of the accelerators."""
    accelerators: int
    """That one server uses."""
    engine: str
    weights: str
    """Format of the weights, a key of BITS."""
    input: int
    """Tokens of each request."""
    output: int
    """Tokens of each answer, at least 1."""
    data: int = 1
    """Data parallel attention; 1 is none."""


class UnknownBound(ValueError):  # noqa: N818 - read as roofline.UnknownBound
    """The figures that a bound needs are not in the catalogue. The message says which, and what to give."""


def seconds(conditions: Conditions, concurrency: float) -> float:
    """The least time of one answer while so many requests are in flight, seconds.

    The server reads the weights and every request's cache once a token, and works each request's input through. A
    mixture of experts reads those experts alone that some request uses. What layouts copy or send, and what an engine
    does between two steps, is left out, so the truth is longer. The cache
    is counted at 8 bits a number where the weights have no more: engines may keep it so, and sources do not say.

    Raises UnknownBound.
    """
    model, peak = figures(conditions)
    per_token = 2 * model.active_b * 1e9 / (_flops(peak, conditions.weights) * conditions.accelerators)
    cache = cache_bytes(model, conditions.weights, conditions.input + conditions.output / 2)
    read = _weights(model, conditions.weights, concurrency) + concurrency * cache
    bandwidth = peak.bandwidth_gbs * 1e9 * conditions.accelerators
    step = max(read / bandwidth, concurrency * per_token)
    return conditions.output * step + concurrency * conditions.input * per_token


def figures(conditions: Conditions) -> tuple[Decoding, Peak]:
    """What the bound is made of. Raises UnknownBound."""
    model, peak = decodings().get(conditions.model), peaks().get(conditions.accelerator)
    if model is None or peak is None:
        what = f"what model {conditions.model} reads for each token" if model is None else conditions.accelerator
        missing = "is not known" if model is None else "has no bandwidth in the catalogue"
        raise UnknownBound(f"{what} {missing}, and nothing measured is near: measure one replica, and give --measured")
    return model, peak


def cache_bytes(model: Decoding, weights: str, context: float) -> float:
    """Least bytes of key-value cache of one request with so many tokens."""
    whole = model.cache_bytes * context + model.window_bytes * min(context, model.window or context)
    return whole if BITS[weights] >= 16 else whole / 2


def weights_bytes(model: Decoding, weights: str) -> float:
    """Bytes of all weights in a format."""
    return model.parameters_b * 1e9 * BITS[weights] / 8


def _weights(model: Decoding, weights: str, concurrency: float) -> float:
    """Bytes of the weights that some of the requests use in a step, were experts chosen evenly.

    Of the table of embeddings hardly anything is read. A mixture of experts counts it with its experts, for the
    catalogue does not tell them apart: at most 3% too much.
    """
    share = model.active_b / model.parameters_b
    used = share + (1 - share) * (1 - (1 - share) ** (concurrency - 1)) if model.experts else share
    return weights_bytes(model, weights) * used


def _flops(peak: Peak, weights: str) -> float:
    """Operations a second, at the smallest numbers that the format could be multiplied in."""
    eight = peak.tflops_8 or peak.tflops_16
    found = {8: eight, 4: peak.tflops_16 if weights == "int4" else peak.tflops_4 or eight}
    return found.get(BITS[weights], peak.tflops_16) * 1e12
