from __future__ import annotations

from typing import Any

import pytest

from gpuyard.review.unseen import unseen


def resource(type_: str, inputs: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"urn": "urn:x", "type": type_, "name": "x", "inputs": inputs, "options": {}} | more


@pytest.mark.parametrize(
    ("given", "what"),
    [
        (resource("kubernetes:helm.sh/v3:Release", {"chart": "keda"}), "chart keda"),
        (resource("kubernetes:helm.sh/v4:Chart", {"chart": None}), "chart ?"),
        (resource("kubernetes:yaml/v2:ConfigGroup", {"yaml": "kind: Pod"}), "the manifests of x"),
        (resource("kubernetes:yaml/v2:ConfigFile", {"file": "a.yaml"}), "the manifests of x"),
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
    assert unseen([objects, resource("gpuyard:index:Tenant", {}), resource("aws:s3/bucket:Bucket", {})]) == []
