"""A tenant's walls on the network: nothing in, nothing out, but names and the tenant's own pods."""

from __future__ import annotations

from typing import Any

from gpuyard.components.spec import Manifest

DNS_PORTS = [{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}]


def network_policies() -> list[Manifest]:
    """What holds for every pod of the namespace. An endpoint, or a tenant's job, opens for itself what it needs more.

    A pod may call any pod of its namespace, and each pod says who may call it: so an endpoint that lets its tenant in
    is reachable, and a notebook that says nothing is not.
    """
    dns = {
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "kube-system"}},
        "podSelector": {"matchLabels": {"k8s-app": "kube-dns"}},
    }
    return [
        _policy("default-deny", {"policyTypes": ["Ingress", "Egress"]}),
        _policy("allow-dns", {"policyTypes": ["Egress"], "egress": [{"to": [dns], "ports": DNS_PORTS}]}),
        _policy("allow-own-pods", {"policyTypes": ["Egress"], "egress": [{"to": [{"podSelector": {}}]}]}),
    ]


def _policy(name: str, spec: dict[str, Any]) -> Manifest:
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": name},
        "spec": {"podSelector": {}, **spec},
    }
