"""The JSON report and its schema say the same."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from broken_stack import broken
from jsonschema import Draft202012Validator
from shipped import reviewed

from gpuyard.review.report.json import to_json
from gpuyard.review.report.schema import report_schema

SCHEMA = Path(__file__).parents[3] / "docs" / "reference" / "report.schema.json"


def strict(schema: Any) -> Any:
    """The schema without room for what it does not describe."""
    if isinstance(schema, list):
        return [strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {"additionalProperties": False} if "properties" in schema else {}
    return {key: strict(value) for key, value in schema.items()} | closed


def errors(text: str) -> list[str]:
    validator = Draft202012Validator(strict(report_schema()))
    return [f"{error.json_path}: {error.message[:300]}" for error in validator.iter_errors(json.loads(text))]


def test_the_schema_describes_every_field_of_a_report_full_of_findings() -> None:
    assert errors(to_json([broken()])) == []
    assert errors(to_json([])) == []


@pytest.mark.parametrize("stack", ["dev", "onprem", "prod-aws", "serving"])
def test_the_schema_describes_every_field_of_a_shipped_stacks_report(stack: str) -> None:
    assert errors(to_json([reviewed(stack)])) == []


def test_a_report_of_another_shape_is_not_valid() -> None:
    (one,) = json.loads(to_json([broken()]))
    for wrong in (one | {"verdict": "perhaps"}, one | {"more": 1}, {**one, "format": "gpuyard.report/2"}):
        assert errors(json.dumps([wrong]))
    del one["findings"]
    assert errors(json.dumps([one]))


def test_the_written_schema_is_the_one_of_the_code_and_takes_fields_that_come_later() -> None:
    written = json.loads(SCHEMA.read_text())
    assert written == report_schema(), "run `make generate`"
    (one,) = json.loads(to_json([broken()]))
    assert Draft202012Validator(written).is_valid([one | {"more": 1}])


def test_a_fingerprint_stays_when_a_message_changes() -> None:
    review = broken()
    other = replace(review, findings=[replace(finding, message="new words") for finding in review.findings])
    said = [
        [finding["fingerprint"] for finding in json.loads(to_json([one]))[0]["findings"]] for one in (review, other)
    ]
    assert said[0] == said[1]
    assert len(set(said[0])) > 100
