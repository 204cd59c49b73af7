"""Machines and accelerators: rows agree with each other, with EC2's own model, and with numbers copied by hand."""

from __future__ import annotations

import re

import pytest
from botocore.loaders import Loader

from gpuyard import catalogue
from gpuyard.catalogue import Accelerator, Machine

MACHINES = catalogue.machines().values()
AWS = [m for m in MACHINES if m.cloud == "aws"]
GCP = [m for m in MACHINES if m.cloud == "gcp"]
ONPREM = [m for m in MACHINES if m.cloud == "onprem"]
RESOURCES = {
    "nvidia": "nvidia.com/gpu",
    "amd": "amd.com/gpu",
    "aws": "aws.amazon.com/neuron",
    "google": "google.com/tpu",
    "intel": "habana.ai/gaudi",
    "qualcomm": "qualcomm.com/qaic",
}


def _accelerator(machine: Machine) -> Accelerator | None:
    return catalogue.accelerator(machine.accelerator) if machine.accelerator else None


@pytest.mark.parametrize("machine", MACHINES, ids=lambda m: m.name)
def test_a_machine_agrees_with_itself_and_with_its_accelerator(machine: Machine) -> None:
    assert machine.cloud in {"aws", "gcp", "onprem"}
    assert machine.architecture in {"amd64", "arm64"}
    assert machine.accelerators >= 0
    assert machine.local_disk_gb >= 0
    assert machine.accelerator_memory_mib >= 0
    assert machine.network_gbps is None or 0 < machine.network_gbps <= 10_000
    assert set(machine.purchase) <= {"on_demand", "spot", "reservation", "capacity_block", "flex_start"}
    assert len(set(machine.purchase)) == len(machine.purchase)
    found = _accelerator(machine)
    assert bool(found) == bool(machine.accelerators) == bool(machine.resource)
    if found:
        assert machine.resource == RESOURCES[found.vendor]
    if found and machine.accelerator_memory_mib:
        # A cloud reports what the driver leaves, at most an eighth below the label.
        assert machine.accelerator_memory_mib / 1024 == pytest.approx(found.memory_gb, rel=0.125)


@pytest.mark.parametrize("machine", [*AWS, *GCP], ids=lambda m: m.name)
def test_a_machine_of_a_cloud_has_a_size_and_can_be_bought(machine: Machine) -> None:
    assert machine.vcpus >= 2
    assert machine.memory_gib >= 4
    assert machine.purchase
    assert bool(machine.cloud_accelerator) == bool(machine.accelerator)


def test_every_aws_machine_is_one_that_ec2_knows() -> None:
    known = _ec2_instance_types()
    assert [m.name for m in AWS if m.name not in known] == []


def test_every_size_of_an_accelerated_family_of_ec2_is_there() -> None:
    families = {_family(m.name) for m in AWS if m.accelerator}
    sizes = {name for name in _ec2_instance_types() if _family(name) in families}
    assert sizes - catalogue.machines().keys() == set()
    assert len(families) >= 25


@pytest.mark.parametrize("machine", AWS, ids=lambda m: m.name)
def test_only_graviton_and_grace_families_of_ec2_are_arm(machine: Machine) -> None:
    # EC2 names a family by its series, its generation and options: a g there is Graviton. Grace is beside a GB200.
    options = re.sub(r"^[a-z]+[0-9]", "", _family(machine.name))
    assert (machine.architecture == "arm64") == (options.startswith("g") or machine.accelerator == "GB200")


@pytest.mark.parametrize("machine", [m for m in AWS if not m.name.endswith(".metal")], ids=lambda m: m.name)
def test_the_size_of_an_ec2_machine_tells_its_vcpus(machine: Machine) -> None:
    # EC2's sizes: large is 2 vCPUs, xlarge 4, and Nxlarge 4 x N.
    size = re.fullmatch(r"([0-9]*)x?large", machine.name.split(".")[1])
    assert size
    assert machine.vcpus == (2 if machine.name.endswith(".large") else 4 * int(size[1] or 1))


