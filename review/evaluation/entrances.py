"""Ways from the internet into a cluster: load balancers of Services, Ingresses and Gateways, and those of Helm values.

An object is an entrance where it is public by itself, or by what a cloud does with one that says nothing. Which cloud
that is, and whether something else in the program closes it, the rules say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gpuyard.review.evaluation import alb
from gpuyard.review.evaluation.objects import Json, Object, Path, metadata, pointer
from gpuyard.review.values import at, mapping, sequence

EVERYBODY = "0.0.0.0/0"

_AWS = "service.beta.kubernetes.io/aws-load-balancer-"
_INTERNAL: Mapping[str, tuple[str, ...]] = {
    f"{_AWS}scheme": ("internal",),
    "cloud.google.com/load-balancer-type": ("Internal", "internal"),
    "networking.gke.io/load-balancer-type": ("Internal", "internal"),
    "oci-network-load-balancer.oraclecloud.com/internal": ("true",),
    "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-address-type": ("intranet",),
    "service.beta.kubernetes.io/azure-load-balancer-internal": ("true",),
    "service.beta.kubernetes.io/cce-load-balancer-internal-vpc": ("true",),
    "service.beta.kubernetes.io/oci-load-balancer-internal": ("true",),
    "service.beta.kubernetes.io/openstack-internal-load-balancer": ("true",),
    "service.kubernetes.io/ibm-load-balancer-cloud-provider-ip-type": ("private",),
}
"""Annotations by which a Service's load balancer has no public address, and with which values. Sources: Kubernetes,
Service, Internal load balancer; the constants of cloud-provider-gcp and of OCI's, OpenStack's and IBM's controllers."""

_SUBNET = "service.kubernetes.io/qcloud-loadbalancer-internal-subnetid"
"""Tencent's annotation names a subnet instead: any value makes it internal. Source: as above."""

_OWN_NETWORK = ("io.cilium/", "kube-vip.io/", "lbipam.cilium.io/", "metallb.io/", "metallb.universe.tf/")
"""Annotations of load balancers that announce addresses of the cluster's own network; whether these are public, no
manifest says."""

_PRIVATE_CLASSES = frozenset({"eks.amazonaws.com/nlb", "networking.gke.io/l4-regional-internal", "service.k8s.aws/nlb"})
"""Classes whose load balancers are internal unless they are told otherwise. Sources: AWS Load Balancer Controller,
Network Load Balancer ("secure by default"); EKS Auto Mode; GKE, internal load balancing."""

_PUBLIC_CLASSES = frozenset({"networking.gke.io/l4-regional-external", "networking.gke.io/l4-regional-external-legacy"})
"""Source: ingress-gce, pkg/utils/common, the names of its load balancer classes."""

_PUBLIC_GATEWAYS = frozenset(
    f"gke-l7-{kind}{clusters}"
    for kind in ("global-external-managed", "gxlb", "regional-external-managed")
    for clusters in ("", "-mc")
)
"""GatewayClasses of GKE with a public address. Source: GKE, GatewayClass capabilities."""


def entrances(found: Object) -> Iterator[Json]:
    """`{kind, path, explicit, authenticated, ports, sources: [{path, source}], rests_on}` of an object that is public.

    `explicit`: it says so itself; otherwise it is what clouds do by default. `ports` are numbers, its own and those of
    the pods. A source that is not known has none.
    """
    read = _READ.get(found.key)
    if read:
        for entry in read(found.body, found.path):
            yield {"kind": found.kind, **entry}


def in_values(values: Any, path: Path = ("values",)) -> Iterator[Json]:
    """The same of Helm values, as far as charts write a service and an ingress in the usual way."""
    if isinstance(values, dict):
        if values.get("type") == "LoadBalancer":
            spec = {"metadata": {"annotations": values.get("annotations")}, "spec": values}
            yield from ({"kind": "Service", **one} for one in _service(spec, path, values_of_a_chart=True))
        elif values.get("enabled") is True:
            ingress = {"metadata": {"annotations": values.get("annotations")}, "spec": _ingress_spec(values)}
            yield from ({"kind": "Ingress", **one} for one in _ingress(ingress, path, values_of_a_chart=True))
        for key, member in values.items():
            yield from in_values(member, (*path, key))
    elif isinstance(values, list):
        for i, member in enumerate(values):
            yield from in_values(member, (*path, i))


def _ingress_spec(values: Json) -> Json:
    name = values.get("ingressClassName", values.get("className"))
    return {"ingressClassName": name}


