from __future__ import annotations

import json
from typing import Any

import pytest

from gpuyard.review import document
from gpuyard.review.recording import Recording, Resource


def resource(name: str, inputs: dict[str, Any], secret: list[str]) -> Resource:
    return {
        "urn": f"urn:pulumi:dev::shop::a:b:C::{name}",
        "type": "a:b:C",
        "name": name,
        "parent": "",
        "custom": True,
        "provider": "",
        "inputs": inputs,
        "unknown": [],
        "secret": secret,
        "options": {},
    }


def built(*resources: Resource) -> document.Document:
    recording = Recording("shop", "dev", list(resources), [], 0.1)
    return document.build(recording, date="2026-11-30", environment="production")


def test_a_document_says_what_when_and_for_whom() -> None:
    made = built(resource("b", {}, []), resource("a", {}, []))
    assert [r["name"] for r in made["resources"]] == ["a", "b"]
    assert {key: value for key, value in made.items() if key != "resources"} == {
        "format": "gpuyard.document/1",
        "date": "2026-11-30",
        "project": "shop",
        "stack": "dev",
        "environment": "production",
        "cost": {},
        "default_providers": {},
        "capacity": {},
        "compatibility": [],
    }


def test_the_public_form_has_null_for_each_secret_and_is_a_copy() -> None:
    inputs = {"a": {"b/c": ["x", "hidden-1", {"d~e": "hidden-2"}]}, "f": {"g": "hidden-3", "h": 1}, "i": "shown"}
    whole = built(resource("it", inputs, ["/a/b~1c/1", "/a/b~1c/2/d~0e", "/f", "/f/g"]))
    before = document.dumps(whole)
    shown = document.public(whole)
    assert shown["resources"][0]["inputs"] == {"a": {"b/c": ["x", None, {"d~e": None}]}, "f": None, "i": "shown"}
    assert shown["resources"][0]["secret"] == ["/a/b~1c/1", "/a/b~1c/2/d~0e", "/f", "/f/g"]
    assert document.dumps(whole) == before
    assert "hidden" not in document.dumps(shown)


def test_the_public_form_does_not_depend_on_the_order_of_pointers() -> None:
    inputs = {"f": {"g": {"deep": "hidden"}}}
    for secret in (["/f/g/deep", "/f"], ["/f", "/f/g/deep"], ["/f/g", "/f/g/deep"]):
        assert "hidden" not in document.dumps(document.public(built(resource("it", inputs, secret))))


def test_equal_documents_give_equal_bytes() -> None:
    one = built(resource("a", {"x": 1, "y": {"b": 1, "a": "é"}}, []))
    other = built(resource("a", {"y": {"a": "é", "b": 1}, "x": 1}, []))
    assert document.dumps(one) == document.dumps(other)
    assert json.loads(document.dumps(one)) == one


def test_a_number_that_json_does_not_have_is_refused() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        document.dumps(built(resource("a", {"x": float("nan")}, [])))


def test_default_providers_take_their_inputs_from_the_configuration() -> None:
    config = {"aws:region": "us-east-1", "shop:size": "3", "pulumi:tags": "{}", "gcp:zone": "us-central1-a"}
    recording = Recording("shop", "dev", [], [], 0.1, config)
    built = document.build(recording, date="2026-11-30", environment="development")
    assert built["default_providers"] == {
        "aws": {"inputs": {"region": "us-east-1"}},
        "gcp": {"inputs": {"zone": "us-central1-a"}},
    }
