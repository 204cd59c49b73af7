"""What a resource document cannot show: objects that only a chart, a file or another program's component would make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

CHARTS = ("kubernetes:helm.sh/v3:Release", "kubernetes:helm.sh/v4:Chart")
TEXTS = {
    "kubernetes:yaml/v2:ConfigGroup": ("yaml", "files"),
    "kubernetes:yaml/v2:ConfigFile": ("file",),
    "kubernetes:kustomize/v2:Directory": ("directory",),
}
"""Types whose objects the engine makes by itself, and the inputs that it reads them from."""

MACHINES = (
    "aws:autoscaling/group:Group",
    "aws:ec2/fleet:Fleet",
    "aws:ec2/instance:Instance",
    "aws:ec2/spotFleetRequest:SpotFleetRequest",
    "aws:sagemaker/endpointConfiguration:EndpointConfiguration",
    "gcp:compute/instance:Instance",
    "gcp:compute/instanceGroupManager:InstanceGroupManager",
    "gcp:compute/regionInstanceGroupManager:RegionInstanceGroupManager",
)
"""Machines that are not a node group of a managed cluster."""

OTHERS = ("aws:cloudformation/", "aws-native:", "command:", "docker:", "pulumi-nodejs:", "pulumi-python:dynamic")
"""Types that make what another program, another template or a shell says."""


@dataclass(frozen=True, slots=True)
class Unseen:
    """A part of a stack that no rule has judged."""

    urn: str
    what: str
    """What makes it, such as chart keda."""


def unseen(resources: Sequence[Mapping[str, Any]]) -> list[Unseen]:
    """Every part of the document that hides resources from the rules, in the order of the document."""
    return [found for resource in resources for found in _hidden(resource)]


def _hidden(resource: Mapping[str, Any]) -> Iterator[Unseen]:
    urn, type_, inputs = resource["urn"], resource["type"], resource["inputs"]
    if type_ in CHARTS:
        yield Unseen(urn, f"chart {inputs.get('chart') or '?'}")
    elif any(inputs.get(key) for key in TEXTS.get(type_, ())):
        yield Unseen(urn, f"the manifests of {resource['name']}")
    elif type_ in MACHINES:
        yield Unseen(urn, f"the machines of {resource['name']}, which neither cost nor quota counts")
    elif type_.startswith(OTHERS):
        yield Unseen(urn, f"{type_.rpartition(':')[2]} {resource['name']}")
    elif resource.get("remote") and type_ not in TEXTS:
        yield Unseen(urn, f"component {resource['name']} of another program")
