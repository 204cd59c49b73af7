"""Pods are found in every kind that makes some, wherever its containers lie."""

from __future__ import annotations

from typing import Any

import pytest
from documents import document, pod_spec, resource

from gpuyard.review.evaluation.objects import objects, pointer
from gpuyard.review.evaluation.pods import pods
from gpuyard.review.evaluation.prepare import prepare

Json = dict[str, Any]

TEMPLATE = {"spec": pod_spec()}
ONE = {"image": "docker.io/vllm/vllm-openai:v0.32.0", "env": []}

KINDS: dict[str, tuple[Json, list[str]]] = {
    "ray.io/v1:RayCluster": (
        {
            "headGroupSpec": {"template": TEMPLATE},
            "workerGroupSpecs": [{"template": TEMPLATE}],
            "autoscalerOptions": ONE,
        },
        [
            "/spec/headGroupSpec/template/spec/containers/0",
            "/spec/workerGroupSpecs/0/template/spec/containers/0",
            "/spec/autoscalerOptions",
        ],
    ),
    "ray.io/v1:RayService": (
        {"rayClusterConfig": {"headGroupSpec": {"template": TEMPLATE}}},
        ["/spec/rayClusterConfig/headGroupSpec/template/spec/containers/0"],
    ),
    "ray.io/v1:RayJob": (
        {"rayClusterSpec": {"headGroupSpec": {"template": TEMPLATE}}, "submitterPodTemplate": TEMPLATE},
        [
            "/spec/rayClusterSpec/headGroupSpec/template/spec/containers/0",
            "/spec/submitterPodTemplate/spec/containers/0",
        ],
    ),
    "leaderworkerset.x-k8s.io/v1:LeaderWorkerSet": (
        {"leaderWorkerTemplate": {"leaderTemplate": TEMPLATE, "workerTemplate": TEMPLATE}},
        [
            "/spec/leaderWorkerTemplate/leaderTemplate/spec/containers/0",
            "/spec/leaderWorkerTemplate/workerTemplate/spec/containers/0",
        ],
    ),
    "serving.kserve.io/v1beta1:InferenceService": (
        {"predictor": {"model": ONE, "workerSpec": pod_spec()}, "transformer": pod_spec()},
        ["/spec/predictor/model", "/spec/predictor/workerSpec/containers/0", "/spec/transformer/containers/0"],
    ),
    "serving.kserve.io/v1alpha1:ServingRuntime": (
        pod_spec() | {"workerSpec": pod_spec()},
        ["/spec/containers/0", "/spec/workerSpec/containers/0"],
    ),
    "serving.kserve.io/v1alpha2:LLMInferenceService": (
        {"template": pod_spec(), "prefill": {"template": pod_spec(), "worker": pod_spec()}},
        ["/spec/template/containers/0", "/spec/prefill/template/containers/0", "/spec/prefill/worker/containers/0"],
    ),
    "trainer.kubeflow.org/v1alpha1:TrainJob": ({"trainer": ONE}, ["/spec/trainer"]),
    "trainer.kubeflow.org/v1alpha1:TrainingRuntime": (
        {"template": {"spec": {"replicatedJobs": [{"template": {"spec": {"template": TEMPLATE}}}]}}},
        ["/spec/template/spec/replicatedJobs/0/template/spec/template/spec/containers/0"],
    ),
    "kubeflow.org/v1:PyTorchJob": (
        {"pytorchReplicaSpecs": {"Master": {"template": TEMPLATE}, "Worker": {"template": TEMPLATE}}},
        [
            "/spec/pytorchReplicaSpecs/Master/template/spec/containers/0",
            "/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0",
        ],
    ),
    "nvidia.com/v1alpha1:DynamoGraphDeployment": (
        {"services": {"Frontend": {"extraPodSpec": {"mainContainer": ONE}}}},
        ["/spec/services/Frontend/extraPodSpec/mainContainer"],
    ),
    "argoproj.io/v1alpha1:Workflow": (
        {
            "templates": [
                {"container": ONE, "sidecars": [ONE]},
                {"script": ONE, "initContainers": [ONE]},
                {"containerSet": {"containers": [ONE]}},
                {"dag": {"tasks": [{"inline": {"container": ONE}}]}},
            ],
            "templateDefaults": {"sidecars": [ONE]},
        },
        [
            "/spec/templateDefaults/sidecars/0",
            "/spec/templates/0/container",
            "/spec/templates/0/sidecars/0",
            "/spec/templates/1/initContainers/0",
            "/spec/templates/1/script",
            "/spec/templates/2/containerSet/containers/0",
            "/spec/templates/3/dag/tasks/0/inline/container",
        ],
    ),
    "sparkoperator.k8s.io/v1beta2:SparkApplication": (
        {"driver": ONE | {"sidecars": [ONE]}, "executor": ONE},
        ["/spec/driver", "/spec/driver/sidecars/0", "/spec/executor"],
    ),
    "somebody.example/v1:Whatever": ({"deep": [{"pod": pod_spec()}]}, ["/spec/deep/0/pod/containers/0"]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_container_of_a_kind_is_found_once(kind: str) -> None:
    spec, expected = KINDS[kind]
    [found] = objects(f"kubernetes:{kind}", {"spec": spec})
    assert sorted(pointer(place) for pod in pods(found) for _, place, _ in pod.containers) == sorted(expected)


@pytest.mark.parametrize(
    ("kind", "whole"),
    [
        ("kubernetes:apps/v1:Deployment", True),
        ("kubernetes:apps/v1:DeploymentPatch", False),
        ("kubernetes:kubeflow.org/v1:PyTorchJob", True),
        ("kubernetes:kubeflow.org/v1:JAXJob", True),
        ("kubernetes:serving.kserve.io/v1beta1:InferenceService", False),
        ("kubernetes:somebody.example/v1:Whatever", False),
    ],
)
def test_what_is_missing_counts_only_where_nobody_else_adds_it(kind: str, whole: bool) -> None:
    [found] = objects(kind, {"spec": {"template": TEMPLATE}})
    assert [pod.whole for pod in pods(found)] == [whole]


def test_settings_beside_the_containers_are_read() -> None:
    spec = {"volumes": [{"hostPath": {"path": "/"}}], "hostNetwork": True, "templates": [{"container": ONE}]}
    [found] = objects("kubernetes:argoproj.io/v1alpha1:WorkflowTemplate", {"spec": spec})
    assert [pod.path for pod in pods(found) if pod.spec.get("hostNetwork")] == [("spec",)]


def test_a_pod_has_the_labels_of_its_template_and_says_whether_it_takes_accelerators() -> None:
    template = {
        "metadata": {"labels": {"trust": "none"}},
        "spec": pod_spec(resources={"limits": {"nvidia.com/gpu": 1}}),
    }
    deployment = resource("kubernetes:apps/v1:Deployment", "a", {"spec": {"template": template}})
    plain = resource("kubernetes:core/v1:Pod", "b", {"metadata": {"labels": {"own": "yes"}}, "spec": pod_spec()})
    found = {pod["kind"]: pod for pod in prepare(document([deployment, plain]), {}).input["pods"]}
    assert (found["Deployment"]["pod_labels"], found["Deployment"]["accelerated"]) == ({"trust": "none"}, True)
    assert (found["Pod"]["pod_labels"], found["Pod"]["accelerated"]) == ({"own": "yes"}, False)


def test_what_is_left_of_a_custom_resource_is_still_there_for_rules_about_it() -> None:
    inputs = {"apiVersion": "serving.kserve.io/v1beta1", "kind": "InferenceService"}
    inputs |= {"spec": {"predictor": {"minReplicas": 1, "model": ONE}}}
    given = prepare(document([resource("kubernetes:x:Y", "a", inputs)]), {}).input
    [served] = given["objects"]["InferenceService.serving.kserve.io"]
    assert served["body"]["spec"]["predictor"]["minReplicas"] == 1


@pytest.mark.parametrize(
    ("inputs", "path"),
    [
        ({"yaml": "apiVersion: v1\nkind: Pod\nspec: {containers: [{name: a}]}"}, "/yaml/0/spec"),
        ({"yaml": ["kind: Job", "apiVersion: v1\nkind: Pod\nspec: {containers: [{name: a}]}"]}, "/yaml/1/0/spec"),
        ({"objs": [{"apiVersion": "v1", "kind": "Pod", "spec": {}}]}, "/objs/0/spec"),
        (
            {"yaml": "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Pod, spec: {}}]"},
            "/yaml/0/items/0/spec",
        ),
    ],
)
def test_pods_in_texts_and_objects_of_a_config_group_are_found(inputs: Json, path: str) -> None:
    group = resource("kubernetes:yaml/v2:ConfigGroup", "a", inputs)
    assert [pod["path"] for pod in prepare(document([group]), {}).input["pods"]] == [path]


def test_pods_in_files_are_found() -> None:
    manifests = {"file": [{"apiVersion": "v1", "kind": "Pod", "spec": pod_spec()}]}
    file = resource("kubernetes:yaml/v2:ConfigFile", "a", {"file": "a.yaml"}, manifests=manifests)
    assert [pod["path"] for pod in prepare(document([file]), {}).input["pods"]] == ["/file/0/spec"]
