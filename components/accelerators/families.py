"""The software of every family of accelerators but NVIDIA's: who brings what to a node, and what brings the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Literal

import pulumi
from pydantic import Field

from gpuyard.components import namespace
from gpuyard.components.artifacts import ArtifactsSpec, release_inputs
from gpuyard.components.kubernetes import declare_all, release
from gpuyard.components.spec import LabelKey, LabelValue, Manifest, Name, Spec


class NodeSoftware(Spec):
    """Who brings each part to the nodes of one image."""

    driver: Literal["image", "cloud", "host"]
    """The kernel driver, and the container runtime's part where there is one: the node's image, the cloud on every new
    node, or whoever runs the host."""
    advertiser: Literal["cloud", "gpuyard"]
    """The one device plugin that offers the family's resource."""


class FamilySpec(Spec):
    """The software of all node groups of one family in a cluster."""

    groups: dict[Name, dict[LabelKey, LabelValue]] = Field(min_length=1)
    """Labels by which to find the nodes of each group, by the name that the cluster knows it by."""


@dataclass(frozen=True)
class Request:
    """What a family's charts and objects are made from."""

    groups: Mapping[str, Mapping[str, str]]
    """Labels of the nodes of each group."""
    artifacts: ArtifactsSpec
    monitored: bool
    """Whether the kinds of the Prometheus operator are there."""


@dataclass(frozen=True)
class Family:
    """Accelerators that one vendor's software drives."""

    name: str
    """What it is called in the stack's state."""
    resource: str
    """What pods ask for, and the key of the taint that keeps other pods off."""
    namespace: str | None
    """Where its agents run; None where gpuyard brings none."""
    platforms: Sequence[tuple[str, str, NodeSoftware]]
    """Cloud and node image, as fnmatch patterns, and who brings what there."""
    charts: Callable[[Request], dict[str, dict[str, Any]]] = lambda request: {}
    """Charts with their values."""
    objects: Callable[[Request], list[Manifest]] = lambda request: []
    """Objects of the family's namespace, of kinds that the cluster or the charts have."""


class AcceleratorSoftware(pulumi.ComponentResource):
    """Device plugin and metrics of one family, as far as the nodes do not come with them."""

    def __init__(
        self,
        family: Family,
        spec: FamilySpec,
        *,
        artifacts: ArtifactsSpec,
        monitors: pulumi.Resource | None = None,
        needs: Sequence[pulumi.Resource] = (),
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`monitors` is the release that brings the kinds of monitors; without it no monitor is made. `needs` are the
        nodes that an operator itself runs on."""
        super().__init__("gpuyard:index:AcceleratorSoftware", family.name, spec.model_dump(mode="json"), opts)
        request = Request(spec.groups, artifacts, monitored=monitors is not None)
        child = pulumi.ResourceOptions(parent=self)
        space = family.namespace or ""
        first = declare_all(family.name, [namespace.privileged(space)] if family.namespace else [], child)
        # Monitors are refused before their kind is there.
        ready = pulumi.ResourceOptions(parent=self, depends_on=[*first, *([monitors] if monitors else []), *needs])
        releases = [
            release(f"{family.name}-{chart}", release_inputs(chart, space, values, artifacts), ready)
            for chart, values in family.charts(request).items()
        ]
        # Objects of a chart's kinds need the release that brings their kind, and the controller that ends them.
        after = pulumi.ResourceOptions.merge(ready, pulumi.ResourceOptions(depends_on=releases))
        declare_all(family.name, family.objects(request), after)
        self.register_outputs({})


def decide(family: Family, cloud: str, images: Mapping[str, str]) -> dict[str, NodeSoftware]:
    """Who owns what, from the node image of each of the family's node groups.

    Raises ValueError for an image that is not known to carry what such a node needs.
    """
    return {group: _software(family, cloud, group, image) for group, image in images.items()}


def _software(family: Family, cloud: str, group: str, image: str) -> NodeSoftware:
    known = [(pattern, software) for place, pattern, software in family.platforms if place == cloud]
    for pattern, software in known:
        if fnmatchcase(image.upper(), pattern.upper()):
            return software
    choices = " or ".join(pattern for pattern, _ in known) or f"a cluster of {_clouds(family)}"
    raise ValueError(
        f"node group {group} offers {family.resource}, and who brings its driver to the node image {image!r} of "
        f"{cloud} is not known: give {choices}"
    )


def _clouds(family: Family) -> str:
    return " or ".join(dict.fromkeys(cloud for cloud, _, _ in family.platforms))
