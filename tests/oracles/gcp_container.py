"""Judges recorded GKE inputs by the container API's own protos.

Reading a body as a proto finds unknown fields, unknown enum values and wrong types. What the proto takes as any text
is checked by hand: machine types, disks, accelerators, networks, versions, labels. Pulumi follows Terraform's names,
and MOVED says what the API calls the same.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network
from typing import Any

from google.cloud import container_v1 as api
from google.protobuf import json_format
from oracles import gcp_pools
from oracles.gcp_pools import at

from gpuyard import catalogue

REGION = re.compile(r"[a-z]+-[a-z]+[0-9]+")
ZONE = re.compile(r"([a-z]+-[a-z]+[0-9]+)-[a-z0-9]+")
VERSION = re.compile(r"1\.[0-9]+(\.[0-9]+(-gke\.[0-9]+)?)?")
POOL = re.compile(r"[a-z][-a-z0-9]{4,28}[a-z0-9]\.svc\.id\.goog")
KEY = re.compile(r"projects/[^/]+/locations/[^/]+/keyRings/[^/]+/cryptoKeys/[^/]+")
SCOPE = re.compile(r"https://www\.googleapis\.com/auth/[a-z._-]+")
EMAIL = re.compile(r"[^\s:@]+@[^\s:@]+\.[a-z]+")
LABEL_KEY, LABEL_VALUE = re.compile(r"[a-z][a-z0-9_-]{0,62}"), re.compile(r"[a-z0-9_-]{0,63}")
NAME = re.compile(r"[a-z]([-a-z0-9]{0,38}[a-z0-9])?")
PART = r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?"
RESERVATION = re.compile(rf"{PART}|projects/[^/]+/reservations/{PART}(/reservationBlocks/{PART})?")
NODE_LABEL = re.compile(r"([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?")

NOT_OF_THE_API = {"project", "cluster", "location", "deletionProtection", "removeDefaultNodePool", "networkingMode"}
"""What the provider keeps to itself, or the API has in a request's path."""

DEFAULTS = "nodePoolDefaults.nodeConfigDefaults"

MOVED = {
    "minMasterVersion": "initialClusterVersion",
    "nodeLocations": "locations",
    "enableLegacyAbac": "legacyAbac.enabled",
    "enableShieldedNodes": "shieldedNodes.enabled",
    "datapathProvider": "networkConfig.datapathProvider",
    "dnsConfig": "networkConfig.dnsConfig",
    "enableMultiNetworking": "networkConfig.enableMultiNetworking",
    "enableIntranodeVisibility": "networkConfig.enableIntraNodeVisibility",
    "defaultMaxPodsPerNode": "defaultMaxPodsConstraint.maxPodsPerNode",
    "maxPodsPerNode": "maxPodsConstraint.maxPodsPerNode",
    "loggingConfig.enableComponents": "loggingConfig.componentConfig.enableComponents",
    "monitoringConfig.enableComponents": "monitoringConfig.componentConfig.enableComponents",
    "monitoringConfig.managedPrometheus": "monitoringConfig.managedPrometheusConfig",
    f"{DEFAULTS}.insecureKubeletReadonlyPortEnabled": (
        f"{DEFAULTS}.nodeKubeletConfig.insecureKubeletReadonlyPortEnabled"
    ),
}
"""Names that differ, Pulumi's first."""


def cluster_problems(inputs: Mapping[str, Any]) -> Iterator[str]:
    """What the API would refuse in a cluster."""
    body = _api_body(inputs)
    if "nodeConfig" in body:
        body["nodeConfig"] = _node_config_body(body["nodeConfig"])
    yield from _refused(body, api.Cluster.pb(api.Cluster()))
    yield from _place_problems(inputs)
    yield from label_problems("/resourceLabels", inputs.get("resourceLabels"))
    yield from _texts(
        inputs,
        {
            "name": NAME,
            "minMasterVersion": VERSION,
            "workloadIdentityConfig.workloadPool": POOL,
            "databaseEncryption.keyName": KEY,
            "authenticatorGroupsConfig.securityGroup": re.compile(r"gke-security-groups@[^\s:@]+"),
        },
    )
    for block in at(inputs, "masterAuthorizedNetworksConfig.cidrBlocks") or []:
        if block.get("cidrBlock") is not None and not is_network(block["cidrBlock"]):
            yield f"/masterAuthorizedNetworksConfig: {block['cidrBlock']} is no network"
    if at(inputs, "privateClusterConfig.enablePrivateEndpoint") and "masterAuthorizedNetworksConfig" not in inputs:
        yield "a private endpoint needs masterAuthorizedNetworksConfig"
    if inputs.get("networkingMode") == "VPC_NATIVE" and "ipAllocationPolicy" not in inputs:
        yield "VPC_NATIVE needs ipAllocationPolicy"
    if inputs.get("datapathProvider") == "ADVANCED_DATAPATH" and at(inputs, "networkPolicy.enabled"):
        yield "ADVANCED_DATAPATH excludes networkPolicy"
    if inputs.get("enableMultiNetworking") and inputs.get("datapathProvider") != "ADVANCED_DATAPATH":
        yield "enableMultiNetworking needs ADVANCED_DATAPATH"
    if inputs.get("removeDefaultNodePool") and not inputs.get("initialNodeCount"):
        yield "removeDefaultNodePool needs initialNodeCount"


