"""Queues for jobs, from what tenants have of node groups. What the real controller makes of them stands in tests/e2e."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pulumi
import pytest
from registered import registered

from gpuyard.components.artifacts import ArtifactsSpec
from gpuyard.components.node_groups.base import Taint
from gpuyard.components.scheduling.groups import AcceleratorGroup
from gpuyard.components.scheduling.kueue import (
    Kueue,
    Queued,
    cluster_queue,
    cohort,
    flavors,
    local_queue,
    problems,
)
from gpuyard.components.scheduling.kueue_values import NOT_COUNTED, configuration, values

GROUPS = [
    AcceleratorGroup("h100", "nvidia.com/gpu", 32, {"gpuyard.io/node-group": "h100"}),
    AcceleratorGroup("l40s", "nvidia.com/gpu", 24, {"gpuyard.io/node-group": "l40s"}),
    AcceleratorGroup("inf2", "aws.amazon.com/neuron", 12, {"gpuyard.io/node-group": "inf2"}),
]
SHARES = {"inf2": Queued(2), "l40s": Queued(own=8, borrow=4, lend=6)}


def test_queues_are_what_tenants_have_of_node_groups(golden: Callable[[str, Any], None]) -> None:
    free = {"h100": 16, "l40s": 8, "inf2": 0}
    found = [*flavors(GROUPS), cohort(GROUPS, free), cluster_queue("fraud", GROUPS, SHARES), local_queue("fraud")]
    assert {item["apiVersion"] for item in found} == {"kueue.x-k8s.io/v1beta2"}
    golden("kueue_queues", found)


def test_a_flavor_sends_jobs_to_its_groups_nodes_and_past_their_taint() -> None:
    [flavor] = flavors(GROUPS[:1])
    assert flavor["metadata"]["name"] == "h100"
    assert flavor["spec"] == {
        "nodeLabels": {"gpuyard.io/node-group": "h100"},
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
    }


def test_a_taint_of_the_groups_own_is_for_the_job_to_tolerate() -> None:
    taints = [Taint(key="team", value="x"), Taint(key="soft", effect="PreferNoSchedule")]
    [flavor] = flavors([AcceleratorGroup("h100", "nvidia.com/gpu", 8, {"a": "b"}, taints)])
    assert flavor["spec"]["nodeTaints"] == [{"key": "team", "value": "x", "effect": "NoSchedule"}]


def quotas(queue: dict[str, Any]) -> dict[str, dict[str, str]]:
    """By flavor; a resource name that is not the group's own one fails."""
    found = {}
    for group in queue["spec"]["resourceGroups"]:
        for flavor in group["flavors"]:
            [quota] = flavor["resources"]
            assert [quota["name"]] == group["coveredResources"]
            found[flavor["name"]] = {key: value for key, value in quota.items() if key != "name"}
    return found


def test_a_queue_owns_borrows_and_lends_as_its_tenants_share_says() -> None:
    assert quotas(cluster_queue("fraud", GROUPS, SHARES)) == {
        "l40s": {"nominalQuota": "8", "borrowingLimit": "4", "lendingLimit": "6"},
        "inf2": {"nominalQuota": "2", "borrowingLimit": "0"},
    }


def test_groups_that_share_a_resource_name_are_flavors_of_one_group_of_resources() -> None:
    shares = {name: Queued(1) for name in ("h100", "l40s", "inf2")}
    found = cluster_queue("fraud", GROUPS, shares)["spec"]["resourceGroups"]
    assert [group["coveredResources"] for group in found] == [["nvidia.com/gpu"], ["aws.amazon.com/neuron"]]
    assert [[flavor["name"] for flavor in group["flavors"]] for group in found] == [["h100", "l40s"], ["inf2"]]


def test_a_tenant_without_accelerators_has_a_queue_too_or_its_jobs_would_wait_for_ever() -> None:
    assert cluster_queue("plain", GROUPS, {})["spec"]["resourceGroups"] == []


def test_only_the_tenants_own_namespace_may_use_its_queue() -> None:
    selector = cluster_queue("fraud", GROUPS, SHARES)["spec"]["namespaceSelector"]
    assert selector == {"matchLabels": {"kubernetes.io/metadata.name": "fraud"}}


