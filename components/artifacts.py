"""Where images and charts come from: upstream, or one mirror each."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from gpuyard import catalogue
from gpuyard.components.spec import Spec

RELEASE_SECONDS = 900
"""Time in which the pods of a release must run. Helm's own five minutes are short where nodes have just come: they pull
images of a GB one after the other."""


class ArtifactsSpec(Spec):
    """The mirrors of a platform. A mirror keeps the path that an image or a chart has upstream."""

    images: Annotated[str, Field(pattern=r"^[a-z0-9.-]+(:[0-9]+)?(/[a-z0-9._-]+)*$")] | None = None
    """Registry and path that stand in for every upstream registry, such as mirror.example/ai."""
    charts: Annotated[str, Field(pattern=r"^(oci|https)://[^/\s]+(/[^/\s]+)*$")] | None = None
    """Chart repository that stands in for every upstream one, such as oci://mirror.example/charts."""


def image(name: str, artifacts: ArtifactsSpec) -> str:
    """The reference of a catalogue image: tag, and digest where a true one is known."""
    found = catalogue.image(name)
    registry = artifacts.images or found.registry
    digest = f"@{found.digest}" if found.digest else ""
    return f"{registry}/{found.repository}:{found.tag}{digest}"


def release_inputs(
    chart: str, namespace: str, values: dict[str, Any], artifacts: ArtifactsSpec, *, awaited: bool = True
) -> dict[str, Any]:
    """The inputs of a Helm release of a catalogue chart, named after the chart.

    It is awaited where others need what it brings to run. One of agents on every node is not: it would not be there
    before the last node is well.
    """
    found = catalogue.chart(chart)
    repository = artifacts.charts or found.repository
    inputs = {
        "name": found.name,
        "version": found.version,
        "namespace": namespace,
        "values": values,
        **({"timeout": RELEASE_SECONDS} if awaited else {"skipAwait": True}),
    }
    if repository.startswith("oci://"):
        return inputs | {"chart": f"{repository}/{found.name}"}
    return inputs | {"chart": found.name, "repositoryOpts": {"repo": repository}}
