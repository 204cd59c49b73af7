"""A finding of a platform is at the line of its stack file that says what it is about."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from broken_stack import broken
from documents import resource

from gpuyard.review.evaluation.findings import Finding
from gpuyard.review.program.keylines import key_lines
from gpuyard.review.report.origin import Origin, Place, Places

Json = dict[str, Any]

STACK = """\
config:
  other: {endpoints: {chat: 1}}
  gpuyard:platform:
    node_groups:
      chat: {machine: g6.xlarge}
    endpoints:
      chat:
        tenant: fraud
    monitoring: {retention: 15d}
"""
SECTIONS = {"node_groups": {"chat": {}}, "endpoints": {"chat": {}}, "monitoring": {}, "tenants": {}}


def made(type_: str, name: str, parent: Json | None = None, inputs: Json | None = None) -> Json:
    return resource(type_, name, inputs or {}, custom=":index:" not in type_, parent=parent["urn"] if parent else "")


@pytest.fixture
def places(tmp_path: Path) -> tuple[Places, dict[str, Json], Finding]:
    (tmp_path / "stacks").mkdir()
    (tmp_path / "stacks" / "Pulumi.dev.yaml").write_text(STACK)
    platform = made("gpuyard:index:Platform", "dev", inputs=SECTIONS)
    group = made("gpuyard:index:EksNodeGroup", "chat", platform)
    endpoint = made("gpuyard:index:Endpoint", "chat", platform)
    server = made("gpuyard:index:Server", "chat-server", endpoint)
    alerts = made("gpuyard:index:Monitoring", "monitoring", platform)
    queues = made("gpuyard:index:Kueue", "kueue", platform)
    found = {
        "platform": platform,
        "group": made("aws:eks/nodeGroup:NodeGroup", "nodes", group),
        "endpoint": made("kubernetes:apps/v1:Deployment", "model", server),
        "monitoring": made("kubernetes:core/v1:ConfigMap", "rules", alerts),
        "queues": made("kubernetes:core/v1:ConfigMap", "queues", queues),
        "own": made("kubernetes:core/v1:ConfigMap", "own") | {"source": "__main__.py:7"},
    }
    all_of = [*found.values(), group, endpoint, server, alerts, queues]
    review = replace(broken(), document=broken().document | {"resources": all_of})
    origin = Origin("infra", stacks=tmp_path / "stacks", stacks_in="stacks")
    return Places(review, origin), found, review.findings[0]


LINES = {"platform": 3, "group": 5, "endpoint": 7, "monitoring": 9, "queues": 3}


@pytest.mark.parametrize("which", LINES)
def test_what_a_platform_makes_is_at_the_key_that_asks_for_it(
    which: str, places: tuple[Places, dict[str, Json], Finding]
) -> None:
    found, resources, finding = places
    place = found.place(replace(finding, urn=resources[which]["urn"]))
    assert place == Place("infra/stacks/Pulumi.dev.yaml", LINES[which], exact=True)


def test_what_is_beside_a_platform_is_where_it_is_registered_and_the_stack_is_the_platform(
    places: tuple[Places, dict[str, Json], Finding],
) -> None:
    found, resources, finding = places
    assert found.place(replace(finding, urn=resources["own"]["urn"])) == Place("infra/__main__.py", 7, exact=True)
    whole = found.place(replace(finding, urn="urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev"))
    assert whole == Place("infra/stacks/Pulumi.dev.yaml", 3, exact=True)


@pytest.mark.parametrize("text", ["", "- a", "config: [", "config: {a: 1}", "config:\n  gpuyard:platform: &a [*a]\n"])
def test_a_file_without_a_platform_has_no_lines(text: str, tmp_path: Path) -> None:
    (tmp_path / "Pulumi.dev.yaml").write_text(text)
    assert [*key_lines(tmp_path / "Pulumi.dev.yaml")] in ([], [()])
    assert key_lines(tmp_path / "gone.yaml") == {}
