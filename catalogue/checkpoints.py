"""Published language models: how large they are and how they split."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from gpuyard.catalogue.tables import load


@dataclass(frozen=True, slots=True)
class Model:
    """A model as its publisher distributes it."""

    id: str
    """Organisation and name on Hugging Face."""
    parameters_b: float
    """All parameters, in units of 1e9; of a mixture of experts not only the active ones."""
    checkpoint_gb: float
    """Weights as distributed, in GB of 1e9 bytes."""
    dtype: str
    """Format of the greater part of those weights: bf16, fp8, fp4, mxfp4, int4 or fp32."""
    max_context: int
    """Tokens that the model is made for."""
    heads: int
    """Attention heads: tensor parallelism has to divide them."""
    kv_heads: int
    """Key-value heads as the model's configuration says; models with latent attention keep one cache for all."""
    licence: str | None
    """None where no statement of its publisher was found."""
    source: str
    date: str
    """The day that the source was read, YYYY-MM-DD."""


@cache
def models() -> Mapping[str, Model]:
    """Every model by its id."""
    return load("models.csv", _model)


def model(id: str) -> Model | None:  # noqa: A002 - the field of the same name is what callers know
    """The model of that id, or None: one may serve any model, known here or not."""
    return models().get(id)


def _model(columns: dict[str, str]) -> tuple[str, Model]:
    row = Model(
        id=columns["id"],
        parameters_b=float(columns["parameters_b"]),
        checkpoint_gb=float(columns["checkpoint_gb"]),
        dtype=columns["dtype"],
        max_context=int(columns["max_context"]),
        heads=int(columns["heads"]),
        kv_heads=int(columns["kv_heads"]),
        licence=columns["licence"] or None,
        source=columns["source"],
        date=columns["date"],
    )
    return row.id, row
