"""The component: one resource an object, all of them its children."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pulumi
from registered import registered

from gpuyard.components.artifacts import ArtifactsSpec
from gpuyard.components.serving.endpoint import Endpoint
from gpuyard.components.serving.placement import Placement
from gpuyard.components.serving.spec import EndpointSpec

Make = Callable[..., EndpointSpec]
On = Callable[..., Placement]

KINDS = {
    "kubernetes:core/v1:ServiceAccount",
    "kubernetes:networking.k8s.io/v1:NetworkPolicy",
    "kubernetes:apps/v1:Deployment",
    "kubernetes:core/v1:Service",
    "kubernetes:policy/v1:PodDisruptionBudget",
    "kubernetes:monitoring.coreos.com/v1:ServiceMonitor",
    "kubernetes:keda.sh/v1alpha1:ScaledObject",
}


def declared(spec: EndpointSpec, placement: Placement) -> list[dict[str, Any]]:
    def build() -> None:
        namespace = pulumi.CustomResource("kubernetes:core/v1:Namespace", "fraud", {"kind": "Namespace"})
        Endpoint("fraud-score", spec, placement=placement, artifacts=ArtifactsSpec(), needs=[namespace])

    return registered(build)


def test_an_endpoint_declares_one_resource_an_object(fraud: Make, on: On) -> None:
    found = declared(fraud(), on("g6e.12xlarge"))  # in any order: the SDK registers them at the same time
    (namespace,) = (resource for resource in found if resource["type"] == "kubernetes:core/v1:Namespace")
    (endpoint,) = (resource for resource in found if resource["type"] == "gpuyard:index:Endpoint")
    children = [resource for resource in found if resource not in (namespace, endpoint)]
    assert len(children) == len(KINDS)
    assert endpoint["inputs"]["replicas"] == {"min": 2, "max": 8}, "the mock engine drops nulls"
    assert {child["type"] for child in children} == KINDS
    assert {child["name"] for child in children} == {"fraud-score"}
    assert {child["parent"] for child in children} == {endpoint["urn"]}
    assert all(namespace["urn"] in child["options"]["depends_on"] for child in children)


def test_an_endpoint_says_where_it_is_reached(fraud: Make, on: On) -> None:
    urls: list[str] = []

    def build() -> pulumi.Output[None]:
        made = Endpoint("fraud-score", fraud(), placement=on("g6e.12xlarge"), artifacts=ArtifactsSpec())
        return made.url.apply(urls.append)

    registered(build)
    assert urls == ["http://fraud-score.fraud.svc:8000"]
