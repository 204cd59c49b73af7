"""Plain manifests are judged as the objects that they are; what is none, or is not rendered, is an error with its line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from documents import DATE

from gpuyard.cli.given import each_given, of_manifests
from gpuyard.review.doors.manifests import from_manifests
from gpuyard.review.errors import InputError
from gpuyard.review.evaluation.evaluate import find_policies

POLICIES = find_policies(Path("/nonexistent"))
POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: fraud}}
spec:
  containers: [{{name: c, image: "{image}", securityContext: {{privileged: yes}}}}]
"""

BOMB = "a0: &a0 [x, x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 9))


def pod(name: str, image: str = "docker.io/vllm/vllm-openai:v0.32.0") -> str:
    return POD.format(name=name, image=image)


def test_every_document_of_every_file_is_a_resource_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "pods.yml").write_text(f"# ours\n---\n{pod('one')}---\n\n---\n{pod('two')}")
    item = {"metadata": {"name": "three"}, "data": {}}
    listed = {"apiVersion": "v1", "kind": "ConfigMapList", "items": [item]}
    mixed = {"apiVersion": "v1", "kind": "List", "items": [listed, {"apiVersion": "v1", "kind": "Namespace", **item}]}
    (tmp_path / "b.json").write_text(json.dumps(mixed))
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "x.yaml").write_text("a: [")
    (tmp_path / "notes.txt").write_text("a: [")
    recording = from_manifests(tmp_path, "dev").recording
    assert [(one["type"], one["name"], one.get("source")) for one in recording.resources] == [
        ("kubernetes:core/v1:ConfigMap", "three", "b.json:1"),
        ("kubernetes:core/v1:Namespace", "three", "b.json:1"),
        ("kubernetes:core/v1:Pod", "fraud/one", "a/pods.yml:3"),
        ("kubernetes:core/v1:Pod", "fraud/two", "a/pods.yml:11"),
    ]
    assert recording.resources[0]["urn"] == "urn:pulumi:dev::manifests::kubernetes:core/v1:ConfigMap::three"


@pytest.mark.parametrize(("names", "environment"), [((), "production"), (("dev",), "development")])
def test_who_names_no_stack_is_judged_by_the_strictest_limits(
    names: tuple[str, ...], environment: str, tmp_path: Path
) -> None:
    folder = tmp_path / "dev"
    folder.mkdir()
    (folder / "pod.yaml").write_text(pod("one", "docker.io/library/busybox:1.37"))
    found, origin = of_manifests(folder, names)
    (review,) = each_given(found, POLICIES, DATE).made.values()
    assert review.document["environment"] == environment
    denied = {one.rule for one in review.findings if one.denies}
    assert "isolation/privileged" in denied
    assert ("supply_chain/registries" in denied) == (environment == "production")
    assert origin.file == "pod.yaml"


def test_a_machine_that_karpenter_may_start_is_counted_and_what_a_controller_makes_is_said_not_to_be(
    tmp_path: Path,
) -> None:
    pool = """\
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  limits: {nvidia.com/gpu: 16}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpu}
      requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [p5.48xlarge]}]
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: keda, namespace: keda}
spec: {}
"""
    (tmp_path / "pool.yaml").write_text(pool)
    (review,) = each_given([from_manifests(tmp_path / "pool.yaml")], POLICIES, DATE).made.values()
    assert review.document["capacity"]["total"] == 16
    assert [part.what for part in review.unseen] == ["HelmRelease keda/keda"]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.yaml", "a: 1\nb: [\n", "a.yaml:3: is no YAML"),
        ("a.yaml", "a: 1\nname: {{ .Values.x }}\n", "a.yaml:2: is no YAML"),
        ("a.yaml", "a: 1\n{{- if .Values.x }}\n", "give what `helm template` writes"),
        ("a.yaml", "image: v1\nkeep: true\n", "a.yaml:1: is no Kubernetes object, for it has no apiVersion"),
        ("a.yaml", f"{pod('one')}---\napiVersion: v1\n", "a.yaml:7: is no Kubernetes object, for it has no kind"),
        ("a.yaml", "- a\n", "a.yaml:1: is no Kubernetes object, but a list"),
        ("a.yaml", "apiVersion: v1\nkind: List\nitems: {}\n", "items of a List is no list"),
        ("a.yaml", "apiVersion: v1\nkind: List\nitems: [3]\n", "is no Kubernetes object, but a int"),
        ("a.yaml", "apiVersion: v1\nkind: Pod\n", "Pod has no name"),
        (
            "a.yaml",
            f"{pod('one')}---\n{pod('one')}",
            "a.yaml:7: kubernetes:core/v1:Pod fraud/one is in a.yaml:1 already",
        ),
        ("kustomization.yaml", "resources: []\n", "give what `kustomize build` writes"),
        ("Chart.yaml", "apiVersion: v2\nname: x\n", "give what `helm template` writes"),
        ("a.txt", pod("one"), "has no Kubernetes object"),
        ("a.yaml", "# nothing\n", "has no Kubernetes object"),
        ("a.yaml", BOMB, "500,000 values"),
    ],
)
def test_what_is_not_an_object_is_an_error_with_its_file_and_line(
    name: str, text: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError) as error:
        from_manifests(tmp_path)
    assert str(error.value).startswith(str(tmp_path))
    assert said in str(error.value)


def test_a_file_in_another_encoding_and_two_names_for_one_folder_are_errors(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"a: b\nc: \xff\n")
    with pytest.raises(InputError, match=r"a\.yaml:2: is not UTF-8"):
        from_manifests(tmp_path)
    with pytest.raises(InputError, match="give one STACK"):
        of_manifests(tmp_path, ("dev", "prod"))
