"""The rules on programs that never heard of gpuyard: nothing on good ones, and one change is one finding."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from documents import document, kubernetes, pod_spec, resource, workload
from raw_programs import PROGRAMS, TAGS, named, named_aws, raw_gcp, tenant, unknown, untagged
from refused_programs import HUGGING_FACE, group

from gpuyard.review.evaluation.evaluate import Verdict, evaluate, find_policies

Json = dict[str, Any]

POLICIES = find_policies(Path("/nonexistent"))
KINDS = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Job", "CronJob", "Pod")
CUSTOM = ("RayCluster",)
ROLES = ("containers", "initContainers", "ephemeralContainers")


def judged(given: Json) -> Verdict:
    return evaluate(given, POLICIES, choice="embedded")


def found(given: Json) -> list[tuple[str, str, str]]:
    return [(f.rule, f.status, f.path) for f in judged(given).findings]


def rules(resources: list[Json]) -> set[str]:
    return {f.rule for f in judged(document([*resources, *tenant()])).findings}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_well_configured_program_gives_no_finding(name: str) -> None:
    assert found(PROGRAMS[name]()) == []


@pytest.mark.parametrize("kind", KINDS + CUSTOM)
@pytest.mark.parametrize("role", ROLES)
def test_every_container_of_every_workload_kind_is_judged(kind: str, role: str) -> None:
    bad = pod_spec("evil.example/a:1", securityContext={"privileged": True}, env=[{"name": "T", "value": HUGGING_FACE}])
    spec = pod_spec() | {role: [*pod_spec()["containers"], *bad["containers"]]}
    expected = {"isolation/privileged", "supply_chain/registries", "supply_chain/plain_tokens"}
    assert rules([kubernetes(workload(kind, spec))]) == expected
    assert rules([kubernetes(workload(kind, pod_spec()))]) == set()


@pytest.mark.parametrize(
    "type_",
    [
        "kubernetes:apps/v1:Deployment",
        "kubernetes:apps/v1:DeploymentPatch",
        "kubernetes:apps/v1beta2:Deployment",
        "kubernetes:somebody.else/v1:Whatever",
    ],
)
def test_an_object_is_what_its_apiversion_and_kind_say(type_: str) -> None:
    manifest = workload("Deployment", pod_spec("evil.example/a:1"))
    assert rules([kubernetes(manifest, type_=type_)]) == {"supply_chain/registries"}


def test_the_items_of_a_list_are_judged_where_they_lie() -> None:
    spec = {"template": {"spec": pod_spec("evil.example/a:1")}}
    item = {"metadata": {"name": "a", "namespace": "fraud"}, "spec": spec}
    listed = {"apiVersion": "apps/v1", "kind": "DeploymentList", "items": [item]}
    assert found(document([resource("kubernetes:apps/v1:DeploymentList", "all", listed)])) == [
        ("supply_chain/registries", "violation", "/items/0/spec/template/spec/containers/0/image")
    ]
    mixed = {"apiVersion": "v1", "kind": "List", "items": [workload("Pod", pod_spec("evil.example/a:1"))]}
    assert found(document([resource("kubernetes:core/v1:List", "all", mixed)])) == [
        ("supply_chain/registries", "violation", "/items/0/spec/containers/0/image")
    ]


def test_the_objects_of_a_config_group_are_judged() -> None:
    group = {"objs": [workload("Deployment", pod_spec("evil.example/a:1"))]}
    assert rules([resource("kubernetes:yaml/v2:ConfigGroup", "group", group)]) == {"supply_chain/registries"}


AWS: dict[str, tuple[Callable[[Json], Any], list[tuple[str, str, str]]]] = {
    "a public endpoint": (
        lambda p: named(p, "ml")["inputs"]["vpcConfig"].update(endpointPublicAccess=True),
        [("cloud/api_exposure", "violation", "/vpcConfig/publicAccessCidrs")],
    ),
    "an endpoint that nobody decided on": (
        lambda p: named(p, "ml")["inputs"]["vpcConfig"].pop("endpointPublicAccess"),
        [("cloud/api_exposure", "violation", "/vpcConfig/publicAccessCidrs")],
    ),
    "another machine": (
        lambda p: named(p, "gpu-group")["inputs"].update(instanceTypes=["p5.48xlarge"]),
        [("quota/machines", "violation", "/instanceTypes/0")],
    ),
    "a machine that the catalogue lacks": (
        lambda p: p["capacity"].update(
            groups=[group(named(p, "gpu-group")["urn"], "p9.48xlarge", None, {"max": 2}, None)]
        ),
        [("quota/max_accelerators", "violation", "/machine")],
    ),
    "no launch template": (
        lambda p: named(p, "gpu-group")["inputs"].pop("launchTemplate"),
        [("cloud/instance_metadata", "violation", "/launchTemplate")],
    ),
    "two hops": (
        lambda p: named(p, "gpu-template")["inputs"]["metadataOptions"].update(httpPutResponseHopLimit=2),
        [("cloud/instance_metadata", "violation", "/metadataOptions/httpPutResponseHopLimit")],
    ),
    "a CNI that does not enforce": (
        lambda p: named(p, "cni")["inputs"].pop("configurationValues"),
        [("isolation/default_deny", "violation", "/configurationValues")],
    ),
    "no network policy": (
        lambda p: p["resources"].remove(named(p, "fraud-NetworkPolicy")),
        [("isolation/default_deny", "violation", "/metadata/name")],
    ),
    "too many accelerators": (
        lambda p: p["capacity"].update(total=17),
        [("quota/max_accelerators", "violation", "/capacity/total")],
    ),
    "too much money": (
        lambda p: p["cost"]["total"].update(max=20000.5),
        [("cost/budget", "violation", "/cost/total/max")],
    ),
    "no price": (
        lambda p: p["cost"]["lines"][0].update(month=None, unknown="its region is not known"),
        [("cost/budget", "violation", "")],
    ),
    "no tags from the provider": (
        lambda p: untagged(p),
        [("cost/tags", "violation", "/tags")] * 2,
    ),
}


@pytest.mark.parametrize("name", AWS)
def test_one_change_of_a_program_is_one_finding(name: str) -> None:
    change, expected = AWS[name]
    given = named_aws()
    change(given)
    assert sorted(found(given)) == sorted(expected)


def test_a_gke_cluster_with_the_clouds_defaults_gives_three_findings() -> None:
    given = raw_gcp()
    inputs = next(r for r in given["resources"] if r["type"] == "gcp:container/cluster:Cluster")["inputs"]
    for key in ("datapathProvider", "masterAuthorizedNetworksConfig", "resourceLabels"):
        del inputs[key]
    assert {rule for rule, _, _ in found(given)} == {"cloud/api_exposure", "isolation/default_deny", "cost/tags"}


def test_tags_of_default_providers_count() -> None:
    bucket = resource("aws:s3/bucket:Bucket", "models", {})
    assert {rule for rule, _, _ in found(document([bucket]))} == {"cost/tags"}
    settings = {"aws": {"inputs": {"defaultTags": {"tags": TAGS}}}}
    assert found(document([bucket], default_providers=settings)) == []
    labelled = resource("gcp:storage/bucket:Bucket", "models", {})
    assert found(document([labelled], default_providers={"gcp": {"inputs": {"defaultLabels": TAGS}}})) == []


def test_an_operator_may_be_privileged_and_a_tenant_may_not() -> None:
    spec = pod_spec("nvcr.io/nvidia/k8s-device-plugin:v0.20.0", securityContext={"privileged": True})
    assert rules([kubernetes(workload("DaemonSet", spec, namespace="gpu-operator"))]) == set()
    assert rules([kubernetes(workload("DaemonSet", spec, namespace="default"))]) == {"isolation/privileged"}


def test_a_namespace_by_its_dependency_is_known() -> None:
    spec = pod_spec("nvcr.io/nvidia/driver:1", securityContext={"privileged": True})
    space = kubernetes({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "gpu-operator"}})
    pod = kubernetes(workload("Pod", spec), depends_on=[space])
    unknown(pod, "/metadata/namespace")
    assert found(document([space, pod])) == []


def test_pods_without_a_namespace_go_to_their_providers() -> None:
    inside = resource("pulumi:providers:kubernetes", "k8s", {"namespace": "gpu-operator"})
    manifest = workload("Pod", pod_spec("nvcr.io/nvidia/driver:1", securityContext={"privileged": True}))
    del manifest["metadata"]["namespace"]
    assert found(document([inside, kubernetes(manifest, provider=inside)])) == []
    assert [rule for rule, _, _ in found(document([kubernetes(manifest)]))] == ["isolation/privileged"]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"image": {"repository": "nvcr.io/nvidia/app", "tag": "1"}}, set()),
        ({"repoURL": "https://example.com", "git": {"repository": "acme/app"}}, set()),
        ({"image": {"repository": "acme/app", "tag": "1"}}, {"supply_chain/registries"}),
        (
            {
                "global": {"imageRegistry": "registry.k8s.io"},
                "image": {"registry": "x.io", "repository": "a", "tag": "1"},
            },
            set(),
        ),
        ({"podSecurityContext": {"privileged": True}}, {"isolation/privileged"}),
        ({"web": {"hostNetwork": True}}, {"isolation/privileged"}),
        ({"securityContext": {"capabilities": {"add": ["SYS_ADMIN"]}}}, {"isolation/privileged"}),
        ({"securityContext": {"capabilities": {"add": ["CHOWN"], "drop": ["ALL"]}}}, set()),
        ({"extraVolumes": [{"name": "dev", "hostPath": {"path": "/dev"}}]}, {"isolation/privileged"}),
        ({"extraVolumes": [{"name": "shm", "emptyDir": {"medium": "Memory"}}]}, set()),
        ({"gitSync": {"repository": "acme/dags", "tag": "v1"}}, set()),
        ({"sidecar": {"image": "busybox:latest"}}, {"supply_chain/registries"}),
        ({"web": {"hostNetwork": False}, "securityContext": {"privileged": False}}, set()),
        ({"config": {"hubToken": HUGGING_FACE}}, {"supply_chain/plain_tokens"}),
        ({"config": {"existingSecret": "hub"}}, set()),
    ],
    ids=str,
)
@pytest.mark.parametrize("type_", ["kubernetes:helm.sh/v3:Release", "kubernetes:helm.sh/v4:Chart"])
def test_helm_values_are_judged(type_: str, values: Json, expected: set[str]) -> None:
    assert rules([resource(type_, "app", {"chart": "app", "namespace": "fraud", "values": values})]) == expected
