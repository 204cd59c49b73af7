"""The platform that the stack file describes."""

import pulumi

from gpuyard.components.platform import Platform
from gpuyard.components.stack import load
from gpuyard.review.gate import gated

stack = pulumi.get_stack()
gated(lambda: Platform(stack, load(pulumi.Config("gpuyard").get_object("platform"), stack)))
