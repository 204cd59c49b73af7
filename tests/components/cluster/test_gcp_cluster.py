from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from oracles.gcp import problems
from pydantic import ValidationError
from registered import Resource, registered

from gpuyard.components.cluster.gcp import Cluster, ClusterSpec, check_groups, check_name, cluster_inputs, kubeconfig
from gpuyard.components.cluster.gcp_access import admin_bindings, node_grants
from gpuyard.components.cluster.gcp_network import Attachment

GIVEN: dict[str, Any] = {
    "cloud": "gcp",
    "project": "example-dev",
    "region": "us-central1",
    "zones": ["us-central1-a", "us-central1-b"],
    "kubernetes": "1.35",
    "network": {"cidr": "10.60.0.0/16"},
}
EXISTING = {
    "network": "projects/host/global/networks/shared",
    "subnetwork": "projects/host/regions/us-central1/subnetworks/gke",
    "pods_range": "gke-pods",
    "services_range": "gke-services",
}
KEY = "projects/example-dev/locations/us-central1/keyRings/gke/cryptoKeys/secrets"
WHERE = Attachment("projects/p/global/networks/n", "projects/p/regions/r/subnetworks/s", "pods", "services")
TAGS = {"owner": "ml-platform", "cost-center": "4711", "stack": "dev"}
OUTPUTS: dict[str, dict[str, Any]] = {
    "gcp:serviceaccount/account:Account": {
        "email": "nodes@example-dev.iam.gserviceaccount.com",
        "member": "serviceAccount:nodes@example-dev.iam.gserviceaccount.com",
    },
    "gcp:projects/serviceIdentity:ServiceIdentity": {
        "member": "serviceAccount:service-1@container-engine-robot.iam.gserviceaccount.com"
    },
    "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember": {"cryptoKeyId": KEY},
    "gcp:container/cluster:Cluster": {"endpoint": "10.60.0.2", "masterAuth": {"clusterCaCertificate": "Q0E="}},
}
CLUSTER = "gcp:container/cluster:Cluster"


def spec(**changes: Any) -> ClusterSpec:
    return ClusterSpec.model_validate({**GIVEN, **changes})


def inputs(*, protect: bool = True, **changes: Any) -> dict[str, Any]:
    nodes = "nodes@example-dev.iam.gserviceaccount.com"
    return cluster_inputs(spec(**changes), WHERE, key=KEY, service_account=nodes, tags=TAGS, protect=protect)


def declared(groups: tuple[str, ...] = (), *, protect: bool = True, **changes: Any) -> list[Resource]:
    return registered(lambda: Cluster("dev", spec(**changes), groups=groups, tags=TAGS, protect=protect), OUTPUTS)


def of_type(resources: list[Resource], kind: str) -> list[Resource]:
    return [resource for resource in resources if resource["type"] == kind]


def test_the_smallest_cluster_is_private_in_all_ways(golden: Callable[[str, Any], None]) -> None:
    given = inputs()
    assert given["private_cluster_config"] == {"enable_private_nodes": True, "enable_private_endpoint": True}
    assert given["master_authorized_networks_config"]["cidr_blocks"] == []
    assert given["master_authorized_networks_config"]["gcp_public_cidrs_access_enabled"] is False
    assert given["control_plane_endpoints_config"]["dns_endpoint_config"]["allow_external_traffic"] is False
    assert given["database_encryption"] == {"state": "ENCRYPTED", "key_name": KEY}
    assert given["deletion_protection"] is True
    golden("gke_cluster", given)


def test_network_policies_are_enforced() -> None:
    given = inputs()
    assert given["datapath_provider"] == "ADVANCED_DATAPATH"
    assert "network_policy" not in given, "Calico beside Dataplane V2"


def test_identities_are_short_lived_and_nobody_is_anonymous() -> None:
    given = inputs()
    assert given["workload_identity_config"] == {"workload_pool": "example-dev.svc.id.goog"}
    assert given["master_auth"] == {"client_certificate_config": {"issue_client_certificate": False}}
    assert given["enable_legacy_abac"] is False
    assert given["rbac_binding_config"]["enable_insecure_binding_system_authenticated"] is False
    assert given["anonymous_authentication_config"] == {"mode": "LIMITED"}


def test_gke_collects_no_gpu_metrics_beside_the_operators_exporter() -> None:
    monitoring = inputs()["monitoring_config"]
    assert "DCGM" not in monitoring["enable_components"]
    assert monitoring["managed_prometheus"] == {"enabled": False}


def test_a_public_network_in_the_list_gives_the_api_a_public_address() -> None:
    given = inputs(api={"allow": ["10.0.0.0/8", "203.0.113.0/24"]})
    assert given["private_cluster_config"]["enable_private_endpoint"] is False
    blocks = given["master_authorized_networks_config"]["cidr_blocks"]
    assert [block["cidr_block"] for block in blocks] == ["10.0.0.0/8", "203.0.113.0/24"]


