"""The engine's provider protocol, served from a cloud's kinds."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping
from typing import Any

import grpc
from clouds.changes import changes
from clouds.checking import completed
from clouds.cloud import Cloud
from clouds.kind import Kind, Session, kind_of
from clouds.operations import Operations
from clouds.package import FUNCTIONS, Package
from clouds.paths import at, covers, merged, put
from clouds.refused import NotConfiguredError, NotReadyError
from clouds.schema import misfits
from clouds.wire import DEFAULTS, UNKNOWN, Secret, decode, encode, is_unknown, plain
from google.protobuf import any_pb2, empty_pb2
from google.rpc import status_pb2
from grpc_status import rpc_status
from pulumi.runtime.proto import plugin_pb2
from pulumi.runtime.proto import provider_pb2 as messages
from pulumi.runtime.proto import provider_pb2_grpc as services

KINDS_OF_CHANGE = {
    ("ADD", False): messages.PropertyDiff.ADD,
    ("ADD", True): messages.PropertyDiff.ADD_REPLACE,
    ("DELETE", False): messages.PropertyDiff.DELETE,
    ("DELETE", True): messages.PropertyDiff.DELETE_REPLACE,
    ("UPDATE", False): messages.PropertyDiff.UPDATE,
    ("UPDATE", True): messages.PropertyDiff.UPDATE_REPLACE,
}


class Provider(services.ResourceProviderServicer):
    """One provider process. `ended` is set when it is to stop whatever it does."""

    def __init__(self, package: Package, cloud: Cloud, ended: threading.Event) -> None:
        self._package, self._cloud, self._ended = package, cloud, ended
        self._session: Session | None = None

    # ruff: noqa: N802 - the protocol's names and signatures
    def Handshake(self, request: Any, context: Any) -> Any:
        return messages.ProviderHandshakeResponse(accept_secrets=True)

    def Attach(self, request: Any, context: Any) -> Any:
        return empty_pb2.Empty()

    def Cancel(self, request: Any, context: Any) -> Any:
        self._ended.set()
        return empty_pb2.Empty()

    def GetPluginInfo(self, request: Any, context: Any) -> Any:
        return plugin_pb2.PluginInfo(version=self._package.version)

    def GetSchema(self, request: Any, context: Any) -> Any:
        schema = {"name": self._package.name, "version": self._package.version}
        return messages.GetSchemaResponse(schema=json.dumps(schema))

    def GetMapping(self, request: Any, context: Any) -> Any:
        return messages.GetMappingResponse()

    def CheckConfig(self, request: Any, context: Any) -> Any:
        return messages.CheckResponse(inputs=request.news)

    def DiffConfig(self, request: Any, context: Any) -> Any:
        old, new = decode(request.old_inputs or request.olds), decode(request.news)
        changed = sorted(key for key in {*old, *new} if key != "version" and old.get(key) != new.get(key))
        replaces = [key for key in changed if key in self._package.replaces]
        some = messages.DiffResponse.DIFF_SOME if changed else messages.DiffResponse.DIFF_NONE
        return messages.DiffResponse(changes=some, diffs=changed, replaces=replaces)

    def Configure(self, request: Any, context: Any) -> Any:
        settings = plain(decode(request.args))
        try:
            self._session = self._package.configure(self._cloud, settings)
        except NotConfiguredError as problem:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(problem))
        return messages.ConfigureResponse(acceptSecrets=True, supportsPreview=True)

    def Check(self, request: Any, context: Any) -> Any:
        kind, news = self._kind(request, context), decode(request.news)
        failures = [messages.CheckFailure(property=path, reason=reason) for path, reason in misfits(kind.token, news)]
        if failures:
            return messages.CheckResponse(inputs=request.news, failures=failures)
        prepared = self._package.prepare(self._configured, kind, news)
        inputs = completed(kind, request.urn, prepared, decode(request.olds), request.randomSeed)
        return messages.CheckResponse(inputs=encode(inputs))

    def Diff(self, request: Any, context: Any) -> Any:
        kind = self._kind(request, context)
        old, new = decode(request.old_inputs), decode(request.news)
        ignored = {re.sub(r"\[[^]]*\]", "", path) for path in request.ignoreChanges}
        found = [change for change in changes(kind, old, new) if not covers(ignored, change.route)]
        replaces = sorted({change.top for change in found if change.replaces})
        return messages.DiffResponse(
            changes=messages.DiffResponse.DIFF_SOME if found else messages.DiffResponse.DIFF_NONE,
            diffs=sorted({change.top for change in found}),
            replaces=replaces,
            detailedDiff={
                change.path: messages.PropertyDiff(kind=KINDS_OF_CHANGE[change.what, change.replaces], inputDiff=True)
                for change in found
            },
            hasDetailedDiff=True,
            deleteBeforeReplace=bool(replaces) and _keeps_name(kind, old, new),
        )

    def Create(self, request: Any, context: Any) -> Any:
        kind, inputs = self._kind(request, context), decode(request.properties)
        if request.preview:
            return messages.CreateResponse(properties=encode(_unmade(kind, inputs)))
        try:
            thing = self._operations(context, request.timeout).create(kind, plain(inputs))
        except NotReadyError as failure:
            self._left_unready(context, kind, inputs, failure)
            raise
        return messages.CreateResponse(id=thing.id, properties=encode(_shown(kind, inputs, thing.outputs)))

    def Read(self, request: Any, context: Any) -> Any:
        kind, given = self._kind(request, context), decode(request.inputs)
        thing = self._operations(context, request.timeout).read(kind, request.id)
        if thing is None:
            return messages.ReadResponse()
        inputs = _refreshed(given, thing.outputs) if given else {**thing.inputs, DEFAULTS: []}
        properties = encode(_shown(kind, given, thing.outputs))
        return messages.ReadResponse(id=thing.id, properties=properties, inputs=encode(inputs))

    def Update(self, request: Any, context: Any) -> Any:
        kind, inputs = self._kind(request, context), decode(request.news)
        old_inputs, before = decode(request.old_inputs), decode(request.olds)
        if request.preview:
            return messages.UpdateResponse(properties=encode(_changing(kind, inputs, old_inputs, before)))
        try:
            thing = self._operations(context, request.timeout).update(kind, request.id, plain(inputs))
        except NotReadyError as failure:
            self._left_unready(context, kind, inputs, failure)
            raise
        return messages.UpdateResponse(properties=encode(_shown(kind, inputs, thing.outputs)))

    def Delete(self, request: Any, context: Any) -> Any:
        kind = self._kind(request, context)
        self._operations(context, request.timeout).delete(kind, request.id, plain(decode(request.properties)))
        return empty_pb2.Empty()

    def Invoke(self, request: Any, context: Any) -> Any:
        answer = FUNCTIONS.get(request.tok)
        if answer is None:
            context.abort(grpc.StatusCode.NOT_FOUND, f"the stand-in has no {request.tok}; add a function")
            raise AssertionError
        args = plain(decode(request.args))
        result = self._operations(context, 0).invoke(request.tok, lambda: answer(self._configured, args))
        return _answer(result)

    def _left_unready(self, context: Any, kind: Kind, inputs: Mapping[str, Any], failure: NotReadyError) -> None:
        """Tells the engine of a resource that exists, and failed: it goes into the state as such."""
        properties = encode(_shown(kind, inputs, failure.thing.outputs))
        detail = any_pb2.Any()
        detail.Pack(
            messages.ErrorResourceInitFailed(
                id=failure.thing.id, properties=properties, inputs=encode(inputs), reasons=[str(failure)]
            )
        )
        status = status_pb2.Status(code=grpc.StatusCode.UNKNOWN.value[0], message=str(failure), details=[detail])
        context.abort_with_status(rpc_status.to_status(status))

    @property
    def _configured(self) -> Session:
        if self._session is None:
            raise RuntimeError("the engine asks before it configured the provider")
        return self._session

    def _operations(self, context: Any, timeout: float) -> Operations:
        return Operations(self._package, self._configured, self._ended, context, timeout)

    def _kind(self, request: Any, context: Any) -> Kind:
        token = request.urn.split("::")[2].rpartition("$")[2]
        try:
            return kind_of(token)
        except LookupError as problem:
            context.abort(grpc.StatusCode.NOT_FOUND, str(problem))
            raise


def _answer(result: Mapping[str, Any]) -> Any:
    fields: dict[str, Any] = {"return": encode(result)}  # a keyword of Python
    return messages.InvokeResponse(**fields)


def _keeps_name(kind: Kind, old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether a name that the program gave is taken as long as the old resource has it. Source: pulumi-terraform-bridge,
    nameRequiresDeleteBeforeReplace."""
    if kind.autoname is None or kind.autoname.name in new.get(DEFAULTS, []):
        return False
    return old.get(kind.autoname.name) == new.get(kind.autoname.name)


