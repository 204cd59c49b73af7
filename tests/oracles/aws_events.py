"""What SQS and EventBridge refuse although their models do not say so."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Inputs = Mapping[str, Any]

QUEUE_SECONDS = {
    "delaySeconds": (0, 900),
    "messageRetentionSeconds": (60, 1_209_600),
    "visibilityTimeoutSeconds": (0, 43_200),
}
"""SQS API, CreateQueue$Attributes."""


def _queue(inputs: Inputs) -> Iterator[str]:
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,75}(\.fifo)?|[A-Za-z0-9_-]{1,80}", inputs.get("name") or "queue"):
        yield f"/name: {inputs['name']!r} is not the name of a queue"
    for name, (low, high) in QUEUE_SECONDS.items():
        if inputs.get(name) is not None and not low <= inputs[name] <= high:
            yield f"/{name}: {inputs[name]} is not {low} to {high}"
    if inputs.get("sqsManagedSseEnabled") and inputs.get("kmsMasterKeyId"):
        yield "/: a queue is encrypted by SQS or by a key, not both"


def _event_rule(inputs: Inputs) -> Iterator[str]:
    pattern = inputs.get("eventPattern")
    if pattern is None and "eventPattern" not in inputs and not inputs.get("scheduleExpression"):
        yield "/: a rule has a pattern or a schedule"
    if pattern is not None:
        parsed = _parsed(pattern)
        if not isinstance(parsed, dict) or not all(isinstance(values, list | dict) for values in parsed.values()):
            yield "/eventPattern: is not an object of lists"


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


RULES: dict[str, tuple[Callable[[Inputs], Iterator[str]], ...]] = {
    "aws:sqs/queue:Queue": (_queue,),
    "aws:cloudwatch/eventRule:EventRule": (_event_rule,),
}
