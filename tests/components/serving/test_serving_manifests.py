"""The Kubernetes objects of an endpoint."""

from __future__ import annotations

import importlib
import json
import re
import typing
from collections.abc import Callable
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from gpuyard.components.artifacts import ArtifactsSpec
from gpuyard.components.node_groups.base import Taint
from gpuyard.components.serving.manifests import manifests
from gpuyard.components.serving.placement import Placement
from gpuyard.components.serving.spec import EndpointSpec

Make = Callable[..., EndpointSpec]
On = Callable[..., Placement]
Objects = Callable[..., dict[str, dict[str, Any]]]
Golden = Callable[[str, Any], None]

SMALL: dict[str, Any] = {
    "tenant": "research",
    "model": {"id": "Qwen/Qwen3-8B", "revision": "89abcdef0123456789abcdef0123456789abcdef"},
    "quantization": None,
    "tensor_parallel": None,
    "context": 8192,
    "replicas": {"min": 0, "max": 2},
    "hours": {"start": "08:00", "end": "20:00", "timezone": "Europe/Berlin", "days": "mon-fri"},
}
LABELS = {"gpuyard.io/owner": "ml-platform", "gpuyard.io/cost-center": "4711"}


def pod(found: dict[str, dict[str, Any]]) -> dict[str, Any]:
    spec: dict[str, Any] = found["Deployment"]["spec"]["template"]["spec"]
    return spec


def server(found: dict[str, dict[str, Any]]) -> dict[str, Any]:
    (container,) = pod(found)["containers"]
    return dict(container)


