"""The example stacks on clusters of other clouds: they may deploy, and say of the cluster what `gpuyard inventory` says."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import live_nodes
import pytest
from command import gpuyard
from ruamel.yaml import YAML

from gpuyard.components.stack import load
from gpuyard.review.evaluation.evaluate import find_policies
from gpuyard.review.judge import Review, judge
from gpuyard.review.program.record import find_project, record_program
from gpuyard.review.program.stackfile import stacks

EXAMPLES = Path(__file__).parents[2] / "examples" / "inventories"
NAMES = ("aks", "coreweave", "lambda", "nebius")
DATE = "2026-11-30"

OWN = {"usd_hour"}
"""What a cluster does not say of its nodes."""


def written(name: str) -> dict[str, Any]:
    text = (EXAMPLES / f"Pulumi.{name}.yaml").read_text()
    found: dict[str, Any] = YAML(typ="safe", pure=True).load(text)["config"]["gpuyard:platform"]
    return found


@functools.cache
def reviewed(name: str) -> Review:
    return judge(record_program(find_project(EXAMPLES), name), find_policies(EXAMPLES), date=DATE)


def pods(name: str) -> list[dict[str, Any]]:
    """The pods of the endpoints."""
    inputs = [r["inputs"] for r in reviewed(name).document["resources"]]
    return [i["spec"]["template"]["spec"] for i in inputs if i.get("kind") == "Deployment"]


def test_each_cloud_has_one() -> None:
    assert tuple(stacks(find_project(EXAMPLES))) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_an_example_may_deploy(name: str) -> None:
    assert reviewed(name).findings == [], "not even advice"


@pytest.mark.parametrize("name", NAMES)
def test_an_example_says_what_the_command_says_of_such_a_cluster(name: str, tmp_path: Path) -> None:
    answer = gpuyard("inventory", PATH=live_nodes.cluster(tmp_path, name))
    found = load({**YAML(typ="safe", pure=True).load(answer.out)["config"]["gpuyard:platform"], "owner": "x", "cost_center": "1"}, name)  # fmt: skip
    told = load(written(name), name)
    assert {key: group.model_dump(exclude=OWN) for key, group in told.node_groups.items()} == {
        key: group.model_dump(exclude=OWN) for key, group in found.node_groups.items()
    }
    # A cluster without labels of the driver says no version, and whoever writes the stack asks nvidia-smi.
    assert told.cluster.model_dump(exclude={"driver_version"}) == found.cluster.model_dump(exclude={"driver_version"})
    assert found.cluster.driver_version in (None, told.cluster.driver_version)


@pytest.mark.parametrize("name", NAMES)
def test_the_pods_of_an_example_find_nodes_and_tolerate_every_taint_there(name: str) -> None:
    for pod in pods(name):
        fitting = [
            node for node in live_nodes.node_list(name)["items"]
            if pod["nodeSelector"].items() <= node["metadata"]["labels"].items()
        ]  # fmt: skip
        assert fitting
        for node in fitting:
            for taint in node["spec"].get("taints", []):
                assert any(tolerates(each, taint) for each in pod["tolerations"]), (node["metadata"]["name"], taint)


def tolerates(toleration: dict[str, Any], taint: dict[str, Any]) -> bool:
    """As the scheduler matches them. Source: Kubernetes, taints and tolerations."""
    return (
        toleration.get("key") in (None, taint["key"])
        and toleration.get("effect") in (None, taint["effect"])
        and (toleration.get("operator") == "Exists" or toleration.get("value", "") == taint.get("value", ""))
    )


@pytest.mark.parametrize("name", NAMES)
def test_an_example_declares_nothing_cluster_wide(name: str) -> None:
    objects = [r["inputs"] for r in reviewed(name).document["resources"] if r["type"].startswith("kubernetes:")]
    assert objects
    assert {o["metadata"].get("namespace") for o in objects} == {"assistants"}
