"""Google TPU's software, all of which GKE brings: driver, device plugin and metrics of its own."""

from __future__ import annotations

from gpuyard.components.accelerators.families import Family, NodeSoftware

OWNERS = NodeSoftware(driver="cloud", advertiser="cloud")
"""Source: GKE, TPUs in GKE: a TPU node pool comes with the driver and the device plugin."""

FAMILY = Family(
    name="tpu",
    resource="google.com/tpu",
    namespace=None,
    platforms=[("gcp", "*_CONTAINERD", OWNERS)],
)
"""Google TPU."""
