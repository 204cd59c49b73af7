"""Which Services, Ingresses, Gateways and Helm values are ways in from the internet."""

from __future__ import annotations

from typing import Any

import pytest

from gpuyard.review.evaluation.entrances import entrances, in_values
from gpuyard.review.evaluation.objects import Object

Json = dict[str, Any]

SCHEME = "service.beta.kubernetes.io/aws-load-balancer-scheme"
ALB = "alb.ingress.kubernetes.io/"


def service(annotations: Json | None = None, **spec: Any) -> list[Json]:
    body = {"metadata": {"name": "chat", "annotations": annotations or {}}, "spec": {"type": "LoadBalancer"} | spec}
    return list(entrances(Object("v1", "Service", (), body, False)))


def ingress(annotations: Json, **spec: Any) -> list[Json]:
    body = {"metadata": {"annotations": annotations}, "spec": spec}
    return list(entrances(Object("networking.k8s.io/v1", "Ingress", (), body, False)))


@pytest.mark.parametrize(
    ("annotations", "spec"),
    [
        ({SCHEME: "internal"}, {}),
        ({"service.beta.kubernetes.io/aws-load-balancer-internal": "true"}, {}),
        ({"service.beta.kubernetes.io/aws-load-balancer-internal": "0.0.0.0/0"}, {}),
        ({"service.beta.kubernetes.io/aws-load-balancer-type": "external"}, {}),
        ({"networking.gke.io/load-balancer-type": "Internal"}, {}),
        ({"cloud.google.com/load-balancer-type": "Internal"}, {}),
        ({"service.kubernetes.io/qcloud-loadbalancer-internal-subnetid": "subnet-1"}, {}),
        ({"oci-network-load-balancer.oraclecloud.com/internal": "true"}, {}),
        ({"service.beta.kubernetes.io/azure-load-balancer-internal": True}, {}),
        ({"metallb.io/address-pool": "office"}, {}),
        ({}, {"loadBalancerClass": "service.k8s.aws/nlb"}),
        ({}, {"loadBalancerClass": "tailscale"}),
        ({}, {"type": "ClusterIP"}),
        ({}, {"type": "NodePort"}),
    ],
)
def test_a_service_that_is_inside_is_no_entrance(annotations: Json, spec: Json) -> None:
    assert service(annotations, **spec) == []


@pytest.mark.parametrize(
    ("annotations", "spec", "explicit"),
    [
        ({}, {}, False),
        ({"service.beta.kubernetes.io/aws-load-balancer-internal": "false"}, {}, False),
        ({SCHEME: "internet-facing"}, {}, True),
        ({SCHEME: "internet-facing"}, {"loadBalancerClass": "service.k8s.aws/nlb"}, True),
        ({}, {"loadBalancerClass": "networking.gke.io/l4-regional-external"}, True),
    ],
)
def test_a_service_that_is_public_is_an_entrance(annotations: Json, spec: Json, explicit: bool) -> None:
    (found,) = service(annotations, **spec)
    assert (found["path"], found["explicit"]) == ("/spec/type", explicit)
    assert found["sources"] == [{"path": "/spec/type", "source": "0.0.0.0/0"}]


def test_sources_and_ports_of_a_service_are_told() -> None:
    ports = [{"port": 80, "targetPort": 8000}, {"port": 443, "targetPort": "https"}, {"port": True}, "odd"]
    (found,) = service(loadBalancerSourceRanges=["10.0.0.0/8", None], ports=ports)
    assert found["ports"] == [80, 443, 8000]
    assert found["sources"] == [
        {"path": "/spec/loadBalancerSourceRanges/0", "source": "10.0.0.0/8"},
        {"path": "/spec/loadBalancerSourceRanges/1"},
    ]
    (found,) = service({"service.beta.kubernetes.io/load-balancer-source-ranges": "10.0.0.0/8, 192.0.2.0/24"})
    assert [source["source"] for source in found["sources"]] == ["10.0.0.0/8", "192.0.2.0/24"]


def test_an_ingress_is_an_entrance_where_it_says_so() -> None:
    (found,) = ingress({f"{ALB}scheme": "internet-facing"}, ingressClassName="alb")
    assert (found["path"], found["authenticated"]) == (f"/metadata/annotations/{ALB.replace('/', '~1')}scheme", False)
    (found,) = ingress({"kubernetes.io/ingress.class": "gce"})
    assert found["path"] == "/metadata/annotations/kubernetes.io~1ingress.class"
    assert ingress({f"{ALB}scheme": "internal"}) == []
    assert ingress({}, ingressClassName="gce-internal") == []
    assert ingress({}, ingressClassName="nginx") == [], "whether its controller is public is not said here"
    assert ingress({f"{ALB}scheme": "internet-facing", f"{ALB}security-groups": "sg-1"}) == []


