"""A model that is served inside the cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pulumi

from gpuyard.components import kubernetes
from gpuyard.components.artifacts import ArtifactsSpec
from gpuyard.components.renaming import renamed
from gpuyard.components.serving import template
from gpuyard.components.serving.manifests import manifests
from gpuyard.components.serving.network import url
from gpuyard.components.serving.placement import Placement
from gpuyard.components.serving.spec import EndpointSpec


class Endpoint(pulumi.ComponentResource):
    """Serves one model to one tenant."""

    url: pulumi.Output[str]
    """Where clients in the tenant's namespace reach the model, by HTTP."""

    def __init__(
        self,
        name: str,
        spec: EndpointSpec,
        *,
        placement: Placement,
        artifacts: ArtifactsSpec,
        labels: Mapping[str, str] | None = None,
        needs: Sequence[pulumi.Resource] = (),
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("gpuyard:index:Endpoint", name, spec.model_dump(mode="json"), renamed(opts, name, spec))
        known_as = spec.known_as(name)
        objects = manifests(known_as, spec, placement=placement, artifacts=artifacts, labels=labels)
        # The namespace, and whatever brings the kinds of KEDA and the Prometheus operator, go unnamed in the objects.
        child = pulumi.ResourceOptions(parent=self, depends_on=list(needs))
        kubernetes.declare_all(name, objects, child, known_as=known_as)
        self.url = pulumi.Output.from_input(url(known_as, placement.namespace, template.load(spec.engine)))
        self.register_outputs({"url": self.url})
