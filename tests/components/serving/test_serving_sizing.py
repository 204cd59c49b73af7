"""Times, disks and shares that follow from the size of a model and of a machine."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard import catalogue
from gpuyard.components.node_groups.offers import offers
from gpuyard.components.serving import sizing, template
from gpuyard.components.serving.spec import EndpointSpec

Make = Callable[..., EndpointSpec]
VLLM = template.load("vllm")
SMALL = {"id": "Qwen/Qwen3-8B", "revision": "0123456789abcdef0123456789abcdef01234567"}


def of_size(gib: int, replicas: int = 1) -> EndpointSpec:
    return EndpointSpec.model_validate(
        {
            "tenant": "t",
            "engine": "vllm",
            "on": "g",
            "model": {"id": "acme/private", "revision": "0" * 40},
            "weights": f"{gib}Gi",
            "replicas": {"min": replicas, "max": replicas},
        }
    )


SIZES = st.integers(min_value=1, max_value=2000)


@settings(deadline=None)
@given(SIZES, SIZES)
def test_more_weights_never_get_less_time_or_disk(one: int, other: int) -> None:
    small, large = of_size(min(one, other)), of_size(max(one, other))
    assert sizing.budget(small, VLLM).startup <= sizing.budget(large, VLLM).startup
    assert sizing.budget(small, VLLM).progress <= sizing.budget(large, VLLM).progress
    assert sizing.disk_gib(small) <= sizing.disk_gib(large)


@settings(deadline=None)
@given(SIZES, st.integers(min_value=1, max_value=50))
def test_a_rollout_is_given_a_node_more_than_the_startup_probe_gives(gib: int, replicas: int) -> None:
    times = sizing.budget(of_size(gib, replicas), VLLM)
    assert times.progress - times.startup == sizing.NODE_SECONDS
    assert times.startup % sizing.PROBE_SECONDS == 0


@settings(deadline=None)
@given(SIZES)
def test_the_budget_holds_the_download_at_the_assumed_speed(gib: int) -> None:
    seconds = sizing.budget(of_size(gib), VLLM).startup - VLLM.start_seconds
    assert seconds * sizing.DOWNLOAD_BYTES_A_SECOND >= gib * 2**30


@settings(deadline=None)
@given(SIZES)
def test_the_disk_holds_the_weights_and_more(gib: int) -> None:
    assert sizing.disk_gib(of_size(gib)) >= gib + sizing.DISK_SPARE_GIB


def test_weights_on_a_volume_of_the_cluster_are_not_downloaded(fraud: Make) -> None:
    stored = fraud(model={"uri": "pvc://models/fraud"}, weights="500Gi")
    assert sizing.budget(stored, VLLM).startup == VLLM.start_seconds
    assert sizing.disk_gib(stored) == sizing.DISK_SPARE_GIB


def test_the_catalogue_counts_gb_and_a_spec_gib(llama: Make) -> None:
    assert sizing.weights_bytes(llama()) == 141_100_000_000
    assert sizing.weights_bytes(llama(weights="131Gi")) == 131 * 2**30


@pytest.mark.parametrize(("quantization", "gb"), [(None, 141.1), ("fp8", 70.554), ("nvfp4_per_token", 35.277)])
def test_what_is_quantised_while_loading_is_smaller_in_memory_than_on_disk(
    llama: Make, quantization: str | None, gb: float
) -> None:
    assert sizing.loaded_bytes(llama(quantization=quantization), VLLM) == pytest.approx(gb * 1e9, rel=0.001)


def test_files_that_are_quantised_already_are_not_counted_smaller(llama: Make) -> None:
    stored = {"id": "deepseek-ai/DeepSeek-V3", "revision": SMALL["revision"]}
    spec = llama(model=stored, quantization=None, tensor_parallel=8)
    assert sizing.loaded_bytes(spec, VLLM) == 688_600_000_000


@pytest.mark.parametrize(
    ("machine", "spread", "share"),
    [("p5.48xlarge", 4, ("72", "768Gi")), ("g2-standard-12", 1, ("9", "36Gi")), ("dgx-h100", 8, ("168", "1536Gi"))],
)
def test_a_replica_gets_its_accelerators_share_of_the_machine(
    llama: Make, machine: str, spread: int, share: tuple[str, str]
) -> None:
    found = catalogue.machine(machine)
    assert sizing.cpu_and_memory(llama(tensor_parallel=spread), VLLM, found, *offers(found)) == share


def test_a_machine_of_unknown_size_gives_what_the_template_says(llama: Make) -> None:
    machine = catalogue.machine("onprem-h100-80-x4")
    assert (machine.vcpus, machine.memory_gib) == (0, 0)
    assert sizing.cpu_and_memory(llama(), VLLM, machine, *offers(machine)) == ("32", "128Gi")


@pytest.mark.parametrize("machine", [m for m in catalogue.machines().values() if m.accelerators], ids=lambda m: m.name)
def test_full_nodes_request_less_than_every_machine_has(machine: catalogue.Machine) -> None:
    cpu, memory = sizing.cpu_and_memory(of_size(1), VLLM, machine, *offers(machine))
    if machine.vcpus:
        assert int(cpu) * machine.accelerators < machine.vcpus
    if machine.memory_gib:
        assert int(memory.removesuffix("Gi")) * machine.accelerators < machine.memory_gib
