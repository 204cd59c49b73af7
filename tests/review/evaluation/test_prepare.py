"""What rules read: nothing is null, everything is found wherever it lies, and no input is too strange."""

from __future__ import annotations

import json
from typing import Any

import pytest
from documents import document, kubernetes, pod_spec, resource, workload
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard.review.evaluation.helm import release
from gpuyard.review.evaluation.images import image
from gpuyard.review.evaluation.objects import member, objects, pointer, steps
from gpuyard.review.evaluation.pods import pods
from gpuyard.review.evaluation.prepare import Prepared, prepare
from gpuyard.review.evaluation.rules import Refers

Json = dict[str, Any]

TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
GROUP = "aws:eks/nodeGroup:NodeGroup"
REFERS = [
    Refers(type=GROUP, path="/launchTemplate/id", to=TEMPLATE),
    Refers(type=GROUP, path="/launchTemplate/name", to=TEMPLATE),
    Refers(type="kubernetes:*", path="/metadata/namespace", to="kubernetes:core/v1:Namespace"),
]


def prepared(*resources: Json) -> Prepared:
    return prepare(document(list(resources)), {"api": {"widest_ipv4": 24.0}}, REFERS)


def test_members_that_are_not_known_are_left_out_and_whole_floats_are_integers() -> None:
    given_ = resource("aws:x/y:Z", "a", {"a": None, "b": [None, 1.0, 1.5], "c": {"d": None}})
    [found] = prepared(given_).input["by_type"]["aws:x/y:Z"]
    assert found["inputs"] == {"b": [None, 1, 1.5], "c": {}}
    assert "1.0" not in json.dumps(found)


def test_a_kubernetes_object_is_found_by_kind_and_group() -> None:
    found = prepared(kubernetes(workload("Deployment", pod_spec()))).input
    [deployment] = found["objects"]["Deployment.apps"]
    assert (deployment["name"], deployment["namespace"], deployment["api"]) == ("model", "fraud", "apps/v1")
    assert deployment["body"]["spec"]["selector"] == {"matchLabels": {"app": "model"}}
    assert "spec" not in deployment["body"]["spec"]["template"], "a pod's spec is among the pods only"
    assert found["by_type"] == {}


def test_the_inputs_are_left_as_they_are() -> None:
    given_ = kubernetes(workload("Deployment", pod_spec()))
    before = json.dumps(given_)
    prepared(given_)
    assert json.dumps(given_) == before


@pytest.mark.parametrize(
    ("type_", "inputs", "expected"),
    [
        ("kubernetes:core/v1:Pod", {}, [("v1", "Pod", ())]),
        ("kubernetes:v1:Pod", {}, [("v1", "Pod", ())]),
        ("kubernetes:apps/v1:DeploymentPatch", {}, [("apps/v1", "Deployment", ())]),
        ("kubernetes:apps/v1:Deployment", {"apiVersion": "batch/v1", "kind": "Job"}, [("batch/v1", "Job", ())]),
        ("kubernetes:apps/v1:Deployment", {"apiVersion": 7, "kind": None}, [("apps/v1", "Deployment", ())]),
        (
            "kubernetes:core/v1:PodList",
            {"items": [{}, 3, {}]},
            [("v1", "Pod", ("items", 0)), ("v1", "Pod", ("items", 2))],
        ),
        ("kubernetes:helm.sh/v3:Release", {"kind": "Pod"}, []),
        (
            "kubernetes:yaml/v2:ConfigGroup",
            {"objs": [{"apiVersion": "v1", "kind": "Pod"}]},
            [("v1", "Pod", ("objs", 0))],
        ),
        ("kubernetes:yaml/v2:ConfigGroup", {"objs": "x"}, []),
        ("pulumi:providers:kubernetes", {}, []),
        ("aws:eks/cluster:Cluster", {"apiVersion": "v1", "kind": "Pod"}, []),
    ],
)
def test_objects_are_what_they_say(type_: str, inputs: Json, expected: list[Any]) -> None:
    assert [(o.api, o.kind, o.path) for o in objects(type_, inputs)] == expected


