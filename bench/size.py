"""How long it takes to size one endpoint, simulation apart.

python bench/size.py
"""

from __future__ import annotations

import time

from gpuyard import catalogue
from gpuyard.catalogue.throughput import decodings, peaks
from gpuyard.components.serving.load.bill import Site, bill
from gpuyard.components.serving.load.plan import Load, plan
from gpuyard.components.serving.load.roofline import Conditions
from gpuyard.components.serving.load.speed import speed
from gpuyard.components.spec import GIB

REACH_MS = 10
REACH_ALL_S = 5


def main() -> None:
    machine = catalogue.machine("p5.48xlarge")
    started = time.perf_counter()
    one("meta-llama/Llama-3.3-70B-Instruct", machine, 2)
    first = time.perf_counter() - started
    started = time.perf_counter()
    for _ in range(100):
        one("meta-llama/Llama-3.3-70B-Instruct", machine, 2)
    each = (time.perf_counter() - started) / 100
    print(f"one endpoint: {each * 1e3:.2f} ms (to reach: {REACH_MS} ms); {first * 1e3:.0f} ms with reading the tables")
    sized = 0
    started = time.perf_counter()
    for model in decodings():
        for machine in catalogue.machines().values():
            if machine.accelerator in peaks() and machine.accelerators and fits(model, machine):
                one(model, machine, machine.accelerators)
                sized += 1
    print(f"{sized} of all models x machines: {time.perf_counter() - started:.2f} s (to reach: {REACH_ALL_S} s)")


def fits(model: str, machine: catalogue.Machine) -> bool:
    """Whether a whole machine has clearly more memory than the weights at 8 bits."""
    memory = catalogue.accelerator(machine.accelerator or "").memory_gib or 0
    return decodings()[model].parameters_b * 1e9 * 1.2 < memory * GIB * machine.accelerators * 0.9


def one(model: str, machine: catalogue.Machine, accelerators: int) -> None:
    """Sizes an endpoint of 20 requests a second, and prices it."""
    load = Load(20, 600.0, 3)
    known = speed(Conditions(model, machine.accelerator or "", accelerators, "vllm", "fp8", 1024, 256))
    planned = plan(known.curve, load)
    site = Site(machine, machine.accelerators, "us-east-1", "on_demand")
    bill(site, planned.replicas, accelerators, load.zones, catalogue.price)


if __name__ == "__main__":
    main()
