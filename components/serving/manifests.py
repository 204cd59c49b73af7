"""Every Kubernetes object of an endpoint. All of them live in the tenant's namespace."""

from __future__ import annotations

from collections.abc import Mapping

from gpuyard.components.artifacts import ArtifactsSpec
from gpuyard.components.serving import template
from gpuyard.components.serving.model import StoredModel
from gpuyard.components.serving.network import disruption_budget, network_policy, service
from gpuyard.components.serving.placement import Placement
from gpuyard.components.serving.scaling import scaled_object, service_monitor
from gpuyard.components.serving.spec import EndpointSpec
from gpuyard.components.serving.workload import deployment, selector
from gpuyard.components.spec import Manifest

IDENTITY_ANNOTATION = {"s3": "eks.amazonaws.com/role-arn", "gs": "iam.gke.io/gcp-service-account"}
"""How a service account says whom it may become. On AWS these are IAM roles for service accounts: EKS Pod Identity
needs version 1.11.263 of the AWS SDK for C++ (EKS user guide), and Triton's build of July 2025 has 1.11.60."""


def manifests(
    name: str,
    spec: EndpointSpec,
    *,
    placement: Placement,
    artifacts: ArtifactsSpec,
    labels: Mapping[str, str] | None = None,
) -> list[Manifest]:
    """The objects of the endpoint that the cluster knows as `name`: what its pods need comes before the pods.

    `labels` go on every object beside gpuyard's own, for whoever adds up costs. The endpoint must have no `problems`
    on this placement.
    """
    engine = template.load(spec.engine)
    every = {**(labels or {}), **selector(name), "gpuyard.io/tenant": placement.namespace}
    objects = [
        *_service_accounts(name, spec, placement.namespace, every),
        network_policy(name, spec, engine, placement=placement, labels=every),
        deployment(name, spec, engine, placement=placement, artifacts=artifacts, labels=every),
        service(name, engine, namespace=placement.namespace, labels=every),
        disruption_budget(name, namespace=placement.namespace, labels=every),
    ]
    if placement.prometheus is not None:
        objects.append(service_monitor(name, engine, namespace=placement.namespace, labels=every))
    if spec.autoscaled:
        objects.append(scaled_object(name, spec, engine, placement=placement, labels=every))
    return objects


def _service_accounts(name: str, spec: EndpointSpec, namespace: str, labels: Mapping[str, str]) -> list[Manifest]:
    """An account of the endpoint's own, where the model's store asks who is reading."""
    if not isinstance(spec.model, StoredModel) or spec.model.role is None:
        return []
    return [
        {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {
                "name": name,
                "namespace": namespace,
                "labels": dict(labels),
                "annotations": {IDENTITY_ANNOTATION[spec.model.source]: spec.model.role},
            },
            "automountServiceAccountToken": False,
        }
    ]