def test_an_old_api_group_is_the_same_kind() -> None:
    keys = [
        next(iter(objects("kubernetes:x:Y", {"apiVersion": "extensions/v1beta1", "kind": kind}))).key
        for kind in ("Deployment", "NetworkPolicy")
    ]
    assert keys == ["Deployment.apps", "NetworkPolicy.networking.k8s.io"]


def test_pods_are_found_in_kinds_that_nobody_told_us_of() -> None:
    worker = {"replicas": 2, "template": {"spec": pod_spec()}}
    [ray] = objects("kubernetes:ray.io/v1:RayCluster", {"spec": {"workerGroupSpecs": [worker], "x": "containers"}})
    assert [pod.path for pod in pods(ray)] == [("spec", "workerGroupSpecs", 0, "template", "spec")]


def test_a_config_map_that_quotes_a_pod_is_none() -> None:
    body = {"data": {"a": pod_spec()}}
    assert [list(pods(o)) for o in objects("kubernetes:core/v1:ConfigMap", body)] == [[]]


def test_a_pod_without_a_spec_still_has_a_place() -> None:
    found = prepared(resource("kubernetes:apps/v1:Deployment", "a", {"spec": None}, unknown=["/spec"]))
    assert [pod["path"] for pod in found.input["pods"]] == ["/spec/template/spec"]
    assert [part.type for part in found.parts[found.input["pods"][0]["urn"]]] == [
        "kubernetes:apps/v1:Deployment",
        "kubernetes:apps/v1:Deployment",
        "pod",
    ]


@pytest.mark.parametrize(
    ("reference", "repository", "tag", "digest"),
    [
        ("nginx", "docker.io/library/nginx", "", ""),
        ("nginx:1.29", "docker.io/library/nginx", "1.29", ""),
        ("vllm/vllm-openai:v1", "docker.io/vllm/vllm-openai", "v1", ""),
        ("docker.io/nginx", "docker.io/library/nginx", "", ""),
        ("index.docker.io/vllm/a", "docker.io/vllm/a", "", ""),
        ("localhost:5000/a/b:c", "localhost:5000/a/b", "c", ""),
        ("GHCR.IO/acme/a@sha256:ab", "ghcr.io/acme/a", "", "sha256:ab"),
        ("a.example:80/b:1@sha256:ab", "a.example:80/b", "1", "sha256:ab"),
        ("a.example/b:", "a.example/b", "", ""),
    ],
)
def test_an_image_is_taken_apart_as_a_runtime_does(reference: str, repository: str, tag: str, digest: str) -> None:
    found = image(reference)
    assert (found["repository"], found["tag"], found["digest"]) == (repository, tag, digest)


@pytest.mark.parametrize(
    ("values", "repository", "tag"),
    [
        ({"image": {"registry": "quay.io", "repository": "a/b", "tag": "1"}}, "quay.io/a/b", "1"),
        (
            {"driver": {"repository": "nvcr.io/nvidia", "image": "driver", "version": "580"}},
            "nvcr.io/nvidia/driver",
            "580",
        ),
        ({"web": {"repository": "app", "pullPolicy": "Always"}}, "docker.io/library/app", ""),
        ({"web": {"repository": "quay.io/a/b", "tag": "1"}}, "quay.io/a/b", "1"),
        ({"image": {"repository": "acme/app"}}, "docker.io/acme/app", ""),
        ({"images": {"gitSync": {"repository": "acme/git-sync", "tag": "v4"}}}, "docker.io/acme/git-sync", "v4"),
        ({"modelSpec": [{"repository": "vllm/vllm-openai", "tag": "v1"}]}, "docker.io/vllm/vllm-openai", "v1"),
        ({"web": {"image": "acme/app"}}, "docker.io/acme/app", ""),
        ({"web": {"image": "acme/app", "tag": "1"}}, "docker.io/acme/app", "1"),
        ({"web": {"image": "acme/app", "registry": "quay.io/", "tag": "1"}}, "quay.io/acme/app", "1"),
        ({"web": {"image": "busybox:latest"}}, "docker.io/library/busybox", "latest"),
        ({"web": {"image": "busybox", "tag": "latest"}}, "docker.io/library/busybox", "latest"),
        ({"web": {"image": f"localhost:5000/a@sha256:{'ab' * 32}"}}, "localhost:5000/a", ""),
        ({"git": {"repository": "https://example.com/a.git", "image": "acme/app:1"}}, "docker.io/acme/app", "1"),
    ],
    ids=str,
)
def test_an_image_of_helm_values_is_known_where_they_name_it(values: Json, repository: str, tag: str) -> None:
    [found] = release({"values": values})["images"]
    assert (found["image"]["repository"], found["image"]["tag"], found["image"]["chart"]) == (repository, tag, True)
    place: Any = {"values": values}
    for step in steps(found["path"]):
        place = member(place, step)
    assert isinstance(place, str), "the path is that of a text that the program wrote"


