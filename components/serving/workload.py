"""The Deployment of an endpoint: its pods, and what they may do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpuyard.components.artifacts import ArtifactsSpec, image
from gpuyard.components.node_groups.offers import Offer
from gpuyard.components.serving import sizing
from gpuyard.components.serving.model import HubModel, StoredModel
from gpuyard.components.serving.placement import Placement, surges
from gpuyard.components.serving.spec import EndpointSpec
from gpuyard.components.serving.template import ServingTemplate
from gpuyard.components.spec import Manifest

CLAIM_MOUNT = "/models"
"""Where a volume of the cluster is mounted."""

HUB_TOKEN = "HF_TOKEN"  # noqa: S105 - the name of a variable
"""The variable that huggingface_hub reads a token from."""

LEAVE_SECONDS = 10
"""Time between a pod's removal from the Service and its signal to stop, so that no client is sent to a closing port."""


DECLARED_ONLY = {"pulumi.com/skipAwait": "true", "pulumi.com/deletionPropagationPolicy": "background"}
"""A deployment does not wait for models: a large one loads for an hour, and for a node without a bound. The Deployment
says by itself when it makes no progress (docs/decisions/009). The second keeps a Deployment that is deleted from being
there while its pods end: made again in that time, it would go with them. Source: pulumi-kubernetes, metadata."""


def selector(name: str) -> dict[str, str]:
    """Labels that only the endpoint's own pods have in their namespace."""
    return {"app.kubernetes.io/name": name, "app.kubernetes.io/managed-by": "gpuyard"}


def deployment(
    name: str,
    spec: EndpointSpec,
    engine: ServingTemplate,
    *,
    placement: Placement,
    artifacts: ArtifactsSpec,
    labels: Mapping[str, str],
) -> Manifest:
    """The Deployment. It has no `replicas` where an autoscaler owns the number."""
    times = sizing.budget(spec, engine)
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": name,
            "namespace": placement.namespace,
            "labels": dict(labels),
            "annotations": DECLARED_ONLY,
        },
        "spec": {
            **({} if spec.autoscaled else {"replicas": spec.replicas.max}),
            "revisionHistoryLimit": 3,
            "progressDeadlineSeconds": times.progress,
            "selector": {"matchLabels": selector(name)},
            "strategy": {
                "type": "RollingUpdate",
                "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}
                if surges(spec, placement)
                else {"maxSurge": 0, "maxUnavailable": 1},
            },
            "template": {
                "metadata": {"labels": dict(labels)},
                "spec": _pod(name, spec, engine, placement, artifacts),
            },
        },
    }


def _pod(
    name: str, spec: EndpointSpec, engine: ServingTemplate, placement: Placement, artifacts: ArtifactsSpec
) -> dict[str, Any]:
    user = engine.security.user
    pod: dict[str, Any] = {
        "automountServiceAccountToken": False,
        # A Service called vllm would otherwise put VLLM_PORT=tcp://… into the pods, and vLLM refuses to start.
        "enableServiceLinks": False,
        "nodeSelector": dict(placement.selector),
        "tolerations": _tolerations(placement),
        "topologySpreadConstraints": [
            _spread(name, "topology.kubernetes.io/zone"),
            _spread(name, "kubernetes.io/hostname"),
        ],
        "terminationGracePeriodSeconds": LEAVE_SECONDS + engine.drain_seconds + 10,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": user,
            "runAsGroup": user,
            "fsGroup": user,
            # A volume with a large model is not walked through at every start of a pod.
            "fsGroupChangePolicy": "OnRootMismatch",
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [_container(name, spec, engine, placement, artifacts)],
        "volumes": _volumes(spec, engine, placement),
    }
    if needs_identity(spec):
        pod["serviceAccountName"] = name
    if placement.priority_class is not None:
        pod["priorityClassName"] = placement.priority_class
    return pod


def _tolerations(placement: Placement) -> list[dict[str, Any]]:
    """Every taint of the nodes that the endpoint is for."""
    accelerator = {"key": _offered(placement).taint, "operator": "Exists", "effect": "NoSchedule"}
    own = [{"key": t.key, "operator": "Equal", "value": t.value, "effect": t.effect} for t in placement.taints]
    return [accelerator, *own]


def _offered(placement: Placement) -> Offer:
    if placement.offer is None:
        raise ValueError(f"node group {placement.group} has no accelerators: placement.problems says so before")
    return placement.offer


def needs_identity(spec: EndpointSpec) -> bool:
    """Whether the model's store asks who is reading."""
    return isinstance(spec.model, StoredModel) and spec.model.role is not None


def _spread(name: str, key: str) -> dict[str, Any]:
    # Preferred only: one zone may be all that has accelerators today.
    return {
        "maxSkew": 1,
        "topologyKey": key,
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": selector(name)},
    }


