"""What workloads of every kind take of accelerators, at the most."""

from __future__ import annotations

from typing import Any

import pytest
from documents import document, kubernetes, pod_spec, resource, workload

from gpuyard.review.evaluation.prepare import prepare
from gpuyard.review.evaluation.requests import requests
from gpuyard.review.quantities import amount

Json = dict[str, Any]

GPU = {"limits": {"nvidia.com/gpu": 1}}
POD = {"containers": [{"name": "server", "image": "a/b:1", "resources": GPU}]}
TEMPLATE = {"spec": POD}


def custom(api: str, kind: str, spec: Json, **metadata: Any) -> Json:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": "m", "namespace": "fraud"} | metadata, "spec": spec}


def prepared(*resources: Json) -> Json:
    return prepare(document(list(resources)), {}).input


def counted(*manifests: Json) -> list[tuple[int | None, int | None]]:
    """Of each template, its pods as declared and at the most."""
    found = prepared(*(kubernetes(manifest, name=f"m{i}") for i, manifest in enumerate(manifests)))["workloads"]
    return [(one["replicas"].get("declared"), one["replicas"].get("max")) for one in found if one["accelerators"]]


def hpa(kind: str, most: Any, api: str = "apps/v1", name: str = "m") -> Json:
    target = {"apiVersion": api, "kind": kind, "name": name}
    return custom("autoscaling/v2", "HorizontalPodAutoscaler", {"scaleTargetRef": target, "maxReplicas": most})


def deployment(**spec: Any) -> Json:
    manifest = workload("Deployment", POD, name="m")
    manifest["spec"] |= spec
    return manifest


def ray(**group: Any) -> Json:
    return {"workerGroupSpecs": [{"groupName": "g", "template": TEMPLATE} | group], "headGroupSpec": {}}


def job(**spec: Any) -> Json:
    return {"template": TEMPLATE} | spec


def lws(**template: Any) -> Json:
    return {"replicas": 3, "leaderWorkerTemplate": {"size": 4, "workerTemplate": TEMPLATE} | template}


ELASTIC = {
    "elasticPolicy": {"maxReplicas": 6},
    "pytorchReplicaSpecs": {"Worker": {"replicas": 2, "template": TEMPLATE}},
}
MODEL = {"model": {"modelFormat": {"name": "triton"}, "resources": GPU}}
RAW = {"annotations": {"serving.kserve.io/deploymentMode": "RawDeployment"}}

