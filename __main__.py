"""The program that `pulumi up` runs: read the stack, let the gate judge it, build the platform."""

import pulumi

from gpuyard.components.platform import Platform, load
from gpuyard.review.gate import gated


def build() -> None:
    """Declares the platform of the selected stack."""
    spec = load(pulumi.Config("gpuyard").get_object("platform"))
    Platform(pulumi.get_stack(), spec)


gated(build)
