"""Who sets a Deployment's number of replicas, on the real API server: what docs/changing.md says of handing it over."""

from __future__ import annotations

import json
from typing import Any

import pytest
from control_plane.plane import ControlPlane, KubectlError

pytestmark = [pytest.mark.engine, pytest.mark.long]

PATH = "/apis/apps/v1/namespaces/default/deployments/handed-over"
STACK = "gpuyard/dev"


def deployment(**spec: Any) -> dict[str, Any]:
    """What an endpoint's Deployment is, as far as the number goes."""
    labels = {"app": "handed-over"}
    container = {"name": "server", "image": "registry.example/server@sha256:" + "0" * 64}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    return {**head(), "spec": {"selector": {"matchLabels": labels}, "template": pod, **spec}}


def head() -> dict[str, Any]:
    name = {"name": "handed-over", "namespace": "default"}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": name}


def apply(plane: ControlPlane, manager: str, manifest: dict[str, Any], *more: str) -> None:
    plane.kubectl(
        "apply", "--server-side", f"--field-manager={manager}", *more, "--filename", "-", stdin=json.dumps(manifest)
    )


def replicas(plane: ControlPlane) -> int:
    found: int = plane.get(PATH)["spec"]["replicas"]
    return found


def scale(plane: ControlPlane, number: int) -> None:
    """What an autoscaler does."""
    plane.kubectl("scale", "--replicas", str(number), "deployment/handed-over", "--namespace", "default")


def test_the_number_passes_to_a_scaler_and_back_as_the_page_says(plane: ControlPlane) -> None:
    try:
        apply(plane, STACK, deployment(replicas=4))
        apply(plane, STACK, deployment())
        assert replicas(plane) == 1, "when the only one that said a number says none"

        apply(plane, STACK, deployment(replicas=4))
        apply(plane, "handover", {**head(), "spec": {"replicas": 4}})
        apply(plane, STACK, deployment())
        assert replicas(plane) == 4
        scale(plane, 6)
        assert replicas(plane) == 6
        apply(plane, STACK, deployment())
        assert replicas(plane) == 6

        with pytest.raises(KubectlError, match=r"conflict.*\.spec\.replicas"):
            apply(plane, STACK, deployment(replicas=4))
        apply(plane, STACK, deployment(replicas=4), "--force-conflicts")
        assert replicas(plane) == 4
    finally:
        plane.delete([head()])
