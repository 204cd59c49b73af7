"""What docs/teardown.md says, done: protection holds, is lifted for one thing or for all, and nothing is left."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from control_plane.plane import ControlPlane
from deployed import KEPT, Deployed, deployed
from engine.charts import ChartMirror
from made import program

pytestmark = [pytest.mark.engine, pytest.mark.long, pytest.mark.timeout(600)]

GUESTS = {"groups": ["guests"], "monthly_budget": 0}

SCALED = {
    "apiVersion": "keda.sh/v1alpha1",
    "kind": "ScaledObject",
    "metadata": {"name": "own", "namespace": "vision", "finalizers": ["finalizer.keda.sh"]},
    "spec": {"scaleTargetRef": {"name": "own"}, "triggers": [{"type": "cpu", "metadata": {}}]},
}
"""What a tenant's own people made, with the finalizer that KEDA puts there."""

OWN = "/apis/keda.sh/v1alpha1/namespaces/vision/scaledobjects/own"


@pytest.fixture
def onprem(tmp_path: Path, charts: ChartMirror) -> Iterator[Deployed]:
    with deployed("onprem", tmp_path, charts) as stack:
        stack.engine.edit(lambda platform: platform["tenants"].update(guests=GUESTS))
        stack.engine.up()
        yield stack


def claim(namespace: str) -> dict[str, Any]:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    metadata = {"name": "data", "namespace": namespace}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}


def claims(plane: ControlPlane) -> set[str]:
    return {item["metadata"]["namespace"] for item in plane.get("/api/v1/persistentvolumeclaims")["items"]}


def urn_of(stack: Deployed, end: str) -> str:
    [urn] = [r["urn"] for r in stack.engine.export()["resources"] if r["urn"].endswith(end)]
    return str(urn)


def test_data_goes_only_where_somebody_said_so_and_then_nothing_is_left(onprem: Deployed) -> None:
    engine, plane = onprem.engine, onprem.plane
    plane.apply([claim("vision"), claim("guests"), claim("monitoring"), SCALED])
    there = onprem.objects()

    refused = engine.start("destroy", "--yes").wait()
    assert refused.code != 0
    assert "it is protected" in refused.output
    assert there <= onprem.objects(), "a destroy that is refused deletes nothing"

    engine.edit(lambda platform: platform["tenants"].pop("guests"))
    assert "Namespace::guests" in engine.preview(expect_failure=True).output
    engine.pulumi("state", "unprotect", urn_of(onprem, "Namespace::guests"), "--yes")
    assert "kubernetes:core/v1:Namespace::guests" in engine.up().done("delete")
    assert claims(plane) == {"vision", "monitoring"}

    engine.edit(lambda platform: platform.update(protect=False))
    assert engine.up().done() == {"gpuyard:index:Platform::onprem": "update"}

    # Somebody takes KEDA away by hand, and with it the controller that would let go of what the tenant made.
    command = [program("helm"), "uninstall", "keda", "--namespace", "keda"]
    subprocess.run(command, env=os.environ | engine.environment, check=True, capture_output=True, timeout=120)
    assert plane.get(OWN)["metadata"]["deletionTimestamp"]
    plane.patch(OWN, {"metadata": {"finalizers": None}})
    assert engine.destroy("--refresh").diagnostics("error") == []
    assert claims(plane) == set()
    left = {name.rpartition("/")[2] for name in onprem.objects() if "apiservices" not in name}
    assert left == KEPT, "kinds that Helm leaves behind, and docs/teardown.md lists"
