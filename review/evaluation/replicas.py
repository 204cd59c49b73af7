"""How many pods of each of its templates a workload has: as it is declared, and at the most.

A scaler's maximum counts, not today's number. Sources: the CRDs and controllers of each project, as published.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gpuyard.review.evaluation.objects import metadata
from gpuyard.review.evaluation.pod_counts import NONE, ONE, Count, said, times, value
from gpuyard.review.evaluation.references import Steps
from gpuyard.review.values import at, mapping, number

SCALED_JOBS = 100
"""Jobs of a ScaledJob at once, and replicas of a ScaledObject, where they say nothing. Source: keda v2.20.1,
apis/keda/v1alpha1."""

Json = dict[str, Any]


def count(key: str, body: Json, pod: Steps, scaled: int | None = None) -> Count:
    """The pods of a template.

    `key` is kind and group as `Object.key` says them, `pod` the way to the template's spec within the object, and
    `scaled` the most replicas that a scaler gives to the object, if it has one.
    """
    if "workerGroupSpecs" in pod:
        return _ray_workers(body, pod)
    if "leaderWorkerTemplate" in pod:
        return _leaders_and_workers(body, pod, scaled)
    if key in _KINDS:
        return _KINDS[key](body, pod, scaled)
    return _nearest(body, pod, scaled)


def _scalable(body: Json, pod: Steps, scaled: int | None) -> Count:
    return said(body, ("spec", "replicas")).scaled(scaled)


def _one(body: Json, pod: Steps, scaled: int | None) -> Count:
    return ONE


def _none(body: Json, pod: Steps, scaled: int | None) -> Count:
    return NONE


def _each_node(body: Json, pod: Steps, scaled: int | None) -> Count:
    return Count(None, None, (pod,))


def _job(body: Any, spec: Steps) -> Count:
    """Pods of a Job run so many at once, and no more than are still to be completed."""
    parallel = said(body, (*spec, "parallelism"))
    completions = value(body, (*spec, "completions"))
    if completions is None:
        return parallel
    most = number(completions)
    least = None if parallel.most is None or most is None else min(parallel.most, most)
    return Count(least, least, (*parallel.rests_on, (*spec, "completions")))


def _plain_job(body: Json, pod: Steps, scaled: int | None) -> Count:
    return _job(body, pod[:-2])


def _job_set(body: Json, pod: Steps, scaled: int | None) -> Count:
    way = (*pod[:3], "replicas")
    return _job(body, pod[:-2]).times(said(body, way).most, way)


def _scaled_job(body: Json, pod: Steps, scaled: int | None) -> Count:
    way = ("spec", "maxReplicaCount")
    one = _job(body, pod[:-2])
    most = one.times(said(body, way, SCALED_JOBS).most, way)
    return Count(0, most.most, most.rests_on)


def _ray_workers(body: Json, pod: Steps) -> Count:
    """KubeRay keeps replicas between their bounds; its autoscaler alone goes up to the upper one."""
    place = pod.index("workerGroupSpecs")
    group, cluster = pod[: place + 2], pod[:place]
    given = mapping(value(body, group))
    ways = tuple((*group, field) for field in ("replicas", "minReplicas", "maxReplicas", "numOfHosts"))
    if given.get("suspend") is True:
        return NONE
    least, hosts = number(given.get("minReplicas", 0)), number(given.get("numOfHosts", 1))
    most = None if "maxReplicas" not in given else number(given["maxReplicas"])
    declared = number(given.get("replicas", 0))
    if declared is not None and least is not None:
        declared = max(declared, least)
        declared = declared if most is None else min(declared, most)
    if value(body, (*cluster, "enableInTreeAutoscaling")) is not True:
        most = declared
    return Count(times(declared, hosts), times(most, hosts), ways)


def _leaders_and_workers(body: Json, pod: Steps, scaled: int | None) -> Count:
    """Each replica of a LeaderWorkerSet is a leader and its workers; without a template of its own the leader is one of
    the workers' kind."""
    place = pod.index("leaderWorkerTemplate")
    spec, template = pod[:place], pod[: place + 1]
    sets = said(body, (*spec, "replicas")).scaled(scaled)
    if "slices" in mapping(body.get("spec")):
        sets = sets.times(said(body, ("spec", "slices")).most, ("spec", "slices"))
    if "leaderTemplate" in pod:
        return sets
    way = (*template, "size")
    size = said(body, way).most
    if size is not None and "leaderTemplate" in mapping(value(body, template)):
        size = max(size - 1, 0)
    return sets.times(size, way)


