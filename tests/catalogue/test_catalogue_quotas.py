"""By which of a cloud's quotas machines are counted."""

from __future__ import annotations

import datetime

import pytest

from gpuyard import catalogue


def codes(cloud: str, machine: str, market: str, attached: str | None = None) -> list[str]:
    return [quota.code for quota in catalogue.quotas_of(cloud, machine, market, attached)]


@pytest.mark.parametrize(
    ("machine", "market", "code"),
    [
        ("p5.48xlarge", "on_demand", "L-417A185B"),
        ("p5.48xlarge", "reservation", "L-417A185B"),
        ("p5.48xlarge", "spot", "L-C4BD4855"),
        ("p5.48xlarge", "capacity_block", "L-DA6814F2"),
        ("p5en.48xlarge", "capacity_block", "L-4F9BB70B"),
        ("p4d.24xlarge", "spot", "L-7212CCBC"),
        ("g6e.12xlarge", "on_demand", "L-DB2E81BA"),
        ("gr6.4xlarge", "spot", "L-3819A6DF"),
        ("inf2.24xlarge", "on_demand", "L-1945791B"),
        ("trn2.48xlarge", "on_demand", "L-2C3B7624"),
        ("dl1.24xlarge", "on_demand", "L-6E869C2A"),
        ("m7i.2xlarge", "on_demand", "L-1216C47A"),
    ],
)
def test_ec2_counts_by_family_and_by_way_of_buying(machine: str, market: str, code: str) -> None:
    assert codes("aws", machine, market) == [code]


def test_ec2_has_no_known_quota_for_p6_on_spot() -> None:
    assert codes("aws", "p6-b200.48xlarge", "spot") == []


@pytest.mark.parametrize(
    ("machine", "market", "attached", "code"),
    [
        ("g2-standard-24", "on_demand", None, "NVIDIA_L4_GPUS"),
        ("g2-standard-24", "spot", None, "PREEMPTIBLE_NVIDIA_L4_GPUS"),
        ("a2-highgpu-8g", "on_demand", None, "NVIDIA_A100_GPUS"),
        ("a2-ultragpu-8g", "on_demand", None, "NVIDIA_A100_80GB_GPUS"),
        ("a3-highgpu-8g", "on_demand", None, "GPUS_PER_GPU_FAMILY/NVIDIA_H100"),
        ("a3-megagpu-8g", "flex_start", None, "PREEMPTIBLE_NVIDIA_H100_MEGA_GPUS"),
        ("n1-standard-8", "on_demand", "nvidia-tesla-t4", "NVIDIA_T4_GPUS"),
    ],
)
def test_compute_engine_counts_gpus_by_model_and_once_more_over_all_regions(
    machine: str, market: str, attached: str | None, code: str
) -> None:
    assert codes("gcp", machine, market, attached) == [code, "GPUS_ALL_REGIONS"]


@pytest.mark.parametrize(
    ("machine", "market", "code"),
    [
        ("ct5lp-hightpu-8t", "on_demand", "TPU_LITE_PODSLICE_V5"),
        ("ct5lp-hightpu-1t", "flex_start", "PREEMPTIBLE_TPU_LITE_PODSLICE_V5"),
        ("ct5p-hightpu-4t", "on_demand", "TPU_V5P"),
        ("ct5p-hightpu-4t", "spot", "PREEMPTIBLE_TPU_V5P"),
        ("ct6e-standard-4t", "on_demand", "TPUS_PER_TPU_FAMILY/CT6E"),
        ("ct6e-standard-4t", "spot", "PREEMPTIBLE_TPU_V6E"),
    ],
)
def test_compute_engine_counts_chips_of_tpu_by_generation_and_no_gpus(machine: str, market: str, code: str) -> None:
    [found] = catalogue.quotas_of("gcp", machine, market)
    assert (found.code, found.unit, found.scope) == (code, "chips", "region")


def test_no_machine_is_counted_twice_by_one_unit_and_scope() -> None:
    for machine in catalogue.machines().values():
        for market in machine.purchase:
            found = catalogue.quotas_of(machine.cloud, machine.name, market)
            scopes = [(quota.unit, quota.scope) for quota in found]
            assert len(scopes) == len(set(scopes)), (machine.name, market)


def test_every_accelerated_machine_on_demand_is_counted() -> None:
    """Of those that no row counts, the report says that their quota is not known."""
    uncounted = {
        machine.name
        for machine in catalogue.machines().values()
        if machine.cloud in ("aws", "gcp") and machine.accelerators and "on_demand" in machine.purchase
        if not codes(machine.cloud, machine.name, "on_demand")
    }
    assert {name for name in uncounted if not name.startswith("tpu7x-")} == set()


def test_every_quota_has_a_source_and_a_day() -> None:
    for quota in catalogue.quotas().values():
        assert quota.source
        assert quota.markets
        datetime.date.fromisoformat(quota.date)