def volumes(found: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {volume["name"]: volume for volume in pod(found)["volumes"]}


def variables(found: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {variable["name"]: variable.get("value", variable.get("valueFrom")) for variable in server(found)["env"]}


def everything(llama: Make, fraud: Make, on: On) -> list[list[dict[str, Any]]]:
    """Objects of every source, engine and way to scale."""
    google = {"uri": "gs://models/x", "role": "reader@project-1.iam.gserviceaccount.com"}
    cases = [
        ("llama-70b", llama(), on("p5.48xlarge")),
        ("fraud-score", fraud(), on("g6e.12xlarge")),
        ("small", llama(**SMALL), on("g2-standard-12")),
        ("stored", llama(model=google, weights="131Gi"), on("a3-highgpu-8g")),
        ("local", fraud(model={"uri": "pvc://models/fraud/1"}, replicas={"min": 2, "max": 2}), on("dgx-h100")),
        ("blind", fraud(replicas={"min": 2, "max": 2}), on("g6e.12xlarge", prometheus=None, priority_class="serving")),
    ]
    return [manifests(name, spec, placement=place, artifacts=ArtifactsSpec()) for name, spec, place in cases]


def test_a_70b_model_on_four_h100(llama: Make, on: On, golden: Golden, objects: Objects) -> None:
    place = on("p5.48xlarge", group="h100", namespace="assistants", selector={"gpuyard.io/node-group": "h100"})
    golden(
        "serving/llama-70b", manifests("llama-70b", llama(), placement=place, artifacts=ArtifactsSpec(), labels=LABELS)
    )
    found = objects("llama-70b", llama(), place)
    assert server(found)["command"] == ["vllm", "serve"]
    assert server(found)["args"] == [
        "meta-llama/Llama-3.3-70B-Instruct",
        "--served-model-name=llama-70b",
        "--host=0.0.0.0",
        "--port=8000",
        "--shutdown-timeout=90",
        "--revision=0123456789abcdef0123456789abcdef01234567",
        "--quantization=fp8",
        "--tensor-parallel-size=4",
        "--max-model-len=32768",
    ]
    assert server(found)["resources"] == {
        "requests": {"cpu": "72", "memory": "768Gi", "nvidia.com/gpu": "4"},
        "limits": {"memory": "768Gi", "nvidia.com/gpu": "4"},
    }
    assert volumes(found)["shm"]["emptyDir"] == {"medium": "Memory", "sizeLimit": "8Gi"}
    assert volumes(found)["cache"]["emptyDir"] == {"sizeLimit": "165Gi"}
    assert "replicas" not in found["Deployment"]["spec"], "KEDA owns the number"


def test_a_small_model_that_sleeps_at_night(llama: Make, on: On, golden: Golden, objects: Objects) -> None:
    group = {"group": "l4", "selector": {"gpuyard.io/node-group": "l4"}}
    place = on("g2-standard-12", **group, namespace="research", region="europe-west4")
    spec = llama(**SMALL)
    golden("serving/small", manifests("small", spec, placement=place, artifacts=ArtifactsSpec(), labels=LABELS))
    found = objects("small", spec, place)
    scaler = found["ScaledObject"]["spec"]
    assert (scaler["minReplicaCount"], scaler["maxReplicaCount"]) == (0, 2)
    assert scaler["triggers"][1] == {
        "type": "cron",
        "metadata": {
            "timezone": "Europe/Berlin",
            "desiredReplicas": "1",
            "start": "0 8 * * mon,tue,wed,thu,fri",
            "end": "0 20 * * mon,tue,wed,thu,fri",
        },
    }
    assert "--tensor-parallel-size" not in " ".join(server(found)["args"])


def test_fraud_scoring_on_triton(fraud: Make, on: On, golden: Golden, objects: Objects) -> None:
    place = on("g6e.12xlarge", group="l40s", selector={"gpuyard.io/node-group": "l40s"})
    golden(
        "serving/fraud-score",
        manifests("fraud-score", fraud(), placement=place, artifacts=ArtifactsSpec(), labels=LABELS),
    )
    found = objects("fraud-score", fraud(), place)
    assert server(found)["command"] == ["tritonserver"]
    assert server(found)["args"][0] == "--model-repository=s3://models/fraud/12"
    assert variables(found)["AWS_DEFAULT_REGION"] == "us-east-1"
    assert variables(found)["TRITON_AWS_MOUNT_DIRECTORY"] == "/cache"
    account = found["ServiceAccount"]
    assert account["metadata"]["annotations"] == {
        "eks.amazonaws.com/role-arn": "arn:aws:iam::111122223333:role/fraud-read"
    }
    assert pod(found)["serviceAccountName"] == account["metadata"]["name"]


def test_every_object_is_in_the_tenants_namespace(llama: Make, fraud: Make, on: On) -> None:
    namespaced = {
        "ServiceAccount",
        "NetworkPolicy",
        "Deployment",
        "Service",
        "PodDisruptionBudget",
        "ServiceMonitor",
        "ScaledObject",
    }
    kinds = set()
    for case in everything(llama, fraud, on):
        kinds |= {manifest["kind"] for manifest in case}
        assert {manifest["metadata"]["namespace"] for manifest in case} <= {"assistants", "fraud", "research"}
    assert kinds == namespaced


def test_every_object_says_whose_it_is(fraud: Make, on: On) -> None:
    found = manifests("fraud-score", fraud(), placement=on("g6e.12xlarge"), artifacts=ArtifactsSpec(), labels=LABELS)
    expected = {
        "gpuyard.io/owner": "ml-platform",
        "gpuyard.io/cost-center": "4711",
        "app.kubernetes.io/name": "fraud-score",
        "app.kubernetes.io/managed-by": "gpuyard",
        "gpuyard.io/tenant": "fraud",
    }
    assert all(manifest["metadata"]["labels"] == expected for manifest in found)
    (deployment,) = (manifest for manifest in found if manifest["kind"] == "Deployment")
    assert deployment["spec"]["template"]["metadata"]["labels"] == expected


def test_every_selector_finds_the_endpoints_own_pods(llama: Make, fraud: Make, on: On) -> None:
    for case in everything(llama, fraud, on):
        found = {manifest["kind"]: manifest["spec"] for manifest in case if "spec" in manifest}
        labels = found["Deployment"]["template"]["metadata"]["labels"].items()
        selectors = [
            found["Deployment"]["selector"]["matchLabels"],
            found["Service"]["selector"],
            found["PodDisruptionBudget"]["selector"]["matchLabels"],
            found["NetworkPolicy"]["podSelector"]["matchLabels"],
        ]
        assert all(selector.items() <= labels for selector in selectors)
        assert all("app.kubernetes.io/name" in selector for selector in selectors)


def test_every_pod_is_confined(llama: Make, fraud: Make, on: On) -> None:
    for case in everything(llama, fraud, on):
        found = {manifest["kind"]: manifest for manifest in case}
        assert pod(found)["automountServiceAccountToken"] is False
        assert pod(found)["enableServiceLinks"] is False
        security = pod(found)["securityContext"]
        assert security["runAsNonRoot"] is True
        assert security["runAsUser"] > 0
        assert security["seccompProfile"] == {"type": "RuntimeDefault"}
        assert server(found)["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "privileged": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert not {"hostNetwork", "hostPID", "hostIPC", "initContainers"} & set(pod(found))
        kinds = {key for volume in pod(found)["volumes"] for key in volume if key != "name"}
        assert kinds <= {"emptyDir", "persistentVolumeClaim"}


def test_every_mount_has_its_volume_and_every_written_volume_a_limit(llama: Make, fraud: Make, on: On) -> None:
    for case in everything(llama, fraud, on):
        found = {manifest["kind"]: manifest for manifest in case}
        mounts = server(found)["volumeMounts"]
        assert sorted(mount["name"] for mount in mounts) == sorted(volumes(found))
        assert len({mount["mountPath"] for mount in mounts}) == len(mounts)
        assert all("sizeLimit" in volume["emptyDir"] for volume in volumes(found).values() if "emptyDir" in volume)


def test_accelerators_are_requested_as_they_are_limited(llama: Make, fraud: Make, on: On) -> None:
    for case in everything(llama, fraud, on):
        resources = server({manifest["kind"]: manifest for manifest in case})["resources"]
        assert resources["requests"]["nvidia.com/gpu"] == resources["limits"]["nvidia.com/gpu"]
        assert resources["requests"]["memory"] == resources["limits"]["memory"]


def test_pods_go_where_their_group_is(llama: Make, on: On, objects: Objects) -> None:
    found = objects("x", llama(), on("dgx-h100", selector={"nvidia.com/gpu.product": "H100"}, priority_class="serving"))
    assert pod(found)["nodeSelector"] == {"nvidia.com/gpu.product": "H100"}
    assert pod(found)["tolerations"] == [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
    assert pod(found)["priorityClassName"] == "serving"


def test_pods_tolerate_every_taint_of_their_nodes(llama: Make, on: On, objects: Objects) -> None:
    taints = [Taint(key="team", value="nlp"), Taint(key="spot", effect="NoExecute")]
    assert pod(objects("x", llama(), on("p5.48xlarge", taints=taints)))["tolerations"][1:] == [
        {"key": "team", "operator": "Equal", "value": "nlp", "effect": "NoSchedule"},
        {"key": "spot", "operator": "Equal", "value": "", "effect": "NoExecute"},
    ]


def test_a_token_comes_by_reference_only(llama: Make, on: On, objects: Objects) -> None:
    found = objects("x", llama(), on("p5.48xlarge"))
    assert variables(found)["HF_TOKEN"] == {"secretKeyRef": {"name": "hf-token", "key": "token"}}
    assert "--hf-token" not in json.dumps(found)


def test_the_front_end_waits_as_long_as_the_startup_probe(llama: Make, on: On, objects: Objects) -> None:
    found = objects("x", llama(), on("p5.48xlarge"))
    probe = server(found)["startupProbe"]
    seconds = probe["periodSeconds"] * probe["failureThreshold"]
    assert variables(found)["VLLM_ENGINE_READY_TIMEOUT_S"] == str(seconds)
    assert seconds == 2020, "141.1 GB at 100 MB/s, and ten minutes to start"
    assert found["Deployment"]["spec"]["progressDeadlineSeconds"] > seconds


def test_a_deployment_declares_the_endpoint_and_waits_for_no_model(llama: Make, on: On, objects: Objects) -> None:
    found = objects("x", llama(), on("p5.48xlarge"))
    for kind in ("Deployment", "Service"):
        assert found[kind]["metadata"]["annotations"]["pulumi.com/skipAwait"] == "true", kind
    # Not awaited either when it is deleted: it must be gone at once, or one of the same name would go with it.
    assert found["Deployment"]["metadata"]["annotations"]["pulumi.com/deletionPropagationPolicy"] == "background"


@pytest.mark.parametrize("engine", ["vllm", "triton"])
def test_a_pod_is_not_killed_while_its_server_drains(
    engine: str, llama: Make, fraud: Make, on: On, objects: Objects
) -> None:
    spec, machine, flag = {
        "vllm": (llama(), "p5.48xlarge", "--shutdown-timeout="),
        "triton": (fraud(), "g6e.12xlarge", "--exit-timeout-secs="),
    }[engine]
    found = objects("x", spec, on(machine))
    (drain,) = (int(text.removeprefix(flag)) for text in server(found)["args"] if text.startswith(flag))
    leaving = server(found)["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert pod(found)["terminationGracePeriodSeconds"] > drain + leaving
    assert pod(found)["terminationGracePeriodSeconds"] <= 120, "AWS takes a spot machine back after two minutes"


@pytest.mark.parametrize(
    ("promised", "spare", "surge"),
    [(18, 4, 1), (19, 4, 0), (24, 4, 0), (18, 3, 0), (18, 0, 0)],
    ids=["a place for certain", "one short", "none on the nodes", "too little of the quota", "none of the quota"],
)
def test_a_rollout_surges_only_where_a_place_is_certain_and_the_quota_has_room(
    llama: Make, on: On, objects: Objects, promised: int, spare: int, surge: int
) -> None:
    """Of three nodes with 8 each, the 14 that are not the new replica's own leave one with 4, however they lie; 15 may
    take 5 of each."""
    found = objects("x", llama(), on("p5.48xlarge", nodes=3, promised=promised, spare=spare))
    strategy = {"maxSurge": surge, "maxUnavailable": 1 - surge}
    assert found["Deployment"]["spec"]["strategy"]["rollingUpdate"] == strategy


def test_a_fixed_number_of_replicas_has_no_scaler(llama: Make, on: On, objects: Objects) -> None:
    found = objects("x", llama(replicas={"min": 2, "max": 2}), on("p5.48xlarge"))
    assert found["Deployment"]["spec"]["replicas"] == 2
    assert "ScaledObject" not in found
    assert "ServiceMonitor" in found


def test_without_prometheus_nothing_is_monitored(llama: Make, on: On, objects: Objects) -> None:
    found = objects("x", llama(replicas={"min": 2, "max": 2}), on("p5.48xlarge", prometheus=None))
    assert not {"ServiceMonitor", "ScaledObject"} & set(found)


def test_the_load_is_that_of_the_endpoint_alone(llama: Make, on: On, objects: Objects) -> None:
    trigger = objects("llama-70b", llama(), on("p5.48xlarge"))["ScaledObject"]["spec"]["triggers"][0]["metadata"]
    own = '{namespace="assistants",service="llama-70b"}'
    assert trigger["query"] == f"sum(vllm:num_requests_running{own}) + sum(vllm:num_requests_waiting{own})"
    assert trigger["threshold"] == "64"
    spec = llama(replicas={"min": 1, "max": 4, "load": 12})
    assert objects("x", spec, on("p5.48xlarge"))["ScaledObject"]["spec"]["triggers"][0]["metadata"]["threshold"] == "12"


@pytest.mark.parametrize(
    ("days", "cron"), [(None, "*"), ("mon", "mon"), ("sat-sun", "sat,sun"), ("fri-mon", "fri,sat,sun,mon")]
)
def test_days_may_pass_the_weekend(llama: Make, on: On, objects: Objects, days: str | None, cron: str) -> None:
    hours = {"start": "07:30", "end": "18:05", "timezone": "UTC"} | ({"days": days} if days else {})
    found = objects("x", llama(**{**SMALL, "hours": hours}), on("g2-standard-12"))
    window = found["ScaledObject"]["spec"]["triggers"][1]["metadata"]
    assert (window["start"], window["end"]) == (f"30 7 * * {cron}", f"5 18 * * {cron}")


def test_a_model_on_a_volume_is_read_only_and_needs_no_network(fraud: Make, on: On, objects: Objects) -> None:
    found = objects("x", fraud(model={"uri": "pvc://models/fraud/1"}), on("dgx-h100"))
    assert volumes(found)["models"]["persistentVolumeClaim"] == {"claimName": "models", "readOnly": True}
    assert server(found)["args"][0] == "--model-repository=/models/fraud/1"
    ports = {port["port"] for rule in found["NetworkPolicy"]["spec"]["egress"] for port in rule["ports"]}
    assert ports == {53}
    assert "ServiceAccount" not in found


def test_clients_come_from_the_tenant_and_scrapes_from_monitoring(fraud: Make, on: On, objects: Objects) -> None:
    policy = objects("x", fraud(), on("g6e.12xlarge"))["NetworkPolicy"]["spec"]
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    clients, scrapes = policy["ingress"]
    assert clients["from"] == [{"podSelector": {}}]
    assert [port["port"] for port in clients["ports"]] == [8000, 8001]
    assert scrapes["from"] == [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}]
    assert [port["port"] for port in scrapes["ports"]] == [8002]


def test_the_address_of_prometheus_says_where_scrapes_come_from(fraud: Make, on: On, objects: Objects) -> None:
    elsewhere = on("g6e.12xlarge", prometheus="http://prometheus.observability.svc.cluster.local:9090")
    (_, scrapes) = objects("x", fraud(), elsewhere)["NetworkPolicy"]["spec"]["ingress"]
    assert scrapes["from"][0]["namespaceSelector"]["matchLabels"] == {"kubernetes.io/metadata.name": "observability"}


def test_without_prometheus_only_the_tenant_comes_in(fraud: Make, on: On, objects: Objects) -> None:
    spec = fraud(replicas={"min": 2, "max": 2})
    (clients,) = objects("x", spec, on("g6e.12xlarge", prometheus=None))["NetworkPolicy"]["spec"]["ingress"]
    assert [port["port"] for port in clients["ports"]] == [8000, 8001]


def test_no_pod_reaches_the_metadata_service_of_aws(llama: Make, fraud: Make, on: On, objects: Objects) -> None:
    for spec, machine in ((llama(), "p5.48xlarge"), (fraud(), "g6e.12xlarge")):
        for rule in objects("x", spec, on(machine))["NetworkPolicy"]["spec"]["egress"]:
            ports = {port["port"] for port in rule["ports"]}
            for peer in rule["to"]:
                block = peer.get("ipBlock", {})
                assert ports == {53} or block.get("except") == ["169.254.0.0/16"]


def test_a_google_identity_may_reach_its_metadata_server(llama: Make, on: On, objects: Objects) -> None:
    model = {"uri": "gs://models/llama", "role": "reader@project-1.iam.gserviceaccount.com"}
    found = objects("x", llama(model=model, weights="131Gi"), on("a3-highgpu-8g"))
    reached = {
        (peer["ipBlock"]["cidr"], port["port"])
        for rule in found["NetworkPolicy"]["spec"]["egress"]
        for peer in rule["to"]
        for port in rule["ports"]
        if "ipBlock" in peer
    }
    assert {("169.254.169.254/32", 80), ("169.254.169.252/32", 988)} <= reached
    annotations = found["ServiceAccount"]["metadata"]["annotations"]
    assert annotations == {"iam.gke.io/gcp-service-account": "reader@project-1.iam.gserviceaccount.com"}
    assert "--load-format=runai_streamer" in server(found)["args"]
    assert "AWS_REGION" not in variables(found)


def test_a_single_replica_does_not_stop_its_nodes_drain(llama: Make, on: On, objects: Objects) -> None:
    budget = objects("x", llama(replicas={"min": 1, "max": 1}), on("p5.48xlarge"))["PodDisruptionBudget"]["spec"]
    assert budget["maxUnavailable"] == 1
    assert "minAvailable" not in budget


def test_images_come_from_the_mirror_or_from_the_endpoint(llama: Make, on: On, objects: Objects) -> None:
    mirror = ArtifactsSpec(images="mirror.example/ai")
    found = objects("x", llama(), on("p5.48xlarge"), artifacts=mirror)
    assert server(found)["image"].startswith("mirror.example/ai/vllm/vllm-openai:v0.32.0")
    own = "registry.example/own/vllm:v1"
    assert server(objects("x", llama(image=own), on("p5.48xlarge"), artifacts=mirror))["image"] == own


def test_nothing_is_left_open(llama: Make, fraud: Make, on: On) -> None:
    for case in everything(llama, fraud, on):
        text = json.dumps(case)
        assert "None" not in text
        assert not re.search(r"\{[a-z_]+\}", text)


SCALED_OBJECT = {
    "type": "object",
    "additionalProperties": False,
    "required": ["scaleTargetRef", "triggers", "minReplicaCount", "maxReplicaCount"],
    "properties": {
        "scaleTargetRef": {"type": "object", "required": ["name"]},
        "minReplicaCount": {"type": "integer"},
        "maxReplicaCount": {"type": "integer"},
        "pollingInterval": {"type": "integer"},
        "cooldownPeriod": {"type": "integer"},
        "advanced": {"type": "object"},
        "triggers": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["type", "metadata"],
                "properties": {
                    "type": {"enum": ["prometheus", "cron"]},
                    "metricType": {"enum": ["AverageValue", "Value"]},
                    # KEDA decodes metadata into strings; a number here is refused by the API server.
                    "metadata": {"type": "object", "additionalProperties": {"type": "string", "minLength": 1}},
                },
            },
        },
    },
}
SERVICE_MONITOR = {
    "type": "object",
    "additionalProperties": False,
    "required": ["selector", "endpoints"],
    "properties": {
        "selector": {"type": "object", "required": ["matchLabels"]},
        "endpoints": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["port", "path"],
                "properties": {
                    "port": {"type": "string"},
                    "path": {"type": "string", "pattern": "^/"},
                    "interval": {"type": "string", "pattern": "^[0-9]+s$"},
                },
            },
        },
    },
}


