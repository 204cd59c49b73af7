"""Quotas of a cloud's account: the snapshot files, and what a stack may need of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from documents import kubernetes, resource

from gpuyard.review.capacity import capacity
from gpuyard.review.errors import InputError
from gpuyard.review.node_groups import node_groups
from gpuyard.review.quotas import Snapshot, check_given, read, snapshots

Json = dict[str, Any]

GIVEN: Json = {
    "format": "gpuyard.quotas/1",
    "cloud": "aws",
    "account": "111122223333",
    "region": "us-east-1",
    "fetched": "2026-11-20",
    "quotas": [
        {"code": "L-417A185B", "name": "Running On-Demand P instances", "value": 384, "unit": "vcpus", "usage": None},
        {
            "code": "L-DB2E81BA",
            "name": "Running On-Demand G and VT instances",
            "value": 96,
            "unit": "vcpus",
            "usage": None,
        },
    ],
}
GCP: Json = GIVEN | {
    "cloud": "gcp",
    "account": "example-dev",
    "region": "us-central1",
    "quotas": [
        {"code": "PREEMPTIBLE_NVIDIA_L4_GPUS", "name": "x", "value": 4, "unit": "gpus", "usage": 1},
        {"code": "GPUS_ALL_REGIONS", "name": "x", "value": -1, "unit": "gpus"},
    ],
}
PROVIDER = resource("pulumi:providers:aws", "aws", {"region": "us-east-1", "allowedAccountIds": '["111122223333"]'})


def eks(name: str, machine: str, most: int | None, **inputs: Any) -> Json:
    scaling = {"minSize": 0, "desiredSize": 0, "maxSize": most}
    given = {"instanceTypes": [machine], "scalingConfig": scaling} | inputs
    return resource("aws:eks/nodeGroup:NodeGroup", name, given, provider=PROVIDER)


def gke(name: str, machine: str, most: int, **config: Any) -> Json:
    scaling = {"totalMinNodeCount": 0, "totalMaxNodeCount": most}
    given = {"location": "us-central1", "project": "example-dev", "autoscaling": scaling}
    return resource("gcp:container/nodePool:NodePool", name, given | {"nodeConfig": {"machineType": machine} | config})


def lines(*resources: Json, known: tuple[Json, ...] = (GIVEN, GCP), date: str = "2026-11-30") -> dict[str, Json]:
    """By code, the quotas that count these groups."""
    there = [PROVIDER, *resources]
    found = capacity(node_groups(there), there, [Snapshot.model_validate(one) for one in known], date)
    return {line["code"]: line for line in found["quotas"]}


def test_vcpus_of_groups_that_one_quota_counts_add_up_at_their_maxima() -> None:
    found = lines(eks("a", "p5.48xlarge", 2), eks("b", "p4d.24xlarge", 1), eks("l4", "g6.12xlarge", 2))
    assert {code: (line["need"], line["limit"], line["groups"]) for code, line in found.items()} == {
        "L-417A185B": (2 * 192 + 96, 384, ["a", "b"]),
        "L-DB2E81BA": (96, 96, ["l4"]),
    }
    assert found["L-417A185B"]["age_days"] == 10
    assert found["L-417A185B"]["unchecked"] is None


def test_spot_has_a_quota_of_its_own() -> None:
    found = lines(eks("a", "p5.48xlarge", 2, capacityType="SPOT"))
    assert list(found) == ["L-C4BD4855"]
    assert found["L-C4BD4855"]["unchecked"] == "the snapshot does not have it"


def test_gpus_are_counted_by_model_and_over_all_regions() -> None:
    found = lines(gke("l4", "g2-standard-24", 3, spot=True))
    assert {code: (line["need"], line["limit"], line["usage"]) for code, line in found.items()} == {
        "PREEMPTIBLE_NVIDIA_L4_GPUS": (6, 4, 1),
        "GPUS_ALL_REGIONS": (6, -1, None),
    }


def test_gpus_that_gke_adds_to_a_machine_are_counted() -> None:
    found = lines(gke("t4", "n1-standard-8", 2, guestAccelerators=[{"type": "nvidia-tesla-t4", "count": 4}]))
    assert found["NVIDIA_T4_GPUS"]["need"] == 8


def test_without_a_snapshot_of_the_account_and_region_nothing_is_checked() -> None:
    for other in ({"account": "444455556666"}, {"region": "us-west-2"}):
        found = lines(eks("a", "p5.48xlarge", 9), known=(GIVEN | other,))
        assert (found["L-417A185B"]["limit"], found["L-417A185B"]["unchecked"]) == (None, "no snapshot")


def test_an_account_that_is_not_known_is_that_of_the_only_snapshot_of_its_region() -> None:
    alone = resource("aws:eks/nodeGroup:NodeGroup", "a", eks("a", "p5.48xlarge", 1)["inputs"] | {"region": "us-east-1"})
    assert lines(alone)["L-417A185B"]["limit"] == 384
    two = (GIVEN, GIVEN | {"account": "444455556666"})
    assert lines(alone, known=two)["L-417A185B"]["unchecked"] == "its account is not known"


def test_what_cannot_be_counted_is_named_and_a_group_without_nodes_is_nothing() -> None:
    found = lines(eks("a", "p5.48xlarge", 1), eks("b", "p5.48xlarge", None), eks("c", "g6.xlarge", 0))
    assert list(found) == ["L-417A185B"]
    assert (found["L-417A185B"]["need"], found["L-417A185B"]["uncounted"]) == (192, ["b"])


def test_an_accelerator_that_no_known_quota_counts_is_said_to_be_so() -> None:
    [line] = lines(eks("a", "p6-b200.48xlarge", 2, capacityType="SPOT")).values()
    assert (line["name"], line["unchecked"]) == ("p6-b200.48xlarge, spot", "which quota counts it is not known")


def test_machines_of_ones_own_have_no_cloud_quota() -> None:
    assert lines(resource("gpuyard:index:NodeInventory", "dgx", {"machine": "dgx-h100", "count": 2})) == {}


def written(folder: Path, content: object, name: str = "111122223333-us-east-1.json") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


WHOLE = json.dumps(GIVEN)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (WHOLE[: len(WHOLE) // 2], "is no whole JSON, perhaps cut short"),
        ("", "is no whole JSON"),
        ([], "its format is None, and 'gpuyard.quotas/1' is read here"),
        (GIVEN | {"format": "gpuyard.quotas/2"}, "its format is 'gpuyard.quotas/2'"),
        (GIVEN | {"quotas": []}, "quotas: "),
        (GIVEN | {"fetched": "2026-13-01"}, "'2026-13-01' is no day"),
        (GIVEN | {"fetched": "yesterday"}, "fetched: "),
        (GIVEN | {"owner": "x"}, "owner: "),
        ({key: value for key, value in GIVEN.items() if key != "account"}, "account: "),
        (GIVEN | {"quotas": [GIVEN["quotas"][0]] * 2}, "quota L-417A185B is there twice"),
        (GIVEN | {"quotas": [GIVEN["quotas"][0] | {"value": "many"}]}, "quotas.0.value: "),
    ],
)
def test_a_file_that_is_no_snapshot_is_one_error_that_says_what_to_do(
    content: object, sentence: str, tmp_path: Path
) -> None:
    path = written(tmp_path, content)
    with pytest.raises(InputError) as refused:
        read(path)
    assert sentence in str(refused.value)
    assert str(refused.value).startswith(f"{path}: ")
    assert "gpuyard quotas fetch" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_file_that_is_no_text_is_one_error(tmp_path: Path) -> None:
    path = tmp_path / "q.json"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="is no text in UTF-8: write it again with `gpuyard quotas fetch`"):
        read(path)


def test_a_file_that_is_named_beside_groups_whose_region_is_not_known_says_so() -> None:
    groups = [{"cloud": "aws", "account": None, "region": None}]
    with pytest.raises(InputError, match="an account that is not known in a region that is not known"):
        check_given(Path("q.json"), Snapshot.model_validate(GIVEN), groups)


def test_a_folder_has_a_file_for_each_account_and_region(tmp_path: Path) -> None:
    written(tmp_path, GIVEN)
    written(tmp_path, GCP, "example-dev.json")
    assert [found.account for found in snapshots(tmp_path)] == ["111122223333", "example-dev"]
    assert snapshots(None) == ()


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("444455556666.json", "is of 111122223333 in us-east-1 by what it says"),
        ("111122223333-us-west-2.json", "is of 111122223333 in us-east-1 by what it says"),
        ("111122223333.json", "is of the account and region of 111122223333-us-east-1.json: keep one"),
    ],
)
def test_a_file_under_another_accounts_name_is_refused(name: str, sentence: str, tmp_path: Path) -> None:
    written(tmp_path, GIVEN)
    written(tmp_path, GIVEN, name)
    with pytest.raises(InputError, match=sentence):
        snapshots(tmp_path)


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        snapshots(tmp_path / "none.json")


@pytest.mark.parametrize("other", [{"account": "444455556666"}, {"region": "us-west-2"}])
def test_a_file_that_is_named_must_be_of_the_stacks_account_and_region(other: Json) -> None:
    there = [PROVIDER, eks("a", "p5.48xlarge", 1)]
    groups = capacity(node_groups(there), there)["groups"]
    check_given(Path("q.json"), Snapshot.model_validate(GIVEN), groups)
    check_given(Path("q.json"), Snapshot.model_validate(GCP), groups)
    with pytest.raises(InputError, match="the stack's node groups are of 111122223333 in us-east-1: give the file"):
        check_given(Path("q.json"), Snapshot.model_validate(GIVEN | other), groups)


def test_a_snapshot_of_a_day_to_come_says_so() -> None:
    """It would never be old: a rule tells by the sign."""
    ahead = (GIVEN | {"fetched": "2062-11-20"},)
    assert lines(eks("a", "p5.48xlarge", 1), known=ahead)["L-417A185B"]["age_days"] < 0


SUBNETS = {"subnetIds": ["subnet-1", "subnet-2", "subnet-3"]}


@pytest.mark.parametrize(
    ("update", "most", "more"),
    [
        ({}, 4, 6),
        ({"updateConfig": {"maxUnavailable": 9}}, 20, 9),
        ({"updateConfig": {"maxUnavailablePercentage": 50}}, 30, 15),
        ({"updateConfig": {"maxUnavailable": 1, "updateStrategy": "MINIMAL"}}, 4, 0),
        ({"subnetIds": None}, 4, 0),
    ],
    ids=["two for each zone", "as many as at once", "a part of the group", "the old one goes first", "not known"],
)
def test_what_eks_adds_while_nodes_are_upgraded_is_told_beside_the_need(update: Json, most: int, more: int) -> None:
    found = lines(eks("a", "g6.xlarge", most, **SUBNETS | update))["L-DB2E81BA"]
    assert (found["need"], found["surge"]) == (most * 4, more * 4)


@pytest.mark.parametrize(
    ("settings", "more"),
    [
        ({}, 1),
        ({"maxSurge": 0, "maxUnavailable": 1}, 0),
        ({"strategy": "SURGE", "maxSurge": 2}, 2),
        ({"strategy": "BLUE_GREEN"}, 3),
        ({"strategy": "SHORT_LIVED"}, 0),
        ({"maxSurge": None}, 0),
    ],
)
def test_what_gke_adds_while_nodes_are_upgraded_is_told_beside_the_need(settings: Json, more: int) -> None:
    pool = gke("l4", "g2-standard-24", 3, spot=True)
    pool["inputs"]["upgradeSettings"] = settings
    assert lines(pool)["PREEMPTIBLE_NVIDIA_L4_GPUS"]["surge"] == more * 2


@pytest.mark.parametrize(
    ("budgets", "more"),
    [
        (None, 1),
        ([{"nodes": "3"}], 3),
        ([{"nodes": "50%"}, {"nodes": "3", "reasons": ["Drifted"]}], 3),
        ([{"nodes": "1", "reasons": ["Drifted", "Underutilized"]}, {"nodes": "100%", "reasons": ["Empty"]}], 1),
        ([{"nodes": "0", "schedule": "@daily", "duration": "8h"}, {"nodes": "2"}], 2),
        ([{"nodes": "100%"}], 8),
        ([{"nodes": None}], 0),
    ],
)
def test_what_karpenter_makes_before_a_node_goes_is_told_beside_the_need(budgets: Any, more: int) -> None:
    zones = {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["us-east-1a"]}
    machine = {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["g6.xlarge"]}
    bought = {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]}
    reference = {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "gpu"}
    template = {"spec": {"nodeClassRef": reference, "requirements": [zones, machine, bought]}}
    spec = {"template": template, "limits": {"nodes": "8"}, **({"disruption": {"budgets": budgets}} if budgets else {})}
    pool = kubernetes({"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "gpu"}, "spec": spec})
    found = lines(pool)["L-DB2E81BA"]
    assert (found["need"], found["surge"]) == (8 * 4, more * 4)
