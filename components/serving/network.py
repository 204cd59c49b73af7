"""How an endpoint is reached, by whom, and what it may reach itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from gpuyard.components.serving.placement import Placement
from gpuyard.components.serving.spec import EndpointSpec
from gpuyard.components.serving.template import ServingTemplate
from gpuyard.components.serving.workload import needs_identity, selector
from gpuyard.components.spec import Manifest

MONITORING_NAMESPACE = "monitoring"
"""Where Prometheus runs, unless its address says otherwise."""

LINK_LOCAL = "169.254.0.0/16"
"""Where clouds put their metadata services, which hand out the node's identity."""

NODE_DNS = ("169.254.20.10/32", "169.254.169.254/32")
"""Name servers that are no pods: NodeLocal DNSCache, and Cloud DNS on GKE."""

GKE_METADATA = (("169.254.169.254/32", 80), ("169.254.169.252/32", 988))
"""GKE's metadata server, which turns a service account into a Google identity: with Dataplane V2, and without."""


def service(name: str, engine: ServingTemplate, *, namespace: str, labels: Mapping[str, str]) -> Manifest:
    """The address of the endpoint inside the cluster."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": dict(labels),
            # Pulumi waits for a ready pod behind a Service, and a model may take an hour to load.
            "annotations": {"pulumi.com/skipAwait": "true"},
        },
        "spec": {
            "type": "ClusterIP",
            "selector": selector(name),
            "ports": [{"name": port, "port": number, "targetPort": port} for port, number in engine.ports.items()],
        },
    }


def url(name: str, namespace: str, engine: ServingTemplate) -> str:
    """Where clients in the tenant's namespace reach the model, by HTTP."""
    return f"http://{name}.{namespace}.svc:{engine.ports[clients_port(engine)]}"


def clients_port(engine: ServingTemplate) -> str:
    """The first port is the one that clients speak HTTP to."""
    return next(iter(engine.ports))


def disruption_budget(name: str, *, namespace: str, labels: Mapping[str, str]) -> Manifest:
    """One replica at a time leaves. A least number instead would stop every drain of a single replica's node."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": namespace, "labels": dict(labels)},
        "spec": {
            "maxUnavailable": 1,
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
            "selector": {"matchLabels": selector(name)},
        },
    }


def network_policy(
    name: str, spec: EndpointSpec, engine: ServingTemplate, *, placement: Placement, labels: Mapping[str, str]
) -> Manifest:
    """In: the tenant's own pods, and Prometheus. Out: names, and HTTPS to where the model comes from."""
    scraped = engine.ports[engine.metrics.port]
    clients = [number for port, number in engine.ports.items() if number != scraped or port == clients_port(engine)]
    ingress = [{"from": [{"podSelector": {}}], "ports": [_tcp(number) for number in clients]}]
    if placement.prometheus is not None:
        prometheus = {"namespaceSelector": _namespace(_namespace_of(placement.prometheus))}
        ingress.append({"from": [prometheus], "ports": [_tcp(scraped)]})
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": name, "namespace": placement.namespace, "labels": dict(labels)},
        "spec": {
            "podSelector": {"matchLabels": selector(name)},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": ingress,
            "egress": _egress(spec),
        },
    }


def _namespace_of(address: str) -> str:
    """The namespace that an address inside the cluster, http://<service>.<namespace>.svc…, names."""
    host = urlsplit(address).hostname or ""
    labels = host.split(".")
    return labels[1] if labels[2:3] == ["svc"] else MONITORING_NAMESPACE


def _egress(spec: EndpointSpec) -> list[dict[str, Any]]:
    dns = [{"protocol": protocol, "port": 53} for protocol in ("UDP", "TCP")]
    name_servers = [{"namespaceSelector": _namespace("kube-system")}, *({"ipBlock": {"cidr": ip}} for ip in NODE_DNS)]
    rules: list[dict[str, Any]] = [{"to": name_servers, "ports": dns}]
    if spec.model.source != "pvc":
        # Hubs and buckets have no fixed addresses, and private endpoints have those of the network.
        anywhere = {"ipBlock": {"cidr": "0.0.0.0/0", "except": [LINK_LOCAL]}}
        rules.append({"to": [anywhere], "ports": [_tcp(443)]})
    if spec.model.source == "gs" and needs_identity(spec):
        rules += [{"to": [{"ipBlock": {"cidr": cidr}}], "ports": [_tcp(port)]} for cidr, port in GKE_METADATA]
    return rules


def _namespace(name: str) -> dict[str, Any]:
    return {"matchLabels": {"kubernetes.io/metadata.name": name}}


def _tcp(port: int) -> dict[str, Any]:
    return {"protocol": "TCP", "port": port}