def test_what_is_lent_comes_back_whatever_runs_on_it() -> None:
    preemption = cluster_queue("fraud", GROUPS, SHARES)["spec"]["preemption"]
    assert preemption == {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"}


def test_the_queue_of_jobs_that_name_none_is_the_one_that_kueue_looks_for() -> None:
    queue = local_queue("fraud")
    assert queue["metadata"]["name"] == "default"
    assert (queue["metadata"]["namespace"], queue["spec"]["clusterQueue"]) == ("fraud", "fraud")


def test_more_labels_and_taints_than_a_flavor_takes_are_refused() -> None:
    many = AcceleratorGroup("dgx", "nvidia.com/gpu", 8, {f"label-{n}": "x" for n in range(9)})
    tainted = AcceleratorGroup("l4", "nvidia.com/gpu", 8, {"a": "b"}, [Taint(key=f"taint-{n}") for n in range(9)])
    assert problems({"a": GROUPS[0], "racked": many, "l4": tainted}) == [
        "node_groups.racked.selector: 9 labels are given, and queues know nodes by 8 at most: leave out those that "
        "follow from others",
        "node_groups.l4.taints: 9 taints are given, and queues know 8 at most: take some out",
    ]


def test_the_controller_manages_jobs_of_tenants_and_nothing_else(golden: Callable[[str, Any], None]) -> None:
    given = configuration()
    assert given["manageJobsWithoutQueueName"] is True
    assert given["managedJobsNamespaceSelector"] == {
        "matchExpressions": [{"key": "gpuyard.io/tenant", "operator": "Exists"}]
    }
    assert given["integrations"] == {"frameworks": ["batch/job"]}
    golden("kueue_configuration", given)


@pytest.mark.parametrize(
    "resource",
    [
        *("cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "vpc.amazonaws.com/efa"),
        *("rdma/rdma_shared_device_a", "nvidia.com/hostdev", "openshift.io/mlxnics"),
    ],
)
def test_a_job_is_not_held_for_what_comes_with_the_node(resource: str) -> None:
    assert resource.startswith(NOT_COUNTED)


@pytest.mark.parametrize("resource", ["nvidia.com/gpu", "aws.amazon.com/neuron", "google.com/tpu", "amd.com/gpu"])
def test_accelerators_are_counted(resource: str) -> None:
    assert not resource.startswith(NOT_COUNTED)


def test_the_chart_is_told_by_text_and_a_private_control_plane_reaches_the_webhook() -> None:
    given = values(ArtifactsSpec())
    assert json.loads(given["managerConfig"]["controllerManagerConfigYaml"]) == configuration()
    assert configuration()["webhook"]["port"] == given["webhookService"]["ports"][0]["targetPort"] == 10250
    assert set(given) == {"managerConfig", "webhookService"}


def test_the_controllers_image_comes_from_the_mirror() -> None:
    given = values(ArtifactsSpec(images="mirror.example/ai"))
    assert given["controllerManager"] == {"manager": {"image": {"repository": "mirror.example/ai/kueue/kueue"}}}


def test_queues_come_after_their_flavors_and_all_of_them_after_the_controller() -> None:
    def build() -> None:
        nodes = pulumi.CustomResource("test:index:Nodes", "system", {})
        Kueue(
            "kueue",
            GROUPS,
            tenants={"fraud": SHARES, "plain": {}},
            free=dict.fromkeys(("h100", "l40s", "inf2"), 0),
            kubernetes="1.35",
            artifacts=ArtifactsSpec(),
            needs=[nodes],
        )

    found = {(resource["type"].rpartition(":")[2], resource["name"]): resource for resource in registered(build)}
    component = found.pop(("Kueue", "kueue"))
    nodes = found.pop(("Nodes", "system"))
    assert all(child["parent"] == component["urn"] for child in found.values())
    assert all(child["name"].startswith("kueue") for child in found.values())
    space, release = found["Namespace", "kueue-system"], found["Release", "kueue"]
    assert space["inputs"]["metadata"]["name"] == "kueue-system"
    assert release["inputs"]["chart"] == "oci://registry.k8s.io/kueue/charts/kueue"
    assert set(release["options"]["depends_on"]) == {space["urn"], nodes["urn"]}
    shared = [child for (kind, _), child in found.items() if kind in ("ResourceFlavor", "Cohort")]
    assert len(shared) == 4
    assert all(child["options"]["depends_on"] == [release["urn"]] for child in shared)
    queues = [child for (kind, _), child in found.items() if kind == "ClusterQueue"]
    assert {queue["inputs"]["metadata"]["name"] for queue in queues} == {"fraud", "plain"}
    for queue in queues:
        assert set(queue["options"]["depends_on"]) == {release["urn"], *(child["urn"] for child in shared)}
