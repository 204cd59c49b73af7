"""Ways past a tenant's quota, each of which is told; and what looks like one and is right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from documents import document, kubernetes, pod_spec, resource, workload
from raw_programs import tenant, unknown

from gpuyard.review.evaluation.evaluate import evaluate, find_policies

Json = dict[str, Any]
Found = list[tuple[str, str, str]]

POLICIES = find_policies(Path("/nonexistent"))
NEEDS = {"cpu": "4", "memory": "16Gi"}
HARD = "/spec/hard/requests.nvidia.com~1gpu"


def found(*resources: Json, **more: Any) -> Found:
    """What the rules about quotas say of these beside a namespace that may have 4 GPUs."""
    verdict = evaluate(document([*resources, *tenant()], **more), POLICIES, choice="embedded")
    return [(f.rule.partition("/")[2], f.status, f.path) for f in verdict.findings if f.rule.startswith("quota/")]


def takes(gpus: Any) -> Json:
    return pod_spec(resources={"requests": NEEDS, "limits": {"nvidia.com/gpu": gpus}})


def model(gpus: Any = 1, kind: str = "Deployment", name: str = "model", **spec: Any) -> Json:
    manifest = workload(kind, takes(gpus), name=name)
    manifest["spec"] |= spec
    return manifest


def one(manifest: Json, name: str = "one") -> Json:
    return kubernetes(manifest, name=name)


def custom(api: str, kind: str, spec: Json, name: str = "model", **metadata: Any) -> Json:
    about = {"name": name, "namespace": "fraud"} | metadata
    return one({"apiVersion": api, "kind": kind, "metadata": about, "spec": spec}, f"{kind}-{name}")


def hpa(most: Any, kind: str = "Deployment", api: str = "apps/v1") -> Json:
    target = {"apiVersion": api, "kind": kind, "name": "model"}
    return custom("autoscaling/v2", "HorizontalPodAutoscaler", {"scaleTargetRef": target, "maxReplicas": most})


def cluster_queue(name: str, nominal: Any, borrowing: Any = None, cohort: str | None = "all", **more: Any) -> Json:
    quota = {"name": "nvidia.com/gpu", "nominalQuota": nominal} | more
    if borrowing is not None:
        quota["borrowingLimit"] = borrowing
    group = {"coveredResources": ["nvidia.com/gpu"], "flavors": [{"name": "l4", "resources": [quota]}]}
    spec = {"resourceGroups": [group]} | ({"cohortName": cohort} if cohort else {})
    manifest = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ClusterQueue",
        "metadata": {"name": name},
        "spec": spec,
    }
    return one(manifest, f"queue-{name}")


def local_queue(name: str, of: str) -> Json:
    return custom("kueue.x-k8s.io/v1beta2", "LocalQueue", {"clusterQueue": of}, name)


def quota(hard: Json, name: str = "second", **spec: Any) -> Json:
    return custom("v1", "ResourceQuota", {"hard": hard} | spec, name)


TOO_MUCH: Found = [("tenant_maximum", "violation", HARD)]
RAY = {"groupName": "g", "replicas": 1, "maxReplicas": 8, "template": {"spec": takes(1)}}

DEVICES = "gpu.nvidia.com.deviceclass.resource.k8s.io/devices"
UNCAPPED: Found = [("namespaces", "violation", "/metadata/name")]


def claims(request: Json, kind: str = "ResourceClaimTemplate", **pod: Any) -> list[Json]:
    """Two pods that claim devices, and what they claim them by."""
    devices = {"devices": {"requests": [{"name": "gpu"} | request]}}
    spec = {"spec": devices} if kind == "ResourceClaimTemplate" else devices
    claim = {"name": "gpu", "resourceClaimTemplateName": "gpus"} | pod
    manifest = workload("Deployment", pod_spec() | {"resourceClaims": [claim]}, name="model")
    manifest["spec"]["replicas"] = 2
    return [one(manifest), custom("resource.k8s.io/v1", kind, spec, "gpus")]


def device_class(name: str, expression: str) -> Json:
    manifest = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": name}}
    return one(manifest | {"spec": {"selectors": [{"cel": {"expression": expression}}]}}, "class")


BIG = device_class("big", 'device.driver == "gpu.nvidia.com"')
CARDS = device_class("cards", 'device.driver == "dra.net"')

WAYS: dict[str, tuple[list[Json], Found]] = {
    "devices by a claim": (claims({"exactly": {"deviceClassName": "gpu.nvidia.com", "count": 8}}), UNCAPPED),
    "devices of a class of one's own": ([*claims({"exactly": {"deviceClassName": "big"}}), BIG], UNCAPPED),
    "devices past their quota": (
        [*claims({"exactly": {"deviceClassName": "gpu.nvidia.com", "count": 3}}), quota({DEVICES: "4"})],
        [("tenant_maximum", "violation", f"/spec/hard/{DEVICES.replace('/', '~1')}")],
    ),
    "all devices of a node": (
        [*claims({"deviceClassName": "gpu.nvidia.com", "allocationMode": "All"}), quota({DEVICES: "63"})],
        [("tenant_maximum", "violation", f"/spec/hard/{DEVICES.replace('/', '~1')}")],
    ),
    "the larger of two alternatives": (
        [
            *claims({"firstAvailable": [{"deviceClassName": "gpu.nvidia.com", "count": n} for n in (1, 4)]}),
            quota({DEVICES: "7"}),
        ],
        [("tenant_maximum", "violation", f"/spec/hard/{DEVICES.replace('/', '~1')}")],
    ),
    "more replicas than GPUs": ([one(model(replicas=5))], TOO_MUCH),
    "two models that fit alone": ([one(model(3), "a"), one(model(2, name="other"), "b")], TOO_MUCH),
    "a scaler": ([one(model()), hpa(8)], TOO_MUCH),
    "KEDA's default": (
        [one(model()), custom("keda.sh/v1alpha1", "ScaledObject", {"scaleTargetRef": {"name": "model"}})],
        TOO_MUCH,
    ),
    "a scaler of a custom kind": (
        [
            custom("acme.example/v1", "Fleet", {"size": 1, "template": {"spec": takes(1)}}),
            hpa(8, "Fleet", "acme.example/v1"),
        ],
        TOO_MUCH,
    ),
    "Ray's own scaler": (
        [custom("ray.io/v1", "RayCluster", {"enableInTreeAutoscaling": True, "workerGroupSpecs": [RAY]})],
        TOO_MUCH,
    ),
    "a quantity with an exponent": ([one(model("8e0"))], TOO_MUCH),
    "a quantity in thousandths": ([one(model("8000m"))], TOO_MUCH),
    "an init container": (
        [one(workload("Deployment", pod_spec() | {"initContainers": takes(8)["containers"]}))],
        TOO_MUCH,
    ),
    "a job that never fits": (
        [one(model(8, "Job"))],
        [("tenant_maximum", "violation", "/spec/parallelism")],
    ),
    "a label of a queue that there is not": (
        [
            one(
                model(5)
                | {"metadata": {"name": "model", "namespace": "fraud", "labels": {"kueue.x-k8s.io/queue-name": "x"}}}
            )
        ],
        TOO_MUCH,
    ),
    "borrowing": (
        [cluster_queue("fraud", "4", "4"), cluster_queue("vision", "4", "0"), local_queue("default", "fraud")],
        TOO_MUCH,
    ),
    "borrowing from nobody knows whom": ([cluster_queue("fraud", "4", "4"), local_queue("default", "fraud")], TOO_MUCH),
    "a second ClusterQueue": (
        [
            *(cluster_queue(name, "4", cohort=None) for name in ("fraud", "night")),
            local_queue("default", "fraud"),
            local_queue("night", "night"),
        ],
        TOO_MUCH,
    ),
    "a queue beside what serves": (
        [one(model(2)), cluster_queue("fraud", "4", cohort=None), local_queue("default", "fraud")],
        TOO_MUCH,
    ),
    "workers on every node": (
        [one(model(1, "DaemonSet"))],
        [("tenant_maximum", "violation", "/spec/template/spec")],
    ),
    "an accelerator without a quota": (
        [one(workload("Deployment", pod_spec(resources={"requests": NEEDS, "limits": {"nvidia.com/mig-1g.10gb": 1}})))],
        [("namespaces", "violation", "/metadata/name")],
    ),
    "a second quota that is larger": ([one(model(5)), quota({"requests.nvidia.com/gpu": "99"})], TOO_MUCH),
}


@pytest.mark.parametrize("name", WAYS)
def test_a_way_past_a_quota_is_told(name: str) -> None:
    resources, expected = WAYS[name]
    assert found(*resources) == expected


RIGHT: dict[str, list[Json]] = {
    "devices within their quota": [
        *claims({"exactly": {"deviceClassName": "gpu.nvidia.com", "count": 2}}),
        quota({DEVICES: "4"}),
    ],
    "cards of a network": [*claims({"exactly": {"deviceClassName": "cards", "allocationMode": "All"}}), CARDS],
    "a model within its quota": [one(model()), hpa(4)],
    "jobs that wait for each other": [one(model(4, "Job", name), name) for name in ("a", "b", "c")],
    "jobs in a queue": [
        *(
            one(model(4, "Job", name) | {"metadata": about}, name)
            for name in ("a", "b")
            for about in [{"name": name, "namespace": "fraud", "labels": {"kueue.x-k8s.io/queue-name": "default"}}]
        ),
        cluster_queue("fraud", "4", cohort=None),
        local_queue("default", "fraud"),
    ],
    "borrowing where nobody lends": [
        cluster_queue("fraud", "4", "4"),
        cluster_queue("vision", "4", "0", lendingLimit="0"),
        local_queue("default", "fraud"),
    ],
    "quotas of priority classes that leave none out": [
        quota(
            {"requests.nvidia.com/gpu": "2"},
            "a",
            scopeSelector={"matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": ["a"]}]},
        ),
        one(model(2) | {"spec": {"template": {"spec": takes(2) | {"priorityClassName": "a"}}}}),
    ],
    "a model elsewhere": [one(workload("Deployment", takes(8), namespace="vision"))],
    "a Ray cluster without a scaler": [custom("ray.io/v1", "RayCluster", {"workerGroupSpecs": [RAY]})],
}


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_not_told(name: str) -> None:
    assert found(*RIGHT[name]) == []


def test_a_quota_of_one_class_alone_leaves_the_others_open() -> None:
    in_class = {"scopeName": "PriorityClass", "operator": "In", "values": ["a"]}
    resources = tenant()
    spec = next(one["inputs"]["spec"] for one in resources if one["inputs"]["kind"] == "ResourceQuota")
    spec["scopeSelector"] = {"matchExpressions": [in_class]}
    verdict = evaluate(document([one(model()), *resources]), POLICIES, choice="embedded")
    assert [f.path for f in verdict.findings if f.rule == "quota/namespaces"] == ["/metadata/name"]


def test_replicas_that_are_not_known_are_undetermined_and_deny() -> None:
    deployment = one(model(replicas=1))
    unknown(deployment, "/spec/replicas")
    assert found(deployment) == [("tenant_maximum", "undetermined", "/spec/replicas")]
    plain = one(workload("Deployment", pod_spec()) | {"spec": {"replicas": 1, "template": {"spec": pod_spec()}}})
    unknown(plain, "/spec/replicas")
    assert found(plain) == [], "of what takes no accelerators it does not matter"


def test_a_scaler_whose_maximum_is_not_known_is_undetermined() -> None:
    scaler = hpa(1)
    unknown(scaler, "/spec/maxReplicas")
    assert found(one(model()), scaler) == [("tenant_maximum", "undetermined", "/spec/maxReplicas")]


def test_a_quota_that_is_not_known_is_undetermined() -> None:
    resources = tenant()
    limited = next(one for one in resources if one["inputs"]["kind"] == "ResourceQuota")
    limited["inputs"]["spec"]["hard"]["requests.nvidia.com/gpu"] = None
    limited["unknown"].append(HARD)
    verdict = evaluate(document([one(model()), *resources]), POLICIES, choice="embedded")
    quotas = {(f.rule, f.status, f.path) for f in verdict.findings if f.rule.startswith("quota/")}
    assert quotas == {("quota/tenant_maximum", "undetermined", HARD), ("quota/namespaces", "undetermined", HARD)}


def test_namespaces_of_two_clusters_are_two_though_they_have_one_name() -> None:
    clusters = [resource("pulumi:providers:kubernetes", name, {}) for name in ("east", "west")]
    resources = [
        part | {"urn": f"{part['urn']}-{cluster['name']}"} for cluster in clusters for part in tenant(provider=cluster)
    ]
    models = [kubernetes(model(3), name=cluster["name"], provider=cluster) for cluster in clusters]
    verdict = evaluate(document([*clusters, *resources, *models]), POLICIES, choice="embedded")
    assert [f for f in verdict.findings if f.rule.startswith("quota/")] == []


def test_queues_that_promise_more_than_the_nodes_have_are_told() -> None:
    group = {"name": "l4", "resource": "nvidia.com/gpu", "accelerators": {"max": 4}, "accelerators_a_node": 1}
    capacity = {"groups": [group | {"nodes": {"max": 4}}], "accelerators": {"L4": 4}, "total": 4, "tenants": {}}
    queues = [cluster_queue("a", "4", cohort=None), cluster_queue("b", "1", cohort=None)]
    assert found(*queues, capacity=capacity) == [("queues", "violation", "/capacity/queues/nvidia.com~1gpu")]


def test_endpoints_beyond_the_share_of_their_tenant_are_told() -> None:
    share = {"l40s": {"quota": 4, "borrow": 0, "endpoints_max": 5}}
    capacity = {"groups": [], "accelerators": {}, "total": 0, "tenants": {"fraud": share}}
    assert found(capacity=capacity) == [("tenant_maximum", "violation", "/capacity/tenants/fraud/l40s")]
