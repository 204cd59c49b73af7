"""Which image and version the nodes of an EKS group run, and how they move on: what EKS and Kubernetes take."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.aws import problems
from plans import described
from pydantic import ValidationError

from gpuyard.components.node_groups.aws import NodeGroupSpec, check_version, group_inputs
from gpuyard.components.stack import load
from gpuyard.components.validation import InvalidStack

RESERVATION = {"kind": "reservation", "id": "cr-0123456789abcdef0", "zone": "us-east-1b", "count": 4}
BLOCK = {**RESERVATION, "kind": "capacity_block", "start": "2026-12-01T11:30:00Z", "end": "2026-12-15T11:30:00Z"}
BOTTLEROCKET = "1.47.0-6154605b"


def spec(**changes: Any) -> NodeGroupSpec:
    given = {"machine": "p5.48xlarge", "nodes": {"min": 0, "max": 4}, **changes}
    return NodeGroupSpec.model_validate(given)


def inputs(of: NodeGroupSpec, default: str | None = None, kubernetes: str = "1.35") -> dict[str, Any]:
    return group_inputs("h100", of, kubernetes, {}, default)


@pytest.mark.parametrize(
    ("own", "default", "release"),
    [
        ({}, None, None),
        ({}, "1.35.0-20260714", "1.35.0-20260714"),
        ({"release": "1.35.3-20260801"}, "1.35.0-20260714", "1.35.3-20260801"),
        ({"release": BOTTLEROCKET, "os": "bottlerocket"}, "1.35.0-20260714", BOTTLEROCKET),
        ({"os": "bottlerocket"}, "1.35.0-20260714", None),
    ],
)
def test_a_groups_release_goes_before_the_clusters_which_is_one_of_al2023(
    own: dict[str, Any], default: str | None, release: str | None
) -> None:
    assert inputs(spec(**own), default).get("release_version") == release


@pytest.mark.parametrize(
    "changes",
    [
        {"release": "latest"},
        {"release": "v20260714"},
        {"release": "1.35.0"},
        {"release": BOTTLEROCKET},
        {"release": "1.35.0-20260714", "os": "bottlerocket"},
        {"release": "1.47.0", "os": "bottlerocket"},
        {"release": "v1.47.0-6154605b", "os": "bottlerocket"},
    ],
)
def test_a_release_of_another_form_is_refused_with_one_that_fits(changes: dict[str, Any]) -> None:
    fits = BOTTLEROCKET if "os" in changes else "1.35.0-20260714"
    with pytest.raises(ValidationError, match=f"is none of .*: give one such as {fits}"):
        spec(**changes)


@pytest.mark.parametrize(
    ("own", "cluster", "default", "sentence"),
    [
        ({"kubernetes": "1.36"}, "1.35", None, "kubernetes 1.36 is newer than the cluster's 1.35.*raise cluster.kube"),
        ({"kubernetes": "1.31"}, "1.35", None, "more than 3 minor versions older than the cluster's 1.35: .* 1.32 or"),
        ({"release": "1.34.2-20260714"}, "1.35", None, "release 1.34.2-20260714 is not of Kubernetes 1.35"),
        ({}, "1.36", "1.35.0-20260714", "cluster.node_release 1.35.0-20260714 is not of Kubernetes 1.36"),
        (
            {"kubernetes": "1.34"},
            "1.35",
            "1.35.0-20260714",
            "cluster.node_release 1.35.0-20260714 is not of Kubernetes 1.34, which the group runs: "
            "give the group a release of 1.34, or kubernetes '1.35'",
        ),
    ],
)
def test_a_version_that_does_not_fit_the_clusters_is_refused_with_a_remedy(
    own: dict[str, Any], cluster: str, default: str | None, sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        check_version(spec(**own), cluster, default)


@given(cluster=st.integers(30, 40), behind=st.integers(-3, 6))
def test_nodes_are_never_newer_and_at_most_three_versions_older(cluster: int, behind: int) -> None:
    group = spec(kubernetes=f"1.{cluster - behind}", release=f"1.{cluster - behind}.0-20260714")
    if 0 <= behind <= 3:
        check_version(group, f"1.{cluster}", None)
        assert inputs(group, kubernetes=f"1.{cluster}")["version"] == f"1.{cluster - behind}"
    else:
        with pytest.raises(ValueError, match="than the cluster's"):
            check_version(group, f"1.{cluster}", None)


def test_a_bottlerocket_group_has_releases_of_any_version_of_kubernetes() -> None:
    check_version(spec(os="bottlerocket", release=BOTTLEROCKET, kubernetes="1.34"), "1.35", "1.35.0-20260714")


@pytest.mark.parametrize(
    ("changes", "config"),
    [
        ({}, {"max_unavailable": 1}),
        ({"upgrade": {"max_unavailable": 3}}, {"max_unavailable": 3}),
        ({"upgrade": {"max_unavailable": "25%"}}, {"max_unavailable_percentage": 25}),
        ({"upgrade": {"max_unavailable": 2}, "capacity": RESERVATION}, {"max_unavailable": 2}),
        ({"capacity": BLOCK}, {"max_unavailable": 1}),
    ],
)
def test_nodes_are_replaced_a_few_at_a_time_and_where_they_are_reserved_the_old_one_goes_first(
    changes: dict[str, Any], config: dict[str, int]
) -> None:
    reserved = {"update_strategy": "MINIMAL"} if "capacity" in changes else {}
    assert inputs(spec(**changes))["update_config"] == config | reserved


@given(
    most=st.integers(1, 100) | st.integers(1, 100).map(lambda part: f"{part}%"),
    release=st.sampled_from([None, "1.35.0-20260714"]),
    reserved=st.booleans(),
)
def test_eks_takes_every_way_to_upgrade(most: int | str, release: str | None, reserved: bool) -> None:
    capacity = RESERVATION if reserved else {"kind": "on_demand"}
    of = spec(upgrade={"max_unavailable": most}, release=release, capacity=capacity)
    known = {"clusterName": "prod", "nodeRole": None, "nodeRoleArn": "arn:aws:iam::111122223333:role/node"}
    camel = {
        "updateConfig": {_camel(key): value for key, value in inputs(of)["update_config"].items()},
        "releaseVersion": inputs(of).get("release_version"),
        "subnetIds": ["subnet-0123456789abcdef0"],
        "nodeGroupName": "h100",
        "scalingConfig": {"minSize": 0, "desiredSize": 0, "maxSize": 4},
    }
    asked = {key: value for key, value in (camel | known).items() if value is not None}
    assert problems({"type": "aws:eks/nodeGroup:NodeGroup", "inputs": asked}) == []


def _camel(key: str) -> str:
    first, *others = key.split("_")
    return first + "".join(other.title() for other in others)


@pytest.mark.parametrize("most", [0, 101, "0%", "101%", "half"])
def test_a_number_of_nodes_that_eks_does_not_take_is_refused(most: Any) -> None:
    with pytest.raises(ValidationError):
        spec(upgrade={"max_unavailable": most})


def test_a_stack_whose_nodes_would_be_newer_than_its_cluster_is_refused_by_the_groups_path() -> None:
    platform = described("prod-aws")
    platform["node_groups"]["l40s"]["kubernetes"] = "1.36"
    with pytest.raises(InvalidStack, match=r"gpuyard:platform.node_groups.l40s: kubernetes 1.36 is newer"):
        load(platform, "prod-aws")


@pytest.mark.parametrize("release", ["1.35", "v20260714", "latest"])
def test_a_cluster_takes_a_release_of_al2023_only(release: str) -> None:
    platform = described("prod-aws")
    platform["cluster"]["node_release"] = release
    with pytest.raises(InvalidStack, match=r"cluster.node_release: .* given: give a release of EKS's image such as 1"):
        load(platform, "prod-aws")


@pytest.mark.parametrize(
    ("most", "sentence"),
    [
        (0, "0 (number) given: give 1 or more"),
        ("half", "'half' (text) given: give a number of nodes, or a part of the group such as 25%"),
        ([1], "a list given: give a whole number, without quotes"),
    ],
)
def test_a_number_of_nodes_that_is_none_is_one_sentence(most: Any, sentence: str) -> None:
    platform = described("prod-aws")
    platform["node_groups"]["l40s"]["upgrade"] = {"max_unavailable": most}
    with pytest.raises(InvalidStack) as refused:
        load(platform, "prod-aws")
    assert str(refused.value) == f"gpuyard:platform.node_groups.l40s.upgrade.max_unavailable: {sentence}"
