"""How fast a replica is that nobody has measured: the bound, and how near to theirs the nearest measured ones came."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from gpuyard.catalogue.throughput import Measurement, decodings, measurements
from gpuyard.components.serving.load import roofline
from gpuyard.components.serving.load.roofline import Conditions

Basis = Literal["measured", "like"]
"""measured: there are measurements of the model, under other conditions. like: there are none, and it is taken to come
as near to its bound as the models do that were measured."""

NEAREST = 3
"""Measurements that an estimate is made from. Not fitted: one is a matter of luck, and many are far away."""

LOW, HIGH = 0.1, 0.9
"""Between these parts of all errors an estimate is said to lie."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is known of a replica's speed."""

    basis: Basis
    efficiency: float
    """Part of the bound that is reached."""
    low: float
    high: float
    """Measured throughput over estimated, for the measurements that were left out one at a time and estimated so: eight
    of ten lie between."""
    from_: tuple[Measurement, ...]
    """What it is made from, the nearest first."""


@dataclass(frozen=True, slots=True)
class Error:
    """What an estimate of a measurement gave that did not see it."""

    measurement: Measurement
    estimated: float
    """Output tokens a second of one accelerator."""
    bound: float
    """The same at the bound."""

    @property
    def ratio(self) -> float:
        """Measured over estimated."""
        return self.measurement.tokens_second / self.estimated

    @property
    def error(self) -> float:
        """Estimated over measured, less 1."""
        return 1 / self.ratio - 1


def estimate(conditions: Conditions, concurrency: int) -> Estimate:
    """The part of the bound that a replica reaches, and how sure that is. Raises roofline.UnknownBound."""
    roofline.figures(conditions)
    basis, chosen = _chosen(conditions, concurrency, _served())
    ratios = sorted(error.ratio for error in errors(basis))
    return Estimate(basis, _efficiency(basis, chosen), _part(ratios, LOW), _part(ratios, HIGH), tuple(chosen))


@cache
def errors(basis: Basis) -> tuple[Error, ...]:
    """Every measurement, as it would be estimated without it; on basis `like`, without all of its architecture."""
    return tuple(found for one in _served() if (found := _error(one, basis)))


def _error(one: Measurement, basis: Basis) -> Error | None:
    rest = [
        other
        for other in _served()
        if not _same_run(one, other) and (basis == "measured" or _architecture(other.model) != _architecture(one.model))
    ]
    found, chosen = _chosen(_conditions(one), one.concurrency or 1, rest)
    bound = _bound(one)
    return Error(one, bound * _efficiency(found, chosen), bound) if found == basis else None


def _chosen(
    conditions: Conditions, concurrency: int, among: Sequence[Measurement]
) -> tuple[Basis, Sequence[Measurement]]:
    """The measurements that say most about a replica, the nearest first, and what they are to it."""
    same = [one for one in among if _architecture(one.model) == _architecture(conditions.model)]
    if same:
        return "measured", sorted(same, key=lambda one: _distance(conditions, concurrency, one))[:NEAREST]
    of_engine = [one for one in among if one.engine == conditions.engine]
    return "like", of_engine or among


def _distance(conditions: Conditions, concurrency: int, one: Measurement) -> float:
    """How unlike the conditions are. Doubling or halving a number counts as much as given; chosen, not fitted."""
    return (
        2 * (one.engine != conditions.engine)
        + 2 * (one.weights != conditions.weights)
        + 3 * (one.accelerator != conditions.accelerator)
        + ((one.data > 1) != (conditions.data > 1))
        + _doublings(one.accelerators, conditions.accelerators)
        + _doublings(one.input, conditions.input) / 3
        + _doublings(one.output, conditions.output) / 3
        + _doublings(one.concurrency or 1, concurrency) / 2
    )


def _doublings(one: float, other: float) -> float:
    return abs(math.log2(one / other)) if other else abs(math.log2(one))


def _efficiency(basis: Basis, chosen: Sequence[Measurement]) -> float:
    logs = [math.log(one.tokens_second / _bound(one)) for one in chosen]
    return math.exp(statistics.mean(logs) if basis == "measured" else statistics.median(logs))


@cache
def _served() -> tuple[Measurement, ...]:
    """Measurements of servers whose clients wait for answers, and of models whose bound is known."""
    return tuple(one for one in measurements() if one.concurrency and one.model in decodings())


@cache
def _bound(one: Measurement) -> float:
    """Output tokens a second of one accelerator at the bound."""
    taken = roofline.seconds(_conditions(one), one.concurrency or 1)
    return (one.concurrency or 1) * one.output / taken / one.accelerators


def _conditions(one: Measurement) -> Conditions:
    return Conditions(
        one.model, one.accelerator, one.accelerators, one.engine, one.weights, one.input, one.output, one.data
    )


@cache
def _architecture(model: str) -> object:
    """What is the same for models that run alike, such as DeepSeek's V3 and R1."""
    known = decodings().get(model)
    return replace(known, model="", source="", date="") if known else model


def _same_run(one: Measurement, other: Measurement) -> bool:
    """Whether two rows are one run: some stand under two models of one architecture."""
    return replace(one, model="", source="", date="") == replace(other, model="", source="", date="")


def _part(values: Sequence[float], part: float) -> float:
    return values[min(len(values) - 1, int(part * len(values)))]
