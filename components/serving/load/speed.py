"""The curve of a replica of a language model that nobody has measured under the very conditions."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpuyard import catalogue
from gpuyard.components.serving.load import roofline
from gpuyard.components.serving.load.curve import Curve, computed
from gpuyard.components.serving.load.estimate import Estimate, estimate
from gpuyard.components.serving.load.roofline import Conditions
from gpuyard.components.spec import GIB

MEMORY_SHARE = 0.9
"""Part of the memory that engines take by default. Source: vLLM and its --gpu-memory-utilization."""

MOST = 512
"""Requests in flight of the busiest server that was measured: nothing is known beyond."""


@dataclass(frozen=True, slots=True)
class Speed:
    """A replica's curve, and where it comes from."""

    curve: Curve
    estimate: Estimate | None
    """None for a curve that was measured."""


def speed(conditions: Conditions) -> Speed:
    """The curve of a replica, from the bound and what is measured. Raises ValueError where there is no telling."""
    most = largest_batch(conditions)
    known = estimate(conditions, most)
    return Speed(computed(lambda count: roofline.seconds(conditions, count) / known.efficiency, most), known)


def largest_batch(conditions: Conditions) -> int:
    """The most requests that fit into memory at once, and at most MOST; an upper bound, for activations and graphs are
    not counted. Raises ValueError where none does."""
    model, _ = roofline.figures(conditions)
    accelerator = catalogue.accelerator(conditions.accelerator)
    memory = (accelerator.memory_gib or accelerator.memory_gb * 1e9 / GIB) * GIB
    room = memory * MEMORY_SHARE * conditions.accelerators - roofline.weights_bytes(model, conditions.weights)
    each = roofline.cache_bytes(model, conditions.weights, conditions.input + conditions.output)
    count = int(room / each) if each else MOST
    if room <= 0 or count < 1:
        raise ValueError(
            f"{conditions.model} at {conditions.weights} and one request of {conditions.input + conditions.output} "
            f"tokens do not fit into {conditions.accelerators} x {accelerator.name}: spread a replica over more "
            "accelerators, or quantize it"
        )
    return min(count, MOST)


def weights_format(quantization: str | None, dtype: str) -> str:
    """The format of weights, a key of roofline.BITS, of what an engine calls it; the model's own when left out.

    Raises ValueError for one whose bits are not known.
    """
    called = quantization or dtype
    if called in roofline.BITS:
        return called
    found = next((known for known in ("fp8", "fp4", "int4", "int8") if known in called), None)
    if found is None and re.search("awq|gptq", called):
        return "int4"
    if found is None:
        raise ValueError(f"weights in {called!r}: how many bits these have is not known: give --measured")
    return found
