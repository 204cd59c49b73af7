from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from registered import registered
from ruamel.yaml import YAML

from gpuyard.components.tenancy.access import RULES
from gpuyard.components.tenancy.share import quota
from gpuyard.components.tenancy.tenant import Tenant, TenantSpec, manifests, problems

ENDPOINTS = sorted((Path(__file__).parents[2] / "golden" / "serving").glob("*.yaml"))

RESOURCES = {"h100": "nvidia.com/gpu", "l40s": "nvidia.com/gpu", "inf2": "aws.amazon.com/neuron"}


def spec(**given: Any) -> TenantSpec:
    base = {"groups": ["fraud-ml"], "accelerators": {"l40s": {"quota": 8, "borrow": 4}}, "monthly_budget": 30000}
    return TenantSpec.model_validate({**base, **given})


def objects(tenant: TenantSpec, resources: dict[str, str] | None = None) -> dict[str, Any]:
    found = manifests("fraud", tenant, resources=RESOURCES if resources is None else resources, kubernetes="1.35")
    return {f"{item['kind']}/{item['metadata']['name']}": item for item in found}


def hard(tenant: TenantSpec) -> dict[str, str]:
    found: dict[str, str] = objects(tenant)["ResourceQuota/share"]["spec"]["hard"]
    return found


def test_a_tenant_is_a_namespace_with_walls_a_share_and_people(golden: Callable[[str, Any], None]) -> None:
    tenant = spec(viewers=["audit"], cpu=200, memory="1Ti")
    found = manifests("fraud", tenant, resources=RESOURCES, kubernetes="1.35", labels={"owner": "ml-platform"})
    assert found[0]["kind"] == "Namespace"
    assert all(item["metadata"]["namespace"] == "fraud" for item in found[1:])
    assert all(item["metadata"]["labels"]["gpuyard.io/tenant"] == "fraud" for item in found)
    assert found[0]["metadata"]["labels"]["owner"] == "ml-platform"
    golden("tenant", found)


def test_pods_meet_the_restricted_standard_of_the_clusters_own_version() -> None:
    labels = objects(spec())["Namespace/fraud"]["metadata"]["labels"]
    for mode in ("enforce", "audit", "warn"):
        assert labels[f"pod-security.kubernetes.io/{mode}"] == "restricted"
        assert labels[f"pod-security.kubernetes.io/{mode}-version"] == "v1.35"


def test_labels_of_the_platform_cannot_loosen_the_standard() -> None:
    loose = {"pod-security.kubernetes.io/enforce": "privileged", "gpuyard.io/tenant": "other"}
    [space, *_] = manifests("fraud", spec(), resources=RESOURCES, kubernetes="1.35", labels=loose)
    assert space["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    assert space["metadata"]["labels"]["gpuyard.io/tenant"] == "fraud"


def test_nothing_comes_in_or_goes_out_by_default() -> None:
    wall = objects(spec())["NetworkPolicy/default-deny"]["spec"]
    assert wall == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}


def test_pods_may_ask_the_clusters_name_servers_and_call_their_own_namespace_only() -> None:
    policies = {key: item["spec"] for key, item in objects(spec()).items() if item["kind"] == "NetworkPolicy"}
    assert not any(policy.get("ingress") for policy in policies.values())
    [dns] = policies["NetworkPolicy/allow-dns"]["egress"]
    [peer] = dns["to"]
    assert peer["namespaceSelector"]["matchLabels"] == {"kubernetes.io/metadata.name": "kube-system"}
    assert peer["podSelector"]["matchLabels"] == {"k8s-app": "kube-dns"}
    assert dns["ports"] == [{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}]
    assert policies["NetworkPolicy/allow-own-pods"]["egress"] == [{"to": [{"podSelector": {}}]}]


def test_groups_that_share_a_resource_name_are_capped_together() -> None:
    shares = {"l40s": {"quota": 8, "borrow": 4}, "h100": {"quota": 16}}
    assert hard(spec(accelerators=shares))["requests.nvidia.com/gpu"] == "28"


def test_an_accelerator_of_the_cluster_without_a_share_is_capped_at_nothing() -> None:
    assert hard(spec())["requests.aws.amazon.com/neuron"] == "0"
    assert hard(spec(accelerators={}))["requests.nvidia.com/gpu"] == "0"


def test_a_tenant_opens_no_port_to_the_outside() -> None:
    assert hard(spec())["services.loadbalancers"] == "0"
    assert hard(spec())["services.nodeports"] == "0"


def test_cpu_and_memory_are_capped_only_where_the_stack_says_so() -> None:
    assert not {"requests.cpu", "requests.memory"} & set(hard(spec()))
    capped = hard(spec(cpu=64, memory="512Gi"))
    assert (capped["requests.cpu"], capped["requests.memory"]) == ("64", "512Gi")


@given(st.dictionaries(st.sampled_from(sorted(RESOURCES)), st.integers(0, 100)))
def test_a_quota_is_the_sum_of_its_groups_and_every_amount_is_text(shares: dict[str, int]) -> None:
    amounts = quota(shares, resources=RESOURCES, cpu=8, memory="8Gi")["spec"]["hard"]
    assert all(isinstance(amount, str) for amount in amounts.values())
    total = sum(int(amount) for name, amount in amounts.items() if name.removeprefix("requests.") in RESOURCES.values())
    assert total == sum(shares.values())


def test_a_pod_that_asks_for_nothing_gets_a_little_and_no_cpu_limit() -> None:
    [container] = objects(spec())["LimitRange/defaults"]["spec"]["limits"]
    assert container["defaultRequest"] == {"cpu": "100m", "memory": "256Mi"}
    assert container["default"] == {"memory": "1Gi"}


