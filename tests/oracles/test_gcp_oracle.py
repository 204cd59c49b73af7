from __future__ import annotations

import copy
import importlib
from collections.abc import Callable
from typing import Any

import pytest
from oracles.gcp import FIELDS, problems

POOL: dict[str, Any] = {
    "cluster": "projects/example-dev/locations/us-central1/clusters/dev",
    "location": "us-central1",
    "nodeLocations": ["us-central1-a", "us-central1-b"],
    "initialNodeCount": 1.0,
    "autoscaling": {"totalMinNodeCount": 0.0, "totalMaxNodeCount": 4.0, "locationPolicy": "ANY"},
    "management": {"autoRepair": True, "autoUpgrade": True},
    "upgradeSettings": {"strategy": "SURGE", "maxSurge": 0.0, "maxUnavailable": 1.0},
    "networkConfig": {"enablePrivateNodes": True},
    "nodeConfig": {
        "machineType": "a3-highgpu-8g",
        "diskType": "pd-balanced",
        "diskSizeGb": 200.0,
        "serviceAccount": None,
        "oauthScopes": ["https://www.googleapis.com/auth/cloud-platform"],
        "labels": {"gpuyard.io/node-group": "h100"},
        "resourceLabels": {"owner": "ml-platform"},
        "taints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}],
        "guestAccelerators": [
            {
                "type": "nvidia-h100-80gb",
                "count": 8.0,
                "gpuDriverInstallationConfig": {"gpuDriverVersion": "LATEST"},
            }
        ],
        "ephemeralStorageLocalSsdConfig": {"localSsdCount": 16.0},
        "reservationAffinity": {
            "consumeReservationType": "SPECIFIC_RESERVATION",
            "key": "compute.googleapis.com/reservation-name",
            "values": ["h100"],
        },
    },
}
CLUSTER: dict[str, Any] = {
    "project": "example-dev",
    "location": "us-central1",
    "nodeLocations": ["us-central1-a"],
    "minMasterVersion": "1.35",
    "removeDefaultNodePool": True,
    "initialNodeCount": 1.0,
    "networkingMode": "VPC_NATIVE",
    "network": None,
    "ipAllocationPolicy": {"clusterSecondaryRangeName": "pods", "servicesSecondaryRangeName": "services"},
    "datapathProvider": "ADVANCED_DATAPATH",
    "dnsConfig": {"clusterDns": "KUBE_DNS"},
    "releaseChannel": {"channel": "REGULAR"},
    "privateClusterConfig": {"enablePrivateNodes": True, "enablePrivateEndpoint": True},
    "masterAuthorizedNetworksConfig": {"cidrBlocks": [{"cidrBlock": "203.0.113.0/24", "displayName": "office"}]},
    "workloadIdentityConfig": {"workloadPool": "example-dev.svc.id.goog"},
    "databaseEncryption": {"state": "ENCRYPTED", "keyName": None},
    "loggingConfig": {"enableComponents": ["SYSTEM_COMPONENTS", "APISERVER"]},
    "monitoringConfig": {"enableComponents": ["SYSTEM_COMPONENTS"], "managedPrometheus": {"enabled": False}},
    "nodePoolDefaults": {"nodeConfigDefaults": {"insecureKubeletReadonlyPortEnabled": "FALSE"}},
    "enableLegacyAbac": False,
    "defaultMaxPodsPerNode": 110.0,
    "deletionProtection": True,
}
SUBNET: dict[str, Any] = {
    "project": "example-dev",
    "region": "us-central1",
    "network": None,
    "ipCidrRange": "10.60.0.0/20",
    "secondaryIpRanges": [{"rangeName": "pods", "ipCidrRange": "10.60.128.0/17"}],
    "privateIpGoogleAccess": True,
}
GRANT = {"project": "example-dev", "role": "roles/container.defaultNodeServiceAccount", "member": "user:a@example.com"}
TYPES = {
    "pool": "gcp:container/nodePool:NodePool",
    "cluster": "gcp:container/cluster:Cluster",
    "subnet": "gcp:compute/subnetwork:Subnetwork",
    "grant": "gcp:projects/iAMMember:IAMMember",
    "nat": "gcp:compute/routerNat:RouterNat",
    "key": "gcp:kms/cryptoKey:CryptoKey",
    "queued": "gcp:container/nodePool:NodePool",
    "slice": "gcp:container/nodePool:NodePool",
    "firewall": "gcp:compute/firewall:Firewall",
    "policy": "gcp:compute/resourcePolicy:ResourcePolicy",
    "bucket": "gcp:storage/bucket:Bucket",
}
QUEUED: dict[str, Any] = {
    **{key: value for key, value in POOL.items() if key != "upgradeSettings"},
    "nodeLocations": ["us-central1-a"],
    "initialNodeCount": 0.0,
    "management": {"autoRepair": False, "autoUpgrade": True},
    "queuedProvisioning": {"enabled": True},
    "nodeConfig": {
        **POOL["nodeConfig"],
        "flexStart": True,
        "maxRunDuration": "3600s",
        "labels": {"cloud.google.com/gke-queued": "true"},
        "reservationAffinity": {"consumeReservationType": "NO_RESERVATION"},
    },
}
SLICE: dict[str, Any] = {
    "cluster": POOL["cluster"],
    "location": "us-central1",
    "nodeLocations": ["us-central1-a"],
    "initialNodeCount": 0.0,
    "autoscaling": {"minNodeCount": 0.0, "maxNodeCount": 4.0, "locationPolicy": "ANY"},
    "placementPolicy": {"type": "COMPACT", "tpuTopology": "4x4"},
    "upgradeSettings": {"strategy": "SURGE", "maxUnavailable": 1.0},
    "networkConfig": {"acceleratorNetworkProfile": "auto"},
    "nodeConfig": {"machineType": "ct6e-standard-4t", "diskType": "hyperdisk-balanced"},
}
GOOD: dict[str, dict[str, Any]] = {
    "pool": POOL,
    "cluster": CLUSTER,
    "subnet": SUBNET,
    "grant": GRANT,
    "nat": {"router": "r", "sourceSubnetworkIpRangesToNat": "ALL_SUBNETWORKS_ALL_IP_RANGES"},
    "key": {"keyRing": None, "rotationPeriod": "7776000s", "labels": {"owner": "ml-platform"}},
    "queued": QUEUED,
    "slice": SLICE,
    "firewall": {
        "network": None,
        "direction": "INGRESS",
        "sourceRanges": ["10.60.0.0/20"],
        "allows": [{"protocol": "tcp", "ports": ["8082"]}],
    },
    "policy": {"workloadPolicy": {"type": "HIGH_THROUGHPUT", "acceleratorTopology": "2x2x2"}},
    "bucket": {
        "name": "weights-1a2b3c4",
        "location": "US-CENTRAL1",
        "storageClass": "STANDARD",
        "uniformBucketLevelAccess": True,
        "forceDestroy": False,
        "softDeletePolicy": {"retentionDurationSeconds": 604_800.0},
        "hierarchicalNamespace": {"enabled": True},
        "labels": {"owner": "ml-platform"},
    },
}

