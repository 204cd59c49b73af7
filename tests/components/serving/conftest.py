"""Endpoints and node groups to test with; each test changes what it is about."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpuyard import catalogue
from gpuyard.components.artifacts import ArtifactsSpec
from gpuyard.components.node_groups.offers import offers
from gpuyard.components.serving.manifests import manifests
from gpuyard.components.serving.placement import Placement
from gpuyard.components.serving.spec import EndpointSpec

PROMETHEUS = "http://kube-prometheus-stack-prometheus.monitoring.svc:9090"
DATA = Path(__file__).parents[2] / "data" / "serving"

LLAMA = {
    "tenant": "assistants",
    "engine": "vllm",
    "on": "h100",
    "model": {
        "id": "meta-llama/Llama-3.3-70B-Instruct",
        "revision": "0123456789abcdef0123456789abcdef01234567",
        "token": {"secret": "hf-token", "key": "token"},
    },
    "quantization": "fp8",
    "tensor_parallel": 4,
    "context": 32768,
    "replicas": {"min": 1, "max": 4},
}
FRAUD = {
    "tenant": "fraud",
    "engine": "triton",
    "on": "l40s",
    "model": {"uri": "s3://models/fraud/12", "role": "arn:aws:iam::111122223333:role/fraud-read"},
    "weights": "2Gi",
    "replicas": {"min": 2, "max": 8},
}


@pytest.fixture
def llama() -> Callable[..., EndpointSpec]:
    """The 70B model on vLLM, with fields changed; None leaves a field out."""
    return lambda **changes: _spec(LLAMA, changes)


@pytest.fixture
def fraud() -> Callable[..., EndpointSpec]:
    """The fraud-scoring models on Triton, with fields changed; None leaves a field out."""
    return lambda **changes: _spec(FRAUD, changes)


def _spec(base: dict[str, Any], changes: dict[str, Any]) -> EndpointSpec:
    fields = {key: value for key, value in {**base, **changes}.items() if value is not None}
    return EndpointSpec.model_validate(fields)


@pytest.fixture
def on() -> Callable[..., Placement]:
    """A node group of four nodes of a machine, in a cluster with Prometheus."""

    def place(machine: str, **changes: Any) -> Placement:
        found = catalogue.machine(machine)
        fields = {
            "group": "gpus",
            "namespace": "fraud",
            "machine": found,
            "offer": next(iter(offers(found)), None),
            "nodes": 4,
            "selector": {"gpuyard.io/node-group": "gpus"},
            "region": "us-east-1",
            "prometheus": PROMETHEUS,
        }
        return Placement(**{"spare": 8, **fields, **changes})

    return place


@pytest.fixture
def objects() -> Callable[..., dict[str, dict[str, Any]]]:
    """An endpoint's objects by kind, in a namespace called as its tenant; no kind comes twice."""

    def render(name: str, spec: EndpointSpec, placement: Placement, **more: Any) -> dict[str, dict[str, Any]]:
        placement = dataclasses.replace(placement, namespace=spec.tenant)
        declared = manifests(name, spec, placement=placement, artifacts=more.pop("artifacts", ArtifactsSpec()), **more)
        by_kind = {manifest["kind"]: manifest for manifest in declared}
        assert len(by_kind) == len(declared)
        return by_kind

    return render


@pytest.fixture
def upstream() -> Callable[[str, str], dict[str, str]]:
    """What an engine has of a kind: names, and what follows them on their lines. The file is
    tests/data/serving/<engine>-<release>-<kind>.txt; the release may be left out."""

    def read(engine: str, kind: str) -> dict[str, str]:
        name = re.compile(rf"{engine}-([0-9][^-]*-)?{kind}\.txt")
        (file,) = (path for path in DATA.iterdir() if name.fullmatch(path.name))
        lines = [line for line in file.read_text().splitlines() if line and not line.startswith("#")]
        return {name: rest for name, _, rest in (line.partition(" ") for line in lines)}

    return read