KINDS: dict[str, tuple[Json, list[tuple[int | None, int | None]]]] = {
    "Deployment": (deployment(replicas=3), [(3, 3)]),
    "Deployment that says nothing": (deployment(), [(1, 1)]),
    "Deployment of an odd number": (deployment(replicas="three"), [(None, None)]),
    "StatefulSet": (workload("StatefulSet", POD), [(1, 1)]),
    "ReplicaSet": (workload("ReplicaSet", POD), [(1, 1)]),
    "DaemonSet": (workload("DaemonSet", POD), [(None, None)]),
    "Pod": (workload("Pod", POD), [(1, 1)]),
    "Job": (custom("batch/v1", "Job", job(parallelism=8)), [(8, 8)]),
    "Job that completes early": (custom("batch/v1", "Job", job(parallelism=8, completions=2)), [(2, 2)]),
    "CronJob": (custom("batch/v1", "CronJob", {"jobTemplate": {"spec": job(parallelism=4)}}), [(4, 4)]),
    "RayCluster": (custom("ray.io/v1", "RayCluster", ray(replicas=2, maxReplicas=9)), [(2, 2)]),
    "RayCluster below its least": (custom("ray.io/v1", "RayCluster", ray(minReplicas=3)), [(3, 3)]),
    "RayCluster that scales": (
        custom("ray.io/v1", "RayCluster", ray(replicas=2, maxReplicas=9) | {"enableInTreeAutoscaling": True}),
        [(2, 9)],
    ),
    "RayCluster that scales without an end": (
        custom("ray.io/v1", "RayCluster", ray(replicas=2) | {"enableInTreeAutoscaling": True}),
        [(2, None)],
    ),
    "RayCluster of hosts": (custom("ray.io/v1", "RayCluster", ray(replicas=2, numOfHosts=4)), [(8, 8)]),
    "RayCluster that is suspended": (custom("ray.io/v1", "RayCluster", ray(replicas=2, suspend=True)), [(0, 0)]),
    "RayService": (
        custom(
            "ray.io/v1",
            "RayService",
            {"rayClusterConfig": ray(replicas=1, maxReplicas=5) | {"enableInTreeAutoscaling": True}},
        ),
        [(1, 5)],
    ),
    "RayJob": (custom("ray.io/v1", "RayJob", {"rayClusterSpec": ray(replicas=2)}), [(2, 2)]),
    "LeaderWorkerSet": (custom("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", lws()), [(12, 12)]),
    "LeaderWorkerSet with leaders": (
        custom("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", lws(leaderTemplate=TEMPLATE)),
        [(9, 9), (3, 3)],
    ),
    "InferenceService": (
        custom("serving.kserve.io/v1beta1", "InferenceService", {"predictor": MODEL | {"maxReplicas": 4}}),
        [(1, 4)],
    ),
    "InferenceService without an end": (
        custom("serving.kserve.io/v1beta1", "InferenceService", {"predictor": MODEL}),
        [(1, None)],
    ),
    "InferenceService as a Deployment": (
        custom("serving.kserve.io/v1beta1", "InferenceService", {"predictor": MODEL | {"minReplicas": 2}}, **RAW),
        [(2, 2)],
    ),
    "LLMInferenceService": (
        custom(
            "serving.kserve.io/v1alpha2",
            "LLMInferenceService",
            {"replicas": 2, "template": POD, "prefill": {"template": POD, "scaling": {"maxReplicas": 5}}},
        ),
        [(2, 2), (1, 5)],
    ),
    "TrainJob": (
        custom("trainer.kubeflow.org/v1alpha1", "TrainJob", {"trainer": {"numNodes": 4, "resourcesPerNode": GPU}}),
        [(4, 4)],
    ),
    "PyTorchJob": (custom("kubeflow.org/v1", "PyTorchJob", ELASTIC), [(2, 6)]),
    "MPIJob": (
        custom(
            "kubeflow.org/v2beta1", "MPIJob", {"mpiReplicaSpecs": {"Worker": {"replicas": 3, "template": TEMPLATE}}}
        ),
        [(3, 3)],
    ),
    "JobSet": (
        custom(
            "jobset.x-k8s.io/v1alpha2",
            "JobSet",
            {"replicatedJobs": [{"name": "w", "replicas": 3, "template": {"spec": job(parallelism=2)}}]},
        ),
        [(6, 6)],
    ),
    "ScaledJob": (
        custom("keda.sh/v1alpha1", "ScaledJob", {"maxReplicaCount": 7, "jobTargetRef": job(parallelism=2)}),
        [(0, 14)],
    ),
    "ScaledJob that says no end": (custom("keda.sh/v1alpha1", "ScaledJob", {"jobTargetRef": job()}), [(0, 100)]),
    "Knative service": (
        custom(
            "serving.knative.dev/v1",
            "Service",
            {"template": TEMPLATE | {"metadata": {"annotations": {"autoscaling.knative.dev/max-scale": "5"}}}},
        ),
        [(0, 5)],
    ),
    "Volcano's Job": (
        custom("batch.volcano.sh/v1alpha1", "Job", {"tasks": [{"replicas": 5, "template": TEMPLATE}]}),
        [(5, 5)],
    ),
    "a kind that nobody knows": (custom("acme.example/v1", "Fleet", {"replicas": 6, "template": TEMPLATE}), [(6, 6)]),
}


@pytest.mark.parametrize("name", KINDS)
def test_pods_of_every_kind_are_counted(name: str) -> None:
    manifest, expected = KINDS[name]
    assert sorted(counted(manifest), key=str) == sorted(expected, key=str)


