"""Plain HTTPS to the API server, for what a test asks again and again: kubectl takes a tenth of a second of CPU."""

from __future__ import annotations

import contextlib
import http.client
import json
import ssl
from typing import Any

from control_plane.processes import until

SECONDS = 30
"""No single request may take longer."""
SECONDS_TO_SAY_READY = 2
"""Whoever listens and takes longer is somebody else, who has the port."""

JSON = "application/json"
MERGE_PATCH = "application/merge-patch+json"


PASSING = ("componentstatuses", "endpoints", "endpointslices", "events", "leases")
"""What comes and goes without anybody asking for it."""


class RefusedError(Exception):
    """The server refused a request."""

    def __init__(self, status: int, text: str) -> None:
        """`status` is HTTP's, `text` what the server said."""
        super().__init__(f"{status}: {text}")
        self.status = status


class Api:
    """One API server on loopback, and the authority that signed its certificate."""

    def __init__(self, port: int, certificate_authority: str) -> None:
        """`certificate_authority` is PEM text."""
        self._port = port
        self._trust = ssl.create_default_context(cadata=certificate_authority)

    def raw(
        self, path: str, token: str, *, method: str = "GET", body: Any = None, kind: str = JSON, seconds: int = SECONDS
    ) -> str:
        """The answer to one request. Raises RefusedError where the server refuses, OSError where there is none."""
        connection = http.client.HTTPSConnection("127.0.0.1", self._port, context=self._trust, timeout=seconds)
        try:
            data = None if body is None else json.dumps(body)
            connection.request(method, path, data, {"Authorization": f"Bearer {token}", "Content-Type": kind})
            answer = connection.getresponse()
            text = answer.read().decode()
        finally:
            connection.close()
        if answer.status >= 300:
            raise RefusedError(answer.status, text)
        return text

    def ask(self, path: str, token: str, *, method: str = "GET", body: Any = None, kind: str = JSON) -> Any:
        """The same as JSON; None where there is no such object."""
        try:
            return json.loads(self.raw(path, token, method=method, body=body, kind=kind))
        except RefusedError as error:
            if error.status != 404:
                raise
            return None

    def everything(self, token: str) -> dict[str, Any]:
        """Every object by its name, `apps/v1 deployments fraud/model`; without events, leases and what the server
        counts itself."""
        return {
            f"{version} {resource} {item['metadata'].get('namespace', '')}/{item['metadata']['name']}": item
            | {"apiVersion": version, "kind": kind}
            for version, resource, kind in self._listable(token)
            for item in self._items(version, resource, token)
        }

    def _items(self, version: str, resource: str, token: str) -> list[Any]:
        """All of one resource. Right after its definition came the server asks for patience."""

        def listed() -> Any:
            try:
                return self.ask(f"{_root(version)}/{resource}", token)
            except RefusedError as error:
                if error.status != 429:
                    raise
                return None

        items: list[Any] = until(listed, f"{resource} can be listed")["items"]
        return items

    def _listable(self, token: str) -> set[tuple[str, str, str]]:
        """Each resource, in the version that the server prefers where that one has it, and its kind."""
        groups = [["v1"]]
        groups += [[each["groupVersion"] for each in group["versions"]] for group in self.ask("/apis", token)["groups"]]
        found: dict[tuple[str, str], tuple[str, str, str]] = {}
        for versions in groups:
            # The server says the version that it prefers first; another may have kinds that this one lacks.
            for version in versions:
                for resource in self.ask(_root(version), token)["resources"]:
                    if "list" in resource["verbs"] and resource["name"] not in PASSING:
                        one = version, resource["name"], resource["kind"]
                        found.setdefault((versions[0], resource["name"]), one)
        return set(found.values())

    def is_ready(self, token: str) -> bool:
        """Whether the server is there and says that all of it is ready."""
        with contextlib.suppress(OSError, http.client.HTTPException, RefusedError):
            return self.raw("/readyz", token, seconds=SECONDS_TO_SAY_READY) == "ok"
        return False


def _root(version: str) -> str:
    return f"/apis/{version}" if "/" in version else f"/api/{version}"


def is_healthy(port: int, path: str) -> bool:
    """Whether a program on loopback says over plain HTTP that it is well."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS_TO_SAY_READY)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
