"""What a cluster says about pods and jobs, read from the API server; to be asked until it has said it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from control_plane.kwok import COMPLETE_AFTER
from control_plane.plane import ControlPlane

KUEUE = "/apis/kueue.x-k8s.io/v1beta2"


def placed(plane: ControlPlane, namespace: str, name: str) -> str | None:
    """The node of a pod, once the scheduler has chosen one."""
    node = plane.get(f"/api/v1/namespaces/{namespace}/pods/{name}")["spec"].get("nodeName")
    return str(node) if node else None


def unplaced(plane: ControlPlane, namespace: str, name: str) -> str | None:
    """Why the scheduler found no node for a pod, once it has looked."""
    condition = _condition(plane.get(f"/api/v1/namespaces/{namespace}/pods/{name}"), "PodScheduled")
    return str(condition["message"]) if condition.get("status") == "False" else None


def pods(plane: ControlPlane, namespace: str, selector: str = "") -> list[Any]:
    """The pods of a namespace that have not ended."""
    found = plane.get(f"/api/v1/namespaces/{namespace}/pods?labelSelector={selector}")["items"]
    return [pod for pod in found if pod["status"]["phase"] in ("Pending", "Running")]


def nodes_of(plane: ControlPlane, namespace: str, selector: str) -> list[str]:
    """The nodes of pods that run; empty until all of them do."""
    found = pods(plane, namespace, selector)
    running = [str(pod["spec"]["nodeName"]) for pod in found if pod["status"]["phase"] == "Running"]
    return running if len(running) == len(found) else []


def runs(plane: ControlPlane, namespace: str, job: str) -> bool:
    """Whether a job's pods run."""
    return bool(nodes_of(plane, namespace, f"job-name={job}"))


def finish(plane: ControlPlane, namespace: str, job: str) -> None:
    """Lets a job's pod succeed."""
    [running] = pods(plane, namespace, f"job-name={job}")
    plane.kubectl("annotate", "pod", running["metadata"]["name"], f"--namespace={namespace}", f"{COMPLETE_AFTER}=0s")


def held(plane: ControlPlane, namespace: str, job: str) -> str:
    """Why a job waits, as its workload says; empty until Kueue has looked at it, and when it has let it in."""
    condition = _condition(_workload(plane, namespace, job), "QuotaReserved")
    return str(condition["message"]) if condition.get("status") == "False" else ""


def preempted(plane: ControlPlane, namespace: str, job: str) -> str:
    """Why a job that ran was stopped for another one; empty when it was not."""
    condition = _condition(_workload(plane, namespace, job), "Preempted")
    return str(condition["message"]) if condition.get("status") == "True" else ""


def _workload(plane: ControlPlane, namespace: str, job: str) -> Mapping[str, Any]:
    found = plane.get(f"{KUEUE}/namespaces/{namespace}/workloads")["items"]
    return next((item for item in found if item["metadata"]["ownerReferences"][0]["name"] == job), {})


def active(plane: ControlPlane, queue: str) -> bool:
    """Whether Kueue works a queue off: `clusterqueues/<name>` or `namespaces/<namespace>/localqueues/<name>`."""
    return _condition(plane.get(f"{KUEUE}/{queue}"), "Active").get("status") == "True"


def _condition(found: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    conditions = found.get("status", {}).get("conditions", [])
    return next((condition for condition in conditions if condition["type"] == kind), {})
