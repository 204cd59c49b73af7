"""Whether an endpoint can run on its node group."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gpuyard.components.serving.placement import Placement, problems
from gpuyard.components.serving.spec import EndpointSpec

Make = Callable[..., EndpointSpec]
On = Callable[..., Placement]


def only(found: list[str]) -> str:
    (problem,) = found
    return problem


def test_the_shipped_endpoints_have_no_problems(llama: Make, fraud: Make, on: On) -> None:
    assert problems("llama-70b", llama(), on("p5.48xlarge")) == []
    assert problems("fraud-score", fraud(), on("g6e.12xlarge")) == []


def test_a_group_without_accelerators_is_refused(llama: Make, on: On) -> None:
    assert only(problems("llama-70b", llama(), on("m7i.2xlarge"))) == (
        "endpoints.llama-70b.on: node group gpus has m7i.2xlarge, which has no accelerator: give a node group that has"
    )


def test_more_accelerators_than_a_node_has_are_refused(llama: Make, on: On) -> None:
    spec = llama(tensor_parallel=16, replicas={"min": 1, "max": 1})
    assert only(problems("x", spec, on("p5.48xlarge"))) == (
        "endpoints.x.tensor_parallel: 16 is more than the 8 accelerators of p5.48xlarge: give one of 1, 2, 4, 8"
    )


def test_a_spread_that_would_leave_accelerators_over_is_refused(llama: Make, on: On) -> None:
    phi = {"id": "microsoft/phi-4", "revision": "0" * 40}
    spec = llama(model=phi, tensor_parallel=5, context=None)
    assert "tensor_parallel: 5 does not divide the 8 accelerators" in only(problems("x", spec, on("p5.48xlarge")))


@pytest.mark.parametrize("machine", ["p4d.24xlarge", "g5.12xlarge", "g4dn.12xlarge"])
def test_fp8_is_refused_where_it_is_not_computed(llama: Make, on: On, machine: str) -> None:
    small = {"id": "Qwen/Qwen3-8B", "revision": "0" * 40}
    problem = only(problems("x", llama(model=small, context=None), on(machine)))
    assert "quantization: fp8 needs fp8 arithmetic, which " in problem
    assert "such as int8_per_channel_weight_only, awq, gptq" in problem


@pytest.mark.parametrize("machine", ["p4d.24xlarge", "g5.12xlarge", "p5.48xlarge"])
@pytest.mark.parametrize("quantization", ["int8_per_channel_weight_only", "awq", "mxfp4"])
def test_what_is_unpacked_runs_everywhere(llama: Make, on: On, machine: str, quantization: str) -> None:
    small = {"id": "Qwen/Qwen3-8B", "revision": "0" * 40}
    assert problems("x", llama(model=small, context=None, quantization=quantization), on(machine)) == []


def test_fp4_needs_blackwell(llama: Make, on: On) -> None:
    spec = llama(quantization="nvfp4_per_token")
    assert "needs fp4 arithmetic" in only(problems("x", spec, on("p5.48xlarge")))
    assert problems("x", spec, on("p6-b200.48xlarge")) == []


@pytest.mark.parametrize(
    ("machine", "quantization", "spread", "fits"),
    [
        ("p5.48xlarge", None, 1, False),  # 131 GiB on 79
        ("p5.48xlarge", None, 2, True),  # 65.7 GiB on 79: a necessary condition only
        ("p5.48xlarge", "fp8", 1, True),
        ("g6e.12xlarge", "fp8", 1, False),  # 65.7 GiB on 45
        ("g6e.12xlarge", "fp8", 4, True),
        ("g6.12xlarge", "fp8", 2, False),  # 33 GiB on 22
    ],
)
def test_weights_that_cannot_fit_are_refused(
    llama: Make, on: On, machine: str, quantization: str | None, spread: int, fits: bool
) -> None:
    spec = llama(quantization=quantization, tensor_parallel=spread)
    found = problems("x", spec, on(machine))
    assert bool(found) != fits
    if found:
        assert "endpoints.x.model: its weights alone are at least" in only(found)


def test_the_weights_of_a_spec_count_at_sixteen_bits(llama: Make, on: On) -> None:
    unknown: dict[str, Any] = {"model": {"id": "acme/private", "revision": "0" * 40}, "context": None}
    unquantised = llama(**unknown, weights="40Gi", quantization=None, tensor_parallel=1)
    assert "at least 40.0 GiB" in only(problems("x", unquantised, on("g6.12xlarge")))
    halved = llama(**unknown, weights="40Gi", quantization="fp8", tensor_parallel=1)
    assert problems("x", halved, on("g6.12xlarge")) == []


def test_models_of_triton_need_not_be_in_an_accelerators_memory(fraud: Make, on: On) -> None:
    assert problems("x", fraud(weights="400Gi"), on("g6e.12xlarge")) == []


def test_more_replicas_than_the_group_can_hold_are_refused(llama: Make, on: On) -> None:
    problem = only(problems("x", llama(replicas={"min": 1, "max": 9}), on("p5.48xlarge")))
    assert problem == (
        "endpoints.x.replicas.max: 9 replicas of 4 accelerators need 5 nodes, and gpus has at most 4: "
        "lower it to 8, or raise the group's nodes"
    )


def test_an_image_for_other_accelerators_is_refused(llama: Make, on: On) -> None:
    small = {"id": "Qwen/Qwen3-8B", "revision": "0" * 40}
    spec = llama(model=small, context=None, quantization=None, tensor_parallel=1)
    assert "offers aws.amazon.com/neuron, and the image of engine vllm computes on nvidia.com/gpu" in only(
        problems("x", spec, on("trn1.32xlarge"))
    )


@pytest.mark.parametrize("machine", ["g2-standard-12", "dgx-h100"])
def test_an_aws_role_is_refused_outside_of_aws(fraud: Make, on: On, machine: str) -> None:
    role = "arn:aws:iam::111122223333:role/fraud-read"
    model = {"uri": "s3://models/fraud/12", "role": role, "region": "us-east-1"}
    found = problems("x", fraud(model=model), on(machine, nodes=8))
    assert "cannot become arn:aws:iam::111122223333:role/fraud-read" in only(found)


def test_a_google_identity_is_refused_outside_of_google_cloud(fraud: Make, on: On) -> None:
    model = {"uri": "gs://models/fraud", "role": "fraud-read@project-1.iam.gserviceaccount.com"}
    assert problems("x", fraud(model=model), on("g2-standard-12", nodes=8)) == []
    assert "model.role: pods on g6e.12xlarge (aws)" in only(problems("x", fraud(model=model), on("g6e.12xlarge")))


def test_a_bucket_of_aws_needs_a_region_that_a_cluster_elsewhere_cannot_give(fraud: Make, on: On) -> None:
    model = {"uri": "s3://public-models/fraud"}
    assert "endpoints.x.model.region: is missing" in only(problems("x", fraud(model=model), on("dgx-h100")))
    assert problems("x", fraud(model={**model, "region": "eu-central-1"}), on("dgx-h100")) == []


def test_scaling_without_anything_that_measures_is_refused(llama: Make, on: On) -> None:
    blind = on("p5.48xlarge", prometheus=None)
    assert "replicas: min 1 and max 4 differ, but no Prometheus is known" in only(problems("x", llama(), blind))
    assert problems("x", llama(replicas={"min": 2, "max": 2}), blind) == []


def test_every_problem_is_told_at_once(llama: Make, on: On) -> None:
    spec = llama(tensor_parallel=8, replicas={"min": 1, "max": 9})
    found = problems("x", spec, on("g4dn.12xlarge", prometheus=None))
    assert [problem.split(":")[0] for problem in found] == [
        "endpoints.x.tensor_parallel",
        "endpoints.x.quantization",
        "endpoints.x.replicas",
    ]
