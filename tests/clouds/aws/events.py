"""Queues of SQS, and the rules of EventBridge that fill them. What forces a new resource: terraform-provider-aws,
ForceNew."""

from __future__ import annotations

import secrets
from typing import Any, ClassVar

from clouds.aws.kinds import AwsKind, arn, marked, region
from clouds.cloud import Thing
from clouds.kind import AutoName, Inputs, Reference, Session

QUEUE, RULE = "aws:sqs/queue:Queue", "aws:cloudwatch/eventRule:EventRule"

DEFAULT_BUS = "default"


class SqsKind(AwsKind):
    """A resource of SQS."""

    service = "SQS"
    invalid_code = "InvalidAttributeValue"


class Queue(SqsKind):
    token, what = QUEUE, "SQS Queue"
    create, update, delete = "CreateQueue", "SetQueueAttributes", "DeleteQueue"
    autoname = AutoName("name", 80)
    defaults: ClassVar[dict[str, Any]] = {
        "contentBasedDeduplication": False,
        "delaySeconds": 0,
        "fifoQueue": False,
        "messageRetentionSeconds": 345_600,
        "receiveWaitTimeSeconds": 0,
        "visibilityTimeoutSeconds": 30,
    }
    source = "sqs/queue.go@00a3530"
    replaces = marked("region fifoQueue name namePrefix")
    kept = marked(
        "deduplicationScope fifoThroughputLimit kmsDataKeyReusePeriodSeconds policy redriveAllowPolicy redrivePolicy "
        "sqsManagedSseEnabled"
    )
    computed = (
        "arn",
        "deduplicationScope",
        "fifoThroughputLimit",
        "kmsDataKeyReusePeriodSeconds",
        "namePrefix",
        "policy",
        "redriveAllowPolicy",
        "redrivePolicy",
        "sqsManagedSseEnabled",
        "url",
    )
    unique = "name"
    taken = ("QueueNameExists", "A queue already exists with the same name and a different value for an attribute.")

    def identify(self, session: Session, inputs: Inputs) -> str:
        return f"https://sqs.{region(session, inputs)}.amazonaws.com/{session.account}/{inputs['name']}"

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        return {
            "arn": arn("sqs", session, str(inputs["name"]), inputs=inputs),
            "deduplicationScope": inputs.get("deduplicationScope", ""),
            "fifoThroughputLimit": inputs.get("fifoThroughputLimit", ""),
            "kmsDataKeyReusePeriodSeconds": inputs.get("kmsDataKeyReusePeriodSeconds", 300),
            "namePrefix": inputs.get("namePrefix", ""),
            "policy": inputs.get("policy", ""),
            "redriveAllowPolicy": inputs.get("redriveAllowPolicy", ""),
            "redrivePolicy": inputs.get("redrivePolicy", ""),
            "sqsManagedSseEnabled": inputs.get("sqsManagedSseEnabled", True),
            "url": name,
        }


class QueuePolicy(SqsKind):
    token, what = "aws:sqs/queuePolicy:QueuePolicy", "SQS Queue Policy"
    create, update, delete = "SetQueueAttributes", "SetQueueAttributes", "SetQueueAttributes"
    source = "sqs/queue_policy.go@0148137"
    replaces = marked("region queueUrl")
    references = (
        Reference("queueUrl", QUEUE, "QueueDoesNotExist", "The specified queue does not exist.", holds=False),
    )

    def identify(self, session: Session, inputs: Inputs) -> str:
        return str(inputs["queueUrl"])

    def shown_name(self, inputs: Inputs) -> str:
        return str(inputs.get("queueUrl"))


class EventsKind(AwsKind):
    """A resource of EventBridge, which botocore calls events, by the name that its API had first."""

    service = "Events"


class EventRule(EventsKind):
    token, what = RULE, "EventBridge Rule"
    create, update, delete = "PutRule", "PutRule", "DeleteRule"
    autoname = AutoName("name", 64)
    defaults: ClassVar[dict[str, Any]] = {"eventBusName": DEFAULT_BUS, "forceDestroy": False}
    source = "events/rule.go@0cdab4a"
    replaces = marked("region eventBusName name namePrefix")
    kept = marked("state isEnabled")
    computed = ("arn", "isEnabled", "namePrefix", "state")
    in_use = ("ValidationException", "Rule can't be deleted since it has targets.")

    def identify(self, session: Session, inputs: Inputs) -> str:
        bus = inputs.get("eventBusName", DEFAULT_BUS)
        return str(inputs["name"]) if bus == DEFAULT_BUS else f"{bus}/{inputs['name']}"

    def found(self, session: Session, name: str) -> Thing | None:
        return super().found(session, name.removeprefix(f"{DEFAULT_BUS}/"))

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        return {
            "arn": arn("events", session, f"rule/{name}", inputs=inputs),
            "isEnabled": inputs.get("isEnabled", True),
            "namePrefix": inputs.get("namePrefix", ""),
            "state": inputs.get("state", "ENABLED"),
        }


class EventTarget(EventsKind):
    token, what = "aws:cloudwatch/eventTarget:EventTarget", "EventBridge Target"
    create, update, delete = "PutTargets", "PutTargets", "RemoveTargets"
    defaults: ClassVar[dict[str, Any]] = {"eventBusName": DEFAULT_BUS, "forceDestroy": False}
    source = "events/target.go@0762c41"
    replaces = marked("region eventBusName rule targetId")
    computed = ("targetId",)
    references = (
        Reference("rule", RULE, "ResourceNotFoundException", "Rule {} does not exist on EventBus default.", by="name"),
    )

    def identify(self, session: Session, inputs: Inputs) -> str:
        return self._start(inputs) + (inputs.get("targetId") or f"terraform-{secrets.token_hex(13)}")

    def _start(self, inputs: Inputs) -> str:
        bus = inputs.get("eventBusName", DEFAULT_BUS)
        return f"{inputs['rule']}-" if bus == DEFAULT_BUS else f"{bus}-{inputs['rule']}-"

    def found(self, session: Session, name: str) -> Thing | None:
        return super().found(session, "-".join(name.removeprefix(f"{DEFAULT_BUS}/").rsplit("/", 2)))

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        return {"targetId": inputs.get("targetId") or name.removeprefix(self._start(inputs))}

    def shown_name(self, inputs: Inputs) -> str:
        return f"{inputs.get('rule')}-{inputs.get('targetId') or 'new'}"
