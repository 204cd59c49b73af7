"""Which rules can be judged on one object, as it is admitted; and why others cannot. Nothing here names a rule: it
follows from METADATA and from what a rule's text reads."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuyard.review.evaluation.objects import HELM, PREFIX
from gpuyard.review.evaluation.prepare import POD
from gpuyard.review.evaluation.rules import PACKAGE, Read, Rule, RuleSet

THERE = frozenset({"accelerated", "by_type", "environment", "limits", "objects", "pods", "releases"})
"""The parts of `input` that policies/admission/prepared.rego makes; some are empty there, for no object brings them."""

_NAMESPACE = f"{PREFIX}core/v1:Namespace"
_IMPORT = re.compile(rf"^import data\.({PACKAGE}\.lib\.\w+)", re.MULTILINE)
_INPUT = re.compile(r"\binput\b(?:\.(\w+))?")
_COMMENT = re.compile(r"^\s*#.*$", re.MULTILINE)


def texts(rule: Rule, rules: RuleSet) -> dict[str, str]:
    """The rule's text and those of the libraries that it uses, by file name; a library stands before what uses it."""
    found: dict[str, str] = {}

    def put(name: str) -> None:
        for package in _IMPORT.findall(rules.modules[name]):
            put(f"lib/{package.rpartition('.')[2]}.rego")
        found.setdefault(name, rules.modules[name])

    put(f"rules/{rule.id}.rego")
    return found


def code(rule: Rule, rules: RuleSet) -> str:
    """All of its texts without comments."""
    return _COMMENT.sub("", "\n".join(texts(rule, rules).values()))


def admitted(rule: Rule) -> list[Read]:
    """What a rule reads in objects and pods."""
    return [read for read in rule.reads if _admitted(read.type)]


def obstacle(rule: Rule, rules: RuleSet) -> str | None:
    """Why a rule cannot be judged on one object; None where it can."""
    return next(_obstacles(rule, rules), None)


def _obstacles(rule: Rule, rules: RuleSet) -> Iterator[str]:
    if not admitted(rule):
        yield "it is about no object of a cluster"
    if rule.scope != "resource":
        yield "it needs more than one resource"
    if others := sorted({refers.to for refers in rule.refers if _admitted(refers.type)} - {_NAMESPACE}):
        yield f"it follows references to {', '.join(others)}"
    parts = {*_INPUT.findall(code(rule, rules))}
    if "" in parts:
        yield "it names input without a part of it, so nobody can tell what it reads"
    if lost := sorted(parts - THERE):
        yield f"it reads {', '.join(lost)}, which only the review prepares"


def _admitted(type_: str) -> bool:
    return type_ == POD or (type_.startswith(PREFIX) and not type_.startswith(HELM))
