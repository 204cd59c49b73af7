"""The program that `pulumi up` runs: read the stack, let the gate judge it, build the platform."""

import pulumi

from gpuyard.components.platform import Platform
from gpuyard.components.stack import load
from gpuyard.review.gate import gated


def build() -> None:
    """Declares the platform of the selected stack."""
    stack = pulumi.get_stack()
    Platform(stack, load(pulumi.Config("gpuyard").get_object("platform"), stack))


gated(build)
