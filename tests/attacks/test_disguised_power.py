"""Ways for a tenant to get power over the platform, or out of its walls: each is refused or told."""

from __future__ import annotations

from typing import Any

import pytest
from raw_programs import tenant
from verdicts import STACK, Json, declared, denied, review

RBAC = "rbac.authorization.k8s.io"
ACCESS = "isolation/tenant_access"
ACCOUNT = {"kind": "ServiceAccount", "name": "default", "namespace": "fraud"}


def cluster_role(name: str, *rules: Json, labels: Json | None = None, **more: Any) -> Json:
    about = {"name": name, "labels": labels or {}}
    manifest = {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRole", "metadata": about, "rules": list(rules)} | more
    return declared(manifest, name=f"role-{name}")


def rule(verb: str, resource: str, group: str = "") -> Json:
    return {"apiGroups": [group], "resources": [resource], "verbs": [verb]}


def everywhere(role: str, subject: Json) -> Json:
    reference = {"apiGroup": RBAC, "kind": "ClusterRole", "name": role}
    about = {"name": f"to-{role}"}
    given = {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRoleBinding", "metadata": about, "roleRef": reference}
    return declared(given | {"subjects": [subject]}, name=f"to-{role}")


def here(role: str, subject: Json = ACCOUNT, namespace: str = "fraud") -> Json:
    reference = {"apiGroup": RBAC, "kind": "ClusterRole", "name": role}
    about = {"name": f"to-{role}", "namespace": namespace}
    given = {"apiVersion": f"{RBAC}/v1", "kind": "RoleBinding", "metadata": about, "roleRef": reference}
    return declared(given | {"subjects": [subject]}, name=f"to-{role}")


def named(kind: str, name: str) -> Json:
    return {"kind": kind, "name": name, "apiGroup": RBAC}


def aggregated(selector: Json) -> Json:
    return cluster_role("sum", aggregationRule={"clusterRoleSelectors": [selector]})


def space(name: str, **labels: str) -> Json:
    about = {"name": name, "labels": labels}
    return declared({"apiVersion": "v1", "kind": "Namespace", "metadata": about}, name=f"{name}-space")


def opened() -> Json:
    spec = {"podSelector": {}, "ingress": [{}], "egress": [{}], "policyTypes": ["Ingress", "Egress"]}
    about = {"name": "open", "namespace": "fraud"}
    manifest = {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": about, "spec": spec}
    return declared(manifest, name="open")


EVERYTHING = rule("*", "*", "*")
LABEL = f"{RBAC}/aggregate-to-view"

WAYS: dict[str, tuple[list[Json], set[str]]] = {
    "a role that adds itself to view": (
        [cluster_role("more", rule("get", "secrets"), labels={LABEL: "true"})],
        {ACCESS},
    ),
    "a role that is the sum of others": (
        [
            aggregated({"matchLabels": {"part": "yes"}}),
            cluster_role("part", EVERYTHING, labels={"part": "yes"}),
            everywhere("sum", ACCOUNT),
        ],
        {ACCESS},
    ),
    "what was added to view, bound everywhere": (
        [
            cluster_role("more", rule("create", "pods/exec"), labels={LABEL: "true"}),
            everywhere("view", named("Group", "system:serviceaccounts:fraud")),
        ],
        {ACCESS},
    ),
    "a service account as a user": (
        [everywhere("cluster-admin", named("User", "system:serviceaccount:fraud:default"))],
        {ACCESS},
    ),
    "all service accounts of a namespace as a group": (
        [everywhere("cluster-admin", named("Group", "system:serviceaccounts:fraud"))],
        {ACCESS},
    ),
    "everybody who has logged in": ([everywhere("edit", named("Group", "system:authenticated"))], {ACCESS}),
    "a subresource of all resources": (
        [cluster_role("run", rule("create", "*/exec")), everywhere("run", ACCOUNT)],
        {ACCESS},
    ),
    "the kubelet by reading": ([cluster_role("run", rule("get", "nodes/proxy")), everywhere("run", ACCOUNT)], {ACCESS}),
    "taking on another user": (
        [cluster_role("run", rule("impersonate", "users")), everywhere("run", ACCOUNT)],
        {ACCESS},
    ),
    "a role in the namespace of the operators": (
        [here("edit", namespace="gpu-operator"), here("view")],
        {ACCESS},
    ),
    "a policy that opens what another closes": ([opened()], {"isolation/default_deny"}),
    "a namespace that is called like the system's": (
        [space("kube-evil")],
        {"isolation/default_deny", "isolation/pod_security"},
    ),
    "a level of pod security in capitals": (
        [space("vision", **{"pod-security.kubernetes.io/enforce": "Privileged"})],
        {"isolation/default_deny", "isolation/pod_security"},
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_power_of_a_tenant_is_refused(way: str) -> None:
    resources, rules = WAYS[way]
    assert denied(*resources, *tenant(stack=STACK)) == rules


@pytest.mark.parametrize("resource", ["resourcequotas", "limitranges"])
def test_a_tenant_that_writes_its_own_quota_is_told(resource: str) -> None:
    found = review(cluster_role("run", rule("update", resource)), here("run"), *tenant(stack=STACK)).findings
    assert [(one.rule, one.level) for one in found] == [(ACCESS, "advisory")]


@pytest.mark.parametrize(
    "right",
    [
        [cluster_role("look", rule("get", "nodes"), labels={LABEL: "true"}), everywhere("view", ACCOUNT)],
        [
            aggregated({"matchLabels": {"part": "yes"}}),
            cluster_role("other", EVERYTHING, labels={"part": "no"}),
            everywhere("sum", ACCOUNT),
        ],
        [everywhere("cluster-admin", named("User", "system:serviceaccount:gpu-operator:gpu-operator"))],
        [cluster_role("run", rule("create", "*/exec")), here("run")],
    ],
    ids=["view", "others are added up", "an operator", "in its own namespace"],
)
def test_what_only_looks_like_power_is_allowed(right: list[Json]) -> None:
    assert denied(*right, *tenant(stack=STACK)) == set()
