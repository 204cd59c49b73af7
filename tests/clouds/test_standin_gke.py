"""GKE as the stand-in has it: what it makes, what it refuses, what a change of it means."""

from __future__ import annotations

from typing import Any

import pytest
from clouds.client import Client, ProviderError, State
from clouds.cloud import Cloud
from clouds.estate import Gke
from clouds.gcp.gke import CLUSTER
from clouds.gcp.iam import ACCOUNT, KEY, RING, SERVICE, STORAGE_AGENT, CryptoKeyIAMMember, IAMMember
from clouds.gcp.network import ROUTER, RouterNat
from clouds.gcp.network import SUBNET as SUBNET
from clouds.gcp.nodes import POOL
from clouds.gcp.storage import BUCKET
from clouds.wire import UNKNOWN, Secret, plain

NODE = {"machineType": "e2-standard-8", "diskType": "pd-balanced"}


@pytest.fixture
def gke(gcp: Client) -> Gke:
    return Gke(gcp)


def test_a_cluster_is_the_tests_own(gke: Gke) -> None:
    outputs = gke.cluster.outputs
    assert gke.cluster.id == f"projects/example-dev/locations/us-central1/clusters/{outputs['name']}"
    assert outputs["endpoint"] == "127.0.0.1:6443"
    assert plain(outputs["masterAuth"])["clusterCaCertificate"] == "dGhlIGNlcnRpZmljYXRl"
    assert outputs["masterAuth"]["clientKey"] == Secret("")
    assert outputs["masterVersion"].startswith("1.34.")


def test_a_cluster_that_is_not_there_yet_knows_only_its_inputs(gcp: Client, gke: Gke) -> None:
    outputs = gcp.preview_create(CLUSTER, "other", gke.cluster_inputs())
    assert outputs["minMasterVersion"] == "1.34"
    assert outputs["endpoint"] is UNKNOWN
    assert outputs["masterAuth"]["clusterCaCertificate"] is UNKNOWN


def test_what_a_change_does_not_touch_stays_known_at_preview(gcp: Client, gke: Gke) -> None:
    outputs = gcp.preview_update(gke.cluster, gke.cluster_inputs(minMasterVersion="1.35"))
    assert outputs["masterVersion"] is UNKNOWN
    for output in ("endpoint", "selfLink", "project"):
        assert outputs[output] == gke.cluster.outputs[output]
    assert plain(outputs["masterAuth"]) == plain(gke.cluster.outputs["masterAuth"])


def test_a_cluster_is_upgraded_by_one_minor_version(gcp: Client, gke: Gke) -> None:
    with pytest.raises(ProviderError, match="cannot upgrade the master more than a minor version"):
        gcp.update(gke.cluster, gke.cluster_inputs(minMasterVersion="1.36"))
    with pytest.raises(ProviderError, match=r'Master version "1\.99" is unsupported'):
        gcp.update(gke.cluster, gke.cluster_inputs(minMasterVersion="1.99"))
    newer = gcp.update(gke.cluster, gke.cluster_inputs(minMasterVersion="1.35"))
    assert newer.outputs["masterVersion"].startswith("1.35.")


def test_a_lower_version_leaves_the_cluster_as_it_is(gcp: Client, gke: Gke) -> None:
    lower = gcp.update(gke.cluster, gke.cluster_inputs(minMasterVersion="1.33"))
    assert lower.outputs["masterVersion"].startswith("1.34.")


def test_a_protected_cluster_is_not_deleted(gcp: Client, gke: Gke) -> None:
    protected = gcp.update(gke.cluster, gke.cluster_inputs(deletionProtection=True))
    with pytest.raises(ProviderError, match="deletion_protection is set to true"):
        gcp.delete(protected)


def test_a_cluster_takes_its_pools_with_it(gcp: Client, cloud: Cloud, gke: Gke) -> None:
    gcp.delete(gke.cluster)
    assert cloud.resources(POOL) == []
    gcp.delete(gke.pool)


def test_a_network_in_use_is_not_deleted(gcp: Client, gke: Gke) -> None:
    with pytest.raises(ProviderError, match=r"Error 409: .*already being used by another resource"):
        gcp.delete(gke.network)
    with pytest.raises(ProviderError, match="already being used by another resource"):
        gcp.delete(gke.subnet)


