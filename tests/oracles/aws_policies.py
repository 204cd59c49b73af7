"""What IAM refuses in policy documents, which its model has as texts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Inputs = Mapping[str, Any]

INLINE_POLICY_CHARACTERS, TRUST_POLICY_CHARACTERS = 10_240, 2_048
"""IAM quotas: all inline policies of a role together, and its trust policy. Both count without white space."""


QUEUE_POLICY_CHARACTERS = 8_192
"""SQS quotas, "Policies": bytes of a policy."""


def _role(inputs: Inputs) -> Iterator[str]:
    yield from _document(inputs.get("assumeRolePolicy"), "/assumeRolePolicy", "Principal", TRUST_POLICY_CHARACTERS)


def _role_policy(inputs: Inputs) -> Iterator[str]:
    yield from _document(inputs.get("policy"), "/policy", "Resource", INLINE_POLICY_CHARACTERS)


def _queue_policy(inputs: Inputs) -> Iterator[str]:
    yield from _document(inputs.get("policy"), "/policy", "Principal", QUEUE_POLICY_CHARACTERS)


def _document(text: str | None, path: str, needed: str, characters: int) -> Iterator[str]:
    if text is None:
        return
    document = _parsed(text)
    if not isinstance(document, dict) or document.get("Version") != "2012-10-17":
        yield f"{path}: is not a policy document of version 2012-10-17"
        return
    if len(re.sub(r"\s", "", text)) > characters:
        yield f"{path}: is longer than {characters} characters"
    for index, statement in enumerate(document.get("Statement", [])):
        unknown = statement.keys() - {"Sid", "Effect", "Action", "Resource", "Principal", "Condition"}
        if unknown:
            yield f"{path}/Statement/{index}: has no element {', '.join(sorted(unknown))}"
        if statement.get("Effect") not in ("Allow", "Deny") or needed not in statement:
            yield f"{path}/Statement/{index}: needs an Effect and a {needed}"
        actions = statement.get("Action", [])
        for action in [actions] if isinstance(actions, str) else actions:
            if not re.fullmatch(r"[a-z0-9-]+:[A-Za-z*]+", action):
                yield f"{path}/Statement/{index}: {action!r} is not an action"


def _attachment(inputs: Inputs) -> Iterator[str]:
    policy = inputs.get("policyArn")
    if policy is not None and not re.fullmatch(r"arn:aws:iam::(aws|[0-9]{12}):policy/[\w+=,.@/-]+", policy):
        yield f"/policyArn: {policy!r} is not a policy"


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


RULES: dict[str, tuple[Callable[[Inputs], Iterator[str]], ...]] = {
    "aws:iam/role:Role": (_role,),
    "aws:iam/rolePolicy:RolePolicy": (_role_policy,),
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": (_attachment,),
    "aws:sqs/queuePolicy:QueuePolicy": (_queue_policy,),
}
