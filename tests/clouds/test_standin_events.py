"""Queues and rules of events as the stand-in has them: what holds what, and what a change means."""

from __future__ import annotations

import json
from typing import Any

import pytest
from clouds.aws.events import QUEUE, RULE, EventTarget, QueuePolicy
from clouds.aws.iam import INSTANCE_PROFILE
from clouds.client import Client, ProviderError, State
from clouds.estate import role

PATTERN = json.dumps({"source": ["aws.ec2"], "detail-type": ["EC2 Spot Instance Interruption Warning"]})
ALLOWED = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Action": "sqs:SendMessage", "Principal": {"Service": "events.amazonaws.com"}}],
}


@pytest.fixture
def queue(aws: Client) -> State:
    return aws.create(QUEUE, "queue", {"messageRetentionSeconds": 300, "sqsManagedSseEnabled": True})


@pytest.fixture
def rule(aws: Client) -> State:
    return aws.create(RULE, "spot", {"eventPattern": PATTERN})


def test_a_queue_is_known_by_its_address(aws: Client, queue: State) -> None:
    assert (
        queue.id == queue.outputs["url"] == f"https://sqs.us-east-1.amazonaws.com/111122223333/{queue.outputs['name']}"
    )
    assert queue.outputs["arn"] == f"arn:aws:sqs:us-east-1:111122223333:{queue.outputs['name']}"


@pytest.mark.parametrize(
    ("change", "replaces"), [({"messageRetentionSeconds": 600}, []), ({"fifoQueue": True}, ["fifoQueue"])]
)
def test_a_queue_is_changed_where_it_is(aws: Client, queue: State, change: dict[str, Any], replaces: list[str]) -> None:
    inputs = {"messageRetentionSeconds": 300, "sqsManagedSseEnabled": True} | change
    assert list(aws.diff(queue, inputs).replaces) == replaces


def test_a_policy_needs_its_queue(aws: Client, queue: State) -> None:
    aws.create(QueuePolicy.token, "policy", {"queueUrl": queue.id, "policy": json.dumps(ALLOWED)})
    with pytest.raises(ProviderError, match="QueueDoesNotExist"):
        aws.create(QueuePolicy.token, "other", {"queueUrl": f"{queue.id}x", "policy": json.dumps(ALLOWED)})


def test_a_rule_stays_while_it_has_a_target(aws: Client, queue: State, rule: State) -> None:
    target = aws.create(EventTarget.token, "spot", {"rule": rule.outputs["name"], "arn": queue.outputs["arn"]})
    with pytest.raises(ProviderError, match="since it has targets"):
        aws.delete(rule)
    aws.delete(target)
    aws.delete(rule)


def test_a_target_needs_its_rule(aws: Client, queue: State) -> None:
    with pytest.raises(ProviderError, match="Rule nothing does not exist"):
        aws.create(EventTarget.token, "spot", {"rule": "nothing", "arn": queue.outputs["arn"]})


@pytest.mark.parametrize(("bus", "start"), [("default", ""), ("ml", "ml-")])
def test_a_target_is_found_by_the_names_of_its_bus_and_its_rule(
    aws: Client, queue: State, bus: str, start: str
) -> None:
    rule = aws.create(RULE, "spot", {"eventPattern": PATTERN, "eventBusName": bus}).outputs["name"]
    to = {"rule": rule, "arn": queue.outputs["arn"], "eventBusName": bus}
    given = aws.create(EventTarget.token, "given", {**to, "targetId": "queue"})
    assert given.id == f"{start}{rule}-queue"
    made = aws.create(EventTarget.token, "made", to)
    for target in (given, made):
        found = aws.read(target.token, target.name, f"{bus}/{rule}/{target.outputs['targetId']}")
        assert found is not None
        assert found.id == target.id
    found = aws.read(RULE, "spot", f"{bus}/{rule}")
    assert found is not None
    assert found.outputs["name"] == rule


def test_a_profile_gets_another_role_where_it_is(aws: Client) -> None:
    first, second = role(aws, "first", "ec2.amazonaws.com"), role(aws, "second", "ec2.amazonaws.com")
    profile = aws.create(INSTANCE_PROFILE, "nodes", {"role": first.outputs["name"]})
    changed = aws.diff(profile, {"role": second.outputs["name"]})
    assert (list(changed.diffs), list(changed.replaces)) == (["role"], [])
    with pytest.raises(ProviderError, match="DeleteConflict"):
        aws.delete(first)