def node_pool_problems(inputs: Mapping[str, Any]) -> Iterator[str]:
    """What the API would refuse in a node pool."""
    if "cluster" not in inputs:
        yield "/cluster: is required"
    body = _api_body(inputs)
    if "nodeConfig" in body:
        body["config"] = _node_config_body(body.pop("nodeConfig"))
    if "autoscaling" in body:
        body["autoscaling"] = {"enabled": True, **body["autoscaling"]}
    yield from _refused(body, api.NodePool.pb(api.NodePool()))
    yield from _texts(inputs, {"name": NAME})
    yield from _place_problems(inputs)
    yield from _count_problems(inputs)
    yield from _machine_problems(inputs.get("nodeConfig") or {})
    yield from _purchase_problems(inputs.get("nodeConfig") or {})
    yield from _node_text_problems(inputs.get("nodeConfig") or {})
    yield from gcp_pools.problems(inputs)
    surge = inputs.get("upgradeSettings") or {}
    if surge.get("strategy") == "SURGE" and not surge.get("maxSurge") and not surge.get("maxUnavailable"):
        yield "/upgradeSettings: maxSurge or maxUnavailable must be above 0"


def label_problems(path: str, labels: Mapping[str, Any] | None) -> Iterator[str]:
    """What is wrong with the labels of a cloud resource."""
    for key, value in (labels or {}).items():
        if not LABEL_KEY.fullmatch(key):
            yield f"{path}: {key!r} is no label's key"
        if isinstance(value, str) and not LABEL_VALUE.fullmatch(value):
            yield f"{path}/{key}: {value!r} is no label's value"


def is_network(text: str) -> bool:
    """Whether a text is an IPv4 network without host bits."""
    try:
        IPv4Network(text)
    except ValueError:
        return False
    return "/" in text


def _refused(body: dict[str, Any], message: Any) -> Iterator[str]:
    try:
        json_format.ParseDict(body, message)
    except json_format.ParseError as error:
        yield str(error).splitlines()[0]


def _api_body(inputs: Mapping[str, Any]) -> dict[str, Any]:
    body = _known({key: value for key, value in copy.deepcopy(dict(inputs)).items() if key not in NOT_OF_THE_API})
    for source, target in MOVED.items():
        *parents, last = source.split(".")
        holder = at(body, ".".join(parents)) if parents else body
        if isinstance(holder, dict) and last in holder:
            _put(body, target, _truth(holder.pop(last)))
    return dict(body)


def _node_config_body(config: dict[str, Any]) -> dict[str, Any]:
    body = {key: value for key, value in config.items() if key != "guestAccelerators"}
    if "guestAccelerators" in config:
        names = {"type": "acceleratorType", "count": "acceleratorCount"}
        body["accelerators"] = [{names.get(k, k): v for k, v in a.items()} for a in config["guestAccelerators"]]
    return body


def _truth(value: Any) -> Any:
    """The provider writes one switch as text."""
    return {"TRUE": True, "FALSE": False}.get(value, value) if isinstance(value, str) else value


def _known(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _known(item) for key, item in value.items() if item is not None}
    return [_known(item) for item in value if item is not None] if isinstance(value, list) else value


def _put(block: dict[str, Any], path: str, value: Any) -> None:
    *parents, last = path.split(".")
    for step in parents:
        block = block.setdefault(step, {})
    block[last] = value


def _texts(inputs: Mapping[str, Any], patterns: Mapping[str, re.Pattern[str]]) -> Iterator[str]:
    for path, pattern in patterns.items():
        value = at(inputs, path)
        if isinstance(value, str) and not pattern.fullmatch(value):
            yield f"/{path.replace('.', '/')}: {value!r} is not taken"


