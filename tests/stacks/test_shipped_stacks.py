"""The shipped stacks, as the review sees them: accepted by the clouds' own models, within limits, and stable."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from oracles import aws, gcp
from shipped import reviewed

from gpuyard.review.report.json import to_json
from gpuyard.review.report.markdown import to_markdown

STACKS = ("dev", "onprem", "prod-aws", "serving")
GOLDEN = Path(__file__).parents[1] / "golden" / "stacks"


def resources(stack: str) -> list[Any]:
    return reviewed(stack).document["resources"]


@pytest.mark.parametrize("stack", STACKS)
def test_a_shipped_stack_may_deploy(stack: str) -> None:
    review = reviewed(stack)
    assert not review.refused
    assert review.findings == [], "not even advice"


@pytest.mark.golden
@pytest.mark.parametrize("stack", STACKS)
def test_the_report_of_a_shipped_stack_changes_only_on_purpose(stack: str) -> None:
    path = GOLDEN / f"{stack}.md"
    # Which engine answers depends on what the machine has.
    report = to_markdown([reviewed(stack)]).replace(reviewed(stack).engine, "an engine")
    if os.environ.get("GOLDEN") == "write":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(report)
    assert report == path.read_text(), f"{path.name} differs: run `make generate` and read the change"


@pytest.mark.parametrize("stack", STACKS)
def test_the_clouds_own_models_accept_every_input(stack: str) -> None:
    oracles = {"aws": aws.problems, "gcp": gcp.problems}
    checked = {r["urn"]: oracles[p](r) for r in resources(stack) if (p := r["type"].partition(":")[0]) in oracles}
    assert {urn: found for urn, found in checked.items() if found} == {}
    assert len(checked) > 10 or stack in ("onprem", "serving"), "the cloud stacks have something to check"


def test_a_serving_only_stack_creates_nothing_cluster_wide() -> None:
    objects = [r["inputs"] for r in resources("serving") if r["type"].startswith("kubernetes:")]
    assert objects
    assert {o["metadata"].get("namespace") for o in objects} == {"assistants"}
    assert {o["kind"] for o in objects} <= {
        "Deployment", "Service", "NetworkPolicy", "PodDisruptionBudget", "ScaledObject", "ServiceMonitor",
    }  # fmt: skip


def test_on_prem_nodes_get_labels_where_they_are_named_and_taints_nowhere() -> None:
    patches = [r["inputs"] for r in resources("onprem") if r["type"].endswith("NodePatch")]
    assert [p["metadata"]["name"] for p in patches] == ["dgx-01", "dgx-02"]
    assert all(set(p) == {"apiVersion", "kind", "metadata"} for p in patches)


@pytest.mark.parametrize("stack", STACKS)
def test_every_child_is_named_after_its_component_and_ordered_after_its_namespace(stack: str) -> None:
    by_urn = {r["urn"]: r for r in resources(stack)}
    made = {r["inputs"]["metadata"]["name"]: r["urn"] for r in resources(stack) if r["type"].endswith(":Namespace")}
    for resource in resources(stack):
        parent = by_urn.get(resource["parent"])
        if parent and not parent["custom"] and parent["type"] != "gpuyard:index:Platform":
            assert resource["name"].startswith(parent["name"]), resource["urn"]
        namespace = (resource["inputs"].get("metadata") or {}).get("namespace")
        if namespace in made:
            assert reaches(resource["urn"], made[namespace], by_urn), f"{resource['urn']} may come before its namespace"


def reaches(urn: str, target: str, by_urn: dict[str, Any]) -> bool:
    """Whether a resource waits for another, by itself or through what it depends on."""
    seen, todo = set(), [urn]
    while todo:
        here = todo.pop()
        if here == target:
            return True
        if here in seen or here not in by_urn:
            continue
        seen.add(here)
        todo += by_urn[here]["options"].get("depends_on", [])
    return False


@pytest.mark.parametrize("stack", ["dev", "onprem", "prod-aws"])
def test_queues_come_after_their_controller_and_pods_after_the_class_that_they_name(stack: str) -> None:
    by_urn = {r["urn"]: r for r in resources(stack)}
    named = {(r["inputs"].get("kind"), (r["inputs"].get("metadata") or {}).get("name")): r for r in by_urn.values()}
    [controller] = [r for r in by_urn.values() if r["type"].endswith(":Release") and r["inputs"]["name"] == "kueue"]
    queued = [r for r in by_urn.values() if "kueue.x-k8s.io" in str(r["inputs"].get("apiVersion"))]
    assert {r["inputs"]["kind"] for r in queued} == {"ResourceFlavor", "Cohort", "ClusterQueue", "LocalQueue"}
    for resource in queued:
        assert reaches(resource["urn"], controller["urn"], by_urn), resource["urn"]
    for resource in (r for r in queued if r["inputs"]["kind"] == "LocalQueue"):
        namespace, queue = resource["inputs"]["metadata"]["namespace"], resource["inputs"]["spec"]["clusterQueue"]
        # A queue with running jobs cannot be deleted, and a namespace takes its jobs with it.
        assert reaches(named["Namespace", namespace]["urn"], named["ClusterQueue", queue]["urn"], by_urn)
    for resource in (r for r in by_urn.values() if r["inputs"].get("kind") == "Deployment"):
        name = resource["inputs"]["spec"]["template"]["spec"]["priorityClassName"]
        assert reaches(resource["urn"], named["PriorityClass", name]["urn"], by_urn)


@pytest.mark.parametrize("stack", STACKS)
def test_nothing_goes_to_whatever_account_or_cluster_the_deployer_happens_to_use(stack: str) -> None:
    for resource in resources(stack):
        if resource["custom"] and not resource["type"].startswith("pulumi:providers:"):
            package = resource["type"].partition(":")[0]
            assert f"pulumi:providers:{package}::" in resource["provider"], f"{resource['urn']} has no provider of ours"


@pytest.mark.parametrize("stack", STACKS)
def test_every_resource_says_which_line_declares_it(stack: str) -> None:
    assert [r["urn"] for r in resources(stack) if r["custom"] and not r.get("source")] == []


def test_two_reviews_of_one_day_are_equal_byte_for_byte() -> None:
    first = to_json([reviewed("dev")])
    reviewed.cache_clear()
    assert to_json([reviewed("dev")]) == first
    assert json.loads(first)[0]["document"]["date"] == "2026-11-30"