def test_private_networks_in_the_list_leave_the_api_private() -> None:
    given = inputs(api={"allow": ["10.0.0.0/8", "100.64.0.0/10"]})
    assert given["private_cluster_config"]["enable_private_endpoint"] is True


def test_the_channel_and_the_version_are_both_given() -> None:
    given = inputs(channel="extended")
    assert (given["release_channel"], given["min_master_version"]) == ({"channel": "EXTENDED"}, "1.35")


def test_groups_are_looked_up_in_their_domain() -> None:
    assert "authenticator_groups_config" not in inputs()
    groups = inputs(groups_domain="example.com")["authenticator_groups_config"]
    assert groups == {"security_group": "gke-security-groups@example.com"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"zones": ["us-central1-a", "us-east1-b"]},
            "zones us-east1-b are not in region us-central1: give zones such as us-central1-a",
        ),
        ({"zones": ["us-central1-a", "us-central1-a"]}, "name one twice: name each once"),
        ({"zones": []}, "at least 1 item"),
        ({"kubernetes": 1.35}, "valid string"),
        ({"kubernetes": "1.35.3"}, "should match pattern"),
        ({"project": "Example"}, "should match pattern"),
        ({"api": {"allow": []}}, "at least 1 item"),
        ({"api": {"allow": ["10.0.0.1/8"]}}, "is an address inside 10.0.0.0/8, not a network: give 10.0.0.0/8"),
        ({"api": {"allow": ["0.0.0.0/0"]}}, "0.0.0.0/0 opens the API to the internet"),
        (
            {"admins": ["group:platform@example.com"]},
            "admins has group:platform@example.com, but the cluster knows no groups: "
            "give groups_domain, such as example.com",
        ),
        ({"admins": ["user:a@example.com", "user:a@example.com"]}, "admins has user:a@example.com twice"),
        ({"admins": ["alice@example.com"]}, "should match pattern"),
        (
            {"secrets_key": KEY.replace("us-central1", "global")},
            "secrets_key is in global, and the cluster in us-central1: give a key of that region, or leave it out",
        ),
        (
            {"network": {**EXISTING, "subnetwork": "projects/host/regions/us-east1/subnetworks/gke"}},
            "network.subnetwork is in us-east1, and the cluster in us-central1: give a subnet of that region",
        ),
        ({"channel": "none"}, "'rapid', 'regular', 'stable' or 'extended'"),
    ],
)
def test_a_cluster_that_cannot_be_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as error:
        spec(**changes)
    assert message in str(error.value)


@pytest.mark.parametrize("name", ["Production", "4711", "a" * 23, "", "prod_eu"])
def test_a_name_that_google_cloud_does_not_take_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="at most 22 lower-case letters"):
        check_name(name)


def test_everything_that_a_cluster_declares_is_taken_by_the_cloud() -> None:
    resources = declared(
        api={"allow": ["203.0.113.0/24"]},
        admins=["user:alice@example.com", "group:platform@example.com"],
        groups_domain="example.com",
        pull_from=["example-images"],
    )
    assert {r["type"] for r in resources if r["type"].startswith("gcp:")} >= {
        CLUSTER,
        "gcp:compute/routerNat:RouterNat",
        "gcp:kms/cryptoKey:CryptoKey",
    }
    assert {r["name"]: problems(r) for r in resources if problems(r)} == {}


def test_a_cluster_on_an_existing_network_with_an_existing_key_makes_neither() -> None:
    resources = declared(network=EXISTING, secrets_key=KEY)
    assert not [r for r in resources if r["type"].startswith(("gcp:compute/", "gcp:kms/"))]
    (cluster,) = of_type(resources, CLUSTER)
    assert cluster["inputs"]["subnetwork"] == EXISTING["subnetwork"]
    assert cluster["inputs"]["ipAllocationPolicy"]["clusterSecondaryRangeName"] == "gke-pods"
    assert cluster["inputs"]["databaseEncryption"]["keyName"] == KEY
    assert problems(cluster) == []


def test_nodes_have_their_grants_and_their_way_out_before_the_cluster_is_made() -> None:
    (cluster,) = of_type(declared(pull_from=["example-images"]), CLUSTER)
    before = {urn.rpartition("$")[2] for urn in cluster["options"]["depends_on"]}
    assert before >= {
        "gcp:projects/iAMMember:IAMMember::dev-node",
        "gcp:projects/iAMMember:IAMMember::dev-pull-example-images",
        "gcp:compute/routerNat:RouterNat::dev",
        "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember::dev",
    }
    assert cluster["options"]["ignore_changes"] == ["nodeConfig"]


