"""Both engines give the same answer: on whole programs, and on programs of which any part is missing or of another type."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mutations import ALL, Mutation, mutated, mutations
from refused_programs import BROKEN

from gpuyard.review.evaluation import limits
from gpuyard.review.evaluation.engines import Embedded, OpaServer, started_opa
from gpuyard.review.evaluation.evaluate import find_policies
from gpuyard.review.evaluation.prepare import prepare
from gpuyard.review.evaluation.rules import RuleSet, load
from gpuyard.review.evaluation.waiving import GROUP

Json = dict[str, Any]

EACH = 101
"""`make check` takes one mutation of so many, evenly; all of them run with `-m long`."""

POLICIES = find_policies(Path("/nonexistent"))


@pytest.fixture(scope="module")
def rules() -> RuleSet:
    return load(POLICIES.directories)


@pytest.fixture(scope="module")
def server(rules: RuleSet, opa: Path) -> Iterator[OpaServer]:
    with started_opa(rules, str(opa)) as started:
        yield started


def given(document: Json, rules: RuleSet) -> str:
    refers = sorted({refers for rule in rules.rules.values() for refers in rule.refers}, key=str)
    found = limits.limits(document["stack"], document["environment"], POLICIES.limits, rules.thresholds)
    return json.dumps(prepare(document, found, refers).input)


def findings(answer: Any) -> list[str]:
    return sorted(json.dumps(finding, sort_keys=True) for finding in answer["findings"])


@pytest.mark.parametrize("name", ALL)
def test_engines_agree_on_a_program(name: str, rules: RuleSet, server: OpaServer) -> None:
    text = given(ALL[name](), rules)
    embedded, opa = Embedded(rules).ask(text), server.ask(text)
    assert findings(embedded) == findings(opa)
    assert sorted(embedded["loaded"]) == sorted(opa["loaded"]) == list(rules.rules)
    assert embedded["revision"] == opa["revision"] == rules.revision
    assert bool(embedded["findings"]) == (name in BROKEN)


def test_the_broken_programs_break_every_rule(rules: RuleSet) -> None:
    fired = {
        finding["rule"] for make in BROKEN.values() for finding in Embedded(rules).ask(given(make(), rules))["findings"]
    }
    # No program says anything of waivers.
    assert fired == {rule for rule in rules.rules if not rule.startswith(GROUP)}


def disagreements(chosen: list[Mutation], rules: RuleSet, server: OpaServer) -> list[str]:
    engine = Embedded(rules)
    found = []
    for mutation in chosen:
        text = given(mutated(*mutation), rules)
        try:
            same = findings(engine.ask(text)) == findings(server.ask(text))
        except Exception as error:
            found.append(f"{mutation}: {error}")
        else:
            if not same:
                found.append(f"{mutation}: they differ")
    return found


def test_engines_agree_on_a_sample_of_mutations(rules: RuleSet, server: OpaServer) -> None:
    assert disagreements(mutations()[::EACH], rules, server) == []


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_engines_agree_on_every_mutation(rules: RuleSet, server: OpaServer) -> None:
    assert disagreements(mutations(), rules, server) == []
