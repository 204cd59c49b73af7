"""How accelerators of different machines talk: settings of their collective libraries, and how near machines are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from gpuyard.catalogue.tables import load


@dataclass(frozen=True, slots=True)
class Setting:
    """An environment variable of NCCL, or of what it talks through."""

    fabric: str
    """efa or infiniband. Google's GPUDirect comes with a script on the node that sets what fits its own version."""
    resource: str
    """What pods ask for, such as nvidia.com/gpu: each vendor has a library of its own."""
    variable: str
    value: str
    source: str
    date: str
    """The day that the source is of or was read on, YYYY-MM-DD."""


@dataclass(frozen=True, slots=True)
class NetworkLayers:
    """Layers of EC2's network above a machine, each told on its node by a label."""

    machine: str
    """A machine whose nodes always get the labels: EC2 reports others too, but a node may come up without them."""
    layers: int
    """How many; the first is the farthest, machines that share the last are the nearest to each other."""
    source: str
    date: str
    """The day that the source was read, YYYY-MM-DD."""


@cache
def nccl_settings() -> Mapping[tuple[str, str, str], Setting]:
    """Every setting by fabric, resource and variable."""
    return load("nccl.csv", _setting)


@cache
def all_network_layers() -> Mapping[str, NetworkLayers]:
    """The layers above every machine that reports them."""
    return load("network_layers.csv", _layers)


@cache
def nccl(fabric: str, resource: str) -> Mapping[str, str]:
    """Variables that a pod with such accelerators on such a fabric sets; empty where none is known to be needed."""
    found = [row for row in nccl_settings().values() if (row.fabric, row.resource) == (fabric, resource)]
    return MappingProxyType({row.variable: row.value for row in found})


def network_layers(machine: str) -> int:
    """Layers of EC2's network that the labels of such a node name; 0 where they name none."""
    found = all_network_layers().get(machine)
    return found.layers if found else 0


def _setting(columns: dict[str, str]) -> tuple[tuple[str, str, str], Setting]:
    row = Setting(**columns)
    return (row.fabric, row.resource, row.variable), row


def _layers(columns: dict[str, str]) -> tuple[str, NetworkLayers]:
    row = NetworkLayers(columns["machine"], int(columns["layers"]), columns["source"], columns["date"])
    return row.machine, row