def _place_problems(inputs: Mapping[str, Any]) -> Iterator[str]:
    location = inputs.get("location")
    if not isinstance(location, str):
        return
    zonal = ZONE.fullmatch(location)
    if not zonal and not REGION.fullmatch(location):
        yield f"/location: {location!r} is neither a region nor a zone"
    region = zonal.group(1) if zonal else location
    for zone in inputs.get("nodeLocations") or []:
        found = ZONE.fullmatch(zone)
        if not found or found.group(1) != region:
            yield f"/nodeLocations: {zone!r} is no zone of {region}"


def _count_problems(inputs: Mapping[str, Any]) -> Iterator[str]:
    scaling = inputs.get("autoscaling") or {}
    zones = len(inputs.get("nodeLocations") or [None])
    low, high = scaling.get("totalMinNodeCount"), scaling.get("totalMaxNodeCount")
    if "maxNodeCount" in scaling:
        low, high = scaling.get("minNodeCount", 0) * zones, scaling["maxNodeCount"] * zones
    if {"totalMinNodeCount", "totalMaxNodeCount"} & scaling.keys() and {
        "minNodeCount",
        "maxNodeCount",
    } & scaling.keys():
        yield "/autoscaling: total limits exclude limits a zone"
    if low is None or high is None:
        return
    if not 0 <= low <= high or high < 1:
        yield f"/autoscaling: {low:g} to {high:g} nodes"
    first = (inputs.get("initialNodeCount") or 0) * zones
    if not low <= first <= high:
        yield f"/initialNodeCount: starts {first:g} nodes, outside {low:g} to {high:g}"


def _machine_problems(config: Mapping[str, Any]) -> Iterator[str]:
    machine = catalogue.machines().get(config.get("machineType", ""))
    if machine is None or machine.cloud != "gcp":
        yield f"/nodeConfig/machineType: {config.get('machineType')!r} is no machine of Google Cloud"
        return
    if config.get("diskType") not in machine.boot_disks:
        yield f"/nodeConfig/diskType: {machine.name} does not boot from {config.get('diskType')!r}"
    given = [(a.get("type"), a.get("count")) for a in config.get("guestAccelerators") or []]
    # TPU chips come with the machine type and have no accelerator type of Compute Engine.
    gpus = machine.accelerators and machine.resource != "google.com/tpu"
    if given != ([(machine.cloud_accelerator, machine.accelerators)] if gpus else []):
        yield f"/nodeConfig/guestAccelerators: {given} is not what {machine.name} has"
    disks = at(config, "ephemeralStorageLocalSsdConfig.localSsdCount") or 0
    # Those of A4X have 3,000 GB. Source: machine families of k8s.io/gke-autoscaling.
    if disks * (3000 if machine.name.startswith("a4x-") else 375) != machine.local_disk_gb:
        yield f"/nodeConfig/ephemeralStorageLocalSsdConfig: {disks} disks are not what {machine.name} has"


def _purchase_problems(config: Mapping[str, Any]) -> Iterator[str]:
    affinity = config.get("reservationAffinity") or {}
    kind = affinity.get("consumeReservationType")
    if config.get("spot") and kind != "NO_RESERVATION":
        yield f"/nodeConfig/reservationAffinity: {kind}, but spot machines come from no reservation"
    if (kind == "SPECIFIC_RESERVATION") != bool(affinity.get("key") and len(affinity.get("values") or []) == 1):
        yield "/nodeConfig/reservationAffinity: SPECIFIC_RESERVATION, and it alone, names one reservation"
    for value in affinity.get("values") or []:
        if isinstance(value, str) and not RESERVATION.fullmatch(value):
            yield f"/nodeConfig/reservationAffinity: {value!r} names no reservation"


def _node_text_problems(config: Mapping[str, Any]) -> Iterator[str]:
    yield from label_problems("/nodeConfig/resourceLabels", config.get("resourceLabels"))
    yield from _texts({"nodeConfig": config}, {"nodeConfig.serviceAccount": EMAIL})
    if config.get("diskSizeGb") is not None and config["diskSizeGb"] < 10:
        yield f"/nodeConfig/diskSizeGb: {config['diskSizeGb']} GB is below 10"
    keys = [*(config.get("labels") or {}), *(taint.get("key", "") for taint in config.get("taints") or [])]
    yield from (f"/nodeConfig: {key!r} is no Kubernetes key" for key in keys if not NODE_LABEL.fullmatch(key))
    yield from (f"/nodeConfig/oauthScopes: {s!r}" for s in config.get("oauthScopes") or [] if not SCOPE.fullmatch(s))
