from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pulumi
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from registered import registered
from ruamel.yaml import YAML

from gpuyard.components.scheduling.groups import AcceleratorGroup
from gpuyard.components.scheduling.kueue import Queued
from gpuyard.components.tenancy.access import RULES
from gpuyard.components.tenancy.share import quotas
from gpuyard.components.tenancy.tenant import ShareSpec, Tenant, TenantSpec, manifests, problems

ENDPOINTS = sorted((Path(__file__).parents[2] / "golden" / "serving").glob("*.yaml"))

RESOURCES = {"h100": "nvidia.com/gpu", "l40s": "nvidia.com/gpu", "inf2": "aws.amazon.com/neuron"}
GROUPS = {
    name: AcceleratorGroup(name, resource, 32, {"gpuyard.io/node-group": name}) for name, resource in RESOURCES.items()
}


def spec(**given: Any) -> TenantSpec:
    base = {"groups": ["fraud-ml"], "accelerators": {"l40s": {"quota": 8, "borrow": 4}}, "monthly_budget": 30000}
    return TenantSpec.model_validate({**base, **given})


def objects(tenant: TenantSpec, groups: dict[str, AcceleratorGroup] | None = None) -> dict[str, Any]:
    found = manifests("fraud", tenant, groups=GROUPS if groups is None else groups, kubernetes="1.35")
    return {f"{item['kind']}/{item['metadata']['name']}": item for item in found}


def hard(tenant: TenantSpec, name: str = "share") -> dict[str, str]:
    found: dict[str, str] = objects(tenant)[f"ResourceQuota/{name}"]["spec"]["hard"]
    return found


def counts(quota: dict[str, Any], priority_class: str | None) -> bool:
    """Whether a quota counts a pod, as the API server decides it: a label selector over the class, if there is one."""
    scopes = quota["spec"].get("scopeSelector", {}).get("matchExpressions", [])
    assert all(scope["scopeName"] == "PriorityClass" for scope in scopes)
    within = {
        "In": lambda scope: priority_class in scope["values"],
        "NotIn": lambda s: priority_class not in s["values"],
    }
    return all(within[scope["operator"]](scope) for scope in scopes)


def allowed(tenant: TenantSpec, resource: str, priority_class: str | None) -> int | None:
    """Accelerators that all pods of a class may hold; None when no quota counts them."""
    quotas_ = [item for key, item in objects(tenant).items() if key.startswith("ResourceQuota/")]
    limits = [quota["spec"]["hard"].get(f"requests.{resource}") for quota in quotas_ if counts(quota, priority_class)]
    return min((int(limit) for limit in limits if limit is not None), default=None)


def test_a_tenant_is_a_namespace_with_walls_a_share_and_people(golden: Callable[[str, Any], None]) -> None:
    tenant = spec(viewers=["audit"], cpu=200, memory="1Ti")
    found = manifests("fraud", tenant, groups=GROUPS, kubernetes="1.35", labels={"owner": "ml-platform"})
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
    [space, *_] = manifests("fraud", spec(), groups=GROUPS, kubernetes="1.35", labels=loose)
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


TWO_GROUPS = {"l40s": {"quota": 8, "borrow": 4}, "h100": {"quota": 16}}


def test_each_group_has_a_quota_of_its_own_though_they_share_a_resource_name() -> None:
    tenant = spec(accelerators=TWO_GROUPS)
    assert allowed(tenant, "nvidia.com/gpu", "gpuyard-l40s") == 12
    assert allowed(tenant, "nvidia.com/gpu", "gpuyard-h100") == 16


@pytest.mark.parametrize("priority_class", [None, "system-cluster-critical", "gpuyard-inf2", "another"])
def test_pods_without_the_class_of_a_share_get_no_accelerator_at_all(priority_class: str | None) -> None:
    for resource in RESOURCES.values():
        assert allowed(spec(accelerators=TWO_GROUPS), resource, priority_class) == 0
        assert allowed(spec(accelerators={}), resource, priority_class) == 0


def test_a_class_opens_the_accelerators_of_its_own_resource_name_only() -> None:
    """Its pods cannot go to nodes that offer another one, so no quota has to count that."""
    quota = objects(spec())["ResourceQuota/share-l40s"]
    assert quota["spec"]["hard"] == {"requests.nvidia.com/gpu": "12"}


def test_a_renamed_group_keeps_its_class_and_its_quota() -> None:
    renamed = {"l40s-new": GROUPS["l40s"]}
    found = objects(spec(accelerators={"l40s-new": {"quota": 8}}), renamed)
    [scope] = found["ResourceQuota/share-l40s"]["spec"]["scopeSelector"]["matchExpressions"]
    assert scope["values"] == ["gpuyard-l40s"]


def test_without_accelerators_in_the_cluster_there_is_neither_a_queue_nor_a_quota_of_them() -> None:
    found = objects(spec(accelerators={}), {})
    assert [key for key in found if key.startswith(("ResourceQuota/", "LocalQueue/"))] == ["ResourceQuota/share"]


def test_jobs_of_a_tenant_that_name_no_queue_go_into_its_own() -> None:
    queue = objects(spec())["LocalQueue/default"]
    assert queue["spec"] == {"clusterQueue": "fraud"}


