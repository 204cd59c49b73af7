"""Prices of TPU machines, from lists that have those of whole slices by the names of the Cloud TPU API."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from gpuyard.catalogue.hardware import Machine, machines

GENERATIONS = {"TPU v5e": "v5litepod", "TPU v5p": "v5p", "TPU v6e": "v6e"}
"""Accelerators as the Cloud TPU API begins the names of their slices; TPU7x has none there."""

CORES_A_CHIP = {"v5litepod": 1, "v5p": 2, "v6e": 1}
"""What the number in the name of a slice counts, a chip: v5p-8 has four chips, v6e-8 eight. Source: Cloud TPU, TPU v5e,
TPU v5p and TPU v6e."""

SLICE = re.compile(r"(?:tpu-)?(v5litepod|v5p|v6e)-([1-9][0-9]{0,4})")

TOLERANCE = 1e-3
"""Part by which the price of a chip differs between slices because lists round."""

Placed = tuple[Machine, str, str]
"""Machine, place and market."""


@dataclass(slots=True)
class ChipPrices:
    """Slices that a list has, whose machines cost what their chips do: a machine of TPU has no price beside them.
    Source: Cloud TPU pricing, which says a price a chip-hour, virtual machine included."""

    found: dict[tuple[str, str, str], dict[int, float]] = field(default_factory=dict)
    """By generation, place and market: US dollars an hour of a slice, by its chips."""

    def add(self, name: str, place: str, market: str, usd_hour: float) -> None:
        """Takes the price of the slice called `name`, as SLICE has it; 0 is none."""
        named = SLICE.fullmatch(name)
        if named is None or not usd_hour:
            return
        chips = int(named[2]) // CORES_A_CHIP[named[1]]
        if chips:
            of_place = self.found.setdefault((named[1], place, market), {})
            of_place[chips] = max(usd_hour, of_place.get(chips, 0.0))

    def machines(self, sizes: int) -> Iterator[tuple[Placed, float | None]]:
        """The price of every machine in every place; None where fewer than `sizes` slices have one, or where they do
        not have the same a chip: a list may hold a figure that stands for none."""
        for (generation, place, market), of_place in self.found.items():
            each = [usd_hour / chips for chips, usd_hour in of_place.items()]
            agree = len(each) >= sizes and max(each) - min(each) <= TOLERANCE * max(each)
            for machine in machines().values():
                if machine.cloud == "gcp" and GENERATIONS.get(machine.accelerator or "") == generation:
                    # Of the largest slice, whose price is rounded least.
                    price = of_place[max(of_place)] / max(of_place) * machine.accelerators
                    yield (machine, place, market), round(price, 6) if agree else None