@pytest.mark.parametrize(
    ("annotations", "authenticated"),
    [
        ({f"{ALB}auth-type": "oidc"}, True),
        ({f"{ALB}auth-type": "cognito"}, True),
        ({f"{ALB}auth-type": "none"}, False),
        ({f"{ALB}auth-type": "oidc", f"{ALB}auth-on-unauthenticated-request": "allow"}, False),
        ({f"{ALB}auth-type": "oidc", f"{ALB}auth-on-unauthenticated-request": "deny"}, True),
        ({f"{ALB}auth-type": "oidc", f"{ALB}listen-ports": '[{"HTTP": 80}, {"HTTPS": 443}]'}, False),
        ({f"{ALB}auth-type": "oidc", f"{ALB}listen-ports": '[{"HTTP": 80}]', f"{ALB}ssl-redirect": "443"}, False),
        (
            {
                f"{ALB}auth-type": "oidc",
                f"{ALB}listen-ports": '[{"HTTP": 80, "HTTPS": 443}]',
                f"{ALB}ssl-redirect": "443",
            },
            True,
        ),
        (
            {f"{ALB}jwt-validation": '{"jwksEndpoint": "https://idp.example/keys", "issuer": "https://idp.example"}'},
            True,
        ),
        ({f"{ALB}jwt-validation": "yes"}, False),
        ({f"{ALB}mutual-authentication": "[]"}, False),
        ({f"{ALB}mutual-authentication": '[{"port": 443, "mode": "off"}]'}, False),
        ({f"{ALB}mutual-authentication": '[{"port": 443, "mode": "passthrough"}]'}, False),
        ({f"{ALB}mutual-authentication": '[{"port": 443, "mode": "verify", "trustStore": "own"}]'}, True),
        (
            {
                f"{ALB}mutual-authentication": '[{"port": 443, "mode": "verify", "trustStore": "own"}]',
                f"{ALB}listen-ports": '[{"HTTPS": 443}, {"HTTPS": 8443}]',
            },
            False,
        ),
    ],
)
def test_an_ingress_says_whether_it_asks_who_calls(annotations: Json, authenticated: bool) -> None:
    (found,) = ingress({f"{ALB}scheme": "internet-facing"} | annotations)
    assert found["authenticated"] is authenticated


def test_a_public_load_balancer_in_front_of_one_that_is_not_is_an_entrance() -> None:
    front = {f"{ALB}scheme": "internal", f"{ALB}frontend-nlb-scheme": "internet-facing"}
    assert ingress(front) == [], "which is not switched on"
    (found,) = ingress(front | {f"{ALB}enable-frontend-nlb": "true"})
    assert found["path"].endswith("frontend-nlb-scheme")
    assert ingress(front | {f"{ALB}enable-frontend-nlb": "true", f"{ALB}frontend-nlb-security-groups": "sg-1"}) == []


def test_an_ingress_for_some_networks_names_them() -> None:
    (found,) = ingress({f"{ALB}scheme": "internet-facing", f"{ALB}inbound-cidrs": "203.0.113.0/24"})
    assert [source["source"] for source in found["sources"]] == ["203.0.113.0/24"]


def test_gateways_of_gke_and_aws_are_entrances() -> None:
    def gateway(class_: str) -> list[Json]:
        body = {"spec": {"gatewayClassName": class_}}
        return list(entrances(Object("gateway.networking.k8s.io/v1", "Gateway", (), body, False)))

    assert [found["path"] for found in gateway("gke-l7-global-external-managed")] == ["/spec/gatewayClassName"]
    assert gateway("gke-l7-rilb") == []
    body = {"spec": {"scheme": "internet-facing", "sourceRanges": ["203.0.113.0/24"]}}
    (found,) = entrances(Object("gateway.k8s.aws/v1beta1", "LoadBalancerConfiguration", (), body, False))
    assert found["sources"] == [{"path": "/spec/sourceRanges/0", "source": "203.0.113.0/24"}]


def test_helm_values_are_read_as_charts_write_them() -> None:
    values = {
        "grafana": {"service": {"type": "LoadBalancer"}, "ingress": {"enabled": False}},
        "server": {"service": {"type": "LoadBalancer", "annotations": {SCHEME: "internal"}}},
        "ui": {"ingress": {"enabled": True, "annotations": {f"{ALB}scheme": "internet-facing"}}},
    }
    assert [(found["kind"], found["path"]) for found in in_values(values)] == [
        ("Service", "/values/grafana/service/type"),
        ("Ingress", f"/values/ui/ingress/annotations/{ALB.replace('/', '~1')}scheme"),
    ]


@pytest.mark.parametrize("odd", [None, 7, "x", [], {}, [None], [7], {"a": None}, True])
def test_objects_of_any_shape_are_read(odd: Any) -> None:
    for kind, api in (
        ("Service", "v1"),
        ("Ingress", "networking.k8s.io/v1"),
        ("Gateway", "gateway.networking.k8s.io/v1"),
    ):
        for body in ({"spec": odd}, {"metadata": odd, "spec": {"type": "LoadBalancer", "ports": odd}}):
            list(entrances(Object(api, kind, (), body, False)))
    list(in_values({"service": {"type": "LoadBalancer", "annotations": odd, "loadBalancerSourceRanges": odd}}))