def test_custom_resources_have_their_kinds_shape(llama: Make, fraud: Make, on: On) -> None:
    shapes = {
        ("keda.sh/v1alpha1", "ScaledObject"): SCALED_OBJECT,
        ("monitoring.coreos.com/v1", "ServiceMonitor"): SERVICE_MONITOR,
    }
    checked = set()
    for case in everything(llama, fraud, on):
        for manifest in case:
            kind = (manifest["apiVersion"], manifest["kind"])
            if kind in shapes:
                Draft202012Validator(shapes[kind]).validate(manifest["spec"])
                checked.add(kind)
    assert checked == set(shapes)


def test_a_monitor_scrapes_a_port_that_its_service_has(llama: Make, fraud: Make, on: On, objects: Objects) -> None:
    for spec, machine in ((llama(), "p5.48xlarge"), (fraud(), "g6e.12xlarge")):
        found = objects("x", spec, on(machine))
        ports = {port["name"] for port in found["Service"]["spec"]["ports"]}
        assert {endpoint["port"] for endpoint in found["ServiceMonitor"]["spec"]["endpoints"]} <= ports
        monitored = found["ServiceMonitor"]["spec"]["selector"]["matchLabels"]
        assert monitored.items() <= found["Service"]["metadata"]["labels"].items()