CHANGES: list[tuple[str, dict[str, Any], list[str], list[str]]] = [
    ("its version", {"minMasterVersion": "1.35"}, ["minMasterVersion"], []),
    ("its labels", {"resourceLabels": {"a": "b"}}, ["resourceLabels"], []),
    ("its place", {"location": "us-east1"}, ["location"], ["location"]),
    ("its subnet", {"subnetwork": "other"}, ["subnetwork"], ["subnetwork"]),
    ("its data plane", {"datapathProvider": "ADVANCED_DATAPATH"}, ["datapathProvider"], ["datapathProvider"]),
    ("its first nodes", {"initialNodeCount": 2}, ["initialNodeCount"], ["initialNodeCount"]),
    ("its channel", {"releaseChannel": {"channel": "STABLE"}}, ["releaseChannel"], []),
    ("its callers", {"masterAuthorizedNetworksConfig": {"cidrBlocks": []}}, ["masterAuthorizedNetworksConfig"], []),
    ("its protection", {"deletionProtection": True}, ["deletionProtection"], []),
]


@pytest.mark.parametrize(("change", "diffs", "replaces"), [c[1:] for c in CHANGES], ids=[c[0] for c in CHANGES])
def test_what_a_change_of_a_cluster_means(
    gcp: Client, gke: Gke, change: dict[str, Any], diffs: list[str], replaces: list[str]
) -> None:
    answer = gcp.diff(gke.cluster, gke.cluster_inputs(**change))
    assert (list(answer.diffs), list(answer.replaces)) == (diffs, replaces)


POOL_CHANGES: list[tuple[str, dict[str, Any], str, bool]] = [
    ("its sizes", {"autoscaling": {"totalMinNodeCount": 1, "totalMaxNodeCount": 9}}, "autoscaling", False),
    ("its version", {"version": "1.34"}, "version", False),
    ("its zones", {"nodeLocations": ["us-central1-a", "us-central1-b"]}, "nodeLocations", False),
    ("its surge", {"upgradeSettings": {"maxSurge": 1}}, "upgradeSettings", False),
    ("its first nodes", {"initialNodeCount": 2}, "initialNodeCount", True),
    ("its machine", {"nodeConfig": NODE | {"machineType": "e2-standard-4"}}, "nodeConfig", False),
    ("its disk", {"nodeConfig": NODE | {"diskSizeGb": 200}}, "nodeConfig", False),
    ("its node labels", {"nodeConfig": NODE | {"labels": {"a": "b"}}}, "nodeConfig", False),
    ("its cloud labels", {"nodeConfig": NODE | {"resourceLabels": {"a": "b"}}}, "nodeConfig", False),
    (
        "its taints",
        {"nodeConfig": NODE | {"taints": [{"key": "a", "value": "b", "effect": "NO_SCHEDULE"}]}},
        "nodeConfig",
        False,
    ),
    ("its price", {"nodeConfig": NODE | {"spot": True}}, "nodeConfig", True),
    (
        "its reservation",
        {"nodeConfig": NODE | {"reservationAffinity": {"consumeReservationType": "ANY_RESERVATION"}}},
        "nodeConfig",
        True,
    ),
    ("its GPUs", {"nodeConfig": NODE | {"guestAccelerators": [{"type": "nvidia-l4", "count": 1}]}}, "nodeConfig", True),
    ("its account", {"nodeConfig": NODE | {"serviceAccount": "a@b.c"}}, "nodeConfig", True),
]


@pytest.mark.parametrize(("change", "top", "replaces"), [c[1:] for c in POOL_CHANGES], ids=[c[0] for c in POOL_CHANGES])
def test_what_a_change_of_a_pool_means(gcp: Client, gke: Gke, change: dict[str, Any], top: str, replaces: bool) -> None:
    answer = gcp.diff(gke.pool, gke.pool_inputs(**change))
    assert (list(answer.diffs), list(answer.replaces)) == ([top], [top] if replaces else [])


def test_a_pool_knows_its_cluster(gke: Gke) -> None:
    assert gke.pool.id == f"{gke.cluster.id}/nodePools/{gke.pool.outputs['name']}"
    assert gke.pool.outputs["version"] == gke.cluster.outputs["masterVersion"]
    assert len(gke.pool.outputs["instanceGroupUrls"]) == 1


def test_a_pool_needs_a_cluster_that_exists(gcp: Client, gke: Gke) -> None:
    nowhere = "projects/example-dev/locations/us-central1/clusters/nowhere"
    with pytest.raises(ProviderError, match=f"Error 404: Not found: {nowhere}"):
        gcp.create(POOL, "l4", gke.pool_inputs(cluster=nowhere))


def test_a_pool_is_not_newer_than_its_cluster(gcp: Client, gke: Gke) -> None:
    with pytest.raises(ProviderError, match="must not be greater than the master version"):
        gcp.update(gke.pool, gke.pool_inputs(version="1.35"))