@pytest.mark.parametrize(
    "values",
    [
        {"gitSync": {"repository": "acme/dags", "tag": "v1"}},
        {"gitSync": {"repository": "git.example.com/acme/dags", "tag": "v1"}},
        {"dags": {"repository": "github.com/acme/dags", "tag": "v1"}},
        {"dags": {"repository": "git.example.com/acme/dags.git", "tag": "v1"}},
        {"image": {"repository": "https://charts.example", "tag": "1"}},
        {"model": {"repository": "meta-llama/Llama-3.1-8B", "tag": "main"}},
        {"chart": {"repository": "registry.example/charts", "version": "1"}},
        {"image": {"repository": 7, "tag": "1"}},
        {"image": {"repository": ""}},
        {"image": {"tag": "1"}},
        {"driver": {"image": "driver", "version": "580"}},
        {"logo": {"image": "/static/logo.png"}},
        {"logo": {"image": "assets/logo.png"}},
        {"logo": {"image": "https://example.com/logo"}},
        {"disk": {"image": "projects/debian-cloud/global/images/family/debian-12"}},
        {"web": {"image": "{{ .Values.global.image }}/app"}},
    ],
    ids=str,
)
def test_what_only_looks_like_an_image_of_helm_values_is_left_alone(values: Json) -> None:
    assert release({"values": values})["images"] == []


def test_a_global_registry_stands_before_each_repository() -> None:
    values = {"global": {"imageRegistry": "mirror.example"}, "image": {"registry": "quay.io", "repository": "a/b"}}
    [found] = release({"values": values})["images"]
    assert found["image"]["repository"] == "mirror.example/a/b"


def test_a_release_says_what_its_values_grant() -> None:
    values = {
        "a": [{"securityContext": {"privileged": True, "capabilities": {"drop": ["ALL"], "add": ["SYS_ADMIN", 7]}}}],
        "hostPID": True,
        "privileged": True,
        "b": {"hostIPC": 1, "hostPath": {"path": "/"}, "capabilities": {"add": ["ALL"]}},
        "extraVolumes": [{"name": "dev", "hostPath": {"path": "/dev"}}, {"name": "tmp", "emptyDir": {}}],
    }
    found = release({"chart": "oci://x.example/charts/app", "values": values})
    assert found["chart"] == "app"
    assert [(grant["path"], grant["name"], grant["capability"]) for grant in found["grants"]] == [
        ("/values/a/0/securityContext/privileged", "privileged", ""),
        ("/values/a/0/securityContext/capabilities/add/0", "the capability SYS_ADMIN", "SYS_ADMIN"),
        ("/values/hostPID", "hostPID", ""),
        ("/values/extraVolumes/0/hostPath", "the host's path /dev", ""),
    ]


CHART = "kubernetes:helm.sh/v3:Release"


def test_the_namespace_of_a_release_is_told_as_an_objects_is() -> None:
    refers = [Refers(type="kubernetes:helm.sh/*:*", path="/namespace", to="kubernetes:core/v1:Namespace")]
    space = kubernetes({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "gpu-operator"}})
    hidden = {"unknown": ["/namespace"]}
    given_ = [
        resource(CHART, "said", {"namespace": "fraud"}),
        resource(CHART, "silent", {}),
        resource(CHART, "unknown", {"namespace": None}, **hidden),
        resource(CHART, "referred", {"namespace": None}, depends_on=[space], **hidden),
    ]
    found = prepare(document([space, *given_]), {}, refers).input["releases"]
    namespaces = {release_["urn"].rpartition("::")[2]: release_.get("namespace") for release_ in found}
    assert namespaces == {"said": "fraud", "silent": "default", "unknown": None, "referred": "gpu-operator"}


