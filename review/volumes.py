"""What the objects of a cluster cost in its cloud: volumes that are claimed, and load balancers of services."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpuyard.review.charges import BOUNDS, charge, region_of, times
from gpuyard.review.quantities import GIB, amount
from gpuyard.review.resources import EKS_CLUSTER, GKE_CLUSTER, Resource
from gpuyard.review.values import at, mapping, sequence, text

DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
PROVISIONERS = {"ebs.csi.aws.com": "aws", "pd.csi.storage.gke.io": "gcp"}
"""The drivers whose volumes are disks of the cloud."""

GKE_CLASSES = {"standard": "pd-standard", "standard-rwo": "pd-balanced", "premium-rwo": "pd-ssd", "": "pd-balanced"}
"""Storage classes that every GKE cluster has; standard-rwo is the one of claims that name none. Source: GKE, storage
overview."""

EBS_DEFAULT = "gp3"
"""The type of a volume whose class names none. Source: aws-ebs-csi-driver, docs/parameters.md."""

NLB = ("service.k8s.aws/nlb",)
NLB_TYPES = ("external", "nlb", "nlb-ip")
LB_TYPE = "service.beta.kubernetes.io/aws-load-balancer-type"
"""How a service asks for a network load balancer; without, EKS makes a classic one, whose price is another."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Home:
    """Where the objects of a program are."""

    cloud: str
    region: str | None


def of_objects(resources: Sequence[Resource], by_urn: Mapping[str, Resource]) -> list[Json]:
    """What the Kubernetes objects of a document cost. Of those that only a chart makes, its claims are seen."""
    home = _home(resources, by_urn)
    classes = {
        text(at(resource["inputs"], "metadata", "name")) or "": resource["inputs"]
        for resource in resources
        if resource["inputs"].get("kind") == "StorageClass"
    }
    return [found for resource in resources for found in _read(resource, home, classes)]


def _home(resources: Sequence[Resource], by_urn: Mapping[str, Resource]) -> Home | None:
    """The cloud and the region of the program's one cluster; None where it has none, or several."""
    clusters = [resource for resource in resources if resource["type"] in (EKS_CLUSTER, GKE_CLUSTER)]
    if len(clusters) != 1:
        return None
    return Home(clusters[0]["type"].partition(":")[0], region_of(clusters[0], by_urn))


def _read(resource: Resource, home: Home | None, classes: Mapping[str, Resource]) -> Iterator[Json]:
    inputs = resource["inputs"]
    match inputs.get("kind"):
        case "PersistentVolumeClaim":
            yield _claim(resource, inputs.get("spec"), 1, home, classes)
        case "StatefulSet":
            spec = mapping(inputs.get("spec"))
            for claim in sequence(spec.get("volumeClaimTemplates")):
                if isinstance(claim, dict):
                    yield _claim(resource, claim.get("spec"), spec.get("replicas", 1), home, classes)
        case "Service" if at(inputs, "spec", "type") == "LoadBalancer":
            yield _service(resource, home)
    if resource["type"] == "kubernetes:helm.sh/v3:Release":
        for claim in _claimed(inputs.get("values")):
            # How many replicas claim one is the chart's to say.
            asked = text(at(claim, "resources", "requests", "storage"))
            yield charge(
                resource,
                f"volumes of {asked or '?'} that chart {inputs.get('chart') or '?'} claims",
                "",
                None,
                "",
                None,
            )


def _claim(resource: Resource, spec: Any, count: Any, home: Home | None, classes: Mapping[str, Resource]) -> Json:
    kind = _kind(text(at(spec, "storageClassName")) or "", home, classes)
    gib = in_gib(at(spec, "resources", "requests", "storage"))
    known = gib is not None and isinstance(count, int)
    claimed = times(dict.fromkeys(BOUNDS, count), gib or 0) if known else None
    what = f"{kind or '?'} volume" + (f" of each of {count} replicas" if count not in (1, None) else "")
    cloud, region = (home.cloud, home.region) if home else ("", None)
    return charge(resource, what, cloud, region, f"{kind}_gib" if kind else "", claimed)


def _kind(name: str, home: Home | None, classes: Mapping[str, Resource]) -> str | None:
    """The kind of disk that a storage class makes, as the cloud calls it."""
    found = classes.get(name) or (next(filter(_is_default, classes.values()), None) if not name else None)
    if found:
        cloud = PROVISIONERS.get(text(found.get("provisioner")) or "")
        kind = text(at(found, "parameters", "type"))
        if cloud is None or home is None or cloud != home.cloud:
            return None
        return kind or (EBS_DEFAULT if cloud == "aws" else "pd-standard")
    return GKE_CLASSES.get(name) if home and home.cloud == "gcp" else None


def _is_default(storage_class: Resource) -> bool:
    return bool(at(storage_class, "metadata", "annotations", DEFAULT_CLASS) == "true")


def _service(resource: Resource, home: Home | None) -> Json:
    inputs = resource["inputs"]
    type_ = at(inputs, "metadata", "annotations", LB_TYPE)
    network = at(inputs, "spec", "loadBalancerClass") in NLB or type_ in NLB_TYPES
    priced = home is not None and (home.cloud == "gcp" or network)
    cloud, region = (home.cloud, home.region) if home else ("", None)
    service = "load_balancer" if priced else ""
    return charge(
        resource, "load balancer of the service, without traffic", cloud, region, service, dict.fromkeys(BOUNDS, 1)
    )


def _claimed(values: Any) -> Iterator[Resource]:
    """The specs of volume claims in a chart's values, wherever they are."""
    if isinstance(values, dict):
        claim = values.get("volumeClaimTemplate")
        if isinstance(claim, dict) and isinstance(claim.get("spec"), dict):
            yield claim["spec"]
        for value in values.values():
            yield from _claimed(value)
    elif isinstance(values, list):
        for value in values:
            yield from _claimed(value)


def in_gib(quantity: Any) -> float | None:
    """A quantity of Kubernetes in GiB; None for what is none, or not known."""
    known = amount(quantity) if isinstance(quantity, str) else None
    return None if known is None else known / GIB
