"""The real API server takes every object that we write: known kinds, known fields, valid values."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from control_plane.plane import ControlPlane, Manifest
from e2e.shipped_cluster import declared, objects
from ruamel.yaml import YAML

pytestmark = pytest.mark.engine

GOLDEN = Path(__file__).parents[1] / "golden"
STACKS = ("dev", "onprem", "prod-aws", "serving")
KINDS = ("keda", "kueue", "prometheus-operator")
UNKNOWN = ("cluster.x-k8s.io", "mellanox.com", "nvidia.com")
"""Groups of kinds that no Go module carries which the tests use."""


def found(content: Any) -> Iterator[Manifest]:
    """Every Kubernetes object in a golden, however deep."""
    if isinstance(content, list):
        for item in content:
            yield from found(item)
    elif isinstance(content, dict):
        if {"apiVersion", "kind", "metadata"} <= set(content) and "name" in content["metadata"]:
            if not content["apiVersion"].partition("/")[0].endswith(UNKNOWN):
                yield content
        else:
            yield from found(list(content.values()))


@functools.cache
def goldens() -> dict[str, list[Manifest]]:
    read = YAML(typ="safe", pure=True)
    all_of_them = {
        str(path.relative_to(GOLDEN)): list(found(read.load(path))) for path in sorted(GOLDEN.rglob("*.yaml"))
    }
    return {name: manifests for name, manifests in all_of_them.items() if manifests}


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane that knows every kind of which we write objects, and has every namespace that they are in."""
    manifests = [m for stack in STACKS for m in objects(stack)] + [m for name in goldens() for m in goldens()[name]]
    names = {str(m["metadata"]["namespace"]) for m in manifests if m["metadata"].get("namespace")}
    with ControlPlane(tmp_path_factory.mktemp("kinds")) as plane:
        plane.crds(*KINDS)
        plane.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in sorted(names))
        yield plane


def accepted(plane: ControlPlane, manifests: list[Manifest]) -> list[str]:
    """What the server says to each object, on trial."""
    return plane.apply(manifests, "--dry-run=server", token=plane.token("deployer")).splitlines()


@pytest.mark.parametrize("stack", STACKS)
def test_every_object_of_a_shipped_stack_is_accepted(kinds: ControlPlane, stack: str) -> None:
    patches = [resource["inputs"] for resource in declared(stack) if resource["type"].endswith("Patch")]
    manifests = [*objects(stack), *patches]
    assert len(accepted(kinds, manifests)) == len(manifests)


@pytest.mark.parametrize("name", goldens())
def test_every_object_of_a_golden_is_accepted(kinds: ControlPlane, name: str) -> None:
    manifests = goldens()[name]
    assert len(accepted(kinds, manifests)) == len(manifests)


def test_a_field_that_does_not_exist_is_refused(kinds: ControlPlane) -> None:
    quota = next(m for m in goldens()["tenant.yaml"] if m["kind"] == "ResourceQuota")
    wrong = quota | {"spec": quota["spec"] | {"hart": {}}, "metadata": quota["metadata"] | {"namespace": "default"}}
    assert ".spec.hart: field not declared in schema" in kinds.refusal([wrong], "--dry-run=server")