def test_nodes_need_an_account_that_exists(gcp: Client, gke: Gke) -> None:
    with pytest.raises(ProviderError, match=r"Service account nodes@example\.com does not exist"):
        gcp.create(POOL, "l4", gke.pool_inputs(nodeConfig={"serviceAccount": "nodes@example.com"}))
    account = gcp.create(ACCOUNT, "nodes", {"displayName": "Nodes"})
    pool = gcp.create(POOL, "l4", gke.pool_inputs(nodeConfig={"serviceAccount": account.outputs["email"]}))
    assert pool.outputs["nodeConfig"]["serviceAccount"] == account.outputs["email"]


def test_what_the_container_api_refuses_is_refused_when_it_is_made(gcp: Client, gke: Gke) -> None:
    wrong = gke.pool_inputs(nodeConfig={"machineType": "p5.48xlarge"})
    assert gcp.preview_create(POOL, "l4", wrong)["initialNodeCount"] == 1
    with pytest.raises(ProviderError, match=r"Error 400: .*is no machine of Google Cloud"):
        gcp.create(POOL, "l4", wrong)


def key_of(gcp: Client) -> State:
    ring = gcp.create(RING, "dev", {"location": "us-central1"})
    return gcp.create(KEY, "dev", {"keyRing": ring.id, "purpose": "ENCRYPT_DECRYPT"})


def test_secrets_are_encrypted_by_a_key_that_gke_may_use(gcp: Client, gke: Gke) -> None:
    key = key_of(gcp)
    inputs = gke.cluster_inputs(databaseEncryption={"state": "ENCRYPTED", "keyName": key.id})
    with pytest.raises(ProviderError, match="has no cloudkms"):
        gcp.create(CLUSTER, "other", inputs)
    agent = gcp.create(SERVICE, "gke", {"service": "container.googleapis.com"})
    use = {"cryptoKeyId": key.id, "role": "roles/cloudkms.cryptoKeyEncrypterDecrypter"}
    gcp.create(CryptoKeyIAMMember.token, "gke", {**use, "member": agent.outputs["member"]})
    assert gcp.create(CLUSTER, "other", inputs).id.endswith("/clusters/" + "other-6b86b27")


def test_a_cluster_needs_its_ranges(gcp: Client, gke: Gke) -> None:
    ranges = {"clusterSecondaryRangeName": "pods", "servicesSecondaryRangeName": "nowhere"}
    with pytest.raises(ProviderError, match='Secondary range "nowhere" does not exist'):
        gcp.create(CLUSTER, "other", gke.cluster_inputs(ipAllocationPolicy=ranges, networkingMode="VPC_NATIVE"))


def test_keys_remain_after_they_are_deleted(gcp: Client, cloud: Cloud) -> None:
    gcp.delete(key_of(gcp))
    assert [thing.kind for thing in cloud.resources()] == [RING]
    assert [thing.kind for thing in cloud.remains()] == [KEY]


def test_a_grant_is_for_a_service_account_that_exists(gcp: Client) -> None:
    grant = {"project": "example-dev", "role": "roles/artifactregistry.reader"}
    with pytest.raises(ProviderError, match="does not exist"):
        gcp.create(IAMMember.token, "x", {**grant, "member": "serviceAccount:x@example-dev.iam.gserviceaccount.com"})
    member = "group:research@example.com"
    first, second = (gcp.create(IAMMember.token, name, {**grant, "member": member}) for name in ("y", "z"))
    assert first.id == second.id
    imported = gcp.read(IAMMember.token, "y", f"example-dev roles/artifactregistry.reader {member}")
    assert imported is not None
    assert imported.id == first.id


def test_ranges_of_a_network_do_not_overlap(gcp: Client, gke: Gke) -> None:
    with pytest.raises(ProviderError, match="conflicts with existing subnetwork"):
        gcp.create(
            SUBNET, "other", {"network": gke.network.id, "region": "us-central1", "ipCidrRange": "10.60.16.0/24"}
        )


def test_a_range_grows_in_place(gcp: Client, gke: Gke) -> None:
    inputs = {**plain(gke.subnet.inputs), "secondaryIpRanges": []}
    assert list(gcp.diff(gke.subnet, inputs | {"ipCidrRange": "10.60.0.0/19"}).replaces) == []
    assert list(gcp.diff(gke.subnet, inputs | {"ipCidrRange": "10.60.0.0/21"}).replaces) == ["ipCidrRange"]