BUILT_IN = {
    "Deployment": ("pulumi_kubernetes.apps.v1._inputs", "DeploymentSpecArgsDict"),
    "Service": ("pulumi_kubernetes.core.v1._inputs", "ServiceSpecArgsDict"),
    "NetworkPolicy": ("pulumi_kubernetes.networking.v1._inputs", "NetworkPolicySpecArgsDict"),
    "PodDisruptionBudget": ("pulumi_kubernetes.policy.v1._inputs", "PodDisruptionBudgetSpecArgsDict"),
}


def test_built_in_kinds_have_only_fields_that_the_sdk_knows(llama: Make, fraud: Make, on: On) -> None:
    checked = set()
    for case in everything(llama, fraud, on):
        for manifest in case:
            if manifest["kind"] in BUILT_IN:
                module, name = BUILT_IN[manifest["kind"]]
                check(manifest["spec"], f"{module}:{name}", manifest["kind"])
                checked.add(manifest["kind"])
    assert checked == set(BUILT_IN)


def test_the_check_against_the_sdk_finds_a_misspelt_field(llama: Make, on: On, objects: Objects) -> None:
    spec = objects("x", llama(), on("p5.48xlarge"))["Deployment"]["spec"]
    pod({"Deployment": {"spec": spec}})["containers"][0]["livenessProbe"]["periodSecond"] = 1
    module, name = BUILT_IN["Deployment"]
    with pytest.raises(AssertionError, match="periodSecond"):
        check(spec, f"{module}:{name}", "Deployment")