def _inference_service(body: Json, pod: Steps, scaled: int | None) -> Count:
    """As a Deployment a component has as many replicas as its least, where it names no more; as a Knative service it
    has no bound then. Source: kserve, pkg/controller/v1beta1/inferenceservice/reconcilers."""
    component = pod[:2]
    least = said(body, (*component, "minReplicas"))
    most = said(body, (*component, "maxReplicas"), 0)
    mode = at(metadata(body).get("annotations"), "serving.kserve.io/deploymentMode")
    upper = most.most
    if upper == 0:
        upper = max(least.most or 1, 1) if mode in ("RawDeployment", "Standard") else None
    elif upper is not None and least.most is not None:
        upper = max(upper, least.most)
    found = Count(least.declared, upper, (*most.rests_on, *least.rests_on))
    if "workerSpec" not in pod:
        return found
    way = (*component, "workerSpec", "pipelineParallelSize")
    size = said(body, way).most
    return found.times(None if size is None else max(size - 1, 0), way)


def _model_service(body: Json, pod: Steps, scaled: int | None) -> Count:
    """KServe's LLMInferenceService: its pods, and those of a prefill of its own; several nodes a replica are a leader
    and its workers."""
    holder = pod[:2] if pod[:2] == ("spec", "prefill") else pod[:1]
    scaling = (*holder, "scaling", "maxReplicas")
    own = said(body, (*holder, "replicas"))
    if value(body, scaling) is not None:
        own = Count(own.declared, said(body, scaling).most, (scaling,))
    own = own.scaled(scaled)
    if "worker" not in pod:
        return own
    parallel = mapping(value(body, (*holder, "parallelism")))
    data, local = number(parallel.get("data")), number(parallel.get("dataLocal"))
    nodes = number(parallel.get("pipeline")) or (-(-data // local) if data and local else 1)
    return own.times(nodes - 1, (*holder, "parallelism"))


def _replica_specs(body: Json, pod: Steps, scaled: int | None) -> Count:
    """Kubeflow's jobs before the TrainJob: so many pods of each role; PyTorch's may grow."""
    own = said(body, (*pod[:3], "replicas"))
    elastic = ("spec", "elasticPolicy", "maxReplicas")
    if pod[2] == "Worker" and value(body, elastic) is not None:
        return Count(own.declared, said(body, elastic).most, (elastic,))
    return own


def _train_job(body: Json, pod: Steps, scaled: int | None) -> Count:
    return said(body, ("spec", "trainer", "numNodes"))


def _knative(body: Json, pod: Steps, scaled: int | None) -> Count:
    way = ("spec", "template", "metadata", "annotations")
    annotations = mapping(value(body, way))
    given = annotations.get("autoscaling.knative.dev/max-scale", annotations.get("autoscaling.knative.dev/maxScale"))
    most = int(given) if isinstance(given, str) and given.isdecimal() and len(given) < 10 else number(given)
    return Count(0, most or None, (way,))


def _nim(body: Json, pod: Steps, scaled: int | None) -> Count:
    own = said(body, ("spec", "replicas")).scaled(scaled)
    scale = mapping(value(body, ("spec", "scale")))
    if scale.get("enabled") is not True:
        return own
    way = ("spec", "scale", "hpa", "maxReplicas")
    return Count(own.declared, said(body, way, None).most, (way,))


def _dynamo(body: Json, pod: Steps, scaled: int | None) -> Count:
    component = pod[:3]
    nodes = (*component, "multinode", "nodeCount")
    factor = said(body, nodes, 2 if value(body, nodes[:-1]) is not None else 1).most
    return said(body, (*component, "replicas")).times(factor, nodes)


def _nearest(body: Json, pod: Steps, scaled: int | None) -> Count:
    """Of a kind that nobody told us of: the number that stands nearest above the pod; where a scaler is told to scale
    the object, that may be it."""
    for length in range(len(pod), 0, -1):
        holder = value(body, pod[:length])
        if isinstance(holder, dict) and number(holder.get("replicas")) is not None:
            own = said(body, (*pod[:length], "replicas"))
            return own if scaled is None else Count(own.declared, max(scaled, own.most or 0), ())
    return Count(1, 1, (("spec", "replicas"),)).scaled(scaled)


_KINDS: Mapping[str, Callable[[Json, Steps, int | None], Count]] = {
    "ClusterWorkflowTemplate.argoproj.io": _none,
    "CronJob.batch": _plain_job,
    "DaemonSet.apps": _each_node,
    "Deployment.apps": _scalable,
    "DynamoGraphDeployment.nvidia.com": _dynamo,
    "InferenceService.serving.kserve.io": _inference_service,
    "JAXJob.kubeflow.org": _replica_specs,
    "Job.batch": _plain_job,
    "JobSet.jobset.x-k8s.io": _job_set,
    "LLMInferenceService.serving.kserve.io": _model_service,
    "MPIJob.kubeflow.org": _replica_specs,
    "NIMService.apps.nvidia.com": _nim,
    "Notebook.kubeflow.org": _one,
    "PaddleJob.kubeflow.org": _replica_specs,
    "Pod": _one,
    "PodTemplate": _none,
    "PyTorchJob.kubeflow.org": _replica_specs,
    "RayCluster.ray.io": _one,
    "RayCronJob.ray.io": _one,
    "RayJob.ray.io": _one,
    "RayService.ray.io": _one,
    "ReplicaSet.apps": _scalable,
    "ReplicationController": _scalable,
    "Rollout.argoproj.io": _scalable,
    "ScaledJob.keda.sh": _scaled_job,
    "Service.serving.knative.dev": _knative,
    "StatefulSet.apps": _scalable,
    "TFJob.kubeflow.org": _replica_specs,
    "TrainJob.trainer.kubeflow.org": _train_job,
    "TrainingRuntime.trainer.kubeflow.org": _none,
    "ClusterTrainingRuntime.trainer.kubeflow.org": _none,
    "ServingRuntime.serving.kserve.io": _none,
    "ClusterServingRuntime.serving.kserve.io": _none,
    "WorkflowTemplate.argoproj.io": _none,
    "XGBoostJob.kubeflow.org": _replica_specs,
}

BATCH = frozenset(
    {
        "CronJob.batch",
        "CronWorkflow.argoproj.io",
        "JAXJob.kubeflow.org",
        "Job.batch",
        "Job.batch.volcano.sh",
        "JobSet.jobset.x-k8s.io",
        "MPIJob.kubeflow.org",
        "PaddleJob.kubeflow.org",
        "PyTorchJob.kubeflow.org",
        "RayCronJob.ray.io",
        "RayJob.ray.io",
        "ScaledJob.keda.sh",
        "TFJob.kubeflow.org",
        "TrainJob.trainer.kubeflow.org",
        "Workflow.argoproj.io",
        "XGBoostJob.kubeflow.org",
    }
)
"""Kinds whose pods end by themselves: what does not fit beside others waits for them."""

DEADLINES: Mapping[str, Steps] = {
    **dict.fromkeys(
        ("CronJob.batch", "Job.batch", "JobSet.jobset.x-k8s.io", "ScaledJob.keda.sh"), ("..", "activeDeadlineSeconds")
    ),
    **dict.fromkeys(("RayJob.ray.io", "TrainJob.trainer.kubeflow.org"), ("spec", "activeDeadlineSeconds")),
    **dict.fromkeys(
        [key for key in _KINDS if _KINDS[key] is _replica_specs], ("spec", "runPolicy", "activeDeadlineSeconds")
    ),
}
"""Where a kind says how long its pods may run, in seconds; `..` is the Job that the pod's template is of."""
