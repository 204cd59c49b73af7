"""MIG profiles: numbers that their names say, placements that fit, and numbers copied by hand from NVIDIA's guide."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from gpuyard import catalogue
from gpuyard.catalogue import Partition

PARTITIONS = catalogue.all_partitions().values()
SLICES = {"RTX PRO 6000 Server": (4, 12), "RTX PRO 4500 Server": (2, 2)}
"""Compute and memory slices of a GPU; of every other one 7 and 8."""


def _of(partition: Partition) -> str:
    return f"{partition.accelerator} {partition.profile}"


@pytest.mark.parametrize("partition", PARTITIONS, ids=_of)
def test_a_profile_is_what_its_name_says(partition: Partition) -> None:
    name = re.fullmatch(r"([0-9])g\.([0-9]+)gb(\+me|\+gfx|\+me\.all|-me)?", partition.profile)
    assert name
    assert partition.compute_slices == int(name[1])
    if partition.memory_gib is not None:
        # The name rounds what the label of the GPU shares out; the driver takes up to an eighth of that.
        assert 0.87 * int(name[2]) <= partition.memory_gib <= int(name[2])
    # A suffix that takes all engines of a kind leaves them to one instance.
    if name[3] in {"+me", "+me.all"}:
        assert partition.most == 1


@pytest.mark.parametrize("partition", PARTITIONS, ids=_of)
def test_instances_lie_within_their_gpu_and_as_many_fit_as_are_allowed(partition: Partition) -> None:
    compute, memory = SLICES.get(partition.accelerator, (7, 8))
    starts = partition.placements
    assert list(starts) == sorted(set(starts))
    assert starts[0] == 0
    assert starts[-1] + partition.memory_slices <= memory
    # No two placements of one profile overlap, so there are as many instances as placements, but for engines.
    assert all(after - before >= partition.memory_slices for before, after in pairwise(starts))
    assert partition.most in {1, len(starts)}
    assert partition.most * partition.compute_slices <= compute


@pytest.mark.parametrize("partition", PARTITIONS, ids=_of)
def test_the_parts_of_a_gpu_hold_less_than_the_gpu(partition: Partition) -> None:
    whole = catalogue.accelerator(partition.accelerator)
    _, memory = SLICES.get(partition.accelerator, (7, 8))
    if partition.memory_gib is not None:
        assert partition.memory_gib <= whole.memory_gb * partition.memory_slices / memory
        assert partition.most * partition.memory_gib <= (whole.memory_gib or whole.memory_gb) * 1.01


def test_gpus_without_mig_have_no_profiles() -> None:
    for name in ("T4", "A10G", "L4", "L40S", "V100-32", "MI300X", "TPU v5e", "Trainium2", "none such"):
        assert catalogue.partitions(name) == {}
    with_mig = {"A100-40", "A100-80", "H100-80", "H100-NVL-94", "H200", "B200", "B300", "GB200", "GB300"}
    assert {p.accelerator for p in PARTITIONS} == with_mig | {"RTX PRO 6000 Server", "RTX PRO 4500 Server"}


@pytest.mark.parametrize("name", sorted({p.accelerator for p in PARTITIONS}))
def test_profiles_of_a_gpu_with_seven_slices_have_the_same_geometry(name: str) -> None:
    if name in SLICES:
        return
    found = catalogue.partitions(name).values()
    geometry = [(p.compute_slices, p.memory_slices, p.most, p.placements) for p in found]
    # nvidia-smi mig -lgipp of an A100, an H100 and an H100 NVL; the MIG user guide shows the first.
    assert geometry == [
        (1, 1, 7, (0, 1, 2, 3, 4, 5, 6)),
        (1, 1, 1, (0, 1, 2, 3, 4, 5, 6)),
        (1, 2, 4, (0, 2, 4, 6)),
        (2, 2, 3, (0, 2, 4)),
        (3, 4, 2, (0, 4)),
        (4, 4, 1, (0,)),
        (7, 8, 1, (0,)),
    ]


@pytest.mark.parametrize(
    ("accelerator", "profiles"),
    [
        ("A100-40", "1g.5gb 1g.5gb+me 1g.10gb 2g.10gb 3g.20gb 4g.20gb 7g.40gb"),
        ("A100-80", "1g.10gb 1g.10gb+me 1g.20gb 2g.20gb 3g.40gb 4g.40gb 7g.80gb"),
        ("H100-80", "1g.10gb 1g.10gb+me 1g.20gb 2g.20gb 3g.40gb 4g.40gb 7g.80gb"),
        ("H100-NVL-94", "1g.12gb 1g.12gb+me 1g.24gb 2g.24gb 3g.47gb 4g.47gb 7g.94gb"),
        ("H200", "1g.18gb 1g.18gb+me 1g.35gb 2g.35gb 3g.71gb 4g.71gb 7g.141gb"),
        ("B200", "1g.23gb 1g.23gb+me 1g.45gb 2g.45gb 3g.90gb 4g.90gb 7g.180gb"),
    ],
)
def test_profiles_are_those_of_nvidias_guide(accelerator: str, profiles: str) -> None:
    # docs.nvidia.com/datacenter/tesla/mig-user-guide/supported-mig-profiles.html
    assert " ".join(catalogue.partitions(accelerator)) == profiles


def test_pods_ask_for_a_profile_by_a_name_that_kubernetes_takes() -> None:
    # NVIDIA/k8s-device-plugin: the name is the profile's, its plus signs made dots.
    profiles = catalogue.partitions("RTX PRO 6000 Server")
    assert profiles["1g.24gb+me.all"].resource == "nvidia.com/mig-1g.24gb.me.all"
    assert profiles["2g.48gb-me"].resource == "nvidia.com/mig-2g.48gb-me"
    assert all(re.fullmatch(r"nvidia\.com/[a-z0-9]([-._a-z0-9]{0,61}[a-z0-9])?", p.resource) for p in PARTITIONS)