def test_the_teams_groups_get_the_tenants_role_and_viewers_only_look() -> None:
    found = objects(spec(viewers=["audit"]))
    team, viewers = found["RoleBinding/tenant"], found["RoleBinding/viewers"]
    assert (team["roleRef"]["kind"], team["roleRef"]["name"]) == ("Role", "tenant")
    assert [subject["name"] for subject in team["subjects"]] == ["fraud-ml"]
    assert (viewers["roleRef"]["kind"], viewers["roleRef"]["name"]) == ("ClusterRole", "view")
    assert [subject["name"] for subject in viewers["subjects"]] == ["audit"]
    assert "RoleBinding/viewers" not in objects(spec())


def may(verb: str, group: str, resource: str) -> bool:
    return any(group in rule["apiGroups"] and resource in rule["resources"] and verb in rule["verbs"] for rule in RULES)


def test_a_tenant_neither_reads_secrets_nor_acts_as_a_service_account_nor_changes_its_limits() -> None:
    assert may("create", "", "secrets")
    for verb in ("get", "list", "watch", "update", "patch"):
        assert not may(verb, "", "secrets"), verb
    assert not may("create", "", "serviceaccounts/token")
    assert not may("impersonate", "", "serviceaccounts")
    for resource in ("resourcequotas", "limitranges", "namespaces"):
        assert not any(may(verb, "", resource) for verb in ("create", "update", "patch", "delete")), resource
    assert not any(rule["apiGroups"] == ["rbac.authorization.k8s.io"] for rule in RULES)
    assert not any("*" in [*rule["apiGroups"], *rule["resources"], *rule["verbs"]] for rule in RULES)


@pytest.mark.parametrize("path", ENDPOINTS, ids=lambda path: path.stem)
def test_a_tenant_may_deploy_every_object_of_an_endpoint(path: Path) -> None:
    for item in YAML(typ="safe", pure=True).load(path.read_text()):
        group = item["apiVersion"].rpartition("/")[0]
        plural = item["kind"].lower()
        plural = f"{plural[:-1]}ies" if plural.endswith("y") else f"{plural}s"
        assert all(may(verb, group, plural) for verb in ("get", "create", "patch", "delete")), item["kind"]


def test_the_endpoints_that_a_tenant_deploys_are_there_to_be_compared() -> None:
    assert ENDPOINTS


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"accelerators": {"l40s": {"quota": 4, "lend": 6}}}, "lend 6 is above quota 4"),
        ({"accelerators": {"l40s": {"quota": 0}}}, "quota and borrow are both 0"),
        ({"groups": []}, "at least 1 item"),
        ({"groups": ["system:authenticated"]}, "'system:authenticated' is Kubernetes' own"),
        ({"viewers": ["system:masters"]}, "'system:masters' is Kubernetes' own"),
        ({"viewers": ["fraud-ml"]}, "fraud-ml is named twice"),
        ({"monthly_budget": -1}, "greater than or equal to 0"),
        ({"memory": "lots"}, "pattern"),
        ({"quota": 3}, "Extra inputs are not permitted"),
    ],
)
def test_a_tenant_that_cannot_be_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        spec(**given)


ACCELERATORS = {"system": 0, "l40s": 24, "h100": 32}


@pytest.mark.parametrize(
    ("name", "accelerators", "expected"),
    [
        ("fraud", {"l4": {"quota": 1}}, "tenants.fraud.accelerators.l4: there is no such node group"),
        ("fraud", {"system": {"quota": 1}}, "tenants.fraud.accelerators.system: the machines of this node group have"),
        ("fraud", {"l40s": {"quota": 20, "borrow": 8}}, "quota 20 and borrow 8 are 28 accelerators, and the group"),
        ("monitoring", {}, "tenants.monitoring: a namespace of this name has another use"),
        ("kube-fraud", {}, "tenants.kube-fraud: a namespace of this name has another use"),
    ],
)
def test_what_the_cluster_cannot_give_is_said_with_its_path(name: str, accelerators: Any, expected: str) -> None:
    [problem] = problems({name: spec(accelerators=accelerators)}, ACCELERATORS)
    assert expected in problem


def test_a_tenant_that_fits_its_cluster_has_no_problem() -> None:
    assert problems({"fraud": spec(), "other": spec(accelerators={"h100": {"quota": 32}})}, ACCELERATORS) == []


def test_every_object_of_a_tenant_is_one_resource_that_waits_for_the_namespace() -> None:
    found = registered(lambda: Tenant("fraud", spec(), resources=RESOURCES, kubernetes="1.35"))
    component, space, *inside = found
    assert component["type"] == "gpuyard:index:Tenant"
    assert component["inputs"]["monthly_budget"] == 30000
    assert space["type"] == "kubernetes:core/v1:Namespace"
    kinds = [item["inputs"]["kind"] for item in [space, *inside]]
    assert sorted(kinds) == sorted(item["kind"] for item in objects(spec()).values())
    assert all(item["parent"] == component["urn"] for item in [space, *inside])
    assert all(item["name"].startswith("fraud") for item in found)
    assert all(item["options"]["depends_on"] == [space["urn"]] for item in inside)
    assert len({item["urn"] for item in found}) == len(found)


def test_in_a_namespace_that_others_made_nothing_is_declared() -> None:
    [component] = registered(
        lambda: Tenant("fraud", spec(), resources=RESOURCES, kubernetes="1.35", namespace_exists=True)
    )
    assert component["inputs"]["accelerators"]["l40s"]["quota"] == 8
