"""The drivers that the GPU Operator installs: one object a node group, so that one group's can change alone.

Every group has its own from the beginning: a group that got one later would change hands, and its nodes be upgraded.
Facts of the operator are those of NVIDIA/gpu-operator v26.7.0.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import Field

from gpuyard import catalogue
from gpuyard.components.artifacts import ArtifactsSpec
from gpuyard.components.node_groups.upgrade import DriverUpgrade
from gpuyard.components.spec import LabelKey, LabelValue, Manifest, Spec, in_seconds

CHART = "gpu-operator"

REPOSITORY = "nvcr.io", "nvidia"
"""Registry and path of the driver's images. Source: deployments/gpu-operator/values.yaml."""

WHOLE_VERSION = re.compile(r"^[1-9][0-9]{2}(\.[0-9]{1,3}){2}$")
"""What images of the driver are called by: <version>-<system> (api/nvidia/v1alpha1, GetImagePath)."""

JOBS = "batch.kubernetes.io/job-name"
"""The label of every pod of a Job. Source: Kubernetes, batch/v1, JobNameLabel."""

EVICTION_SECONDS = 3600
"""Time in which pods with GPUs must be gone from a node: a disruption budget may hold them for a while. After that the
upgrade of the node has failed, and it stays cordoned."""


class DriverSpec(Spec):
    """The driver of one node group."""

    version: Annotated[str, Field(pattern=WHOLE_VERSION.pattern)]
    """In full: a branch alone names no image."""
    selector: Annotated[dict[LabelKey, LabelValue], Field(min_length=1)]
    """Labels of the group's nodes. Two objects that find one node are both refused (internal/validator)."""
    upgrade: DriverUpgrade = DriverUpgrade()
    """How the group moves to another version."""
    rdma: dict[str, bool] = Field(default_factory=dict)
    """What it is told of the nodes' InfiniBand cards; nothing where they have none."""


def chart_version() -> str:
    """The driver that the pinned chart brings by itself.

    Raises LookupError where the catalogue does not know it.
    """
    chart = catalogue.chart(CHART).version
    found = catalogue.node_driver("operator", chart, "*")
    if found is None:
        raise LookupError(f"the driver of {CHART} {chart} is not in node_drivers.csv: add it")
    return found


def version_problem(version: str | None) -> str | None:
    """Why the operator cannot install a version, where one is given; None where it can."""
    if version is None or WHOLE_VERSION.match(version):
        return None
    return (
        f"driver_version {version} is a branch, and the GPU Operator pulls an image by its full version: "
        f"give one such as {chart_version()}, or leave it out"
    )


def values() -> dict[str, Any]:
    """What the chart is told: the drivers are those of the objects here, and none is its own."""
    return {"enabled": True, "nvidiaDriverCRD": {"enabled": True, "deployDefaultCR": False}}


def nvidia_driver(name: str, spec: DriverSpec, artifacts: ArtifactsSpec) -> Manifest:
    """The driver of the group that the cluster knows as `name`.

    The image of the driver's manager is left to the operator: by that, a newer one takes no node through an upgrade
    (internal/state/driver.go).
    """
    registry, path = REPOSITORY
    return {
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": "NVIDIADriver",
        "metadata": {"name": name},
        "spec": {
            "driverType": "gpu",
            "kernelModuleType": "auto",
            "repository": f"{artifacts.images or registry}/{path}",
            "image": "driver",
            "version": spec.version,
            "nodeSelector": dict(spec.selector),
            "tolerations": [{"operator": "Exists"}],
            "upgradePolicy": upgrade_policy(spec.upgrade),
            **({"rdma": dict(spec.rdma)} if spec.rdma else {}),
        },
    }


def upgrade_policy(upgrade: DriverUpgrade) -> dict[str, Any]:
    """How the operator takes a group's nodes through an upgrade: cordon, wait, evict what has GPUs, install, uncordon.

    It reads this of each object, and counts the nodes of each by itself (controllers/upgrade_controller.go); what the
    chart says of upgrades is then read by nobody. One bound is enough, so the number of upgrades at once has none.
    """
    policy: dict[str, Any] = {
        "autoUpgrade": True,
        "maxParallelUpgrades": 0,
        "maxUnavailable": upgrade.max_unavailable,
        # Endpoints have volumes of kind emptyDir. A pod that nobody would make again is not deleted.
        "podDeletion": {"deleteEmptyDir": True, "force": False, "timeoutSeconds": EVICTION_SECONDS},
        "drain": {"enable": False},
    }
    if upgrade.wait_for_jobs:
        policy["waitForCompletion"] = {"podSelector": JOBS, "timeoutSeconds": in_seconds(upgrade.wait_for_jobs)}
    return policy
