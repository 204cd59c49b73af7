"""Speaks to a stand-in as the engine does, without an engine: for tests of the stand-ins themselves."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from concurrent import futures
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import grpc
from clouds.cloud import Cloud
from clouds.package import Package
from clouds.provider import Provider
from clouds.wire import decode, encode, plain
from google.protobuf import empty_pb2
from grpc_status import rpc_status
from pulumi.runtime.proto import provider_pb2 as messages
from pulumi.runtime.proto import provider_pb2_grpc as services

SECONDS = 30.0
"""How long a call may take."""


class ProviderError(Exception):
    """What a provider answered instead of a result; the message is the one that the user reads."""

    def __init__(self, message: str, left: str = "") -> None:
        super().__init__(message)
        self.left = left
        """Id of a resource that exists, and failed."""


@dataclass(frozen=True)
class State:
    """A resource as the engine's state has it."""

    token: str
    name: str
    id: str
    inputs: dict[str, Any]
    outputs: dict[str, Any]


class Client:
    """One provider, configured, in this process."""

    def __init__(self, package: Package, cloud: Cloud, *, stack: str = "test", **settings: Any) -> None:
        self._stack, self._ended = stack, threading.Event()
        self._server = grpc.server(futures.ThreadPoolExecutor(max_workers=8))
        services.add_ResourceProviderServicer_to_server(Provider(package, cloud, self._ended), self._server)
        self._channel = grpc.insecure_channel(f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}")
        self._server.start()
        self.stub = services.ResourceProviderStub(self._channel)
        try:
            self._call("Configure", messages.ConfigureRequest(args=encode(settings)))
        except ProviderError:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the provider."""
        self._ended.set()
        self._channel.close()
        self._server.stop(grace=0).wait(SECONDS)

    def check(
        self,
        token: str,
        name: str,
        inputs: Mapping[str, Any],
        *,
        old: Mapping[str, Any] | None = None,
        seed: bytes = b"1",
    ) -> dict[str, Any]:
        """The inputs as the provider completes them. Raises ProviderError with each that it does not take."""
        request = messages.CheckRequest(
            urn=self.urn(token, name), olds=encode(old or {}), news=encode(inputs), randomSeed=seed
        )
        answer = self._call("Check", request)
        if answer.failures:
            raise ProviderError("; ".join(f"{failure.property}: {failure.reason}" for failure in answer.failures))
        return decode(answer.inputs)

    def create(self, token: str, name: str, inputs: Mapping[str, Any], *, timeout: float = 0) -> State:
        """Checks and makes a resource."""
        checked = self.check(token, name, inputs)
        request = messages.CreateRequest(urn=self.urn(token, name), properties=encode(checked), timeout=timeout)
        made = self._call("Create", request)
        return State(token, name, made.id, checked, decode(made.properties))

    def preview_create(self, token: str, name: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """The outputs of a resource that does not exist yet."""
        checked = self.check(token, name, inputs)
        request = messages.CreateRequest(urn=self.urn(token, name), properties=encode(checked), preview=True)
        made = self._call("Create", request)
        assert made.id == ""
        return decode(made.properties)

    def diff(self, state: State, inputs: Mapping[str, Any], *, ignore: tuple[str, ...] = ()) -> Any:
        """How the engine would be told to get from the state to the inputs."""
        return self._diff(state, self.check(state.token, state.name, inputs, old=state.inputs), ignore)

    def _diff(self, state: State, checked: Mapping[str, Any], ignore: tuple[str, ...] = ()) -> Any:
        request = messages.DiffRequest(
            id=state.id,
            urn=self.urn(state.token, state.name),
            olds=encode(state.outputs),
            old_inputs=encode(state.inputs),
            news=encode(checked),
            ignoreChanges=ignore,
        )
        return self._call("Diff", request)

    def update(self, state: State, inputs: Mapping[str, Any]) -> State:
        """Checks and changes a resource, which its difference must allow."""
        checked = self.check(state.token, state.name, inputs, old=state.inputs)
        answer = self._diff(state, checked)
        assert not answer.replaces, f"{list(answer.replaces)} needs a new resource"
        changed = self._call("Update", self._update(state, checked, preview=False))
        return State(state.token, state.name, state.id, checked, decode(changed.properties))

    def preview_update(self, state: State, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """The outputs of a resource that is not changed yet."""
        checked = self.check(state.token, state.name, inputs, old=state.inputs)
        return decode(self._call("Update", self._update(state, checked, preview=True)).properties)

    def _update(self, state: State, checked: Mapping[str, Any], *, preview: bool) -> Any:
        return messages.UpdateRequest(
            id=state.id,
            urn=self.urn(state.token, state.name),
            olds=encode(state.outputs),
            old_inputs=encode(state.inputs),
            news=encode(checked),
            preview=preview,
        )

    def delete(self, state: State) -> None:
        """Deletes a resource."""
        properties = encode(state.outputs)
        request = messages.DeleteRequest(id=state.id, urn=self.urn(state.token, state.name), properties=properties)
        self._call("Delete", request)

    def read(self, token: str, name: str, given: str, *, state: State | None = None) -> State | None:
        """What is there under an id: imported, or refreshed where the state has it. None where there is nothing."""
        request = messages.ReadRequest(
            id=given,
            urn=self.urn(token, name),
            inputs=encode(state.inputs if state else {}),
            properties=encode(state.outputs if state else {}),
        )
        answer = self._call("Read", request)
        return State(token, name, answer.id, decode(answer.inputs), decode(answer.properties)) if answer.id else None

    def invoke(self, token: str, **arguments: Any) -> dict[str, Any]:
        """What a function answers."""
        answer = self._call("Invoke", messages.InvokeRequest(tok=token, args=encode(arguments)))
        return dict(plain(decode(getattr(answer, "return"))))

    def version(self) -> str:
        """The version that the provider says it has."""
        return str(self._call("GetPluginInfo", empty_pb2.Empty()).version)

    def cancel(self) -> None:
        """Ends what is under way."""
        self._call("Cancel", empty_pb2.Empty())

    def urn(self, token: str, name: str) -> str:
        """The name of a resource in the engine's state."""
        return f"urn:pulumi:{self._stack}::test::{token}::{name}"

    def _call(self, method: str, request: Any) -> Any:
        try:
            return getattr(self.stub, method)(request, timeout=SECONDS)
        except grpc.RpcError as error:
            raise ProviderError(error.details(), _left(error)) from None


def _left(error: Any) -> str:
    status = rpc_status.from_call(error)
    for detail in status.details if status else ():
        failed = messages.ErrorResourceInitFailed()
        if detail.Unpack(failed):
            return str(failed.id)
    return ""