def test_a_node_group_is_joined_to_the_template_that_it_depends_on() -> None:
    template = resource(TEMPLATE, "t", {})
    group = resource(
        GROUP, "g", {"launchTemplate": {"id": None}}, unknown=["/launchTemplate/id", "/x"], depends_on=[template]
    )
    found = prepared(template, group)
    [entry] = found.input["by_type"][GROUP]
    assert entry["references"] == {"/launchTemplate/id": template["urn"]}
    assert found.unknown[group["urn"]] == [("x",)], "what is referred to is known"


def test_a_known_name_is_joined_too() -> None:
    template = resource(TEMPLATE, "t", {"name": "gpu"})
    group = resource(GROUP, "g", {"launchTemplate": {"name": "gpu"}})
    [entry] = prepared(template, group).input["by_type"][GROUP]
    assert entry["references"] == {"/launchTemplate/name": template["urn"]}


def test_one_of_two_templates_is_not_guessed() -> None:
    one, two = resource(TEMPLATE, "t1", {}), resource(TEMPLATE, "t2", {})
    group = resource(
        GROUP, "g", {"launchTemplate": {"id": None}}, unknown=["/launchTemplate/id"], depends_on=[one, two]
    )
    found = prepared(one, two, group)
    assert found.input["by_type"][GROUP][0]["references"] == {}
    assert found.unknown[group["urn"]] == [("launchTemplate", "id")]


@pytest.mark.parametrize("namespace", [None, 7])
def test_a_namespace_that_is_not_known_is_left_out(namespace: Any) -> None:
    manifest = workload("Pod", pod_spec())
    manifest["metadata"]["namespace"] = namespace
    unknown = ["/metadata/namespace"] if namespace is None else []
    [pod] = prepared(kubernetes(manifest, unknown=unknown)).input["pods"]
    assert "namespace" not in pod


def test_pointers_are_escaped_and_read_back() -> None:
    path = ("metadata", "annotations", "a/b~c", 0)
    assert pointer(path) == "/metadata/annotations/a~1b~0c/0"
    assert steps(pointer(path)) == ("metadata", "annotations", "a/b~c", "0")
    assert steps("") == ()


def test_a_member_is_found_in_mappings_and_lists() -> None:
    assert member({"a": 1}, "a") == 1
    assert member([5, 6], "1") == 6
    assert member([5], 3) is None
    assert member("text", "0") is None


WORDS = st.sampled_from(
    [
        "apiVersion",
        "kind",
        "metadata",
        "name",
        "namespace",
        "labels",
        "spec",
        "template",
        "jobTemplate",
        "containers",
        "initContainers",
        "image",
        "env",
        "value",
        "args",
        "securityContext",
        "privileged",
        "capabilities",
        "add",
        "volumes",
        "hostPath",
        "items",
        "objs",
        "data",
        "values",
        "repository",
        "tag",
        "registry",
        "global",
        "imageRegistry",
        "launchTemplate",
        "id",
        "vpcConfig",
        "publicAccessCidrs",
        "nodeConfig",
        "tags",
        "userData",
        "List",
        "v1",
        "Pod",
    ]
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False, allow_infinity=False) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=12,
)
TYPES = st.sampled_from(
    [
        "kubernetes:apps/v1:Deployment",
        "kubernetes:core/v1:List",
        "kubernetes:ray.io/v1:RayCluster",
        "kubernetes:yaml/v2:ConfigGroup",
        "kubernetes:helm.sh/v3:Release",
        TEMPLATE,
        GROUP,
        "aws:ec2/instance:Instance",
        "pulumi:providers:aws",
        "kubernetes:",
        "",
        ":::",
    ]
)


@settings(max_examples=300, deadline=None)
@given(type_=TYPES, inputs=ANYTHING, provider=ANYTHING)
def test_no_inputs_are_too_strange(type_: str, inputs: Any, provider: Any) -> None:
    above = resource("pulumi:providers:aws", "p", {}) | {"inputs": provider}
    below = resource(type_, "r", {}, provider=above) | {"inputs": inputs}
    found = prepare(document([above, below]), {}, REFERS)
    assert json.loads(json.dumps(found.input)) == found.input
