"""Snippets of docs/node-groups.md are taken as they stand, and what it says is refused is refused in these words."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from merging import merged
from plans import described, resources
from ruamel.yaml import YAML

from gpuyard import catalogue
from gpuyard.components.stack import load
from gpuyard.components.validation import InvalidStack

PAGE = (Path(__file__).parents[2] / "docs" / "node-groups.md").read_text()
SNIPPETS = [YAML(typ="safe", pure=True).load(block) for block in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)]
STACKS = {"aws": "prod-aws", "gcp": "dev", "onprem": "onprem"}
"""The shipped stack that a snippet is put into, by the cloud of its machines."""

BLOCK = {"kind": "capacity_block", "id": "cr-0123456789abcdef0", "zone": "us-east-1a", "count": 4}
WINDOW = {"start": "2026-12-01T11:30:00Z", "end": "2026-12-15T11:30:00Z"}
DGX = {"machine": "dgx-h100", "count": 1, "names": ["dgx-03"]}

Json = dict[str, Any]


def stack_of(snippet: Json) -> str:
    clouds = {catalogue.machine(group["machine"]).cloud for group in snippet.get("node_groups", {}).values()}
    return STACKS[clouds.pop()] if clouds else "onprem"


def group(**told: Any) -> Json:
    return {"node_groups": {"new": {"nodes": {"min": 0, "max": 2}, **told}}}


@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda one: " ".join(one.get("node_groups", one)))
def test_a_snippet_is_taken_and_what_follows_from_it_is_declared(snippet: Json) -> None:
    def told(platform: Json) -> None:
        new = merged(platform, snippet)
        # A shipped group that a snippet writes anew is the snippet's.
        new["node_groups"] |= snippet.get("node_groups", {})
        platform.clear()
        platform.update(new)

    found = resources(stack_of(snippet), told)
    made = {resource["name"] for resource in found.values()}
    assert set(snippet.get("node_groups", {})) <= made


REFUSED: dict[str, tuple[str, Json]] = {
    "machine … is not sold as …": ("prod-aws", group(machine="p6e-gb200.36xlarge")),
    "nodes.max … is above the … machines of …": (
        "prod-aws", group(machine="p5.48xlarge", nodes={"min": 0, "max": 5}, capacity=BLOCK | WINDOW)
    ),
    "capacity lists …, and a managed node group has one way to pay": (
        "prod-aws", group(machine="p5.48xlarge", capacity=[{"kind": "spot"}, {"kind": "on_demand"}])
    ),
    "nodes.min is …, and before a Capacity Block starts there is no machine": (
        "prod-aws", group(machine="p5.48xlarge", nodes={"min": 1, "max": 4}, capacity=BLOCK | WINDOW)
    ),
    "nodes.initial is …, and Karpenter keeps no node that no pod needs": (
        "prod-aws", group(machine="p5.48xlarge", nodes={"min": 0, "initial": 1, "max": 4}, scaled_by="karpenter")
    ),
    "partition.profiles: … overlap": (
        "onprem", {"node_groups": {"new": DGX | {"partition": {"kind": "mig", "profiles": {"4g.40gb": 1, "3g.40gb": 1, "1g.10gb": 1}}}}}
    ),
    "time_slicing keeps nobody's memory or faults from others": (
        "onprem",
        {
            "node_groups": {"new": DGX | {"partition": {"kind": "time_slicing", "clients": 4}}},
            "tenants": {
                name: {"groups": [name], "monthly_budget": 1, "accelerators": {"new": {"quota": 1}}} for name in ("a", "b")
            },
        },
    ),
    "machine … has TPU chips, and no topology is given": ("dev", group(machine="ct6e-standard-4t")),
    "nodes.max … is no whole number of slices": (
        "dev", group(machine="ct6e-standard-4t", topology="4x4", nodes={"min": 0, "max": 3})
    ),
}  # fmt: skip


def test_each_refusal_of_the_page_is_tried() -> None:
    table = PAGE.partition("## What is refused")[2]
    assert re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE) == list(REFUSED)


@pytest.mark.parametrize("words", REFUSED)
def test_a_stack_is_refused_in_the_words_of_the_page(words: str) -> None:
    stack, change = REFUSED[words]
    with pytest.raises(InvalidStack, match=".*".join(map(re.escape, words.split("…")))):
        load(merged(described(stack), change), stack)
