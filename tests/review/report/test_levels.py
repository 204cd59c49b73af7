"""The three levels of quota in the reports: the cloud's account, the cluster, the budget."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from documents import cost, document
from rich.console import Console

from gpuyard.review.judge import Review
from gpuyard.review.report.json import to_json
from gpuyard.review.report.levels import levels
from gpuyard.review.report.markdown import to_markdown
from gpuyard.review.report.terminal import print_review

Json = dict[str, Any]

QUOTA: Json = {
    "cloud": "aws", "account": "111122223333", "region": "us-east-1", "code": "L-417A185B",
    "name": "Running On-Demand P instances", "unit": "vcpus", "need": 1536, "limit": 768.0, "usage": None, "surge": 0,
    "groups": ["h100"], "uncounted": [], "fetched": "2026-11-20", "age_days": 10, "unchecked": None,
}  # fmt: skip
UNKNOWN = QUOTA | {
    "name": "All P5 Spot Instance Requests", "limit": None, "fetched": None, "age_days": None,
    "unchecked": "no snapshot", "uncounted": ["h200"],
}  # fmt: skip
GPUS = QUOTA | {"name": "GPUS_ALL_REGIONS", "unit": "gpus", "need": 8, "limit": -1.0, "usage": 3.0}
MOVING = QUOTA | {"surge": 1152, "age_days": -3}


def group(name: str, most: int | None, cloud: str = "aws") -> Json:
    bounds = {"min": 0, "initial": 0, "max": most}
    return {
        "urn": name,
        "name": name,
        "cloud": cloud,
        "accelerator": "H100-80",
        "accelerators": bounds,
        "nodes": bounds,
    }


def review(*quotas: Json) -> Review:
    line = {
        "urn": "h100", "group": "h100", "machine": "p5.48xlarge", "market": "on_demand", "usd_hour": 55.04, "date": "",
        "upper_bound": False, "nodes": {"min": 0, "max": 4}, "month": {"min": 0.0, "initial": 0.0, "max": 160716.8},
        "accelerators_a_node": 8,
    }  # fmt: skip
    tenants = {
        "fraud": {"quota": 100.0, "worst": 120.0, "budget": 110.0},
        "free": {"quota": 1.0, "worst": 1.0, "budget": None},
    }
    shares = {
        "fraud": {
            "h100": {"quota": 16, "borrow": 8, "endpoints_max": 4},
            "there": {"quota": 2, "borrow": 0, "endpoints_max": 2},
        },
        "free": {"h100": {"quota": 0, "borrow": 0, "endpoints_max": 8}},
    }
    groups = [group("h100", 32), group("there", 2, "existing")]
    capacity = {"groups": groups, "accelerators": {}, "total": 32, "tenants": shares, "quotas": list(quotas)}
    found: Any = document([], cost=cost([line], tenants=tenants), capacity=capacity)
    return Review(found, [], "an engine", [], limits={"budget": {"month_usd": 150000.0}})


def test_what_an_upgrade_needs_is_a_note_and_so_is_a_snapshot_of_a_day_to_come() -> None:
    [moving, *_] = levels(review(MOVING))
    assert (moving.need, moving.used) == ("1,536 vCPUs", 2.0)
    assert moving.note == "as of 2026-11-20, 3 days after the review, up to 1,152 more while nodes are upgraded"


def test_every_level_says_what_may_be_needed_and_what_may_be_had() -> None:
    found = [(one.level, one.what, one.need, one.limit, one.note) for one in levels(review(QUOTA, UNKNOWN, GPUS))]
    assert found == [
        ("account", "Running On-Demand P instances, us-east-1", "1,536 vCPUs", "768", "as of 2026-11-20, 10 days ago"),
        ("account", "All P5 Spot Instance Requests, us-east-1", "1,536 + h200 vCPUs", "?", "not checked: no snapshot"),
        ("account", "GPUS_ALL_REGIONS, us-east-1", "8 GPUs", "no limit", "3 in use, as of 2026-11-20, 10 days ago"),
        ("cluster", "tenants' shares of h100", "24", "32", ""),
        ("budget", "tenant fraud", "$120", "$110", ""),
        ("budget", "the stack", "$160,717", "$150,000", ""),
    ], "shares of somebody else's nodes have no limit that is known"


def test_parts_of_gpus_are_what_tenants_share_and_pools_of_one_group_add_up() -> None:
    one = review()
    capacity: Json = one.document["capacity"]
    shares = {
        "h100/1g.10gb": {"quota": 40, "borrow": 0, "endpoints_max": 0},
        "pools": {"quota": 9, "borrow": 0, "endpoints_max": 0},
    }
    parts = {"h100/1g.10gb": {"resource": "nvidia.com/mig-1g.10gb", "a_node": 56}}
    capacity |= {
        "groups": [group("h100", 2) | {"parts": parts}, group("pools", 8), group("pools", 4)],
        "tenants": {"fraud": shares},
    }
    found = {level.what: (level.need, level.limit) for level in levels(one) if level.level == "cluster"}
    assert found == {
        "tenants' shares of h100/1g.10gb": ("40", "112"),
        "tenants' shares of pools": ("9", "12"),
    }


def printed(one: Review, width: int) -> str:
    text = io.StringIO()
    print_review(one, Console(file=text, width=width, highlight=False))
    return text.getvalue()


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_terminal_of_any_width_gets_every_number(width: int) -> None:
    text = printed(review(QUOTA, UNKNOWN), width)
    assert max(len(line) for line in text.splitlines()) <= width
    assert [number for number in ("vCPUs", "768", "$160,717", "$150,000") if number not in text] == []


def test_markdown_and_json_have_the_same_lines() -> None:
    one = review(QUOTA)
    assert "| account | Running On-Demand P instances, us-east-1 | 1,536 vCPUs | 768 |" in to_markdown([one])
    [read] = json.loads(to_json([one]))
    assert [line["level"] for line in read["quotas"]] == ["account", "cluster", "budget", "budget"]


def test_a_stack_without_any_quota_has_no_such_block() -> None:
    bare = Review(document([]), [], "an engine", [])  # type: ignore[arg-type]
    assert levels(bare) == []
    assert "Quotas" not in printed(bare, 80)


def test_of_divided_gpus_tenants_are_promised_parts() -> None:
    parts = {"cut/1g.10gb": {"resource": "nvidia.com/mig-1g.10gb", "a_node": 32}}
    cut = group("cut", 16) | {"nodes": {"min": 0, "initial": 0, "max": 2}, "parts": parts}
    made = review()
    made.document["capacity"]["groups"].append(cut)
    made.document["capacity"]["tenants"]["fraud"]["cut/1g.10gb"] = {"quota": 40, "borrow": 0, "endpoints_max": 4}
    found = [(level.what, level.need, level.limit) for level in levels(made) if "cut" in level.what]
    assert found == [("tenants' shares of cut/1g.10gb", "40", "64")]