@pytest.mark.parametrize("protect", [True, False])
def test_the_key_and_the_way_in_are_as_protected_as_the_cluster(protect: bool) -> None:
    found = declared(protect=protect)
    for kind in ("gcp:container/cluster:Cluster", "gcp:kms/cryptoKey:CryptoKey", "pulumi:providers:kubernetes"):
        (resource,) = of_type(found, kind)
        assert resource["options"]["protect"] is protect, kind
    assert inputs(protect=protect)["deletion_protection"] is protect
    assert len([r for r in found if r["options"]["protect"]]) == (3 if protect else 0)


def test_the_key_is_renewed_every_90_days() -> None:
    (key,) = of_type(declared(), "gcp:kms/cryptoKey:CryptoKey")
    assert key["inputs"]["rotationPeriod"] == "7776000s"


def test_every_resource_has_a_parent_and_a_name_that_starts_with_the_components() -> None:
    resources = declared(admins=["user:alice@example.com"])
    assert len({r["urn"] for r in resources}) == len(resources)
    for resource in resources:
        inside = resource["type"].startswith("kubernetes:")
        assert resource["parent"], resource["urn"]
        assert resource["name"] == "dev" or resource["name"].startswith("dev-") or inside, resource["urn"]


def test_the_way_into_the_cluster_holds_no_credential() -> None:
    (provider,) = of_type(declared(), "pulumi:providers:kubernetes")
    config = json.loads(provider["inputs"]["kubeconfig"])
    assert config["clusters"][0]["cluster"] == {
        "server": "https://10.60.0.2",
        "certificate-authority-data": "Q0E=",
    }
    (user,) = config["users"]
    assert set(user["user"]) == {"exec"}
    assert user["user"]["exec"]["command"] == "gke-gcloud-auth-plugin"
    assert config == kubeconfig("https://10.60.0.2", "Q0E=")


def test_the_provider_is_replaced_with_the_cluster_and_not_by_its_endpoint() -> None:
    def identifier(**changes: Any) -> str:
        (provider,) = of_type(declared(**changes), "pulumi:providers:kubernetes")
        return str(provider["inputs"]["clusterIdentifier"])

    assert identifier() == identifier(api={"allow": ["203.0.113.0/24"]}, kubernetes="1.36")
    assert identifier() != identifier(network=EXISTING)


def test_administrators_rule_the_cluster_and_nothing_else_in_its_project() -> None:
    resources = declared(
        admins=["user:alice@example.com", "group:platform@example.com", "serviceAccount:ci@example.com"],
        groups_domain="example.com",
    )
    grants = [r["inputs"] for r in of_type(resources, "gcp:projects/iAMMember:IAMMember")]
    assert {g["role"] for g in grants if "alice" in g["member"]} == {"roles/container.clusterViewer"}
    (binding,) = of_type(resources, "kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding")
    assert binding["provider"], "declared inside this cluster, not by the default provider"
    assert [(s["kind"], s["name"]) for s in binding["inputs"]["subjects"]] == [
        ("User", "alice@example.com"),
        ("Group", "platform@example.com"),
        ("User", "ci@example.com"),
    ]


def test_tenants_groups_may_log_in_and_get_no_right_by_it() -> None:
    resources = declared(
        ("research@example.com", "platform@example.com"),
        admins=["group:platform@example.com"],
        groups_domain="example.com",
    )
    viewers = [r["inputs"] for r in of_type(resources, "gcp:projects/iAMMember:IAMMember") if "-node" not in r["name"]]
    assert sorted((g["member"], g["role"]) for g in viewers) == [
        ("group:platform@example.com", "roles/container.clusterViewer"),
        ("group:research@example.com", "roles/container.clusterViewer"),
    ]
    (binding,) = of_type(resources, "kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding")
    assert [s["name"] for s in binding["inputs"]["subjects"]] == ["platform@example.com"]


@pytest.mark.parametrize(
    ("domain", "group", "message"),
    [
        ("example.com", "research", "group research is not a Google group's address"),
        (None, "research@example.com", "knows no groups: give cluster.groups_domain, such as example.com"),
    ],
)
def test_a_group_that_the_cluster_cannot_know_is_refused(domain: str | None, group: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_groups(spec(groups_domain=domain), [group])


def test_a_cluster_without_administrators_has_no_binding() -> None:
    assert admin_bindings([]) == []


def test_nodes_may_only_log_and_pull_from_where_they_are_told() -> None:
    assert node_grants("example-dev", []) == {
        "node": {"project": "example-dev", "role": "roles/container.defaultNodeServiceAccount"}
    }
    assert node_grants("example-dev", ["example-images"])["pull-example-images"] == {
        "project": "example-images",
        "role": "roles/artifactregistry.reader",
    }
