"""What a resource document cannot show: objects that only a chart, a file or another program's component would make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpuyard.review.evaluation.objects import PREFIX, objects, texts
from gpuyard.review.recording.manifests import FILES

CHARTS = ("kubernetes:helm.sh/v3:Release", "kubernetes:helm.sh/v4:Chart")
DIRECTORY = "kubernetes:kustomize/v2:Directory"
"""Its objects are made from files that it patches, which nobody has done here."""

YAML = "kubernetes:yaml"
MANIFESTS = ("yaml", "objs", "file", "files")
"""Inputs of manifests; those of a type that begins so."""

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

MAKERS = {
    "Application.argoproj.io",
    "ApplicationSet.argoproj.io",
    "HelmChart.helm.cattle.io",
    "HelmRelease.helm.toolkit.fluxcd.io",
    "Kustomization.kustomize.toolkit.fluxcd.io",
    "Program.pulumi.com",
    "Stack.pulumi.com",
}
"""Objects out of which a controller makes others, which are in a chart, in a repository or in a program."""


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
    elif type_ == DIRECTORY:
        yield Unseen(urn, f"the manifests of {resource['name']} ({inputs.get('directory') or '?'})")
    elif type_.startswith(YAML):
        yield from _unread(resource)
    elif type_ in MACHINES:
        yield Unseen(urn, f"the machines of {resource['name']}, which neither cost nor quota counts")
    elif type_.startswith(OTHERS):
        yield Unseen(urn, f"{type_.rpartition(':')[2]} {resource['name']}")
    elif type_.startswith(PREFIX) and isinstance(inputs, dict):
        for item in objects(type_, inputs):
            if item.key in MAKERS:
                yield Unseen(urn, f"{item.kind} {resource['name']}")
    elif resource.get("remote"):
        yield Unseen(urn, f"component {resource['name']} of another program")


def _unread(resource: Mapping[str, Any]) -> Iterator[Unseen]:
    """Texts, objects and files of manifests that are not known, or that could not be read."""
    urn, name, inputs = resource["urn"], resource["name"], resource["inputs"]
    unknown = any(path.split("/")[1] in MANIFESTS for path in resource["unknown"] if path.count("/") < 3)
    if unknown or any(read is None for _, read in texts(inputs)):
        yield Unseen(urn, f"the manifests of {name}")
    field = FILES.get(resource["type"], "")
    given = inputs.get(field)
    if given and field not in (resource.get("manifests") or {}):
        listed = ", ".join(str(each) for each in (given if isinstance(given, list) else [given]))
        yield Unseen(urn, f"the manifests of {name} ({listed}), which could not be read")