def _service(body: Json, path: Path, *, values_of_a_chart: bool = False) -> Iterator[Json]:
    spec, annotations = mapping(body.get("spec")), _annotations(body)
    if spec.get("type") != "LoadBalancer":
        return
    class_ = str(spec.get("loadBalancerClass", ""))
    explicit = annotations.get(f"{_AWS}scheme") == "internet-facing" or class_ in _PUBLIC_CLASSES
    if not explicit and (_internal(annotations) or class_ or _says_own_network(annotations)):
        return
    own: Path = path if values_of_a_chart else (*path, "spec")
    place: Path = (*path, "annotations") if values_of_a_chart else (*path, "metadata", "annotations")
    ranges = (*own, "loadBalancerSourceRanges")
    named = annotations.get("service.beta.kubernetes.io/load-balancer-source-ranges")
    sources = _sources(spec.get("loadBalancerSourceRanges"), ranges) or _split(named, place)
    yield {
        "path": pointer((*own, "type")),
        "explicit": explicit,
        "authenticated": False,
        "ports": sorted(_ports(spec.get("ports"))),
        "sources": sources or [{"path": pointer((*own, "type")), "source": EVERYBODY}],
        "rests_on": [pointer(where) for where in (place, ranges, (*own, "loadBalancerClass"))],
    }


def _internal(annotations: Mapping[str, str]) -> bool:
    if annotations.get(_SUBNET) or any(annotations.get(name) in values for name, values in _INTERNAL.items()):
        return True
    # Whoever says neither nor to the controller of AWS gets an internal one; its predecessor takes any word but false.
    if annotations.get(f"{_AWS}type") in ("external", "nlb-ip"):
        return True
    return annotations.get(f"{_AWS}internal", "false") not in ("", "false")


def _says_own_network(annotations: Mapping[str, str]) -> bool:
    return any(name.startswith(_OWN_NETWORK) for name in annotations)


def _ingress(body: Json, path: Path, *, values_of_a_chart: bool = False) -> Iterator[Json]:
    spec, annotations = mapping(body.get("spec")), _annotations(body)
    class_ = spec.get("ingressClassName") or annotations.get("kubernetes.io/ingress.class")
    place: Path = (*path, "annotations") if values_of_a_chart else (*path, "metadata", "annotations")
    scheme = alb.public_by(annotations)
    if scheme:
        where: Path = (*place, scheme)
    elif class_ in ("gce", "gce-external"):
        where = (*path, "ingressClassName") if values_of_a_chart else (*path, "spec", "ingressClassName")
        if not spec.get("ingressClassName"):
            where = (*place, "kubernetes.io/ingress.class")
    else:
        return
    sources = _split(annotations.get(alb.INBOUND), place)
    yield {
        "path": pointer(where),
        "explicit": True,
        "authenticated": alb.authenticates(annotations),
        "ports": [],
        "sources": sources or [{"path": pointer(where), "source": EVERYBODY}],
        "rests_on": [pointer(place)],
    }


def _gateway(body: Json, path: Path) -> Iterator[Json]:
    class_ = at(body, "spec", "gatewayClassName")
    if isinstance(class_, str) and class_ in _PUBLIC_GATEWAYS:
        where = pointer((*path, "spec", "gatewayClassName"))
        yield _open_to_all(where)


def _load_balancer_configuration(body: Json, path: Path) -> Iterator[Json]:
    """What a Gateway of AWS's controller is like."""
    spec = mapping(body.get("spec"))
    if spec.get("scheme") == "internet-facing" and not spec.get("securityGroups"):
        where, ranges = pointer((*path, "spec", "scheme")), (*path, "spec", "sourceRanges")
        open_to = _sources(spec.get("sourceRanges"), ranges)
        entry = _open_to_all(where)
        yield entry | {"rests_on": [pointer(ranges)]} | ({"sources": open_to} if open_to else {})


def _open_to_all(where: str) -> Json:
    return {
        "path": where,
        "explicit": True,
        "authenticated": False,
        "ports": [],
        "sources": [{"path": where, "source": EVERYBODY}],
        "rests_on": [where],
    }


def _annotations(body: Json) -> dict[str, str]:
    found = mapping(metadata(body).get("annotations"))
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in found.items()}


def _sources(listed: Any, path: Path) -> list[Json]:
    return [
        {"path": pointer((*path, i))} | ({"source": source} if isinstance(source, str) else {})
        for i, source in enumerate(sequence(listed))
    ]


def _split(text: str | None, path: Path) -> list[Json]:
    return [{"path": pointer(path), "source": part.strip()} for part in (text or "").split(",") if part.strip()]


def _ports(listed: Any) -> set[int]:
    each = [port.get(key) for port in map(mapping, sequence(listed)) for key in ("port", "targetPort")]
    return {port for port in each if isinstance(port, int) and not isinstance(port, bool)}


_READ = {
    "Gateway.gateway.networking.k8s.io": _gateway,
    "Ingress.extensions": _ingress,
    "Ingress.networking.k8s.io": _ingress,
    "LoadBalancerConfiguration.gateway.k8s.aws": _load_balancer_configuration,
    "Service": _service,
}
