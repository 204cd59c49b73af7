"""Stands where Pulumi's engine stands before the policy pack: makes its messages from recorded resources."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import grpc
from documents import DATE
from google.protobuf import empty_pb2, struct_pb2
from pulumi.runtime.proto import analyzer_pb2 as pb

from gpuyard.review.analyzer.growing import GrowingStack
from gpuyard.review.analyzer.registered import BRIDGED, DEFAULTS, Registered
from gpuyard.review.analyzer.service import SERVICE, Analyzer
from gpuyard.review.evaluation.evaluate import Policies, find_policies, rulebook
from gpuyard.review.evaluation.findings import Finding, order
from gpuyard.review.judge import judge
from gpuyard.review.recording import Recording
from gpuyard.review.recording.values import SECRET, SIGNATURE, UNKNOWN, at

Json = dict[str, Any]

EVERYBODYS = find_policies(Path("/nonexistent"))


class RefusedError(Exception):
    """The pack has answered with an error."""


class Context:
    """What a method gets of a call."""

    async def abort(self, code: grpc.StatusCode, details: str) -> None:
        raise RefusedError(f"{code.name}: {details}")


def at_once(answering: Coroutine[Any, Any, Any]) -> Any:
    """The answer of a method: none waits for anything, and an event loop here would disturb those of other tests."""
    try:
        answering.send(None)
    except StopIteration as answer:
        return answer.value
    raise AssertionError("the method waits")


class Pack:
    """The pack for one stack, in this process; every message goes through its bytes."""

    def __init__(
        self,
        stack: str = "dev",
        project: str = "shop",
        *,
        policies: Policies = EVERYBODYS,
        config: dict[str, str] | None = None,
        secret_keys: Sequence[str] = (),
        dry_run: bool = True,
    ) -> None:
        self.stack, self.project, self.cancelled = stack, project, False
        self._handlers = Analyzer(policies, cancelled=self._cancel).handlers()
        self.call("Handshake", pb.AnalyzerHandshakeRequest(engine_address="127.0.0.1:1"))
        request = pb.AnalyzerStackConfigureRequest(
            stack=stack, project=project, config=config or {}, config_secret_keys=secret_keys, dry_run=dry_run
        )
        self.call("ConfigureStack", request)

    def _cancel(self) -> None:
        self.cancelled = True

    def call(self, method: str, request: Any = None) -> Any:
        """The answer of a method. Raises RefusedError."""
        handler = self._handlers.service(SimpleNamespace(method=f"/{SERVICE}/{method}"))
        given = (request or empty_pb2.Empty()).SerializeToString()
        asked = handler.request_deserializer(given) if handler.request_deserializer else given
        answer = at_once(handler.unary_unary(asked, Context()))
        handler.response_serializer(answer)
        return answer

    def configure(self, **levels: int) -> Any:
        """What --policy-pack-config says, as the engine passes it on: a level for each rule and for what it names."""
        known = {policy.name: policy.enforcementLevel for policy in self.call("GetAnalyzerInfo").policies}
        wanted = {name: pb.PolicyConfig(enforcementLevel=level) for name, level in (known | levels).items()}
        return self.call("Configure", pb.ConfigureAnalyzerRequest(policyConfig=wanted))

    def analyze(self, request: Any) -> list[Any]:
        """What the pack says of a resource, asked as the engine asks."""
        assert not self.call("Remediate", request).remediations
        shown = pb.AnalyzeRequest()
        shown.CopyFrom(request)
        shown.properties.CopyFrom(without_internal(request.properties))
        return list(self.call("Analyze", shown).diagnostics)

    def analyze_stack(self, resources: Iterable[Json]) -> list[Any]:
        """What the pack says when all are in. Their properties are outputs, of which it must not take notice."""
        outputs = struct({"status": {"phase": "Ready"}, "metadata": {"managedFields": []}}, [], [])
        request = pb.AnalyzeStackRequest(
            resources=[
                pb.AnalyzerResource(
                    urn=resource["urn"],
                    type=resource["type"],
                    name=resource["name"],
                    parent=resource["parent"],
                    properties=outputs,
                    dependencies=resource["options"].get("depends_on", []),
                )
                for resource in resources
            ]
        )
        return list(self.call("AnalyzeStack", request).diagnostics)

    def judge(self, resources: Sequence[Json], order: int = 0) -> list[Any]:
        """Everything that the pack says of resources, which come in one of the orders in which they may."""
        ordered = in_an_order(resources, order)
        said: list[Any] = []
        stack, project = ordered[0]["urn"].removeprefix("urn:pulumi:").split("::")[:2]
        for request in [*engines_own(project, stack), *(registration(r, ordered) for r in ordered)]:
            said += self.analyze(request)
        return said + self.analyze_stack(ordered)


@dataclass
class Judged:
    """What a growing stack was found to break."""

    early: list[Finding]
    """As the resources came."""
    late: list[Finding]
    """When all were in."""

    @property
    def last(self) -> list[Finding]:
        """What was said last of each place, in the order of a review: a sum that has grown is said anew."""
        kept = {(f.rule, f.urn, f.path): f for f in [*self.early, *self.late]}
        return sorted(kept.values(), key=order)


def grown(
    resources: Sequence[Json],
    *,
    stack: str = "dev",
    project: str = "shop",
    policies: Policies = EVERYBODYS,
    config: Mapping[str, str] | None = None,
    seed: int = 0,
    date: str = DATE,
    checked: Callable[[Any], None] = lambda message: None,
) -> Judged:
    """Judges resources as the pack does while they come, in an order of many. `checked` is a provider's check."""
    registered = Registered()
    growing = GrowingStack(rulebook(stack, policies), project, date=date, config=config or {})
    judged = Judged([], [])
    ordered = in_an_order(resources, seed)
    for message in [*engines_own(project, stack), *(registration(resource, ordered) for resource in ordered)]:
        checked(message)
        registered.defaults(message)
        message.properties.CopyFrom(without_internal(message.properties))
        resource = registered.resource(message)
        if resource is not None:
            judged.early += growing.add(resource)[0]
    judged.late = growing.complete({r["urn"]: r["options"].get("depends_on", []) for r in resources})
    return judged