@pytest.mark.parametrize(
    ("manifests", "most"),
    [
        ([deployment(replicas=2), hpa("Deployment", 16)], 16),
        ([deployment(replicas=20), hpa("Deployment", 16)], 16),
        ([deployment(), hpa("Deployment", 16), hpa("Deployment", 20)], 20),
        ([deployment(), hpa("Deployment", 16, name="other")], 1),
        ([deployment(), hpa("Deployment", None)], None),
        ([deployment(), custom("keda.sh/v1alpha1", "ScaledObject", {"scaleTargetRef": {"name": "m"}})], 100),
        (
            [
                deployment(),
                custom("keda.sh/v1alpha1", "ScaledObject", {"scaleTargetRef": {"name": "m"}, "maxReplicaCount": 9}),
            ],
            9,
        ),
        (
            [
                custom("acme.example/v1", "Fleet", {"size": 1, "template": TEMPLATE}),
                hpa("Fleet", 12, "acme.example/v1"),
            ],
            12,
        ),
        (
            [
                custom("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", lws()),
                hpa("LeaderWorkerSet", 5, "leaderworkerset.x-k8s.io/v1"),
            ],
            20,
        ),
    ],
)
def test_a_scalers_maximum_counts_whatever_it_scales(manifests: list[Json], most: int | None) -> None:
    assert [most_ for _, most_ in counted(*manifests)] == [most]


def test_a_scaler_of_a_name_that_is_not_known_may_be_any_workloads() -> None:
    scaler = kubernetes(hpa("Deployment", 16), name="scaler")
    scaler["inputs"]["spec"]["scaleTargetRef"]["name"] = None
    scaler["unknown"] = ["/spec/scaleTargetRef/name"]
    [found] = prepared(kubernetes(deployment()), scaler)["workloads"]
    assert "max" not in found["replicas"]
    assert (found["replicas"]["urn"], found["replicas"]["path"]) == (scaler["urn"], "/spec/scaleTargetRef/name")


def test_replicas_that_are_not_known_have_no_most_and_say_where() -> None:
    model = kubernetes(deployment(replicas=None))
    model["unknown"] = ["/spec/replicas"]
    [found] = prepared(model)["workloads"]
    assert found["replicas"] == {"urn": model["urn"], "path": "/spec/replicas"}


def test_workloads_in_a_list_or_a_group_are_counted_where_they_lie() -> None:
    group = resource("kubernetes:yaml/v2:ConfigGroup", "all", {"objs": [deployment(replicas=3), hpa("Deployment", 9)]})
    [found] = prepared(group)["workloads"]
    assert (found["path"], found["replicas"]["max"]) == ("/objs/0/spec/template/spec", 9)
    assert found["replicas"]["path"] == "/objs/1/spec/maxReplicas"


def container(role: str = "containers", path: str = "/spec/containers/0", **more: Any) -> Json:
    return {"path": path, "role": role, "container": more}


def taking(count: Any, **more: Any) -> Json:
    return {"resources": {"limits": {"nvidia.com/gpu": count}}} | more


@pytest.mark.parametrize(
    ("containers", "expected"),
    [
        ([container(**taking(1)), container(**taking(2))], 3),
        ([container(**taking("8e0"))], 8),
        ([container(**taking("1000m"))], 1),
        ([container("initContainers", **taking(4)), container(**taking(1))], 4),
        ([container("initContainers", **taking(4)), container("initContainers", **taking(2)), container()], 4),
        ([container("initContainers", **taking(1, restartPolicy="Always")), container(**taking(2))], 3),
        (
            [
                container("initContainers", **taking(1, restartPolicy="Always")),
                container("initContainers", **taking(4)),
                container(**taking(2)),
            ],
            5,
        ),
        ([container("ephemeralContainers", **taking(8)), container()], 0),
        ([container(resources={"requests": {"nvidia.com/gpu": 2}})], 2),
    ],
)
def test_containers_are_added_up_as_kubernetes_does(containers: list[Json], expected: int) -> None:
    assert requests(containers).accelerators.get("nvidia.com/gpu", 0) == expected


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("nvidia.com/gpu", True),
        ("nvidia.com/gpu.shared", True),
        ("nvidia.com/mig-1g.10gb", True),
        ("nvidia.com/mig-1g.10gb.shared", True),
        ("amd.com/gpu", True),
        ("aws.amazon.com/neuron", True),
        ("aws.amazon.com/neuroncore", True),
        ("google.com/tpu", True),
        ("habana.ai/gaudi", True),
        ("nvidia.com/hostdev", False),
        ("rdma/hca", False),
        ("cpu", False),
    ],
)
def test_resources_that_are_accelerators(name: str, counts: bool) -> None:
    assert bool(requests([container(resources={"limits": {name: 1}})]).accelerators) is counts


