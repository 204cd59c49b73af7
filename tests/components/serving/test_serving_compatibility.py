"""Endpoints whose image cannot run on their nodes are refused before anything is made; of the rest the review speaks."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from gpuyard.components.serving.placement import Placement, problems
from gpuyard.components.serving.spec import EndpointSpec
from gpuyard.components.stack import load
from gpuyard.components.validation import InvalidStack

STACKS = Path(__file__).parents[3] / "stacks"

Change = Callable[[dict[str, Any]], object]


def stack(name: str, change: Change) -> dict[str, Any]:
    content = YAML(typ="safe", pure=True).load((STACKS / f"Pulumi.{name}.yaml").read_text())
    platform: dict[str, Any] = copy.deepcopy(content["config"]["gpuyard:platform"])
    change(platform)
    return platform


G7 = {"machine": "g7.2xlarge", "nodes": {"min": 0, "max": 1}}


@pytest.mark.parametrize(
    ("name", "change", "sentence"),
    [
        (
            "onprem",
            lambda p: p["cluster"].update(driver_version="550.54.15"),
            "endpoints.gpt-oss-120b.image: image vllm/vllm-openai:v0.32.0 has CUDA 13.0, which needs driver 580 or later, "
            "and the driver is 550.54.15",
        ),
        (
            "serving",
            lambda p: p["cluster"].update(driver_version="535"),
            "endpoints.qwen3-32b.image: image vllm/vllm-openai:v0.32.0 has CUDA 13.0",
        ),
        (
            "dev",
            lambda p: p["cluster"].update(driver_version="570"),
            "endpoints.qwen3-8b.image: image vllm/vllm-openai:v0.32.0 has CUDA 13.0",
        ),
        (
            "prod-aws",
            lambda p: p["node_groups"].update(g7=G7 | {"release": "1.35.6-20260714"}),
            "node_groups.g7: the driver is 580.159.03, and RTX PRO 4500 Server needs 595 or later",
        ),
        (
            "prod-aws",
            lambda p: p["node_groups"].update(g7=G7 | {"scaled_by": "karpenter"}),
            "node_groups.g7: the driver is 580.159.03, and RTX PRO 4500 Server needs 595 or later",
        ),
        (
            "prod-aws",
            lambda p: p["node_groups"].update(l40s={"machine": "p3dn.24xlarge", "nodes": {"min": 0, "max": 6}}),
            "endpoints.fraud-score.image: image nvidia/tritonserver:26.07-py3 runs from compute capability 7.5 on",
        ),
        (
            "onprem",
            lambda p: (
                p["cluster"].update(driver_version="550.54.15"),
                p["node_groups"]["dgx"].update(machine="onprem-b300-x8"),
            ),
            "node_groups.dgx: the driver is 550.54.15, and B300 needs 570 or later",
        ),
        (
            "onprem",
            lambda p: p["cluster"].update(driver="operator", driver_version="580"),
            "cluster: driver_version 580 is a branch, and the GPU Operator pulls an image by its full version",
        ),
        (
            "onprem",
            lambda p: (p["cluster"].update(driver="operator"), p["node_groups"]["dgx"].update(driver_version="595.91")),
            "node_groups.dgx: driver_version 595.91 is a branch",
        ),
        (
            "onprem",
            lambda p: (
                p["cluster"].update(driver="operator"),
                p["node_groups"]["dgx"].update(machine="onprem-b300-x8", driver_version="550.54.15"),
            ),
            "node_groups.dgx: the driver is 550.54.15, and B300 needs 570 or later",
        ),
        (
            "onprem",
            lambda p: p["node_groups"]["dgx"].update(upgrade={"max_unavailable": 2}),
            "node_groups.dgx.upgrade is what the GPU Operator does with its drivers, and cluster.driver is host",
        ),
        (
            "onprem",
            lambda p: p["cluster"].update(driver_version="latest"),
            "cluster.driver_version: 'latest' (text) given",
        ),
    ],
)
def test_a_stack_whose_software_cannot_run_is_refused(name: str, change: Change, sentence: str) -> None:
    with pytest.raises(InvalidStack) as refused:
        load(stack(name, change), name)
    assert sentence in str(refused.value)


@pytest.mark.parametrize("name", ["onprem", "serving", "dev"])
def test_a_driver_that_nobody_knows_is_no_reason_to_refuse_by_itself(name: str) -> None:
    assert load(stack(name, lambda p: p["cluster"].pop("driver_version")), name)


@pytest.mark.parametrize("release", [{}, {"release": "1.35.9-20260917"}])
def test_a_release_that_has_the_driver_of_a_machine_is_no_reason_either(release: dict[str, str]) -> None:
    assert load(stack("prod-aws", lambda p: p["node_groups"].update(g7=G7 | release)), "prod-aws")


def test_an_image_of_ones_own_is_judged_by_what_is_known_of_it(
    llama: Callable[..., EndpointSpec], on: Callable[..., Placement]
) -> None:
    old = on("p5.48xlarge", driver="550.54.15")
    assert any("CUDA 13.0" in problem for problem in problems("a", llama(), old))
    assert problems("a", llama(image="registry.example/acme/vllm:cuda12"), old) == []
    mirrored = llama(image="mirror.example/ai/vllm/vllm-openai:v0.32.0")
    assert any("CUDA 13.0" in problem for problem in problems("a", mirrored, old))


@pytest.mark.parametrize(
    ("machine", "quantization", "word"),
    [
        ("p4d.24xlarge", "fp8", "fp8"),
        ("p5.48xlarge", "modelopt_fp4", "fp4"),
        ("g6e.12xlarge", "nvfp4_per_token", "fp4"),
    ],
)
def test_a_number_format_that_the_gpu_lacks_is_refused(
    machine: str, quantization: str, word: str, llama: Callable[..., EndpointSpec], on: Callable[..., Placement]
) -> None:
    """FP8 on Ampere, NVFP4 on Hopper and Ada."""
    found = problems("a", llama(quantization=quantization), on(machine, driver="580"))
    assert [f"needs {word} arithmetic" in problem for problem in found] == [True]


def test_what_holds_for_a_group_is_not_said_of_its_endpoints_again() -> None:
    def change(platform: dict[str, Any]) -> None:
        platform["cluster"]["driver_version"] = "550.54.15"
        platform["node_groups"]["dgx"]["machine"] = "onprem-b300-x8"

    with pytest.raises(InvalidStack) as refused:
        load(stack("onprem", change), "onprem")
    assert str(refused.value).count("B300 needs 570") == 1
