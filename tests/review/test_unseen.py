from __future__ import annotations

from typing import Any

import pytest

from gpuyard.review.unseen import unseen


def resource(type_: str, inputs: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"urn": "urn:x", "type": type_, "name": "x", "inputs": inputs, "unknown": [], "options": {}} | more


@pytest.mark.parametrize(
    ("given", "what"),
    [
        (resource("kubernetes:helm.sh/v3:Release", {"chart": "keda"}), "chart keda"),
        (resource("kubernetes:helm.sh/v4:Chart", {"chart": None}), "chart ?"),
        (resource("kubernetes:yaml/v2:ConfigGroup", {"yaml": "kind: [Pod"}), "the manifests of x"),
        (resource("kubernetes:yaml/v2:ConfigGroup", {"yaml": None}, unknown=["/yaml"]), "the manifests of x"),
        (resource("kubernetes:yaml/v2:ConfigGroup", {"objs": [None]}, unknown=["/objs/0"]), "the manifests of x"),
        (
            resource("kubernetes:yaml/v2:ConfigFile", {"file": "a.yaml"}),
            "the manifests of x (a.yaml), which could not be read",
        ),
        (
            resource("kubernetes:yaml/v2:ConfigGroup", {"files": ["https://x.example/a.yaml"]}),
            "the manifests of x (https://x.example/a.yaml), which could not be read",
        ),
        (resource("kubernetes:kustomize/v2:Directory", {"directory": "base"}), "the manifests of x (base)"),
        (resource("command:local:Command", {"create": "kubectl apply -f x"}), "Command x"),
        (resource("aws:cloudformation/stack:Stack", {}), "Stack x"),
        (resource("aws:autoscaling/group:Group", {}), "the machines of x, which neither cost nor quota counts"),
        (resource("eks:index:Cluster", {}, remote=True), "component x of another program"),
    ],
)
def test_what_hides_resources_is_said(given: dict[str, Any], what: str) -> None:
    assert [part.what for part in unseen([given])] == [what]


def test_what_shows_its_resources_is_not() -> None:
    objects = resource("kubernetes:yaml/v2:ConfigGroup", {"objs": [{"kind": "Pod"}]}, remote=True)
    text = resource("kubernetes:yaml/v2:ConfigGroup", {"yaml": ["kind: Pod", "kind: Job"]}, remote=True)
    file = resource(
        "kubernetes:yaml/v2:ConfigFile", {"file": "a.yaml"}, manifests={"file": [{"kind": "Pod"}]}, remote=True
    )
    assert (
        unseen([objects, text, file, resource("gpuyard:index:Tenant", {}), resource("aws:s3/bucket:Bucket", {})]) == []
    )
