"""Isolation on programs of others: what each rule finds, and what it must not."""

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
GPU = {"limits": {"nvidia.com/gpu": 1}, "requests": {"nvidia.com/gpu": 1}}


def found(*resources: Json, of: tuple[str, ...]) -> Found:
    """Rule, level and path of the findings of some rules, violations and what is undetermined."""
    verdict = evaluate(document(list(resources)), POLICIES, choice="embedded")
    listed = [f for f in verdict.findings if f.rule in {f"isolation/{name}" for name in of}]
    return sorted((f.rule.partition("/")[2], f.level if f.status == "violation" else f.status, f.path) for f in listed)


def custom(api: str, kind: str, spec: Json) -> Json:
    metadata = {"name": "model", "namespace": "fraud"}
    return kubernetes({"apiVersion": api, "kind": kind, "metadata": metadata, "spec": spec})


PRIVILEGED = {"image": "docker.io/vllm/vllm-openai:v0.32.0", "securityContext": {"privileged": True}}

HIDDEN: dict[str, tuple[Json, str]] = {
    "the model of an InferenceService": (
        custom("serving.kserve.io/v1beta1", "InferenceService", {"predictor": {"model": PRIVILEGED}}),
        "/spec/predictor/model/securityContext/privileged",
    ),
    "the trainer of a Spark driver": (
        custom("sparkoperator.k8s.io/v1beta2", "SparkApplication", {"driver": PRIVILEGED}),
        "/spec/driver/securityContext/privileged",
    ),
    "the autoscaler of a RayCluster": (
        custom("ray.io/v1", "RayCluster", {"autoscalerOptions": PRIVILEGED}),
        "/spec/autoscalerOptions/securityContext/privileged",
    ),
    "the workers of a ServingRuntime": (
        custom(
            "serving.kserve.io/v1alpha1", "ServingRuntime", pod_spec() | {"workerSpec": {"containers": [PRIVILEGED]}}
        ),
        "/spec/workerSpec/containers/0/securityContext/privileged",
    ),
    "a sidecar of a Workflow": (
        custom("argoproj.io/v1alpha1", "Workflow", {"templates": [{"name": "a", "sidecars": [PRIVILEGED]}]}),
        "/spec/templates/0/sidecars/0/securityContext/privileged",
    ),
    "what every step of a Workflow has": (
        custom("argoproj.io/v1alpha1", "WorkflowTemplate", {"templateDefaults": {"container": PRIVILEGED}}),
        "/spec/templateDefaults/container/securityContext/privileged",
    ),
    "a template inside a step of a CronWorkflow": (
        custom(
            "argoproj.io/v1alpha1",
            "CronWorkflow",
            {"workflowSpec": {"templates": [{"name": "a", "steps": [[{"inline": {"script": PRIVILEGED}}]]}]}},
        ),
        "/spec/workflowSpec/templates/0/steps/0/0/inline/script/securityContext/privileged",
    ),
    "a plugin of a Workflow": (
        custom(
            "argoproj.io/v1alpha1",
            "Workflow",
            {"executorPlugins": [{"spec": {"sidecar": {"container": PRIVILEGED}}}]},
        ),
        "/spec/executorPlugins/0/spec/sidecar/container/securityContext/privileged",
    ),
    "the host's disk of a Workflow": (
        custom("argoproj.io/v1alpha1", "Workflow", {"volumes": [{"name": "d", "hostPath": {"path": "/"}}]}),
        "/spec/volumes/0/hostPath",
    ),
    "a text": (
        resource(
            "kubernetes:yaml/v2:ConfigGroup",
            "text",
            {
                "yaml": "apiVersion: v1\nkind: Pod\nspec:\n  hostPID: yes\n  containers: []\nmetadata: {namespace: fraud}"
            },
        ),
        "/yaml/0/spec/hostPID",
    ),
    "a file": (
        resource(
            "kubernetes:yaml/v2:ConfigFile",
            "file",
            {"file": "a.yaml"},
            manifests={"file": [workload("Pod", {"hostPID": True, "containers": []})]},
        ),
        "/file/0/spec/hostPID",
    ),
}


@pytest.mark.parametrize("name", HIDDEN)
def test_power_over_the_node_is_found_wherever_it_lies(name: str) -> None:
    given, path = HIDDEN[name]
    assert found(given, of=("privileged",)) == [("privileged", "mandatory", path)]