Fault = Callable[[dict[str, Any]], object]

FAULTS: list[tuple[str, str, Fault]] = [
    ("pool", "machinType", lambda i: i["nodeConfig"].update(machinType="x")),
    ("pool", "NoSchedule", lambda i: i["nodeConfig"]["taints"][0].update(effect="NoSchedule")),
    (
        "pool",
        "NEWEST",
        lambda i: i["nodeConfig"]["guestAccelerators"][0]["gpuDriverInstallationConfig"].update(
            gpuDriverVersion="NEWEST"
        ),
    ),
    ("pool", "SPECIFIC", lambda i: i["nodeConfig"]["reservationAffinity"].update(consumeReservationType="SPECIFIC")),
    ("pool", "names one reservation", lambda i: i["nodeConfig"]["reservationAffinity"].pop("values")),
    ("pool", "from no reservation", lambda i: i["nodeConfig"].update(spot=True)),
    ("pool", "spot", lambda i: i["nodeConfig"].update(spot="yes")),
    ("pool", "no machine of Google Cloud", lambda i: i["nodeConfig"].update(machineType="p5.48xlarge")),
    ("pool", "does not boot from", lambda i: i["nodeConfig"].update(diskType="pd-standard")),
    ("pool", "is not what a3-highgpu-8g has", lambda i: i["nodeConfig"]["guestAccelerators"][0].update(count=4)),
    ("pool", "is not what a3-highgpu-8g has", lambda i: i["nodeConfig"]["guestAccelerators"][0].update(type="h100")),
    ("pool", "8 disks", lambda i: i["nodeConfig"]["ephemeralStorageLocalSsdConfig"].update(localSsdCount=8)),
    ("pool", "is below 10", lambda i: i["nodeConfig"].update(diskSizeGb=5)),
    ("pool", "oauthScopes", lambda i: i["nodeConfig"].update(oauthScopes=["cloud-platform"])),
    (
        "pool",
        "'ML Platform' is no label's value",
        lambda i: i["nodeConfig"]["resourceLabels"].update(owner="ML Platform"),
    ),
    ("pool", "is no Kubernetes key", lambda i: i["nodeConfig"]["labels"].update({"a b": "c"})),
    ("pool", "serviceAccount", lambda i: i["nodeConfig"].update(serviceAccount="default")),
    ("pool", "exclude limits a zone", lambda i: i["autoscaling"].update(maxNodeCount=2)),
    ("pool", "5 to 4 nodes", lambda i: i["autoscaling"].update(totalMinNodeCount=5)),
    ("pool", "starts 6 nodes", lambda i: i.update(initialNodeCount=3)),
    ("pool", "1.5", lambda i: i.update(initialNodeCount=1.5)),
    ("pool", "no zone of us-central1", lambda i: i.update(nodeLocations=["us-east1-b"])),
    ("pool", "neither a region nor a zone", lambda i: i.update(location="USA")),
    ("pool", "must be above 0", lambda i: i["upgradeSettings"].update(maxUnavailable=0)),
    ("pool", "/cluster: is required", lambda i: i.pop("cluster")),
    ("cluster", "enableKubernetesDashboard", lambda i: i.update(enableKubernetesDashboard=True)),
    ("cluster", "WEEKLY", lambda i: i["releaseChannel"].update(channel="WEEKLY")),
    ("cluster", "BIND", lambda i: i["dnsConfig"].update(clusterDns="BIND")),
    ("cluster", "ETCD", lambda i: i["loggingConfig"]["enableComponents"].append("ETCD")),
    (
        "cluster",
        "is no network",
        lambda i: i["masterAuthorizedNetworksConfig"]["cidrBlocks"].append({"cidrBlock": "x/8"}),
    ),
    ("cluster", "needs masterAuthorizedNetworksConfig", lambda i: i.pop("masterAuthorizedNetworksConfig")),
    ("cluster", "minMasterVersion", lambda i: i.update(minMasterVersion="latest-ish")),
    ("cluster", "workloadPool", lambda i: i["workloadIdentityConfig"].update(workloadPool="example-dev")),
    ("cluster", "keyName", lambda i: i["databaseEncryption"].update(keyName="my-key")),
    ("cluster", "excludes networkPolicy", lambda i: i.update(networkPolicy={"enabled": True})),
    ("cluster", "needs initialNodeCount", lambda i: i.pop("initialNodeCount")),
    ("cluster", "needs ipAllocationPolicy", lambda i: i.pop("ipAllocationPolicy")),
    (
        "cluster",
        "nsecureKubeletReadonlyPortEnabled",
        lambda i: i["nodePoolDefaults"]["nodeConfigDefaults"].update(insecureKubeletReadonlyPortEnabled="NO"),
    ),
    ("subnet", "/cidr: no such field", lambda i: i.update(cidr="x")),
    ("subnet", "'10.60.0.1/20' is not taken", lambda i: i.update(ipCidrRange="10.60.0.1/20")),
    ("subnet", "overlaps", lambda i: i["secondaryIpRanges"][0].update(ipCidrRange="10.60.8.0/21")),
    ("subnet", "/secondaryIpRanges/0/rangeName: is required", lambda i: i["secondaryIpRanges"][0].pop("rangeName")),
    ("subnet", "'yes' is not taken", lambda i: i.update(privateIpGoogleAccess="yes")),
    ("grant", "/role", lambda i: i.update(role="container.admin")),
    ("grant", "/member", lambda i: i.update(member="a@example.com")),
    ("nat", "sourceSubnetworkIpRangesToNat", lambda i: i.update(sourceSubnetworkIpRangesToNat="ALL")),
    (
        "nat",
        "excludes enableEndpointIndependentMapping",
        lambda i: i.update(enableDynamicPortAllocation=True, enableEndpointIndependentMapping=True),
    ),
    ("key", "'90d' is not taken", lambda i: i.update(rotationPeriod="90d")),
    ("key", "'Owner' is no label's key", lambda i: i["labels"].update(Owner="x")),
    ("pool", "names no reservation", lambda i: i["nodeConfig"]["reservationAffinity"].update(values=["p/r/h100"])),
    ("queued", "excludes flexStart", lambda i: i["nodeConfig"].update(spot=True)),
    ("queued", "need NO_RESERVATION", lambda i: i["nodeConfig"].pop("reservationAffinity")),
    ("queued", "on a release channel needs it on", lambda i: i["management"].update(autoUpgrade=False)),
    ("queued", "makes it SHORT_LIVED", lambda i: i.update(upgradeSettings={"strategy": "SURGE", "maxSurge": 1.0})),
    ("queued", "flexStart needs it off", lambda i: i["management"].update(autoRepair=True)),
    ("queued", "start from no nodes", lambda i: i["autoscaling"].update(totalMinNodeCount=1)),
    ("queued", "needs cloud.google.com/gke-queued", lambda i: i["nodeConfig"].pop("labels")),
    ("queued", "queuedProvisioning excludes COMPACT", lambda i: i.update(placementPolicy={"type": "COMPACT"})),
    ("queued", "does not place this machine COMPACT", lambda i: i.update(placementPolicy={"type": "COMPACT"})),
    ("queued", "maxRunDuration", lambda i: i["nodeConfig"].update(maxRunDuration="1h")),
    ("slice", "no slice of 3 nodes", lambda i: i["autoscaling"].update(maxNodeCount=3)),
    ("slice", "3x3 of ct6e-standard-4t", lambda i: i["placementPolicy"].update(tpuTopology="3x3")),
    ("slice", "is in one zone", lambda i: i["nodeLocations"].append("us-central1-b")),
    ("slice", "excludes BLUE_GREEN", lambda i: i["upgradeSettings"].update(strategy="BLUE_GREEN")),
    ("slice", "is not auto", lambda i: i["networkConfig"].update(acceleratorNetworkProfile="roce")),
    (
        "slice",
        "excludes additionalNodeNetworkConfigs",
        lambda i: i["networkConfig"].update(additionalNodeNetworkConfigs=[{"network": "n", "subnetwork": "s"}]),
    ),
    (
        "slice",
        "eight more at the most",
        lambda i: i["networkConfig"].update(additionalNodeNetworkConfigs=[{"network": "n", "subnetwork": "s"}] * 9),
    ),
    ("slice", "is not what ct6e", lambda i: i["nodeConfig"].update(guestAccelerators=[{"type": "tpu", "count": 4}])),
    (
        "cluster",
        "needs ADVANCED_DATAPATH",
        lambda i: i.update(enableMultiNetworking=True, datapathProvider="LEGACY_DATAPATH"),
    ),
    ("firewall", "INGRESS needs sourceRanges", lambda i: i.pop("sourceRanges")),
    ("firewall", "icmp has no ports", lambda i: i["allows"][0].update(protocol="icmp")),
    ("firewall", "'all ports' is not taken", lambda i: i["allows"][0].update(ports=["all ports"])),
    ("policy", "excludes maxTopologyDistance", lambda i: i["workloadPolicy"].update(maxTopologyDistance="BLOCK")),
    ("policy", "'4' is not taken", lambda i: i["workloadPolicy"].update(acceleratorTopology="4")),
    ("bucket", "'Weights' is not taken", lambda i: i.update(name="Weights")),
    ("bucket", "'my-google-bucket' is not taken", lambda i: i.update(name="my-google-bucket")),
    ("bucket", "'192.168.5.4' is not taken", lambda i: i.update(name="192.168.5.4")),
    ("bucket", "/location: is required", lambda i: i.pop("location")),
    ("bucket", "'us central' is not taken", lambda i: i.update(location="us central")),
    ("bucket", "'GLACIER' is not taken", lambda i: i.update(storageClass="GLACIER")),
    ("bucket", "/versioning/enabled: is required", lambda i: i.update(versioning={})),
    ("bucket", "needs uniformBucketLevelAccess", lambda i: i.update(uniformBucketLevelAccess=False)),
    ("bucket", "neither 0 nor 7 to 90 days", lambda i: i["softDeletePolicy"].update(retentionDurationSeconds=60)),
]


