"""What an edit moves to another version: the canary alone, then the rest, in place, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from plans import Change, Plan, plan, resources

Described = dict[str, Any]

STABLE, NEXT = "580.126.20", "595.91.07"
OLD, NEW = "1.35.0-20260714", "1.35.3-20260801"
DRIVER = "kubernetes:nvidia.com/v1alpha1:NVIDIADriver"
GROUP = "aws:eks/nodeGroup:NodeGroup"
CLASS = "kubernetes:karpenter.k8s.aws/v1:EC2NodeClass"


def three_halls(platform: Described) -> None:
    """Three groups on-prem, whose drivers the GPU Operator brings."""
    platform["cluster"].update(driver="operator", driver_version=STABLE)
    for name in ("spare", "canary"):
        platform["node_groups"][name] = {"machine": "dgx-h100", "count": 1, "names": [f"{name}-01"]}


def canary_driver(platform: Described) -> None:
    platform["node_groups"]["canary"]["driver_version"] = NEXT


def rest_of_the_drivers(platform: Described) -> None:
    del platform["node_groups"]["canary"]["driver_version"]
    platform["cluster"]["driver_version"] = NEXT


def pinned(platform: Described) -> None:
    """Every group of EKS on one release."""
    platform["cluster"]["node_release"] = OLD
    platform["node_groups"]["burst"] = {
        "machine": "g6e.4xlarge",
        "nodes": {"min": 0, "max": 2},
        "scaled_by": "karpenter",
    }


def canary_release(platform: Described) -> None:
    platform["node_groups"]["l40s"]["release"] = NEW


def rest_of_the_releases(platform: Described) -> None:
    del platform["node_groups"]["l40s"]["release"]
    platform["cluster"]["node_release"] = NEW


def planned(stack: str, before: list[Change], edit: Change) -> Plan:
    return plan(resources(stack, *before), resources(stack, *before, edit))


def changed(found: Plan) -> dict[str, set[str]]:
    """What moves, by type and name, and the inputs that differ; nothing of it is made anew."""
    assert (found.created, found.deleted, found.replaced) == (set(), set(), {})
    return {f"{found.after[urn]['type']}::{found.after[urn]['name']}": paths for urn, paths in found.changed.items()}


def test_a_canarys_driver_moves_the_canary_and_the_clusters_the_rest() -> None:
    first = changed(planned("onprem", [three_halls], canary_driver))
    assert first == {f"{DRIVER}::nvidia-canary": {"spec.version"}}
    second = changed(planned("onprem", [three_halls, canary_driver], rest_of_the_drivers))
    assert second == {f"{DRIVER}::nvidia-{group}": {"spec.version"} for group in ("dgx", "spare")}


def test_the_previous_file_takes_a_canary_back_and_nothing_else() -> None:
    forth, back = resources("onprem", three_halls), resources("onprem", three_halls, canary_driver)
    assert changed(plan(back, forth)) == {f"{DRIVER}::nvidia-canary": {"spec.version"}}


def test_a_first_canary_reinstalls_no_other_driver() -> None:
    found = planned("onprem", [lambda p: p["cluster"].update(driver="operator", driver_version=STABLE)], three_halls)
    assert (found.deleted, found.replaced) == (set(), {})
    assert [urn for urn in found.changed if found.after[urn]["type"] == DRIVER] == []
    assert {found.after[urn]["name"] for urn in found.created if found.after[urn]["type"] == DRIVER} == {
        "nvidia-spare",
        "nvidia-canary",
    }


def test_another_name_for_a_group_moves_no_driver() -> None:
    def rename(platform: Described) -> None:
        platform["node_groups"]["first"] = {**platform["node_groups"].pop("canary"), "was": "canary"}

    assert changed(planned("onprem", [three_halls], rename)) == {}


def test_how_a_group_is_upgraded_is_no_upgrade() -> None:
    def slower(platform: Described) -> None:
        platform["node_groups"]["dgx"]["upgrade"] = {"max_unavailable": "50%", "wait_for_jobs": "12h"}

    paths = {"spec.upgradePolicy.maxUnavailable", "spec.upgradePolicy.waitForCompletion"}
    assert changed(planned("onprem", [three_halls], slower)) == {f"{DRIVER}::nvidia-dgx": paths}


def test_a_canarys_release_on_eks_moves_the_canary_and_the_clusters_the_rest() -> None:
    first = changed(planned("prod-aws", [pinned], canary_release))
    assert first == {f"{GROUP}::l40s": {"releaseVersion"}}
    second = changed(planned("prod-aws", [pinned, canary_release], rest_of_the_releases))
    assert second == {
        f"{GROUP}::system": {"releaseVersion"},
        f"{GROUP}::h100": {"releaseVersion"},
        f"{CLASS}::burst": {"spec.amiSelectorTerms[0].alias"},
    }


def test_a_release_is_given_to_groups_that_had_none_in_place() -> None:
    found = changed(planned("prod-aws", [], lambda p: p["cluster"].update(node_release=OLD)))
    assert found == {f"{GROUP}::{group}": {"releaseVersion"} for group in ("system", "h100", "l40s")}


def test_groups_stay_behind_a_control_plane_that_goes_first() -> None:
    def stay(platform: Described) -> None:
        for group in ("system", "h100", "l40s"):
            platform["node_groups"][group]["kubernetes"] = "1.35"

    def control_plane(platform: Described) -> None:
        platform["cluster"]["kubernetes"] = "1.36"

    assert changed(planned("prod-aws", [], stay)) == {}, "they run that version already"
    first = changed(planned("prod-aws", [stay], control_plane))
    assert "aws:eks/cluster:Cluster::prod-aws" in first
    assert not [name for name in first if name.startswith(GROUP)]

    def follow(platform: Described) -> None:
        del platform["node_groups"]["l40s"]["kubernetes"]

    second = changed(planned("prod-aws", [stay, control_plane], follow))
    assert second == {f"{GROUP}::l40s": {"version"}}


@pytest.mark.parametrize(
    ("stack", "group", "upgrade"),
    [
        ("prod-aws", "l40s", {"max_unavailable": "25%"}),
        ("dev", "l4", {"strategy": "surge", "max_surge": 1}),
        ("dev", "l4", {"strategy": "blue_green", "soak": "2h"}),
    ],
)
def test_another_way_to_upgrade_changes_the_group_in_place(stack: str, group: str, upgrade: Described) -> None:
    found = changed(planned(stack, [], lambda p: p["node_groups"][group].update(upgrade=upgrade)))
    [(name, paths)] = found.items()
    assert name.endswith(f"::{group}")
    assert {path.partition(".")[0] for path in paths} <= {"updateConfig", "upgradeSettings"}