def test_a_tenant_opens_no_port_to_the_outside() -> None:
    assert hard(spec())["services.loadbalancers"] == "0"
    assert hard(spec())["services.nodeports"] == "0"


def test_cpu_and_memory_are_capped_only_where_the_stack_says_so() -> None:
    assert not {"requests.cpu", "requests.memory"} & set(hard(spec()))
    capped = hard(spec(cpu=64, memory="512Gi"))
    assert (capped["requests.cpu"], capped["requests.memory"]) == ("64", "512Gi")


@given(st.dictionaries(st.sampled_from(sorted(RESOURCES)), st.integers(1, 100)))
def test_quotas_add_up_to_the_shares_and_every_amount_is_text(shares: dict[str, int]) -> None:
    made = quotas(shares, groups=GROUPS.values(), cpu=8, memory="8Gi")
    amounts = {quota["metadata"]["name"]: quota["spec"]["hard"] for quota in made}
    assert all(isinstance(amount, str) for hard in amounts.values() for amount in hard.values())
    total = sum(
        int(amount)
        for hard in amounts.values()
        for name, amount in hard.items()
        if name.removeprefix("requests.") in RESOURCES.values()
    )
    assert total == sum(shares.values())


shares = st.builds(
    lambda quota, borrow, lend: ShareSpec(quota=quota, borrow=borrow, lend=None if lend is None else min(lend, quota)),
    st.integers(1, 64),
    st.integers(0, 64),
    st.none() | st.integers(0, 64),
)


@given(shares, st.integers(0, 160))
def test_jobs_and_endpoints_together_never_get_more_than_the_share(share: ShareSpec, kept: int) -> None:
    left = share.queued(kept)
    assert left.own + left.borrow + min(kept, share.most) == share.most
    assert 0 <= left.own <= share.quota
    assert 0 <= left.borrow <= share.borrow
    assert left.lend is None or left.lend <= left.own, "only what is left after endpoints is lent"
    assert (left.lend is None) == (share.lend is None)


def test_what_endpoints_may_take_is_neither_queued_nor_lent() -> None:
    share = ShareSpec(quota=8, borrow=4, lend=6)
    assert share.queued(0) == Queued(own=8, borrow=4, lend=6)
    assert share.queued(5) == Queued(own=3, borrow=4, lend=3)
    assert share.queued(10) == Queued(own=0, borrow=2, lend=0)


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
        ("monitoring", {}, "tenants.monitoring: a namespace monitoring has another use"),
        ("kube-fraud", {}, "tenants.kube-fraud: a namespace kube-fraud has another use"),
    ],
)
def test_what_the_cluster_cannot_give_is_said_with_its_path(name: str, accelerators: Any, expected: str) -> None:
    [problem] = problems({name: spec(accelerators=accelerators)}, ACCELERATORS, {})
    assert expected in problem


def test_quotas_that_promise_more_than_the_cluster_has_are_refused() -> None:
    tenants = {
        "fraud": spec(accelerators={"l40s": {"quota": 16}}),
        "other": spec(accelerators={"l40s": {"quota": 9, "borrow": 4}}),
    }
    assert problems(tenants, ACCELERATORS, {}) == [
        "tenants: their quotas of l40s are 25 accelerators (fraud 16, other 9), and the group never has more than 24: "
        "lower them, or raise the group's nodes.max"
    ]
    assert problems(tenants, ACCELERATORS | {"l40s": 25}, {}) == []


def test_endpoints_borrow_only_what_is_nobodys_own_for_they_do_not_give_it_back() -> None:
    tenants = {
        "fraud": spec(accelerators={"l40s": {"quota": 8, "borrow": 4}}),
        "other": spec(accelerators={"l40s": {"quota": 14}}),
    }
    assert problems(tenants, ACCELERATORS, {("fraud", "l40s"): 10}) == []
    assert problems(tenants, ACCELERATORS, {("fraud", "l40s"): 11}) == [
        "tenants.fraud.accelerators.l40s: endpoints may take 3 accelerators more than the quota 8, and do not give "
        "them back, but only 2 are nobody's own: lower replicas.max, or raise quota"
    ]


def test_a_tenant_that_fits_its_cluster_has_no_problem() -> None:
    assert problems({"fraud": spec(), "other": spec(accelerators={"h100": {"quota": 32}})}, ACCELERATORS, {}) == []


def test_every_object_of_a_tenant_is_one_resource_that_waits_for_the_namespace() -> None:
    found = registered(lambda: Tenant("fraud", spec(), groups=GROUPS, kubernetes="1.35"))
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


def test_a_namespace_comes_after_its_queue_and_goes_before_it() -> None:
    def build() -> None:
        queue = pulumi.CustomResource("test:index:Queue", "queue", {})
        Tenant("fraud", spec(), groups=GROUPS, kubernetes="1.35", needs=[queue])

    found = {resource["type"]: resource for resource in registered(build)}
    assert found["kubernetes:core/v1:Namespace"]["options"]["depends_on"] == [found["test:index:Queue"]["urn"]]


def test_in_a_namespace_that_others_made_nothing_is_declared() -> None:
    [component] = registered(lambda: Tenant("fraud", spec(), groups=GROUPS, kubernetes="1.35", namespace_exists=True))
    assert component["inputs"]["accelerators"]["l40s"]["quota"] == 8