def test_what_is_no_quantity_or_not_known_is_not_counted_as_nothing() -> None:
    wrong = requests([container(**taking("many"))])
    assert (wrong.accelerators, wrong.uncounted) == ({}, ["/spec/containers/0/resources/limits/nvidia.com~1gpu"])
    place = ("spec", "containers", "0", "resources", "limits")
    for hidden in (place, (*place, "nvidia.com/gpu"), place[:2]):
        assert requests([container()], [hidden]).uncounted
    assert not requests([container()], [(*place, "memory"), ("spec", "containers", "1")]).uncounted
    for hidden in (("spec",), ("spec", "containers"), ("spec", "initContainers")):
        assert requests([], [hidden], ("spec",)).uncounted
    assert not requests([], [("spec", "volumes")], ("spec",)).uncounted


@pytest.mark.parametrize(
    ("resources", "why"),
    [
        ({"limits": {"nvidia.com/gpu": 1}, "requests": {"nvidia.com/gpu": "1000m"}}, None),
        ({"limits": {"nvidia.com/gpu": 2}, "requests": {"nvidia.com/gpu": 1}}, "1 is requested and 2 is the limit"),
        ({"requests": {"nvidia.com/gpu": 1}}, "there is a request and no limit"),
        ({"limits": {"nvidia.com/gpu": "500m"}}, "500m is no whole number"),
        ({"limits": {"cpu": "500m"}, "requests": {"memory": 1}}, None),
    ],
)
def test_what_an_api_server_would_refuse_is_told(resources: Json, why: str | None) -> None:
    assert [one["why"] for one in requests([container(resources=resources)]).wrong] == ([why] if why else [])


def test_an_amount_is_a_whole_number_however_it_is_written() -> None:
    assert amount("8e0") == amount("8") == amount(8)


def test_odd_objects_are_read_without_an_error() -> None:
    odd: list[Any] = [None, "x", 7, [], {}, [None], {"a": None}]
    manifests = [manifest for manifest, _ in KINDS.values()]
    for value in odd:
        for manifest in (*manifests, custom("kueue.x-k8s.io/v1beta2", "ClusterQueue", {})):
            for spec in (value, dict.fromkeys(manifest["spec"], value)):
                prepared(kubernetes(manifest | {"spec": spec}, name="odd"))


def test_a_pod_that_says_when_it_ends_is_a_job() -> None:
    spec = pod_spec(resources=GPU)
    [serves] = prepared(kubernetes(workload("Pod", spec)))["workloads"]
    [ends] = prepared(kubernetes(workload("Pod", spec | {"restartPolicy": "Never"})))["workloads"]
    assert (serves["batch"], ends["batch"]) == (False, True)


@pytest.mark.parametrize(
    "manifest",
    [
        custom("batch/v1", "Job", job(activeDeadlineSeconds=60)),
        custom("batch/v1", "Job", {"template": {"spec": POD | {"activeDeadlineSeconds": 60}}}),
        custom("batch/v1", "CronJob", {"jobTemplate": {"spec": job(activeDeadlineSeconds=60)}}),
        custom("ray.io/v1", "RayJob", {"rayClusterSpec": ray(replicas=2), "activeDeadlineSeconds": 60}),
        custom("kubeflow.org/v1", "PyTorchJob", ELASTIC | {"runPolicy": {"activeDeadlineSeconds": 60}}),
    ],
)
def test_deadlines_are_found_where_each_kind_says_them(manifest: Json) -> None:
    [found] = prepared(kubernetes(manifest))["workloads"]
    assert found["deadline"] == 60
