"""Drivers, runtimes and device plugins, by family of accelerators. NVIDIA's, which has the most owners, is apart."""

from __future__ import annotations

from gpuyard.components.accelerators import amd, gaudi, neuron, tpu

FAMILIES = (amd.FAMILY, neuron.FAMILY, gaudi.FAMILY, tpu.FAMILY)
"""Every family but NVIDIA's."""
