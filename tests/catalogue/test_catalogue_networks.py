"""Fabrics and TPU slices: rows agree with the machines, and with numbers copied by hand."""

from __future__ import annotations

from math import prod

import pytest

from gpuyard import catalogue
from gpuyard.catalogue import Fabric, Slice, topology
from gpuyard.catalogue.interconnect import FabricKind

FABRICS = catalogue.fabrics().values()
SLICES = catalogue.all_slices().values()
TPU = {name: m for name, m in catalogue.machines().items() if m.resource == "google.com/tpu"}


@pytest.mark.parametrize("fabric", FABRICS, ids=lambda f: f.machine)
def test_a_fabric_fits_its_machine(fabric: Fabric) -> None:
    machine = catalogue.machine(fabric.machine)
    assert machine.accelerator
    assert (fabric.kind == "efa") == (machine.cloud == "aws")
    assert machine.cloud in {"aws", "gcp"}
    assert fabric.interfaces >= 1
    # One interface a card, from the first that carries one to the last.
    assert fabric.first_card + fabric.interfaces == fabric.network_cards
    if fabric.kind != "efa":
        # The node's own network takes the first card, and RDMA machines have a second ordinary one.
        assert fabric.first_card == (2 if fabric.kind == "rdma" else 1)
        assert fabric.interfaces % machine.accelerators == 0 or fabric.kind == "tcpx"


@pytest.mark.parametrize(
    ("machine", "kind", "interfaces", "cards", "mtu", "profile"),
    [
        # GoogleCloudPlatform/cluster-toolkit examples, and the GPUDirect map of kubernetes-sigs/dranet.
        ("a3-highgpu-8g", "tcpx", 4, 5, 8244, None),
        ("a3-megagpu-8g", "tcpxo", 8, 9, 8244, None),
        ("a3-ultragpu-8g", "rdma", 8, 10, 8896, "vpc-roce"),
        ("a4-highgpu-8g", "rdma", 8, 10, 8896, "vpc-roce"),
        ("a4x-highgpu-4g", "rdma", 4, 6, 8896, "vpc-roce"),
        ("a4x-maxgpu-4g-metal", "rdma", 8, 10, None, "vpc-roce-metal"),
        # AWS user guides: EFA of P5, P5en, P6-B200 and P6-B300.
        ("p5.48xlarge", "efa", 32, 32, None, None),
        ("p5en.48xlarge", "efa", 16, 16, None, None),
        ("p6-b200.48xlarge", "efa", 8, 8, None, None),
        ("p6-b300.48xlarge", "efa", 16, 17, None, None),
        ("p4d.24xlarge", "efa", 4, 4, None, None),
        ("trn2.48xlarge", "efa", 16, 16, None, None),
    ],
)
def test_a_fabric_is_as_the_cloud_publishes_it(
    machine: str, kind: FabricKind, interfaces: int, cards: int, mtu: int | None, profile: str | None
) -> None:
    fabric = catalogue.fabric(machine)
    assert fabric
    assert (fabric.kind, fabric.interfaces, fabric.network_cards) == (kind, interfaces, cards)
    assert (fabric.mtu, fabric.network_profile) == (mtu, profile)


@pytest.mark.parametrize(
    "machine", ["g6.xlarge", "dl1.24xlarge", "a3-highgpu-4g", "g2-standard-96", "dgx-h100", "none"]
)
def test_a_machine_without_a_fabric_has_none(machine: str) -> None:
    assert catalogue.fabric(machine) is None


def test_every_tpu_machine_and_no_other_has_slices() -> None:
    assert {one.machine for one in SLICES} == TPU.keys()
    assert catalogue.slices("a3-highgpu-8g") == catalogue.slices("none") == {}


@pytest.mark.parametrize("machine", TPU)
def test_a_slice_has_the_chips_of_its_topology_on_whole_machines(machine: str) -> None:
    found = catalogue.slices(machine)
    sizes = [one.chips for one in found.values()]
    assert sizes == sorted(sizes)
    for name, one in found.items():
        axes = [int(axis) for axis in name.split("x")]
        assert name == one.topology == "x".join(map(str, axes))
        assert one.chips == prod(axes)
        assert one.hosts * TPU[machine].accelerators == one.chips
        assert len(axes) == (2 if machine.startswith(("ct5lp", "ct6e")) else 3)
    # The smallest slice of a machine is that machine.
    assert next(iter(found.values())).hosts == 1


@pytest.mark.parametrize(("machine", "cubes"), [("ct5p-hightpu-4t", 96), ("tpu7x-standard-4t", 144)])
def test_large_slices_are_whole_cubes_with_rising_edges(machine: str, cubes: int) -> None:
    found = catalogue.slices(machine)
    expected = {
        f"{4 * a}x{4 * b}x{4 * c}"
        for a in range(1, cubes + 1)
        for b in range(a, cubes + 1)
        for c in range(b, cubes + 1)
        if a * b * c <= cubes
    }
    assert found.keys() == expected | {"2x2x1", "2x2x2", "2x2x4", "2x4x4"}
    assert topology.CUBES not in found


@pytest.mark.parametrize(
    ("machine", "topology", "chips", "hosts"),
    [
        # docs.cloud.google.com/tpu/docs/v5e, v5p and tpu7x; plan-tpus of GKE.
        ("ct5lp-hightpu-4t", "16x16", 256, 64),
        ("ct5lp-hightpu-8t", "2x4", 8, 1),
        ("ct6e-standard-4t", "2x4", 8, 2),
        ("ct5p-hightpu-4t", "16x16x24", 6144, 1536),
        ("ct5p-hightpu-4t", "4x4x8", 128, 32),
        ("tpu7x-standard-4t", "2x2x1", 4, 1),
        ("tpu7x-standard-4t", "8x16x16", 2048, 512),
    ],
)
def test_a_slice_is_as_google_publishes_it(machine: str, topology: str, chips: int, hosts: int) -> None:
    found: Slice = catalogue.slices(machine)[topology]
    assert (found.chips, found.hosts) == (chips, hosts)


@pytest.mark.parametrize(
    ("machine", "topology"),
    [
        ("ct5p-hightpu-4t", "4x8x4"),
        ("ct5p-hightpu-4t", "16x16x28"),
        ("ct6e-standard-4t", "2x3"),
        ("ct6e-standard-1t", "2x2"),
    ],
)
def test_a_slice_that_google_does_not_join_is_not_there(machine: str, topology: str) -> None:
    assert topology not in catalogue.slices(machine)
