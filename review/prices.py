"""The prices that a review counts with: the catalogue's, and over them those of whoever owns the policies.

Their file is `prices.csv` in the program's `policies` folder, beside the limits: the author of a stack chooses neither.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any

from gpuyard import catalogue
from gpuyard.catalogue.pricing import Sold, read_prices
from gpuyard.review.errors import InputError

FILE = "prices.csv"


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices of machines."""

    own: Mapping[Sold, catalogue.Price]
    """Rows of the program's file, which go over the catalogue's."""
    digest: str | None = None
    """SHA-256 of that file; None where there is none."""

    def of(self, cloud: str, region: str, machine: str, market: str) -> catalogue.Price | None:
        """The price of a machine, or None where it is not known."""
        return self.own.get((cloud, region, machine, market)) or catalogue.price(cloud, region, machine, market)

    def recorded(self) -> dict[str, Any] | None:
        """What a document says of the file, so that whoever repeats the review knows it."""
        return {"file": FILE, "rows": len(self.own), "sha256": self.digest} if self.digest else None


CATALOGUE = Prices(MappingProxyType({}))
"""The catalogue's prices alone."""


def prices(path: Path | None) -> Prices:
    """The catalogue's prices under those of a file. Raises InputError for a wrong file."""
    if path is None:
        return CATALOGUE
    try:
        return Prices(read_prices(path), sha256(path.read_bytes()).hexdigest())
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}: give a file that can be read, or none") from error
    except ValueError as error:
        raise InputError(f"{path.parent / str(error)}") from error
