"""Nodes that a cloud gives for a whole job at once: Kueue asks for them before the job starts."""

from __future__ import annotations

from registered import registered

from gpuyard.components.artifacts import ArtifactsSpec
from gpuyard.components.scheduling.groups import AcceleratorGroup
from gpuyard.components.scheduling.kueue import Kueue, Queued, cluster_queue, flavors, provisioning_checks

PLAIN = AcceleratorGroup("l4", "nvidia.com/gpu", 8, {"gpuyard.io/node-group": "l4"})
TRAIN = AcceleratorGroup(
    "train",
    "nvidia.com/gpu",
    32,
    {"gpuyard.io/node-group": "train"},
    tolerated=["cloud.google.com/gke-queued"],
    provisioning={"maxRunDurationSeconds": "43200"},
)
SHARES = {"l4": Queued(4), "train": Queued(16)}


def test_a_queued_group_has_a_check_that_asks_the_cloud_for_a_jobs_nodes() -> None:
    request, check = provisioning_checks([PLAIN, TRAIN])
    assert (request["kind"], check["kind"]) == ("ProvisioningRequestConfig", "AdmissionCheck")
    assert request["spec"] == {
        "provisioningClassName": "queued-provisioning.gke.io",
        "managedResources": ["nvidia.com/gpu"],
        "parameters": {"maxRunDurationSeconds": "43200"},
    }
    assert check["spec"]["controllerName"] == "kueue.x-k8s.io/provisioning-request"
    assert check["spec"]["parameters"]["name"] == request["metadata"]["name"] == "train"


def test_a_queue_asks_only_for_jobs_of_the_queued_group() -> None:
    queue = cluster_queue("fraud", [PLAIN, TRAIN], SHARES)
    assert queue["spec"]["admissionChecksStrategy"] == {"admissionChecks": [{"name": "train", "onFlavors": ["train"]}]}
    assert "admissionChecksStrategy" not in cluster_queue("fraud", [PLAIN, TRAIN], {"l4": Queued(4)})["spec"]
    assert provisioning_checks([PLAIN]) == []


def test_jobs_tolerate_what_the_cloud_taints_queued_nodes_with() -> None:
    _, train = flavors([PLAIN, TRAIN])
    assert [t["key"] for t in train["spec"]["tolerations"]] == ["nvidia.com/gpu", "cloud.google.com/gke-queued"]


def test_a_check_is_there_before_a_queue_that_names_it() -> None:
    def build() -> None:
        Kueue(
            "kueue",
            [PLAIN, TRAIN],
            tenants={"fraud": SHARES},
            free={"l4": 0, "train": 0},
            kubernetes="1.35",
            artifacts=ArtifactsSpec(),
        )

    by_type = {r["type"].rpartition(":")[2]: r for r in registered(build)}
    assert by_type["AdmissionCheck"]["urn"] in by_type["ClusterQueue"]["options"]["depends_on"]
