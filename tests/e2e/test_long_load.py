"""A model that loads for an hour, on a node that is not there yet: its deployment neither waits nor fails."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from control_plane import kwok
from control_plane.plane import ControlPlane
from control_plane.processes import until
from engine.engine import Engine
from engine.run import Run
from shipped_cluster import platform

from gpuyard.components.scheduling.groups import class_name
from gpuyard.components.serving import sizing, template

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]

HOUR = "3600s"
TENANT, ENDPOINT = "assistants", "qwen3-32b"
DEPLOYMENT = f"/apis/apps/v1/namespaces/{TENANT}/deployments/{ENDPOINT}"
PODS = f"/api/v1/namespaces/{TENANT}/pods"
SPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": TENANT}}
CLASS = {
    "apiVersion": "scheduling.k8s.io/v1",
    "kind": "PriorityClass",
    "metadata": {"name": class_name("l40s")},
    "value": 0,
}
"""What the platform's own stack brings, and the team's relies on."""

KEPT = "gpuyard.test/kept"


@dataclass
class Served:
    """The stack of a team that serves one model, deployed while its node group is empty."""

    plane: ControlPlane
    engine: Engine
    first: Run

    def deployment(self) -> Any:
        return self.plane.get(DEPLOYMENT)

    def pods(self) -> list[Any]:
        return [pod for pod in self.plane.get(PODS)["items"] if "deletionTimestamp" not in pod["metadata"]]

    def annotate(self, pod: Any, **metadata: Any) -> None:
        self.plane.patch(f"{PODS}/{pod['metadata']['name']}", {"metadata": metadata})

    def is_ready(self) -> bool:
        # Not the condition Available: where one replica may be missing, it holds for one that loads.
        return bool(self.deployment()["status"].get("readyReplicas"))


@pytest.fixture
def served(plane: ControlPlane, tmp_path: Path) -> Iterator[Served]:
    plane.crds("keda", "prometheus-operator")
    plane.apply([SPACE, CLASS])
    engine = Engine(tmp_path / "engine", "serving", plane=plane, context="prod-assistants")
    try:
        yield Served(plane, engine, engine.up())
    finally:
        engine.kill_processes()
        plane.delete([SPACE, CLASS])


def test_a_model_that_loads_for_an_hour_on_a_node_to_come_is_deployed_at_once(served: Served) -> None:
    [pod] = until(served.pods, "the endpoint has a pod")
    assert pod["status"]["phase"] == "Pending", "its node group is empty"
    state = served.engine.export()["resources"]
    assert served.first.changes == {"create": len(state)}
    assert not any("initErrors" in resource for resource in state)

    served.annotate(pod, annotations={kwok.READY_AFTER: HOUR})
    room = {"nvidia.com/gpu": "4", "cpu": "48", "memory": "384Gi"}
    served.plane.nodes("l40s", labels=platform("serving").selector("l40s"), capacity=room)
    until(lambda: served.pods()[0]["status"]["phase"] == "Running", "the pod runs")
    assert not served.is_ready()
    endpoint = platform("serving").endpoints[ENDPOINT]
    deadline = served.deployment()["spec"]["progressDeadlineSeconds"]
    assert deadline == sizing.budget(endpoint, template.load(endpoint.engine)).progress
    # While it loads there is nothing to repair, and nothing to report.
    served.engine.refresh("--expect-no-changes")
    assert served.engine.preview("--expect-no-changes").changes.keys() == {"same"}

    served.annotate(served.pods()[0], annotations={kwok.READY_AFTER: "0s"})
    until(served.is_ready, "the model has loaded")
    said = served.plane.kubectl("rollout", "status", f"deployment/{ENDPOINT}", f"--namespace={TENANT}", "--timeout=30s")
    assert "successfully rolled out" in said


def test_an_endpoint_that_is_taken_out_and_put_back_does_not_go_with_its_last_pod(served: Served) -> None:
    [pod] = until(served.pods, "the endpoint has a pod")
    first = served.deployment()["metadata"]["uid"]
    served.annotate(pod, finalizers=[KEPT])
    kept: dict[str, Any] = {}
    served.engine.edit(lambda platform: kept.update(platform.pop("endpoints")))
    assert "kubernetes:apps/v1:Deployment::qwen3-32b" in served.engine.up().done("delete")
    assert served.deployment() is None, "a server that drains for minutes must not keep the Deployment"
    served.engine.edit(lambda platform: platform.update(endpoints=kept))
    assert "kubernetes:apps/v1:Deployment::qwen3-32b" in served.engine.up().done("create")
    served.annotate(pod, finalizers=None)
    until(lambda: pod["metadata"]["uid"] not in _uids(served), "the first pod is gone")
    assert served.deployment()["metadata"]["uid"] != first
    assert "deletionTimestamp" not in served.deployment()["metadata"]

    served.engine.destroy()
    own = ("deployments", "services", "networkpolicies", "poddisruptionbudgets", "scaledobjects", "servicemonitors")
    assert served.plane.kubectl("get", ",".join(own), f"--namespace={TENANT}", "--output=name") == ""
    until(lambda: not _uids(served), "the pods have ended")


def _uids(served: Served) -> set[str]:
    return {pod["metadata"]["uid"] for pod in served.plane.get(PODS)["items"]}
