"""What runs on what: the cases that must be refused, those that must not, and what is not known."""

from __future__ import annotations

import datetime
import re
from typing import Any

import pytest

from gpuyard import catalogue
from gpuyard.catalogue.compatibility import ImageRuntime, cuda_drivers, driver_supports

VLLM = catalogue.runtime_of_image("docker.io/vllm/vllm-openai", "v0.32.0")
ROCM = ImageRuntime("rocm/vllm", "1", "rocm", "7.0", None, "made up", "2026-11-30")
CUDA_12 = ImageRuntime("acme/server", "1", "cuda", "12.4", None, "made up", "2026-11-30")


def verdict(accelerator: str, driver: str | None, image: ImageRuntime | None) -> catalogue.Verdict:
    return catalogue.runs_on(catalogue.accelerator(accelerator), driver, image)


@pytest.mark.parametrize(
    ("accelerator", "driver", "image", "values"),
    [
        ("L40S", "550.54.15", VLLM, ("CUDA 13.0", "580", "550.54.15")),
        ("L40S", "575", VLLM, ("CUDA 13.0", "580", "575")),
        ("V100-32", "580.126.09", VLLM, ("7.5", "7.0")),
        ("V100-32", "595.91.07", CUDA_12, ("595.91.07", "580 is the last")),
        ("RTX PRO 4500 Server", "580", None, ("580", "595")),
        ("B300", "550.54.15", None, ("550.54.15", "570")),
        ("B200", "570.124.06", None, ("570.124.06", "570.133.20")),
        ("L4-3", "595.91.07", None, ("595.91.07", "580 is the last")),
        ("MI300X", None, VLLM, ("CUDA 13.0", "rocm")),
        ("H100-80", "580", ROCM, ("rocm 7.0", "cuda")),
        ("Trainium2", None, VLLM, ("CUDA 13.0", "neuron")),
    ],
)
def test_what_cannot_run_is_refused_with_both_values_and_a_remedy(
    accelerator: str, driver: str | None, image: ImageRuntime | None, values: tuple[str, ...]
) -> None:
    found = verdict(accelerator, driver, image)
    assert found.status == "refused"
    assert [value for value in values if value not in found.reason] == []
    assert re.search(r": (give|keep|choose)", found.reason)


@pytest.mark.parametrize(
    ("accelerator", "driver", "image"),
    [
        ("L40S", "580", VLLM),
        ("L40S", "595.91.07", VLLM),
        ("B200", "580.126.09", VLLM),
        ("RTX PRO 4500 Server", "595.91.07", VLLM),
        ("A100-80", "535.104.05", CUDA_12),
        ("V100-32", "580", CUDA_12),
    ],
)
def test_what_runs_is_not_refused(accelerator: str, driver: str, image: ImageRuntime) -> None:
    assert verdict(accelerator, driver, image) == catalogue.Verdict("ok", "")


@pytest.mark.parametrize(
    ("accelerator", "driver", "image", "reason"),
    [
        ("L40S", None, VLLM, "the driver of the nodes is not known"),
        ("L40S", "580", None, "what the image is built for is not known"),
        ("B200", "570", None, "570.133.20 or later, and only its branch"),
        ("B300", "580", CUDA_12, "12.9 is the first"),
        ("MI300X", None, ROCM, "which driver rocm 7.0"),
        ("TPU v5e", None, VLLM, "what images compute with on TPU v5e"),
    ],
)
def test_what_is_not_known_is_neither(
    accelerator: str, driver: str | None, image: ImageRuntime | None, reason: str
) -> None:
    found = verdict(accelerator, driver, image)
    assert found.status == "unknown"
    assert reason in found.reason


def test_every_pair_of_accelerator_and_image_has_a_verdict() -> None:
    for accelerator in catalogue.accelerators().values():
        for image in (*catalogue.image_runtimes().values(), ROCM, None):
            for driver in (None, "535", "580.126.09", "620.1"):
                found = catalogue.runs_on(accelerator, driver, image)
                assert (found.status == "ok") == (found.reason == "")


@pytest.mark.parametrize(
    "repository", ["vllm/vllm-openai", "docker.io/vllm/vllm-openai", "mirror.example/ai/vllm/vllm-openai"]
)
def test_an_image_is_known_whichever_registry_has_it(repository: str) -> None:
    assert catalogue.runtime_of_image(repository, "v0.32.0") is VLLM
    assert catalogue.runtime_of_image(repository, "v0.32.0-rocm") is None


def test_the_catalogues_own_server_images_are_known() -> None:
    for name in ("vllm", "triton"):
        image = catalogue.image(name)
        assert catalogue.runtime_of_image(image.repository, image.tag), f"{name}: a new version needs a new row"


def test_every_row_is_of_a_gpu_that_there_is_and_of_a_day() -> None:
    names = {a.name for a in catalogue.accelerators().values()} | {
        a.generation for a in catalogue.accelerators().values()
    }
    assert set(driver_supports()) <= names
    rows: list[Any] = [*driver_supports().values(), *catalogue.image_runtimes().values()]
    for row in rows:
        assert row.source
        datetime.date.fromisoformat(row.date)
    assert list(cuda_drivers()) == ["11", "12", "13"]
