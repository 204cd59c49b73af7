"""A policy pack that is this process: it hears every resource that an engine plans, and judges none."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import grpc
from pulumi.runtime.proto import analyzer_pb2

from gpuyard.review.analyzer.process import LOOPBACK, MESSAGE_BYTES
from gpuyard.review.analyzer.service import Analyzer
from gpuyard.review.evaluation.evaluate import Policies
from gpuyard.review.recording import Recording, Resource

LONGEST_SECONDS = 86_400
"""The program that the engine starts ends by itself after so long, should nobody end it."""

SECONDS_TO_STOP = 5.0


class Listener(Analyzer):
    """Keeps what it hears: resources with their inputs, and what they depend on."""

    # ruff: noqa: N802 - the protocol's names

    def __init__(self, policies: Policies) -> None:
        super().__init__(policies, cancelled=lambda: None)
        self._resources: dict[str, Resource] = {}
        self.depends_on: dict[str, Sequence[str]] | None = None
        """By URN; None where the engine did not come to its end."""

    async def Analyze(self, request: Any, context: Any) -> Any:
        """Keeps a resource."""
        if resource := self._registered.resource(request):
            self._resources[resource["urn"]] = resource
        return analyzer_pb2.AnalyzeResponse()

    async def AnalyzeStack(self, request: Any, context: Any) -> Any:
        """All resources were heard."""
        self.depends_on = {resource.urn: list(resource.dependencies) for resource in request.resources}
        return analyzer_pb2.AnalyzeResponse()

    @property
    def stack(self) -> str:
        """The stack's name, without the organization and the project that a user may put before it."""
        return str(self._configuration.stack)

    @property
    def urns(self) -> set[str]:
        """What was heard so far."""
        return {*self._resources}

    def recording(self, depends_on: Mapping[str, Sequence[str]]) -> Recording:
        """What was heard, as if it had been recorded."""
        asked = self._configuration
        for urn, resource in self._resources.items():
            if depends_on.get(urn):
                resource["options"]["depends_on"] = sorted({*depends_on[urn]})
        hidden = set(asked.config_secret_keys)
        config = {key: value for key, value in asked.config.items() if key not in hidden}
        return Recording(asked.project, asked.stack, list(self._resources.values()), [], 0.0, config)


@contextlib.contextmanager
def listening(policies: Policies) -> Iterator[tuple[Path, Listener]]:
    """A policy pack for the engine, and who listens behind it: nothing that is heard touches a disk."""
    listener = Listener(policies)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="gpuyard-listener", daemon=True)
    thread.start()
    server, port = asyncio.run_coroutine_threadsafe(_serve(listener), loop).result()
    try:
        with tempfile.TemporaryDirectory(prefix="gpuyard-") as folder:
            pack = Path(folder) / "listener"
            # The engine starts a program, and asks whoever listens at the port that the program names.
            pack.write_text(f"#!/bin/sh\necho {port}\nexec sleep {LONGEST_SECONDS}\n")
            pack.chmod(0o700)
            yield pack, listener
    finally:
        asyncio.run_coroutine_threadsafe(server.stop(None), loop).result(SECONDS_TO_STOP)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(SECONDS_TO_STOP)
        loop.close()


async def _serve(listener: Listener) -> tuple[Any, int]:
    server = grpc.aio.server(options=[("grpc.max_receive_message_length", MESSAGE_BYTES)])
    server.add_generic_rpc_handlers((listener.handlers(),))
    port = server.add_insecure_port(f"{LOOPBACK}:0")
    await server.start()
    return server, port
