"""The rows of docs/pains.md, and what stacks declare by which they are tried."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any

from plans import Change, Resources, resources

from gpuyard.review.recording import Resource

PAGE = Path(__file__).parent.parent / "docs" / "pains.md"

RELEASE = "kubernetes:helm.sh/v3:Release"

Json = dict[str, Any]

ROW = re.compile(r"^\| (\d+) \| (.+) \| (.+) \| (.+) \|$", re.MULTILINE)

ROWS = {int(number): (pain, before, unseen) for number, pain, before, unseen in ROW.findall(PAGE.read_text())}
"""By number: the pain, what happens before anything deploys, and what no plan can see."""

MADE_SO = "**Made so**"
"""Begins what a row says of what is declared."""


@functools.cache
def shipped(stack: str) -> Resources:
    return resources(stack)


def of_type(found: Resources, *endings: str) -> list[Resource]:
    return [resource for resource in found.values() if resource["type"].endswith(endings)]


def group(name: str, value: Json) -> Change:
    return lambda platform: platform["node_groups"].update({name: value})


def releases(found: Resources) -> dict[str, Json]:
    """Inputs of the Helm releases, by name."""
    return {resource["inputs"]["name"]: resource["inputs"] for resource in of_type(found, RELEASE)}


def values(found: Resources, chart: str) -> Json:
    told: Json = releases(found)[chart]["values"]
    return told


def needed(found: Resources, resource: Resource) -> set[str]:
    """All that is there before a resource is."""
    seen: set[str] = set()
    waiting = [resource["urn"]]
    while waiting:
        one = found[waiting.pop()]
        for urn in (*one["options"].get("depends_on", []), one["provider"], one["parent"]):
            if urn in found and urn not in seen:
                seen.add(urn)
                waiting.append(urn)
    return seen