def reviewed(resources: Sequence[Json], *, stack: str = "dev", project: str = "shop") -> list[Finding]:
    """What a review finds of the same resources."""
    recording = Recording(project, stack, copy.deepcopy(list(resources)), [], 0.0, {})  # type: ignore[arg-type]
    return judge(recording, EVERYBODYS, date=DATE).findings


def in_an_order(resources: Sequence[Json], seed: int) -> list[Json]:
    """The resources in an order in which a program may register them: what one needs comes before it."""
    waiting = {resource["urn"]: resource for resource in resources}
    chance, ordered = random.Random(seed), []  # noqa: S311
    while waiting:
        ready = [
            urn
            for urn, resource in waiting.items()
            if not waiting.keys()
            & {resource["parent"], resource["provider"], *resource["options"].get("depends_on", [])} - {urn}
        ]
        ordered.append(waiting.pop(chance.choice(ready)))
    return ordered


def engines_own(project: str, stack: str) -> list[Any]:
    """What the engine registers by itself: the stack, and a default provider."""
    root = f"urn:pulumi:{stack}::{project}::pulumi:pulumi:Stack::{project}-{stack}"
    default = f"urn:pulumi:{stack}::{project}::pulumi:providers:aws::default_7_51_0"
    return [
        pb.AnalyzeRequest(type="pulumi:pulumi:Stack", urn=root, name=f"{project}-{stack}"),
        pb.AnalyzeRequest(type="pulumi:providers:aws", urn=default, name="default_7_51_0"),
    ]


def registration(resource: Json, resources: Iterable[Json] = ()) -> Any:
    """Remediate's message for a recorded resource, which a provider has checked. It tells no dependencies."""
    message = pb.AnalyzeRequest(
        urn=resource["urn"],
        type=resource["type"],
        name=resource["name"],
        properties=struct(resource["inputs"], resource["unknown"], resource["secret"]),
        options=pb.AnalyzerResourceOptions(
            parent=resource["parent"],
            protect=resource["options"].get("protect", False),
            ignoreChanges=resource["options"].get("ignore_changes", []),
            aliases=resource["options"].get("aliases", []),
        ),
    )
    if resource["custom"] and not resource["type"].startswith("pulumi:providers:"):
        package = resource["type"].partition(":")[0]
        stack, project = resource["urn"].split("::")[:2]
        default = f"{stack}::{project}::pulumi:providers:{package}::default_1_2_3"
        provider = next((r for r in resources if r["urn"] == resource["provider"]), None)
        message.provider.urn = resource["provider"] or default
        if package in BRIDGED:
            message.properties.fields[DEFAULTS].list_value.SetInParent()
        if provider:
            message.provider.properties.CopyFrom(struct(provider["inputs"], provider["unknown"], provider["secret"]))
    return message


def struct(inputs: Json, unknown: Iterable[str], secret: Iterable[str]) -> Any:
    """Inputs as the protocol carries them."""
    whole = {"": json.loads(json.dumps(inputs))}
    for path in unknown:
        _put(whole, f"/{path}", UNKNOWN)
    # The innermost first: an envelope changes the way to what is in it.
    for path in sorted(secret, key=len, reverse=True):
        try:
            value = at(whole, f"/{path}")
        except (KeyError, IndexError):
            continue
        _put(whole, f"/{path}", {SIGNATURE: SECRET, "value": value})
    made = struct_pb2.Struct()
    made.update(whole[""])
    return made


def _put(whole: Json, path: str, value: Any) -> None:
    parent, _, key = path.rpartition("/")
    holder: Any = at(whole, parent)
    key = key.replace("~1", "/").replace("~0", "~")
    if isinstance(holder, list):
        holder[int(key)] = value
    else:
        holder[key] = value


def without_internal(properties: Any) -> Any:
    """Properties as Analyze gets them: keys that begin with two underscores are the engine's and its providers'."""
    shown = struct_pb2.Struct()
    for key, value in properties.fields.items():
        if not key.startswith("__"):
            _shown(shown.fields[key], value)
    return shown


def _shown(into: Any, value: Any) -> None:
    kind = value.WhichOneof("kind")
    if kind == "struct_value":
        into.struct_value.CopyFrom(without_internal(value.struct_value))
    elif kind == "list_value":
        into.list_value.SetInParent()
        for item in value.list_value.values:
            _shown(into.list_value.values.add(), item)
    else:
        into.CopyFrom(value)