def check(value: Any, kind: str, path: str) -> None:
    """Every key of a manifest is a field of the SDK's type, all the way down."""
    module_name, class_name = kind.split(":")
    fields = vars(getattr(importlib.import_module(module_name), class_name))["__annotations__"]
    for key, below in value.items():
        field = re.sub(r"([A-Z]+)", lambda m: "_" + m[1].lower(), key)
        assert field in fields or f"{field}_" in fields, f"{path}.{key} is no field of {class_name}"
        refs = [ref for ref in references(fields.get(field, fields.get(f"{field}_"))) if ref.endswith("ArgsDict")]
        for item in below if isinstance(below, list) else [below]:
            if refs and isinstance(item, dict):
                check(item, resolve(refs[0], module_name), f"{path}.{key}")


def references(annotation: Any) -> list[str]:
    if isinstance(annotation, str):
        return [annotation]
    if isinstance(annotation, typing.ForwardRef):
        return [annotation.__forward_arg__]
    return [ref for part in typing.get_args(annotation) for ref in references(part)]


def resolve(reference: str, module_name: str) -> str:
    reference = re.findall(r"[\w.]+ArgsDict", reference)[0]
    if "." not in reference:
        return f"{module_name}:{reference}"
    group, version, name = reference.split(".")
    return f"pulumi_kubernetes.{group.lstrip('_')}.{version}._inputs:{name}"
