"""A stored document is judged as its program was, and says nothing of what judges it."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from broken_stack import broken
from documents import DATE, Json, kubernetes, pod_spec, workload
from shipped import ROOT, reviewed

from gpuyard.cli.given import each_given, of_document
from gpuyard.review import document as documents
from gpuyard.review.document import public
from gpuyard.review.doors.document import from_document
from gpuyard.review.errors import InputError
from gpuyard.review.evaluation.evaluate import find_policies
from gpuyard.review.judge import judge
from gpuyard.review.recording import Recording
from gpuyard.review.report.html import to_html
from gpuyard.review.report.json import to_json
from gpuyard.review.report.markdown import to_markdown

POLICIES = find_policies(ROOT)


def stored(folder: Path, content: Any) -> Path:
    file = folder / "stored.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return file


def document(*resources: Json, **more: Any) -> Json:
    made = documents.build(Recording("shop", "dev", list(resources), [], 0.0), date=DATE, environment="development")
    return {**public(made), **more}


@pytest.mark.parametrize("stack", ["dev", "prod-aws"])
def test_the_report_of_a_stack_gives_the_same_report_again(stack: str, tmp_path: Path) -> None:
    told = to_json([reviewed(stack)])
    given, _ = of_document(stored(tmp_path, told), ())
    again = json.loads(to_json([*each_given(given, POLICIES, DATE).made.values()]))
    (before,) = json.loads(told)
    hidden = [part["what"] for part in again[0].pop("unseen")]
    assert [what for what in hidden if "secret" not in what] == [part["what"] for part in before.pop("unseen")]
    for one in (before, again[0]):
        for resource in one["document"]["resources"]:
            # What the report does not show is not known to whoever reads it.
            resource["unknown"] = []
    assert again == [before]


def test_a_stack_that_breaks_almost_every_rule_is_refused_for_the_same(tmp_path: Path) -> None:
    own = [one for one in broken().document["resources"] if one["urn"].startswith("urn:pulumi:dev:")]
    before = judge(Recording("shop", "dev", own, [], 0.0), POLICIES, date=DATE)
    given, _ = of_document(stored(tmp_path, [{"format": "gpuyard.report/1", "document": public(before.document)}]), ())
    again = each_given(given, POLICIES, DATE).made["dev"]
    assert len(before.findings) > 50

    def found(findings: Any) -> set[tuple[str, str, str]]:
        return {(one.rule, one.urn, one.path) for one in findings}

    # What a report hides, nobody can find in it; and that is said.
    lost = found(before.findings) - found(again.findings)
    assert {rule for rule, _, _ in lost} <= {"supply_chain/plain_tokens"}
    for _, urn, _ in lost:
        assert any(part.urn == urn and "secret" in part.what for part in again.unseen)


def test_environment_cost_and_date_of_the_file_count_for_nothing(tmp_path: Path) -> None:
    pod = kubernetes(workload("Deployment", pod_spec("evil.example/x:1")))
    lie = document(pod, environment="nowhere", date="1999-01-01", cost={"total": {"max": 0}}, capacity={"total": 0})
    given, _ = of_document(stored(tmp_path, lie), ())
    review = each_given(given, POLICIES, DATE).made["dev"]
    assert (review.document["environment"], review.document["date"]) == ("development", DATE)
    assert "lines" in review.document["cost"]
    assert review.refused


def test_what_was_secret_is_unknown_and_is_said_not_to_be_judged(tmp_path: Path) -> None:
    container = pod_spec(env=[{"name": "A", "value": "x"}])
    pod = kubernetes(workload("Pod", container), secret=["/spec/containers/0/env/0/value"])
    (given,) = from_document(stored(tmp_path, document(pod)))
    (resource,) = given.recording.resources
    assert resource["unknown"] == ["/spec/containers/0/env/0/value"]
    assert [part.what for part in given.hidden] == ["model/spec/containers/0/env/0/value, which is secret"]


def test_default_providers_come_back_as_configuration(tmp_path: Path) -> None:
    config = {"aws:region": "us-east-1", "shop:size": "3"}
    made = judge(Recording("shop", "dev", [], [], 0.0, config), POLICIES, date=DATE).document
    (given,) = from_document(stored(tmp_path, public(made)))
    assert given.recording.config == {"aws:region": "us-east-1"}


POD = kubernetes(workload("Pod", pod_spec()))


def without(key: str) -> Callable[[Json], Any]:
    return lambda whole: {name: value for name, value in whole.items() if name != key}


def resource(**more: Any) -> Callable[[Json], Any]:
    return lambda whole: whole | {"resources": [whole["resources"][0] | more]}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda whole: [], "has no document in it"),
        (lambda whole: 7, "the file: "),
        (lambda whole: {"format": "gpuyard.report/1"}, "document: "),
        (lambda whole: [whole, whole], "2 documents of the stack 'dev'"),
        (lambda whole: whole | {"format": "gpuyard.document/2"}, "/format: "),
        (without("resources"), "/resources: Field required"),
        (without("stack"), "/stack: "),
        (lambda whole: whole | {"stack": ""}, "/stack: "),
        (lambda whole: whole | {"stack": "prod"}, "is not of the stack 'prod'"),
        (lambda whole: whole | {"project": "other"}, "is not of the stack"),
        (lambda whole: whole | {"resources": whole["resources"] * 2}, "2 are called"),
        (lambda whole: whole | {"default_providers": {"aws": {"inputs": {"region": 3}}}}, "is no text"),
        (resource(inputs=[]), "/inputs: "),
        (resource(custom="yes"), "/custom: "),
        (resource(unknown=["spec"]), "/unknown/0: "),
        (resource(secret=None), "/secret: "),
        (resource(options=[]), "/options: "),
        (resource(options={"depends_on": [3]}), "/options/depends_on/0: "),
        (resource(inputs={"a": json.loads("[" * 200 + "]" * 200)}), "more than 100 levels"),
        (resource(urn="pod"), "/urn: "),
        (lambda whole: json.dumps(whole)[:-9], "is no JSON"),
        (lambda whole: "\ufeff", "is no JSON"),
        (lambda whole: json.dumps(whole | {"x": float("nan")}), "NaN"),
        (lambda whole: json.dumps(whole)[:-1] + ', "x": 1e999}', "not JSON compliant"),
        (lambda whole: json.dumps(whole)[:-1] + ', "stack": "dev"}', "'stack' twice"),
        (lambda whole: json.dumps(whole | {"x": "\ud800"}), "half a character"),
        (lambda whole: "[" * 100_000, "nested too deep"),
    ],
)
def test_any_other_file_is_one_error_that_names_it(change: Callable[[Json], Any], said: str, tmp_path: Path) -> None:
    file = stored(tmp_path, change(copy.deepcopy(document(POD))))
    with pytest.raises(InputError) as error:
        from_document(file)
    assert str(error.value).startswith(str(file))
    assert said in str(error.value)
    assert "gpuyard.document/1" in str(error.value) or "keep one" in str(error.value) or "is not of" in str(error.value)


def test_a_resource_that_is_its_own_parent_is_no_endless_report(tmp_path: Path) -> None:
    given, _ = of_document(stored(tmp_path, document(POD | {"parent": POD["urn"]})), ())
    review = each_given(given, POLICIES, DATE).made["dev"]
    assert to_markdown([review])
    assert to_html([review])


def test_a_stack_that_the_file_lacks_is_an_error_that_says_what_it_has(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no stack 'prod': there is dev"):
        of_document(stored(tmp_path, document(POD)), ("prod",))
    with pytest.raises(InputError, match="cannot be read"):
        from_document(tmp_path / "missing.json")
