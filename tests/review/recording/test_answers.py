from __future__ import annotations

import importlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from gpuyard.review.recording import answers
from gpuyard.review.recording.answers import Answers, place_of

EXAMPLES: dict[str, dict[str, Any]] = yaml.safe_load(answers._BUILT_IN.read_text())
PLACE = {"region": "eu-north-1", "zone": "eu-north-1-a", "project": "p"}


def result_type(token: str) -> type:
    """The SDK's class of a function's result: `aws:ec2/getAmi:getAmi` is GetAmiResult of pulumi_aws.ec2.get_ami."""
    package, path, name = token.split(":")
    snake = re.sub(r"([A-Z])", lambda match: f"_{match[1].lower()}", name)
    folder = path.rpartition("/")[0]
    module = ".".join(part for part in (f"pulumi_{package}", "" if folder == "index" else folder, snake) if part)
    found: type = getattr(importlib.import_module(module), f"{name[0].upper()}{name[1:]}Result")
    return found


@pytest.mark.parametrize("token", EXAMPLES)
def test_an_example_has_the_names_of_the_functions_result(token: str) -> None:
    cls = result_type(token)
    for key in EXAMPLES[token]:
        snake = re.sub(r"([A-Z])", lambda match: f"_{match[1].lower()}", key)
        assert isinstance(getattr(cls, snake, None), property), f"{cls.__name__} has no {snake}"


@pytest.mark.parametrize("token", EXAMPLES)
def test_an_example_belongs_to_nobody_and_is_marked_as_made_up(token: str, tmp_path: Path) -> None:
    answer = Answers(tmp_path).find(token, {"name": "n"}, PLACE)
    assert answer is not None
    assert answer.made_up
    text = json.dumps(answer.value)
    assert "{" + "region" not in text
    assert "{args" not in text
    assert not set(re.findall(r"\b\d{12}\b", text)) - {"111122223333", "123456789012"}


def test_an_answer_repeats_its_arguments(tmp_path: Path) -> None:
    answer = Answers(tmp_path).find("aws:ec2/getSubnets:getSubnets", {"tags": {"a": "b"}}, PLACE)
    assert answer is not None
    assert answer.value["tags"] == {"a": "b"}
    assert answer.value["region"] == "eu-north-1"


def test_a_function_that_nobody_answers_has_no_answer(tmp_path: Path) -> None:
    assert Answers(tmp_path).find("a:b/c:c", {}, {}) is None


@pytest.mark.parametrize(
    ("args", "provider", "config", "region"),
    [
        ({"region": "call"}, {"region": "provider"}, {"aws:region": "stack"}, "call"),
        ({}, {"region": "provider"}, {"aws:region": "stack"}, "provider"),
        ({}, {"region": None}, {"aws:region": "stack"}, "stack"),
        ({}, {}, {"gcp:region": "stack"}, "us-east-1"),
    ],
)
def test_a_call_happens_where_it_says_or_its_provider_or_the_stack(
    args: dict[str, Any], provider: dict[str, Any], config: dict[str, str], region: str
) -> None:
    assert place_of("aws:index/getRegion:getRegion", args, provider, config) == {"region": region}


def test_a_package_without_regions_has_no_place() -> None:
    assert place_of("kubernetes:yaml:decode", {"region": "x"}, {}, {}) == {}


def policy(**args: Any) -> Any:
    computed = Answers(Path()).computed("aws:iam/getPolicyDocument:getPolicyDocument", args)
    return computed and json.loads(computed["json"])


def test_a_policy_document_is_computed() -> None:
    """As the documentation of the data source aws_iam_policy_document shows it."""
    statements = [
        {
            "sid": "1",
            "actions": ["s3:ListAllMyBuckets", "s3:GetBucketLocation"],
            "resources": ["arn:aws:s3:::*"],
        },
        {
            "effect": "Deny",
            "notActions": ["iam:*"],
            "notResources": ["arn:aws:s3:::a", "arn:aws:s3:::b"],
            "principals": [
                {"type": "AWS", "identifiers": ["arn:aws:iam::111122223333:root"]},
                {"type": "Service", "identifiers": ["ec2.amazonaws.com", "eks.amazonaws.com"]},
            ],
            "notPrincipals": [{"type": "*", "identifiers": ["*"]}],
            "conditions": [
                {"test": "StringLike", "variable": "s3:prefix", "values": ["", "home/"]},
                {"test": "StringLike", "variable": "aws:tag", "values": ["a"]},
                {"test": "Bool", "variable": "aws:SecureTransport", "values": ["true"]},
            ],
        },
    ]
    assert policy(statements=statements, policyId="p") == {
        "Version": "2012-10-17",
        "Id": "p",
        "Statement": [
            {
                "Sid": "1",
                "Effect": "Allow",
                "Action": ["s3:ListAllMyBuckets", "s3:GetBucketLocation"],
                "Resource": "arn:aws:s3:::*",
            },
            {
                "Effect": "Deny",
                "NotAction": "iam:*",
                "NotResource": ["arn:aws:s3:::a", "arn:aws:s3:::b"],
                "Principal": {
                    "AWS": "arn:aws:iam::111122223333:root",
                    "Service": ["ec2.amazonaws.com", "eks.amazonaws.com"],
                },
                "NotPrincipal": "*",
                "Condition": {
                    "StringLike": {"s3:prefix": ["", "home/"], "aws:tag": "a"},
                    "Bool": {"aws:SecureTransport": "true"},
                },
            },
        ],
    }


@pytest.mark.parametrize("name", ["sourceJson", "overrideJson", "sourcePolicyDocuments", "overridePolicyDocuments"])
def test_a_policy_document_that_merges_others_is_not_guessed(name: str) -> None:
    assert policy(statements=[], **{name: ["{}"]}) is None


def test_yaml_is_decoded_into_its_documents() -> None:
    text = "a: 1\n---\n---\nb: [x]\nd: 2026-07-20\n"
    assert Answers(Path()).computed("kubernetes:yaml:decode", {"text": text}) == {
        "result": [{"a": 1}, {"b": ["x"], "d": "2026-07-20"}]
    }