@pytest.mark.parametrize("kind", GOOD)
def test_a_good_resource_has_no_problem(kind: str) -> None:
    assert problems({"type": TYPES[kind], "inputs": GOOD[kind]}) == []


@pytest.mark.parametrize(("kind", "sign", "fault"), FAULTS, ids=[f"{kind}-{sign}" for kind, sign, _ in FAULTS])
def test_a_seeded_fault_is_found(kind: str, sign: str, fault: Fault) -> None:
    inputs = copy.deepcopy(GOOD[kind])
    fault(inputs)
    found = problems({"type": TYPES[kind], "inputs": inputs})
    assert any(sign in problem for problem in found), found


def test_a_type_that_nothing_knows_is_a_problem() -> None:
    assert problems({"type": "gcp:pubsub/topic:Topic", "inputs": {}}) == ["no check knows gcp:pubsub/topic:Topic"]
    assert problems({"type": "kubernetes:core/v1:Namespace", "inputs": {}}) == []


def test_every_listed_field_is_one_of_the_sdk() -> None:
    """The lists are ours; the names in them are not."""
    for kind, fields in FIELDS.items():
        module, name = kind.split(":")[1].partition("/")[0], kind.rpartition(":")[2]
        arguments = getattr(importlib.import_module(f"pulumi_gcp.{module}"), f"{name}Args")
        known = {_camel(field) for field in vars(arguments) if not field.startswith("_")}
        assert {field.removesuffix("!") for field in fields} <= known, kind


def _camel(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(word.capitalize() for word in tail)