def _shown(kind: Kind, given: Mapping[str, Any], outputs: Mapping[str, Any]) -> dict[str, Any]:
    """Outputs with what is secret in the inputs, or always, in envelopes."""
    shown = {key: Secret(value) if isinstance(given.get(key), Secret) else value for key, value in outputs.items()}
    shown = merged({key: value for key, value in given.items() if key in shown and _has_secret(value)}, shown)
    for path in kind.secret:
        if at(shown, path) is not None:
            put(shown, path, Secret(at(shown, path)))
    return shown


def _has_secret(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(_has_secret(item) for item in value.values())
    return any(map(_has_secret, value)) if isinstance(value, list) else isinstance(value, Secret)


def _unmade(kind: Kind, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The outputs of a resource that does not exist: its inputs, and the rest unknown."""
    shown: dict[str, Any] = _without_marks(inputs)
    for path in kind.computed:
        if at(shown, path) is None:
            put(shown, path, UNKNOWN)
    return shown


def _changing(
    kind: Kind, inputs: Mapping[str, Any], old_inputs: Mapping[str, Any], before: Mapping[str, Any]
) -> dict[str, Any]:
    """The outputs of a resource that is to change: what the change does not touch stays known."""
    shown: dict[str, Any] = _without_marks(inputs)
    changed = [change.route for change in changes(kind, old_inputs, inputs)]
    for path in kind.computed:
        if at(shown, path) is None and at(before, path) is not None:
            put(shown, path, at(before, path))
    for path in kind.renews(changed, inputs):
        if at(inputs, path) is None or is_unknown(at(inputs, path)):
            put(shown, path, UNKNOWN)
    return shown


def _refreshed(given: Any, seen: Any) -> Any:
    """Inputs with the values that the cloud has now. What the program does not say, it does not say then either."""
    if isinstance(given, Secret):
        return Secret(_refreshed(given.value, seen))
    if isinstance(given, Mapping) and isinstance(seen, Mapping):
        return {
            key: item if key == DEFAULTS else _refreshed(item, seen[key])
            for key, item in given.items()
            if key == DEFAULTS or key in seen
        }
    if isinstance(given, list) and isinstance(seen, list) and len(given) == len(seen):
        return [_refreshed(item, now) for item, now in zip(given, seen, strict=True)]
    return seen


def _without_marks(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_marks(item) for key, item in value.items() if key != DEFAULTS}
    return [_without_marks(item) for item in value] if isinstance(value, list) else value
