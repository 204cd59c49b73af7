"""Both engines give the same answer: on whole programs, and on programs of which any part is missing or of another type."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from raw_programs import PROGRAMS
from refused_programs import BROKEN

from gpuyard.review.evaluation import limits
from gpuyard.review.evaluation.engines import Embedded, OpaServer, started_opa
from gpuyard.review.evaluation.evaluate import find_policies
from gpuyard.review.evaluation.prepare import prepare
from gpuyard.review.evaluation.rules import RuleSet, load

Json = dict[str, Any]
Path_ = tuple[str | int, ...]

ALL = PROGRAMS | BROKEN
REMOVED = object()
PUT_THERE: list[Any] = [REMOVED, None, "x", 7, -0.5, True, [], {}, [None], {"a": None}]
EACH = 21
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
    found = limits.limits(document["stack"], document["environment"], POLICIES.limits)
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
    assert fired == set(rules.rules)


def places(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    if isinstance(value, dict):
        for key, member in value.items():
            yield from places(member, (*path, key))
    elif isinstance(value, list):
        for i, member in enumerate(value):
            yield from places(member, (*path, i))
    if path:
        yield path


def mutations() -> list[tuple[str, int, Path_, Any]]:
    """Every place in the inputs of every resource, and in cost and capacity, with everything that is put there."""
    found = []
    for name, make in ALL.items():
        document = make()
        for i, resource in enumerate(document["resources"]):
            found += [(name, i, path, new) for path in places(resource["inputs"]) for new in PUT_THERE]
        parts = {key: document[key] for key in ("cost", "capacity")}
        found += [(name, -1, path, new) for path in places(parts) for new in PUT_THERE]
    return found


def mutated(name: str, index: int, path: Path_, new: Any) -> Json:
    document = copy.deepcopy(ALL[name]())
    resource = document["resources"][index] if index >= 0 else {"unknown": []}
    at: Any = document if index < 0 else resource["inputs"]
    for step in path[:-1]:
        at = at[step]
    if new is REMOVED:
        del at[path[-1]]
    else:
        at[path[-1]] = copy.deepcopy(new)
    if new is None:
        resource["unknown"].append("".join(f"/{step}" for step in path))
    return document


def disagreements(chosen: list[tuple[str, int, Path_, Any]], rules: RuleSet, server: OpaServer) -> list[str]:
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
