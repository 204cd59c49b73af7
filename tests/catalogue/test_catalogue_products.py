"""What labels of nodes say of their accelerators."""

from __future__ import annotations

from datetime import date

import pytest

from gpuyard import catalogue
from gpuyard.catalogue.products import GKE_ACCELERATOR

PRODUCT = "nvidia.com/gpu.product"


@pytest.mark.parametrize("row", catalogue.products().values(), ids=lambda row: f"{row.label}={row.value}")
def test_a_row_is_of_an_accelerator_that_some_machine_has_and_says_where_it_is_from(row: catalogue.Product) -> None:
    maker = catalogue.accelerator(row.accelerator).vendor
    machines = [machine for machine in catalogue.machines().values() if machine.accelerator == row.accelerator]
    if row.accelerator in ("P4", "P100", "V100-16"):
        assert row.label == GKE_ACCELERATOR, "GKE adds them to machines that have none"
        assert machines == []
        return
    assert {machine.resource for machine in machines} == {{"nvidia": "nvidia.com/gpu", "amd": "amd.com/gpu"}[maker]}
    assert len(row.source) > 5
    assert date(2022, 1, 1) <= date.fromisoformat(row.date) <= date.today()
    found = catalogue.product({row.label: row.value, "kubernetes.io/os": "linux"})
    assert found is row


@pytest.mark.parametrize(
    ("value", "accelerator"),
    [
        ("NVIDIA-H100-80GB-HBM3", "H100-80"),
        ("NVIDIA-H100-80GB-HBM3-MIG-1g.10gb", "H100-80"),
        ("NVIDIA-L40S-SHARED", "L40S"),
        ("A100-SXM4-40GB", "A100-40"),
        ("A100-SXM4-40GB-MIG-1g.5gb-SHARED", "A100-40"),
        ("Tesla-T4", "T4"),
    ],
)
def test_a_gpu_is_the_same_one_however_it_is_divided_and_whatever_drivers_call_it(value: str, accelerator: str) -> None:
    found = catalogue.product({PRODUCT: value})
    assert found is not None
    assert found.accelerator == accelerator


@pytest.mark.parametrize("labels", [{}, {PRODUCT: ""}, {PRODUCT: "NVIDIA-GeForce-RTX-4090"}, {PRODUCT: "NVIDIA-H100"}])
def test_a_label_that_is_not_known_says_nothing(labels: dict[str, str]) -> None:
    assert catalogue.product(labels) is None


def test_the_gpus_own_name_goes_before_a_clouds_name_of_the_machine() -> None:
    labels = {"node.kubernetes.io/instance-type": "Standard_NC24ads_A100_v4", PRODUCT: "NVIDIA-A100-PCIE-40GB"}
    found = catalogue.product(labels)
    assert found is not None
    assert found.accelerator == "A100-40"