def _container(
    name: str, spec: EndpointSpec, engine: ServingTemplate, placement: Placement, artifacts: ArtifactsSpec
) -> dict[str, Any]:
    values = _values(name, spec, engine, placement)
    offer = _offered(placement)
    cpu, memory = sizing.cpu_and_memory(spec, engine, placement.machine, offer)
    accelerators = {offer.resource: str(spec.accelerators)}
    return {
        "name": "server",
        "image": spec.image or image(engine.image, artifacts),
        "command": list(engine.command),
        "args": _arguments(spec, engine, values),
        "env": _environment(spec, engine, values),
        "ports": [{"name": port, "containerPort": number} for port, number in engine.ports.items()],
        # No CPU limit: a throttled server answers late, and the requests already keep its neighbours' share free.
        "resources": {
            "requests": {"cpu": cpu, "memory": memory} | accelerators,
            "limits": {"memory": memory} | accelerators,
        },
        "startupProbe": _probe(engine, engine.health.startup)
        | {
            "periodSeconds": sizing.PROBE_SECONDS,
            "failureThreshold": sizing.budget(spec, engine).startup // sizing.PROBE_SECONDS,
        },
        "readinessProbe": _probe(engine, engine.health.readiness) | {"periodSeconds": 5, "failureThreshold": 3},
        "livenessProbe": _probe(engine, engine.health.liveness) | {"periodSeconds": 10, "failureThreshold": 6},
        "lifecycle": {"preStop": {"sleep": {"seconds": LEAVE_SECONDS}}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "privileged": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": _mounts(spec, engine, placement),
    }


def _probe(engine: ServingTemplate, path: str) -> dict[str, Any]:
    return {"httpGet": {"path": path, "port": engine.health.port}, "timeoutSeconds": 5}


def _values(name: str, spec: EndpointSpec, engine: ServingTemplate, placement: Placement) -> dict[str, Any]:
    """What the template's placeholders stand for. Only texts that use a value need it to be there."""
    model = spec.model
    return {
        "name": name,
        "model": model.id if isinstance(model, HubModel) else _address(model),
        "revision": model.revision if isinstance(model, HubModel) else None,
        "region": (model.region if isinstance(model, StoredModel) else None) or placement.region,
        "quantization": spec.quantization,
        "tensor_parallel": spec.tensor_parallel,
        "context": spec.context,
        "cache": engine.security.cache,
        "startup_seconds": sizing.budget(spec, engine).startup,
        "drain_seconds": engine.drain_seconds,
    }


def _address(model: StoredModel) -> str:
    return f"{CLAIM_MOUNT}{_claim(model)[1]}" if model.source == "pvc" else model.uri


def _claim(model: StoredModel) -> tuple[str, str]:
    """The claim of pvc://claim/path, and the path with its slash."""
    claim, slash, path = model.uri.removeprefix("pvc://").partition("/")
    return claim, f"{slash}{path}"


def _arguments(spec: EndpointSpec, engine: ServingTemplate, values: Mapping[str, Any]) -> list[str]:
    texts = [*engine.arguments, *engine.sources[spec.model.source].arguments]
    for option, arguments in engine.options.items():
        if getattr(spec, option) is not None:
            texts += arguments
    return [text.format(**values) for text in texts]


def _environment(spec: EndpointSpec, engine: ServingTemplate, values: Mapping[str, Any]) -> list[dict[str, Any]]:
    texts = engine.environment | engine.sources[spec.model.source].environment
    variables: list[dict[str, Any]] = [{"name": key, "value": text.format(**values)} for key, text in texts.items()]
    if isinstance(spec.model, HubModel) and spec.model.token is not None:
        token = {"name": spec.model.token.secret, "key": spec.model.token.key}
        variables.append({"name": HUB_TOKEN, "valueFrom": {"secretKeyRef": token}})
    return variables


def _volumes(spec: EndpointSpec, engine: ServingTemplate, placement: Placement) -> list[dict[str, Any]]:
    # The volumes have limits, but the pod requests no ephemeral storage: cluster-autoscaler and Karpenter do not know
    # how much of it a node of an empty group would have, and would never start one.
    volumes: list[dict[str, Any]] = [{"name": "cache", "emptyDir": {"sizeLimit": f"{sizing.disk_gib(spec)}Gi"}}]
    if _own_shm(placement):
        size = f"{engine.resources.shm_gib * spec.accelerators}Gi"
        volumes.insert(0, {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": size}})
    volumes += [
        {"name": _volume_name(path), "emptyDir": {"sizeLimit": size}} for path, size in engine.security.writable.items()
    ]
    if isinstance(spec.model, StoredModel) and spec.model.source == "pvc":
        claim = {"claimName": _claim(spec.model)[0], "readOnly": True}
        volumes.append({"name": "models", "persistentVolumeClaim": claim})
    return volumes


def _mounts(spec: EndpointSpec, engine: ServingTemplate, placement: Placement) -> list[dict[str, Any]]:
    mounts: list[dict[str, Any]] = [{"name": "cache", "mountPath": engine.security.cache}]
    if _own_shm(placement):
        mounts.insert(0, {"name": "shm", "mountPath": "/dev/shm"})  # noqa: S108 - a mount of the pod's own
    mounts += [{"name": _volume_name(path), "mountPath": path} for path in engine.security.writable]
    if spec.model.source == "pvc":
        mounts.append({"name": "models", "mountPath": CLAIM_MOUNT, "readOnly": True})
    return mounts


def _own_shm(placement: Placement) -> bool:
    """By MPS the device plugin mounts its daemon's /dev/shm, over which it talks to the pod; a mount of the pod's own
    would cover it. Source: NVIDIA/k8s-device-plugin internal/plugin/mps.go."""
    return _offered(placement).kind != "mps"


def _volume_name(path: str) -> str:
    return path.strip("/").replace("/", "-").replace(".", "-").replace("_", "-").lower()
