"""The machines as the clouds' own data has them: EC2 as recorded and as Karpenter publishes it, and GKE's tables."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

import pytest

from gpuyard import catalogue

DATA = Path(__file__).parents[1] / "data" / "catalogue"
ARCHITECTURES = {"x86_64": "amd64", "arm64": "arm64"}
MARKETS = {"on-demand": "on_demand", "spot": "spot", "capacity-block": "capacity_block"}
LOCAL_SSD_GB = {"a4x": 3000}
ACCELERATORS = {
    # EC2's manufacturer and name.
    ("NVIDIA", "V100"): {"V100-32"},
    ("NVIDIA", "A100"): {"A100-40", "A100-80"},
    ("NVIDIA", "H100"): {"H100-80"},
    ("NVIDIA", "L4"): {"L4", "L4-3", "L4-6", "L4-12"},
    ("NVIDIA", "RTX PRO Server 6000"): {"RTX PRO 6000 Server"},
    ("NVIDIA", "RTX PRO 4500"): {"RTX PRO 4500 Server"},
    ("NVIDIA", "T4g"): {"T4G"},
    ("Qualcomm", "Qualcomm AI100"): {"AI 100"},
    ("AWS", "Inferentia"): {"Inferentia"},
    ("AWS", "Inferentia2"): {"Inferentia2"},
    ("", "Trainium"): {"Trainium1"},
    ("", "Trainium2"): {"Trainium2"},
}


def _table(name: str) -> dict[str, dict[str, str]]:
    with (DATA / name).open(encoding="utf-8") as file:
        assert file.readline().startswith("# ")
        rows = list(csv.DictReader(file))
    table = {next(iter(row.values())): row for row in rows}
    assert len(table) == len(rows)
    return table


DESCRIBED = _table("ec2_described.csv")
KARPENTER = _table("ec2_karpenter.csv")
GKE = _table("gke_machines.csv")
OF_AWS = {name: m for name, m in catalogue.machines().items() if m.cloud == "aws"}
OF_GCP = {name: m for name, m in catalogue.machines().items() if m.cloud == "gcp"}


def _number(row: Mapping[str, str], column: str) -> int:
    return int(row[column] or 0)


def test_every_machine_of_ec2_but_two_is_in_its_own_data() -> None:
    # us-east-1, where moto records, has neither.
    assert OF_AWS.keys() - DESCRIBED.keys() == {"dl1.24xlarge", "p6e-gb200.36xlarge"}
    assert DESCRIBED.keys() - OF_AWS.keys() == set()


@pytest.mark.parametrize("name", DESCRIBED)
def test_a_machine_is_as_ec2_describes_it(name: str) -> None:
    row, machine, fabric = DESCRIBED[name], catalogue.machine(name), catalogue.fabric(name)
    assert machine.architecture == ARCHITECTURES[row["architecture"]]
    assert machine.vcpus == _number(row, "vcpus")
    assert machine.memory_gib * 1024 == _number(row, "memory_mib")
    assert machine.local_disk_gb == _number(row, "local_disk_gb")
    assert set(machine.purchase) - {"reservation"} == {MARKETS[kind] for kind in row["usage_classes"].split()}
    # A fabric is there where EFA is, on the cards that EC2 says, which are neighbours.
    cards = [int(card) for card in row["efa_cards"].split()]
    assert (fabric.interfaces if fabric else 0) == _number(row, "efa_interfaces") == len(cards)
    if fabric:
        assert (fabric.kind, fabric.mtu, fabric.network_profile) == ("efa", None, None)
        assert fabric.network_cards == _number(row, "network_cards")
        assert cards == list(range(fabric.first_card, fabric.first_card + fabric.interfaces))


@pytest.mark.parametrize("name", DESCRIBED)
def test_a_machine_has_the_accelerators_that_ec2_describes(name: str) -> None:
    row, machine = DESCRIBED[name], catalogue.machine(name)
    if name == "trn2u.48xlarge":
        # EC2 says nothing of its accelerators, and AWS' pages say that they are those of trn2.48xlarge.
        assert not row["accelerator"]
        assert machine.accelerator == catalogue.machine("trn2.48xlarge").accelerator
        return
    # A share of a GPU counts as none, and as one logical GPU.
    assert machine.accelerators == (_number(row, "count") or _number(row, "logical_count"))
    known = ACCELERATORS.get((row["manufacturer"], row["accelerator"]), {row["accelerator"] or None})
    assert machine.accelerator in known
    if row["accelerator"] == "Trainium2":
        # EC2 says 512 GiB for 96: awsdocs-neuron, Trainium2 architecture.
        assert (machine.accelerator_memory_mib, _number(row, "accelerator_mib")) == (96 * 1024, 512 * 1024)
    else:
        assert machine.accelerator_memory_mib == _number(row, "accelerator_mib")


def test_only_b300_keeps_its_first_card_off_the_fabric() -> None:
    fabrics = [fabric for fabric in catalogue.fabrics().values() if fabric.kind == "efa"]
    assert {fabric.machine for fabric in fabrics if fabric.first_card} == {"p6-b300.48xlarge"}
    assert len(fabrics) >= 40


@pytest.mark.parametrize("name", KARPENTER)
def test_a_machine_is_as_karpenter_knows_it(name: str) -> None:
    row, machine, fabric = KARPENTER[name], catalogue.machine(name), catalogue.fabric(name)
    assert machine.architecture == row["architecture"]
    assert machine.vcpus == _number(row, "vcpus")
    assert machine.memory_gib * 1024 == _number(row, "memory_mib")
    assert machine.local_disk_gb == _number(row, "local_disk_gb")
    assert (machine.cloud_accelerator or "") == row["accelerator"]
    assert (fabric.interfaces if fabric else 0) == _number(row, "efa_interfaces")
    if fabric and row["network_cards"]:
        assert fabric.network_cards == _number(row, "network_cards")
    if row["count"] != "0":
        assert machine.accelerators == _number(row, "count")
    if row["accelerator_mib"]:
        assert machine.accelerator_memory_mib == _number(row, "accelerator_mib")
    if row["resource"]:
        assert (machine.resource, machine.accelerators) == (row["resource"], _number(row, "resource_count"))


def test_karpenter_knows_nearly_every_machine() -> None:
    assert OF_AWS.keys() - KARPENTER.keys() == {
        "dl1.24xlarge",
        "p6e-gb200.36xlarge",
        "trn2.3xlarge",
        "trn2u.48xlarge",
    }


def test_the_accelerated_machines_of_gke_are_those_of_the_extract() -> None:
    accelerated = {name for name, row in GKE.items() if row["accelerator"]}
    assert accelerated == {name for name, machine in OF_GCP.items() if machine.accelerator}


@pytest.mark.parametrize("name", GKE)
def test_a_machine_is_as_gke_has_it(name: str) -> None:
    row, machine = GKE[name], catalogue.machine(name)
    # GKE's table gives a g2-standard-24 23 vCPUs, and a TPU7x machine 992 GB where GKE's page says 960.
    vcpus = 24 if name == "g2-standard-24" else _number(row, "vcpus")
    memory = 960 if name == "tpu7x-standard-4t" else _number(row, "memory_gb")
    assert (machine.vcpus, machine.memory_gib) == (vcpus, memory)
    assert (machine.cloud_accelerator or "") == row["accelerator"]
    if row["count"]:
        assert machine.accelerators == _number(row, "count")
    each = LOCAL_SSD_GB.get(name.split("-")[0], 375)
    assert machine.local_disk_gb == each * _number(row, "local_ssds")
    assert set(machine.boot_disks) == set(row["boot_disks"].split())
    if row["dws"] == "no":
        assert "flex_start" not in machine.purchase


def test_the_partitions_of_gke_are_those_of_its_table() -> None:
    with (DATA / "gke_partition_sizes.csv").open(encoding="utf-8") as file:
        file.readline()
        theirs = {(row["accelerator"], row["size"]): int(row["most"]) for row in csv.DictReader(file)}
    of_label = {
        m.cloud_accelerator: m.accelerator
        for m in OF_GCP.values()
        if m.accelerator and not m.name.startswith(("g4-standard-6", "g4-standard-12", "g4-standard-24"))
    }
    ours = {
        (label, partition.resource.removeprefix("nvidia.com/mig-")): partition.most
        for label, accelerator in of_label.items()
        for partition in catalogue.partitions(str(accelerator)).values()
        if partition.gke
    }
    assert ours == theirs
