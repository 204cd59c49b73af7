"""Models: sizes agree with formats, and with configurations copied by hand."""

from __future__ import annotations

import pytest

from gpuyard import catalogue
from gpuyard.catalogue import Model

MODELS = catalogue.models().values()

# Bytes a parameter. Formats of four bits add their scales, and keep attention and embeddings in more bits.
BYTES = {
    "fp32": (3.9, 4.1),
    "bf16": (1.95, 2.05),
    "fp8": (0.99, 1.06),
    "int4": (0.5, 0.7),
    "fp4": (0.5, 0.7),
    "mxfp4": (0.53, 0.72),
}


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.id)
def test_the_weights_are_as_large_as_their_format_makes_them(model: Model) -> None:
    least, most = BYTES[model.dtype]
    assert least <= model.checkpoint_gb / model.parameters_b <= most


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.id)
def test_a_model_is_well_formed(model: Model) -> None:
    organisation, _, name = model.id.partition("/")
    assert organisation
    assert name
    assert "/" not in name
    assert model.heads % model.kv_heads == 0
    assert 1_024 <= model.max_context <= 20_000_000
    assert model.licence is None or (model.licence and "unverified" not in model.licence)


# Copied by hand from config.json on Hugging Face: heads, key-value heads, context.
BY_HAND = {
    "meta-llama/Llama-3.3-70B-Instruct": (64, 8, 131072),
    "meta-llama/Llama-3.1-8B-Instruct": (32, 8, 131072),
    "Qwen/Qwen3-8B": (32, 8, 40960),
    "Qwen/Qwen3-32B": (64, 8, 40960),
    "openai/gpt-oss-120b": (64, 8, 131072),
    "mistralai/Mixtral-8x7B-Instruct-v0.1": (32, 8, 32768),
    "google/gemma-2-27b-it": (32, 16, 8192),
    "microsoft/phi-4": (40, 10, 16384),
}


@pytest.mark.parametrize("id_", BY_HAND)
def test_a_model_is_as_its_configuration_says(id_: str) -> None:
    model = catalogue.model(id_)
    assert model is not None
    assert (model.heads, model.kv_heads, model.max_context) == BY_HAND[id_]


def test_a_model_that_is_not_known_is_none() -> None:
    assert catalogue.model("fraud/own-model") is None


def test_a_licence_that_nobody_states_is_not_known() -> None:
    model = catalogue.model("mistralai/Mistral-Large-Instruct-2407")
    assert model is not None
    assert model.licence is None
