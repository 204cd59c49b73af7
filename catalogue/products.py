"""How the nodes of clusters that others run say which accelerator they have: labels, and what their values mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from gpuyard.catalogue.hardware import Accelerator, accelerator
from gpuyard.catalogue.tables import load

PRODUCT = "nvidia.com/gpu.product"
"""NVIDIA's GPU Feature Discovery: the name that the driver has for the GPU, with dashes for blanks."""


GKE_ACCELERATOR = "cloud.google.com/gke-accelerator"
"""GKE: the type of accelerator of a node."""


@dataclass(frozen=True, slots=True)
class Product:
    """One value of a label, and what a node that carries it has."""

    label: str
    """Key of the label."""
    value: str
    accelerator: str
    """A key of the accelerators."""
    source: str
    date: str
    """The day that the source was read, YYYY-MM-DD."""


@cache
def products() -> Mapping[tuple[str, str], Product]:
    """Every value that is known, by the label's key and the value; the label to believe first comes first."""
    return load("products.csv", _product)


def product(labels: Mapping[str, str]) -> Product | None:
    """What the labels of a node say of its accelerators; None where none of them is known.

    A node whose GPUs are cut or shared says so in the value, `…-MIG-1g.10gb` and `…-SHARED`, and older drivers leave
    out the maker: the GPU is the same one.
    """
    name = labels.get(PRODUCT, "").removesuffix("-SHARED").partition("-MIG-")[0]
    said = {**labels, PRODUCT: name}
    if (PRODUCT, name) not in products():
        said[PRODUCT] = f"NVIDIA-{name}"
    return next((row for (label, value), row in products().items() if said.get(label) == value), None)


def attached_accelerator(kind: str) -> Accelerator | None:
    """The accelerator that GKE adds to a machine under that name, as to N1; None for one that is not known."""
    row = products().get((GKE_ACCELERATOR, kind))
    return accelerator(row.accelerator) if row else None


def _product(columns: dict[str, str]) -> tuple[tuple[str, str], Product]:
    row = Product(**columns)
    return (row.label, row.value), row