@pytest.mark.parametrize("machine", GCP, ids=lambda m: m.name)
def test_the_name_of_a_compute_engine_machine_tells_its_size(machine: Machine) -> None:
    series, kind, size, *option = machine.name.split("-")
    if size.endswith(("g", "t")):
        assert machine.accelerators == int(size[:-1])
    else:
        assert (kind, machine.vcpus) == ("standard", int(size))
        # The others have 4 GiB a vCPU, and G4 a little less.
        assert machine.memory_gib == (machine.vcpus * 15 // 4 if series == "g4" else 4 * machine.vcpus)
    assert option in ([], ["nolssd"], ["metal"])
    assert option != ["nolssd"] or machine.local_disk_gb == 0
    gke = {"a2": {"nvidia-tesla-a100", "nvidia-a100-80gb"}, "a4": {"nvidia-b200"}, "g2": {"nvidia-l4"}}
    gke |= {"a3": {"nvidia-h100-80gb", "nvidia-h100-mega-80gb", "nvidia-h200-141gb"}, "g4": {"nvidia-rtx-pro-6000"}}
    gke |= {"a4x": {"nvidia-gb200", "nvidia-gb300"}, "ct5lp": {"tpu-v5-lite-podslice"}, "ct5p": {"tpu-v5p-slice"}}
    gke |= {"ct6e": {"tpu-v6e-slice"}, "tpu7x": {"tpu7x"}}
    assert machine.cloud_accelerator in gke.get(series, {None})
    assert machine.boot_disks
    assert set(machine.boot_disks) <= {"pd-standard", "pd-balanced", "pd-ssd", "hyperdisk-balanced"}
    assert machine.boot_disks[0] != "pd-standard"


@pytest.mark.parametrize("name", ["a3-ultragpu-8g", "a4-highgpu-8g", "a4x-highgpu-4g", "a4x-maxgpu-4g-metal"])
def test_the_newest_google_machines_boot_from_hyperdisk_only_and_are_not_sold_on_demand(name: str) -> None:
    assert catalogue.machine(name).boot_disks == ("hyperdisk-balanced",)
    assert "on_demand" not in catalogue.machine(name).purchase


@pytest.mark.parametrize("name", ["a3-highgpu-1g", "a3-highgpu-2g", "a3-highgpu-4g"])
def test_small_a3_machines_are_spot_or_flex_start_only(name: str) -> None:
    # docs.cloud.google.com/compute/docs/gpus, A3 High: "you must create instances by using Spot VMs or Flex-start VMs".
    assert catalogue.machine(name).purchase == ("spot", "flex_start")


def test_an_ultraserver_machine_is_never_spot() -> None:
    # docs.aws.amazon.com, EC2 accelerated computing, family summary: Trn2u, Spot support: no.
    assert "spot" not in catalogue.machine("trn2u.48xlarge").purchase
    assert catalogue.machine("p6e-gb200.36xlarge").purchase == ("capacity_block",)


@pytest.mark.parametrize("machine", ONPREM, ids=lambda m: m.name)
def test_the_name_of_a_generic_machine_tells_its_accelerators(machine: Machine) -> None:
    assert machine.purchase == ()
    generic = re.fullmatch(r"onprem-(.+)-x([0-9]+)", machine.name)
    if generic:
        assert machine.accelerators == int(generic[2])
        assert (machine.accelerator or "").lower().removesuffix(" server").replace(" ", "-") == generic[1]
        assert (machine.vcpus, machine.memory_gib) == (0, 0)
        # Grace is in every machine with a GB200 or a GB300.
        assert (machine.architecture == "arm64") == generic[1].startswith("gb")
    else:
        assert machine.name == "onprem-cpu" or machine.name.startswith("dgx-")


# Copied by hand from another source than the rows': vCPUs, GiB, accelerator, count, EC2's MiB, NVMe GB, Gb/s.
# AWS: docs.aws.amazon.com/ec2/latest/instancetypes/ac.html, its performance, network and storage tables.
# GCP: docs.cloud.google.com/compute/docs/gpus and /tpu/docs/v5p. DGX: nvidia.com data sheets. trn2: AWS Neuron docs.
# p6e-gb200: aws.amazon.com/ec2/instance-types/p6.
BY_HAND = {
    "p5.48xlarge": (192, 2048, "H100-80", 8, 80 * 1024, 30400, 3200),
    "p5.4xlarge": (16, 256, "H100-80", 1, 80 * 1024, 3800, 100),
    "p5en.48xlarge": (192, 2048, "H200", 8, 141 * 1024, 30400, 3200),
    "p4d.24xlarge": (96, 1152, "A100-40", 8, 40 * 1024, 8000, 400),
    "p4de.24xlarge": (96, 1152, "A100-80", 8, 80 * 1024, 8000, 400),
    "g6.12xlarge": (48, 192, "L4", 4, 22888, 3760, 40),
    "g6e.12xlarge": (48, 384, "L40S", 4, 45776, 3800, 100),
    "g5.xlarge": (4, 16, "A10G", 1, 22888, 250, 2.5),
    "g5g.16xlarge": (64, 128, "T4G", 2, 16 * 1024, 0, 25),
    "g4dn.12xlarge": (48, 192, "T4", 4, 16 * 1024, 900, 50),
    "g6f.4xlarge": (16, 64, "L4-12", 1, 11444, 450, 10),
    "g7e.48xlarge": (192, 2048, "RTX PRO 6000 Server", 8, 96 * 1024, 15200, 1600),
    "inf2.24xlarge": (96, 384, "Inferentia2", 6, 32 * 1024, 0, 50),
    "p6e-gb200.36xlarge": (144, 960, "GB200", 4, 0, 22500, 3200),
    "trn1.32xlarge": (128, 512, "Trainium1", 16, 32 * 1024, 7600, 800),
    "trn2.48xlarge": (192, 2048, "Trainium2", 16, 96 * 1024, 7600, 3200),
    "m7i.2xlarge": (8, 32, None, 0, 0, 0, 3.125),
    "a2-ultragpu-4g": (48, 680, "A100-80", 4, 0, 1500, 50),
    "a3-highgpu-8g": (208, 1872, "H100-80", 8, 0, 6000, 1000),
    "a3-megagpu-8g": (208, 1872, "H100-80", 8, 0, 6000, 1800),
    "g2-standard-12": (12, 48, "L4", 1, 0, 0, 16),
    "g2-standard-24": (24, 96, "L4", 2, 0, 0, 32),
    "a4x-highgpu-4g": (140, 884, "GB200", 4, 0, 12000, 2000),
    "g4-standard-384": (384, 1440, "RTX PRO 6000 Server", 8, 0, 0, 400),
    "ct5p-hightpu-4t": (208, 448, "TPU v5p", 4, 0, 0, None),
    "dgx-h100": (224, 2048, "H100-80", 8, 0, 30720, 3200),
    "dgx-a100-320": (256, 1024, "A100-40", 8, 0, 15360, 1600),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_a_machine_is_as_its_maker_publishes_it(name: str) -> None:
    machine = catalogue.machine(name)
    assert (
        machine.vcpus,
        machine.memory_gib,
        machine.accelerator,
        machine.accelerators,
        machine.accelerator_memory_mib,
        machine.local_disk_gb,
        machine.network_gbps,
    ) == BY_HAND[name]


ACCELERATORS = catalogue.accelerators().values()
NVIDIA = [a for a in ACCELERATORS if a.vendor == "nvidia"]


@pytest.mark.parametrize("accelerator", ACCELERATORS, ids=lambda a: a.name)
def test_a_process_sees_at_most_the_memory_of_the_label(accelerator: Accelerator) -> None:
    assert accelerator.vendor in {"nvidia", "amd", "google", "aws", "intel", "qualcomm"}
    assert accelerator.formats <= {"fp16", "bf16", "fp8", "fp4", "int8"}
    assert bool(accelerator.compute_capability) == (accelerator.vendor in {"nvidia", "amd"})
    if accelerator.memory_gib is not None:
        # GPUs are labelled in GiB or in GB, whichever their maker likes; others in GB.
        assert 0.9 * accelerator.memory_gb <= accelerator.memory_gib <= accelerator.memory_gb


@pytest.mark.parametrize("accelerator", NVIDIA, ids=lambda a: a.name)
def test_what_an_nvidia_accelerator_computes_follows_from_its_compute_capability(accelerator: Accelerator) -> None:
    # CUDA programming guide, arithmetic of tensor cores: int8 since Turing (7.5), bf16 since Ampere (8.0),
    # fp8 since Ada (8.9), fp4 since Blackwell (10.0).
    capability = float(accelerator.compute_capability or "nan")
    since = {"fp16": 7.0, "int8": 7.5, "bf16": 8.0, "fp8": 8.9, "fp4": 10.0}
    assert accelerator.formats == {name for name, first in since.items() if capability >= first}
    names = {"pascal": (6.0, 6.2), "volta": (7.0, 7.4), "turing": (7.5, 7.9), "ampere": (8.0, 8.8), "ada": (8.9, 8.9)}
    names |= {"hopper": (9.0, 9.9), "blackwell": (10.0, 12.9)}
    lowest, highest = names[accelerator.generation]
    assert lowest <= capability <= highest


def test_a_share_of_an_l4_is_not_counted_as_a_whole_one() -> None:
    shares = {m.accelerator for m in AWS if _family(m.name) in {"g6f", "gr6f"}}
    assert shares == {"L4-3", "L4-6", "L4-12"}
    assert all(catalogue.machine(name).accelerators == 1 for name in ("g6f.large", "g6f.2xlarge", "gr6f.4xlarge"))
    whole = {m.name for m in GCP if m.accelerator == "RTX PRO 6000 Server"}
    assert whole == {f"g4-standard-{vcpus}" for vcpus in (48, 96, 192, 384)}


def _ec2_instance_types() -> list[str]:
    model = Loader().load_service_model("ec2", "service-2")
    names: list[str] = model["shapes"]["InstanceType"]["enum"]
    return names


def _family(name: str) -> str:
    return name.split(".")[0]
