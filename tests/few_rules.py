"""A set of a few rules, which says what it was asked, and what it answers."""

from __future__ import annotations

import json
from typing import Any

from gpuyard.review.evaluation.rules import RuleSet

MAIN = """package gpuyard.main

answer := {"findings": findings, "loaded": {"pets/none"}, "revision": data.gpuyard.revision.digest}

findings contains {"pet": pet} if some pet in input.pets
"""


def rules(main: str = MAIN, **more: str) -> RuleSet:
    return RuleSet({}, {f"{name}.rego": text for name, text in more.items()} | {"main.rego": main})


def pets(answer: Any) -> list[str]:
    return sorted(finding["pet"] for finding in answer["findings"])


def asked(*names: str) -> str:
    return json.dumps({"pets": names})