def test_a_container_outside_a_list_that_is_not_known_is_undetermined() -> None:
    served = custom("serving.kserve.io/v1beta1", "InferenceService", {"predictor": {"model": {"securityContext": {}}}})
    unknown(served, "/spec/predictor/model/securityContext")
    assert [level for _, level, _ in found(served, of=("privileged",))] == ["undetermined"]


def test_an_inference_service_is_not_asked_for_what_its_runtime_says() -> None:
    model = {"image": "docker.io/vllm/vllm-openai:v0.32.0", "resources": GPU}
    served = custom("serving.kserve.io/v1beta1", "InferenceService", {"predictor": {"model": model}})
    assert found(served, of=("hardening", "service_account_tokens")) == []


def test_a_job_may_write_to_its_root_and_a_server_may_not() -> None:
    spec = pod_spec(securityContext={"readOnlyRootFilesystem": False})
    assert found(kubernetes(workload("Job", spec)), of=("hardening",)) == []
    [(_, level, path)] = found(kubernetes(workload("Deployment", spec)), of=("hardening",))
    assert (level, path) == ("advisory", "/spec/template/spec/containers/0/securityContext")


def test_a_context_that_is_not_known_is_no_finding() -> None:
    pod = kubernetes(workload("Pod", pod_spec()))
    unknown(pod, "/spec/containers/0/securityContext")
    assert found(pod, of=("hardening",)) == []


def test_a_server_carries_no_token_unless_its_account_has_rights() -> None:
    spec = pod_spec(resources=GPU)
    del spec["automountServiceAccountToken"]
    server = kubernetes(workload("Deployment", spec))
    assert [rule for rule, _, _ in found(server, of=("service_account_tokens",))] == ["service_account_tokens"]
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "leader"}
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "leader", "namespace": "fraud"},
        "roleRef": reference,
        "subjects": [{"kind": "ServiceAccount", "name": "default", "namespace": "fraud"}],
    }
    assert found(server, kubernetes(binding), of=("service_account_tokens",)) == []


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({}, [("mandatory", "/metadata/labels/pod-security.kubernetes.io~1enforce")]),
        (
            {"pod-security.kubernetes.io/enforce": "restricted"},
            [("advisory", "/metadata/labels/pod-security.kubernetes.io~1enforce-version")],
        ),
    ],
)
def test_a_namespace_says_what_it_enforces(labels: Json, expected: list[tuple[str, str]]) -> None:
    space = kubernetes({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "fraud", "labels": labels}})
    assert [(level, path) for _, level, path in found(space, of=("pod_security",))] == expected


def test_labels_that_are_not_known_leave_the_level_undetermined() -> None:
    space = kubernetes({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "fraud", "labels": {}}})
    unknown(space, "/metadata/labels")
    assert [level for _, level, _ in found(space, of=("pod_security",))] == ["undetermined"]


def test_values_of_the_operator_that_are_not_known_leave_it_undetermined() -> None:
    values = {"toolkit": {"env": None}}
    inputs = {"chart": "gpu-operator", "version": "v26.7.0", "namespace": "gpu-operator", "values": values}
    operator = resource("kubernetes:helm.sh/v3:Release", "operator", inputs, unknown=["/values/toolkit/env"])
    assert [level for _, level, _ in found(operator, of=("device_access",))] == ["undetermined"]
    other = resource("kubernetes:helm.sh/v3:Release", "keda", {"chart": "keda", "values": None}, unknown=["/values"])
    assert found(other, of=("device_access", "shared_accelerators")) == []


def test_untrusted_code_may_be_labelled_by_its_template() -> None:
    manifest = workload("Deployment", pod_spec())
    manifest["spec"]["template"]["metadata"]["labels"]["trust"] = "untrusted"
    assert [rule for rule, _, _ in found(kubernetes(manifest), of=("sandbox",))] == ["sandbox"]
    manifest["spec"]["template"]["spec"]["runtimeClassName"] = "gvisor"
    assert found(kubernetes(manifest), of=("sandbox",)) == []


def test_a_pool_that_two_tenants_share_is_told() -> None:
    sharing = {"gpuSharingStrategy": "TIME_SHARING", "maxSharedClientsPerGpu": 4}
    config = {"guestAccelerators": [{"type": "nvidia-l4", "count": 1, "gpuSharingConfig": sharing}]}
    pool = resource("gcp:container/nodePool:NodePool", "l4", {"nodeConfig": config})
    assert found(pool, *tenant("fraud"), of=("shared_accelerators",)) == []
    both = found(pool, *tenant("fraud"), *tenant("vision"), of=("shared_accelerators",))
    assert [level for _, level, _ in both] == ["mandatory"]
