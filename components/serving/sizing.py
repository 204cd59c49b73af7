"""Bytes, seconds and shares of a machine. Weights come in GB (1e9 bytes), memory of machines in GiB (2**30)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from gpuyard import catalogue
from gpuyard.components.node_groups.offers import Offer
from gpuyard.components.serving.spec import GB, EndpointSpec, known_model
from gpuyard.components.serving.template import ServingTemplate
from gpuyard.components.spec import GIB, in_bytes

DOWNLOAD_BYTES_A_SECOND = 100_000_000
"""Assumed, not measured: 0.8 Gbit/s from a hub or a bucket to a node's disk. It is on the slow side on purpose, since a
budget that a slow day exceeds restarts the download from the beginning."""

NODE_SECONDS = 1200
"""Assumed: a node of a cloud starts, installs its driver and pulls an image of some ten GB in at most so long."""

PROBE_SECONDS = 10
"""Seconds between two startup probes."""

MACHINE_SHARE = 0.75
"""Part of a machine's CPU and memory that its accelerators' pods request. The rest is the kubelet's, the system's and
the daemons': on the smallest accelerator machine in use (g2-standard-4, 16 GiB) GKE alone reserves a sixth."""

DISK_SPARE_GIB = 20
"""Room beside the weights for tokenizers, compiled kernels and the download's temporary files."""


@dataclass(frozen=True)
class Budget:
    """Times that follow from the size of the weights, seconds."""

    startup: int
    """From the start of the container to its first healthy answer."""
    progress: int
    """From a new replica to its readiness, with the node that it may have to wait for. After so long without one more
    the Deployment says that it makes no progress."""


def weights_bytes(spec: EndpointSpec) -> int:
    """Size of the model's files, bytes: the spec's own figure, else the catalogue's."""
    if spec.weights is not None:
        return in_bytes(spec.weights)
    model = known_model(spec)
    if model is None:
        raise ValueError("the catalogue does not know the model: give weights")
    return round(model.checkpoint_gb * GB)


def loaded_bytes(spec: EndpointSpec, engine: ServingTemplate) -> int:
    """Least bytes of the weights in all accelerators together. The truth is more: some layers stay unquantised."""
    files = weights_bytes(spec)
    bits = engine.quantizations[spec.quantization].bits if spec.quantization else None
    model = known_model(spec)
    if spec.weights is None and model is not None:
        return min(files, round(model.parameters_b * 1e9 * (bits or 16) / 8))
    return files * bits // 16 if bits else files


def budget(spec: EndpointSpec, engine: ServingTemplate) -> Budget:
    """The times to allow an endpoint."""
    fetched = 0 if spec.model.source == "pvc" else weights_bytes(spec)
    startup = engine.start_seconds + math.ceil(fetched / DOWNLOAD_BYTES_A_SECOND)
    startup = math.ceil(startup / PROBE_SECONDS) * PROBE_SECONDS
    return Budget(startup=startup, progress=NODE_SECONDS + startup)


def disk_gib(spec: EndpointSpec) -> int:
    """Limit of the volume that the model is copied to, GiB. A pod that exceeds it is evicted, hence the spare room."""
    copied = 0 if spec.model.source == "pvc" else weights_bytes(spec)
    return math.ceil(copied * 1.1 / GIB) + DISK_SPARE_GIB


def cpu_and_memory(
    spec: EndpointSpec, engine: ServingTemplate, machine: catalogue.Machine, offer: Offer
) -> tuple[str, str]:
    """CPU and memory requests: the accelerators' part of the machine, less what the node keeps for itself.

    Where the catalogue does not know the machine's size (0), the template's figures an accelerator.
    """
    taken = offer.machine_share * spec.accelerators
    part, whole = Fraction(MACHINE_SHARE) * taken, taken * machine.accelerators
    cpu = max(1, math.floor(machine.vcpus * part or engine.resources.cpu * whole))
    gib = max(1, math.floor(Fraction(machine.memory_gib) * part or engine.resources.memory_gib * whole))
    return str(cpu), f"{gib}Gi"
