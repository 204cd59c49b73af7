"""Stands between the engine and a policy pack that is a Python program, as the official language host's proxy does."""

from __future__ import annotations

import json
import threading
from concurrent import futures
from types import TracebackType
from typing import Any, Self

import grpc
from pulumi.runtime.proto import analyzer_pb2

POLL_SECONDS = 0.1


class PolicyProxy(grpc.GenericRpcHandler):
    """An Analyzer that starts to answer when its pack is attached, and knows how the stack is configured before."""

    def __init__(self) -> None:
        self._configuration: Any = None
        self._configured = threading.Event()
        self._attached = threading.Event()
        self._pack: grpc.Channel | None = None
        self._server = grpc.server(
            futures.ThreadPoolExecutor(16), options=[("grpc.max_receive_message_length", 400 << 20)]
        )
        self._server.add_generic_rpc_handlers((self,))
        self.port = self._server.add_insecure_port("127.0.0.1:0")

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._attached.set()
        self._server.stop(None)
        if self._pack:
            self._pack.close()

    def service(self, handler_call_details: Any) -> Any:
        """The handler of any method of the Analyzer."""
        method: str = handler_call_details.method
        own = {"Handshake": self._handshake, "ConfigureStack": self._configure}.get(method.rpartition("/")[2])
        # Without (de)serializers a message is its bytes, which pass through untouched.
        return grpc.unary_unary_rpc_method_handler(
            own or (lambda message, context: self._forward(method, message, context))
        )

    def wait_for_configuration(self, context: Any) -> dict[str, str] | None:
        """Environment variables of the pack; None where the engine hung up."""
        while not self._configured.wait(POLL_SECONDS):
            if not context.is_active():
                return None
        found = self._configuration
        if found is None:
            return {}
        named = {
            "PULUMI_ORGANIZATION": found.organization,
            "PULUMI_PROJECT": found.project,
            "PULUMI_STACK": found.stack,
            "PULUMI_DRY_RUN": "true" if found.dry_run else "false",
            "PULUMI_CONFIG": json.dumps(dict(found.config)),
        }
        return {name: value for name, value in named.items() if value}

    def attach(self, line: bytes) -> None:
        """Forwards to the pack, whose first line of output is its port; without one, every call is an error."""
        if line.strip().isdigit():
            self._pack = grpc.insecure_channel(
                f"127.0.0.1:{line.decode().strip()}", options=[("grpc.max_send_message_length", -1)]
            )
            if self._configuration is not None:
                call = self._pack.unary_unary("/pulumirpc.Analyzer/ConfigureStack")
                try:
                    call(self._configuration.SerializeToString())
                except grpc.RpcError as error:
                    # Packs written with the SDK take their configuration from the environment alone.
                    if error.code() != grpc.StatusCode.UNIMPLEMENTED:
                        raise
        self._attached.set()

    def _handshake(self, message: bytes, context: Any) -> bytes:
        answer: bytes = analyzer_pb2.AnalyzerHandshakeResponse().SerializeToString()
        return answer

    def _configure(self, message: bytes, context: Any) -> bytes:
        self._configuration = analyzer_pb2.AnalyzerStackConfigureRequest.FromString(message)
        self._configured.set()
        answer: bytes = analyzer_pb2.AnalyzerStackConfigureResponse().SerializeToString()
        return answer

    def _forward(self, method: str, message: bytes, context: Any) -> bytes:
        # A caller that asks before it configures gets a pack without configuration.
        self._configured.set()
        while not self._attached.wait(POLL_SECONDS):
            if not context.is_active():
                return b""
        if self._pack is None:
            context.abort(grpc.StatusCode.UNAVAILABLE, "policy pack not started: it printed no port")
        try:
            answer: bytes = self._pack.unary_unary(method)(message)
        except grpc.RpcError as error:
            context.abort(error.code(), error.details())
        return answer
