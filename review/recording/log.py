"""Stands where the engine's own service stands: a program uses it for its log."""

from __future__ import annotations

from typing import Any

from google.protobuf import empty_pb2
from pulumi.runtime.proto import engine_pb2

_LINES = 1000
_SEVERITIES = {engine_pb2.INFO: "info", engine_pb2.WARNING: "warning", engine_pb2.ERROR: "error"}


class Engine:
    """The engine's own service, as far as a program uses it: its log."""

    def __init__(self) -> None:
        self.log: list[dict[str, str]] = []

    def Log(self, request: Any) -> Any:  # noqa: N802
        """Keeps a message, debugging left out."""
        severity = _SEVERITIES.get(request.severity)
        if severity is not None and len(self.log) < _LINES:
            self.log.append({"severity": severity, "message": request.message})
        return empty_pb2.Empty()

    def RequirePulumiVersion(self, request: Any) -> Any:  # noqa: N802
        """No command-line tool is here whose version could be wrong."""
        return engine_pb2.RequirePulumiVersionResponse()
