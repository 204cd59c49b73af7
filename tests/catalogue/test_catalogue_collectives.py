"""Settings of collective libraries, and the layers of EC2's network."""

from __future__ import annotations

import re

import pytest

from gpuyard import catalogue
from gpuyard.catalogue import NetworkLayers, Setting


@pytest.mark.parametrize("setting", catalogue.nccl_settings().values(), ids=lambda s: f"{s.fabric}-{s.variable}")
def test_a_setting_is_a_variable_of_a_library_with_its_source(setting: Setting) -> None:
    assert setting.fabric in ("efa", "infiniband")
    assert re.fullmatch(r"(FI|NCCL)_[A-Z_]+", setting.variable)
    assert setting.value.strip() == setting.value != ""
    assert setting.source
    assert re.fullmatch(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}", setting.date)


@pytest.mark.parametrize("fabric", ["efa", "infiniband"])
def test_a_job_that_finds_no_fast_network_fails_instead_of_falling_back_on_tcp(fabric: str) -> None:
    assert catalogue.nccl(fabric, "nvidia.com/gpu")["NCCL_NET"].lower() not in ("", "socket")


def test_what_is_not_known_is_not_set() -> None:
    assert catalogue.nccl("efa", "amd.com/gpu") == {}
    assert catalogue.nccl("tcpxo", "nvidia.com/gpu") == {}


@pytest.mark.parametrize("row", catalogue.all_network_layers().values(), ids=lambda row: row.machine)
def test_layers_are_of_machines_whose_nodes_always_tell_them(row: NetworkLayers) -> None:
    assert catalogue.machine(row.machine).cloud == "aws"
    assert row.layers in (3, 4)
    # kubernetes/cloud-provider-aws, pkg/providers/v1/topology.go: others come up without labels when EC2 is slow.
    assert re.match(r"^(hpc|trn|p)[0-9]+[a-z]*(-[a-z0-9]+)?(\.[0-9a-z]*)$", row.machine)


def test_machines_without_a_row_have_no_layers() -> None:
    assert catalogue.network_layers("m7i.large") == 0