FLEX_START: dict[str, Any] = {
    "initialNodeCount": 0,
    "autoscaling": {"totalMinNodeCount": 0, "totalMaxNodeCount": 2, "locationPolicy": "ANY"},
    "management": {"autoRepair": False, "autoUpgrade": True},
    "nodeConfig": {"flexStart": True, "reservationAffinity": {"consumeReservationType": "NO_RESERVATION"}},
}


def test_flex_start_nodes_live_out_their_time(gcp: Client, gke: Gke) -> None:
    pool = gcp.create(POOL, "flex", gke.pool_inputs(**FLEX_START))
    assert pool.outputs["upgradeSettings"] == {"strategy": "SHORT_LIVED"}
    assert gke.pool.outputs["upgradeSettings"]["strategy"] == "SURGE"
    assert list(gcp.diff(pool, gke.pool_inputs(**FLEX_START)).diffs) == []
    # It cannot be changed, and a pool that asks for another is not made.
    surge = gke.pool_inputs(**FLEX_START, upgradeSettings={"strategy": "SURGE", "maxSurge": 1})
    for ask in (lambda: gcp.update(pool, surge), lambda: gcp.create(POOL, "other", surge)):
        with pytest.raises(ProviderError, match=r"Error 400: .*/upgradeSettings: GKE makes it SHORT_LIVED"):
            ask()


def test_a_bucket_is_called_the_same_in_the_whole_cloud(gcp: Client) -> None:
    inputs = {"location": "us-central1", "uniformBucketLevelAccess": True, "labels": {"owner": "ml"}}
    bucket = gcp.create(BUCKET, "weights", inputs)
    assert bucket.outputs["location"] == "US-CENTRAL1"
    assert bucket.outputs["url"] == f"gs://{bucket.id}"
    assert bucket.outputs["softDeletePolicy"]["retentionDurationSeconds"] == 604_800
    with pytest.raises(ProviderError, match="Error 409: Your previous request to create the named bucket succeeded"):
        gcp.create(BUCKET, "again", inputs | {"name": bucket.id})
    with pytest.raises(ProviderError, match=r"Error 400: .*'Weights' is not taken"):
        gcp.create(BUCKET, "again", inputs | {"name": "Weights"})
    assert list(gcp.diff(bucket, inputs | {"forceDestroy": True}).replaces) == []
    assert list(gcp.diff(bucket, inputs | {"location": "EU"}).replaces) == ["location"]
    locked = gcp.update(bucket, inputs | {"retentionPolicy": {"retentionPeriod": "86400", "isLocked": True}})
    unlocked = inputs | {"retentionPolicy": {"retentionPeriod": "86400", "isLocked": False}}
    assert list(gcp.diff(locked, unlocked).replaces) == ["retentionPolicy"]
    imported = gcp.read(BUCKET, "weights", f"example-dev/{bucket.id}")
    assert imported is not None
    assert imported.id == bucket.id


def test_a_bucket_is_encrypted_by_a_key_that_cloud_storage_may_use(gcp: Client) -> None:
    key = key_of(gcp)
    inputs = {"location": "US-CENTRAL1", "encryption": {"defaultKmsKeyName": key.id}}
    with pytest.raises(ProviderError, match="Error 403: Permission denied on Cloud KMS key"):
        gcp.create(BUCKET, "weights", inputs)
    use = {"cryptoKeyId": key.id, "role": "roles/cloudkms.cryptoKeyEncrypterDecrypter"}
    gcp.create(CryptoKeyIAMMember.token, "storage", {**use, "member": STORAGE_AGENT})
    gcp.delete(gcp.create(BUCKET, "weights", inputs))


def test_a_nat_needs_its_router(gcp: Client, gke: Gke) -> None:
    nat = {"region": "us-central1", "natIpAllocateOption": "AUTO_ONLY"}
    nat["sourceSubnetworkIpRangesToNat"] = "ALL_SUBNETWORKS_ALL_IP_RANGES"
    with pytest.raises(ProviderError, match="Error 404"):
        gcp.create(RouterNat.token, "dev", {**nat, "router": "nowhere"})
    router = gcp.create(ROUTER, "dev", {"network": gke.network.id, "region": "us-central1"})
    made = gcp.create(RouterNat.token, "dev", {**nat, "router": router.outputs["name"]})
    assert made.id == f"example-dev/us-central1/{router.outputs['name']}/{made.outputs['name']}"


def test_a_project_must_be_said(cloud: Cloud) -> None:
    from clouds.package import package

    with (
        Client(package("gcp"), cloud) as nowhere,
        pytest.raises(ProviderError, match="project: required field is not set"),
    ):
        nowhere.create(RING, "dev", {"location": "us-central1"})
