"""What Gatekeeper is given: a ConstraintTemplate for each rule that can be judged on one object, and constraints that
give it the limits of one environment.

Source: the CRDs of Gatekeeper 3.23 (templates.gatekeeper.sh/v1), and its constraint framework, for what a template may
import and what `match` means.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpuyard.review.admission import kinds, offered, rego
from gpuyard.review.errors import GateError
from gpuyard.review.evaluation.objects import PREFIX
from gpuyard.review.evaluation.prepare import POD
from gpuyard.review.evaluation.rules import Rule, RuleSet

Json = dict[str, Any]

TARGET = "admission.k8s.gatekeeper.sh"
ACTIONS = {"mandatory": "deny", "advisory": "warn"}
"""enforcementAction by level."""

LONGEST = 63
"""Letters of a name, for Gatekeeper and for Kubernetes."""

_EXCLUDED = re.compile(r"\*?[-:a-z0-9]+\*?")
"""Names of namespaces that a constraint takes; * is any characters, at an end only."""
_LIMIT = re.compile(r"\binput\.limits\b(?:\.(\w+))?")


@dataclass(frozen=True, slots=True)
class Admission:
    """What goes into a cluster."""

    templates: dict[str, Json]
    """By rule."""
    constraints: dict[str, list[Json]]
    """By rule: one for what denies, one for what warns, as far as it does either."""
    left_out: dict[str, str]
    """By rule, why it cannot be judged at admission."""


def admission(rules: RuleSet, policies: Path, environment: str, limits: Mapping[str, Any]) -> Admission:
    """Everything for one environment. `policies` are the packaged ones; `limits` are as rules read them.

    Raises GateError where the adapter is missing, a rule's name is too long for a cluster, or two would have one.
    """
    path = policies / rego.PREPARED
    try:
        prepared = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise GateError(f"{path} cannot be read: {error}") from None
    why = {rule.id: offered.obstacle(rule, rules) for rule in rules.rules.values()}
    taken = [rule for rule in rules.rules.values() if why[rule.id] is None]
    named: dict[str, str] = {}
    for rule in taken:
        if len(kind(rule)) > LONGEST:
            raise GateError(
                f"{rule.id} would be {kind(rule)} in a cluster, with more than {LONGEST} letters: rename it"
            )
        if named.setdefault(kind(rule), rule.id) != rule.id:
            raise GateError(f"{named[kind(rule)]} and {rule.id} would both be {kind(rule)} in a cluster: rename one")
    parameters = {rule.id: _parameters(rule, rules, environment, limits) for rule in taken}
    return Admission(
        {rule.id: _template(rule, rules, prepared, parameters[rule.id]) for rule in taken},
        {rule.id: list(_constraints(rule, rules, limits, parameters[rule.id])) for rule in taken},
        {name: reason for name, reason in why.items() if reason is not None},
    )


def kind(rule: Rule) -> str:
    """The kind of a rule's constraints: isolation/pod_security is GpuyardIsolationPodSecurity."""
    return "Gpuyard" + "".join(word.capitalize() for word in re.split(r"[/_]", rule.id))


def _template(rule: Rule, rules: RuleSet, prepared: str, parameters: Json) -> Json:
    source = {"version": "v1", "rego": rego.entry(rule), "libs": rego.libraries(rule, rules, prepared)}
    about = {"metadata.gatekeeper.sh/title": rule.title, "description": rule.description.strip()}
    return {
        "apiVersion": "templates.gatekeeper.sh/v1",
        "kind": "ConstraintTemplate",
        "metadata": {"name": kind(rule).lower(), "labels": _labels(), "annotations": about},
        "spec": {
            "crd": {
                "spec": {"names": {"kind": kind(rule)}, "validation": {"openAPIV3Schema": _schema(parameters)}},
            },
            "targets": [
                {
                    "target": TARGET,
                    "operations": ["CREATE", "UPDATE"],
                    "code": [{"engine": "Rego", "source": source}],
                }
            ],
        },
    }


def _constraints(rule: Rule, rules: RuleSet, limits: Mapping[str, Any], parameters: Json) -> Iterable[Json]:
    """A rule may give some of its findings another level than its own: then what warns is a constraint beside it."""
    levels = [*ACTIONS] if '"level"' in offered.code(rule, rules) else [rule.level]
    for level in levels:
        match: Json = {"kinds": _kinds(rule)}
        # A rule that reads the namespaces of the limits decides by itself where it holds.
        if "namespaces" not in parameters["limits"]:
            match["excludedNamespaces"] = [n for n in limits["namespaces"]["privileged"] if _EXCLUDED.fullmatch(n)]
        yield {
            "apiVersion": "constraints.gatekeeper.sh/v1beta1",
            "kind": kind(rule),
            "metadata": {"name": f"gpuyard-{level}", "labels": _labels()},
            "spec": {
                "enforcementAction": ACTIONS[level],
                "match": match,
                "parameters": parameters | {"level": level},
            },
        }


def _labels() -> Json:
    return {"app.kubernetes.io/part-of": "gpuyard"}


def _kinds(rule: Rule) -> list[Json]:
    """The kinds that a rule reads, by group: of pods, those that are known to carry one."""
    found: dict[str, set[str]] = {}
    for read in offered.admitted(rule):
        if read.type == POD:
            for group, carrier in kinds.carriers():
                found.setdefault(group, set()).add(carrier)
        else:
            api, _, read_kind = read.type.removeprefix(PREFIX).rpartition(":")
            group = api.partition("/")[0]
            found.setdefault("" if group == "core" else group, set()).add(read_kind)
    return [{"apiGroups": [group], "kinds": sorted(found[group])} for group in sorted(found)]


def _parameters(rule: Rule, rules: RuleSet, environment: str, limits: Mapping[str, Any]) -> Json:
    """The limits that a rule reads, and nothing else of them: whoever may read constraints reads these."""
    parts = {*_LIMIT.findall(offered.code(rule, rules))}
    wanted = dict(limits) if "" in parts else {part: limits[part] for part in sorted(parts) if part in limits}
    if "thresholds" in wanted:
        wanted["thresholds"] = {name: own for name, own in wanted["thresholds"].items() if name == rule.id}
    return {"environment": environment, "level": rule.level, "limits": wanted}


def _schema(value: Any) -> Json:
    """The schema of parameters that look like these: what is left out of them would let everything pass."""
    if isinstance(value, dict):
        inside = {name: _schema(member) for name, member in value.items()}
        return {"type": "object"} | ({"properties": inside, "required": sorted(inside)} if inside else {})
    if isinstance(value, list):
        return {"type": "array", "items": _schema(value[0] if value else "")}
    if isinstance(value, bool):
        return {"type": "boolean"}
    return {"type": "number"} if isinstance(value, int | float) else {"type": "string"}
