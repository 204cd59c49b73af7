"""The two engines that apply the rules: an OPA server, and the embedded one where there is no OPA.

Both are given the same texts and the same input and give the same answer. Neither ever gives less: whatever goes wrong
is a GateError.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, Protocol
from urllib.parse import urlsplit

import regorus

from gpuyard.review.errors import GateError
from gpuyard.review.evaluation.rules import PACKAGE, RuleSet

Choice = Literal["auto", "embedded", "opa"]

LOOPBACK = "127.0.0.1"
ANSWER = "answer"
REVISION = "revision.rego"
START_SECONDS = 20.0
"""An OPA on loopback listens after 0.1 s; a loaded machine gets time."""
ANSWER_SECONDS = 15.0
SECONDS_A_MEGABYTE = 4.0
"""OPA takes about 0.4 s a megabyte of input on one core; ten times that is slow enough to be an error."""
STARTS = 3
"""A free port may be taken by somebody else before OPA has it: then it is tried again."""


AUTHZ = """package system.authz

default allow := false

allow if input.identity == "{token}"
"""


class Engine(Protocol):
    """Applies rules."""

    name: str
    """Name and version, for the report."""

    def ask(self, given: str) -> Any:
        """The answer of the entry point to an input, which is JSON text. Raises GateError."""


def revision_module(rules: RuleSet) -> str:
    """A module that says of which texts an engine was given."""
    return f'package {PACKAGE}.revision\n\ndigest := "{rules.revision}"\n'


@contextmanager
def engine(rules: RuleSet, choice: Choice = "auto") -> Iterator[Engine]:
    """An engine with the rules in it. `auto`: the OPA of `OPA_URL`, else `opa` on PATH, else the embedded engine."""
    url = os.environ.get("OPA_URL", "")
    program = shutil.which("opa")
    if choice == "embedded" or (choice == "auto" and not url and not program):
        yield Embedded(rules)
    elif url:
        yield OpaServer.at(url, rules, token=os.environ.get("OPA_TOKEN"))
    elif program:
        with started_opa(rules, program) as server:
            yield server
    else:
        raise GateError("OPA is asked for, and there is neither OPA_URL nor an `opa` program on PATH")


class Embedded:
    """The engine inside this process: regorus, by the package gordon-to-regorus.

    An engine of regorus belongs to the thread that made it; used in another it panics. So each thread makes its own.
    """

    name = f"regorus {version('gordon-to-regorus')}, embedded"
    _of_thread = threading.local()

    def __init__(self, rules: RuleSet) -> None:
        self._modules = {**rules.modules, REVISION: revision_module(rules)}
        self._revision = rules.revision

    def ask(self, given: str) -> Any:
        """See Engine."""
        return self._evaluated(given, [f"data.{PACKAGE}.main.{ANSWER}"])[0]

    def deny(self, given: str, rules: Sequence[str]) -> list[Any]:
        """What each of some rules denies: all of them together take longer than a single resource is worth."""
        return self._evaluated(given, [f"data.{PACKAGE}.rules.{rule.replace('/', '.')}.deny" for rule in rules])

    def _evaluated(self, given: str, names: Sequence[str]) -> list[Any]:
        try:
            engine = self._engine()
            engine.set_input_json(given)
            return [json.loads(engine.eval_rule_as_json(name)) for name in names]
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            # A panic in Rust is a BaseException; let through, it would end a server's thread without an answer.
            raise GateError(f"{self.name}: {str(error).partition('Stack backtrace:')[0].strip()}") from None

    def _engine(self) -> Any:
        kept = getattr(self._of_thread, "engine", None)
        if kept is None or kept[0] != self._revision:
            made = regorus.Engine()
            for name, text in self._modules.items():
                made.add_policy(name, text)
            kept = self._of_thread.engine = (self._revision, made)
        return kept[1]


class OpaServer:
    """An OPA server."""

    def __init__(self, host: str, port: int, *, tls: bool = False, token: str | None = None) -> None:
        # Here, not above: the client brings an HTTP library that the embedded engine has no use for.
        from opa_client.opa import OpaClient

        self.name = f"opa at {host}:{port}"
        # Retries would hide a dead server for a while and could not help.
        self._client = OpaClient(host=host, port=port, ssl=tls, token=token, retries=0, timeout=START_SECONDS)
        if host == LOOPBACK:
            # A proxy of the environment would be shown the whole stack, and could not reach this machine's loopback.
            self._client._session.trust_env = False

    @classmethod
    def at(cls, url: str, rules: RuleSet, *, token: str | None = None) -> OpaServer:
        """The server of somebody else; it is given what it lacks of our packages, and loses what earlier reviews left.

        Raises GateError for a URL that is none, and a server that does not take the rules.
        """
        host, port, tls = _address(url)
        server = cls(host, port, tls=tls, token=token)
        server._upload(rules)
        return server

    def put(self, name: str, text: str) -> None:
        """Gives the server a module. Raises GateError when it does not take it."""
        self._call(lambda: self._client.update_policy_from_string(text, f"{PACKAGE}/{name}", rego_compat=False))

    def knows(self, word: str) -> bool:
        """Whether this is the server that was told `word`, and no other that took its port."""
        try:
            return bool(self._client.query_rule({}, f"{PACKAGE}/own", "word").get("result") == word)
        except Exception:
            return False

    def ask(self, given: str) -> Any:
        """See Engine."""
        self._client.timeout = ANSWER_SECONDS + SECONDS_A_MEGABYTE * len(given) / 1e6
        # Errors in builtins must not turn into rules that do not fire.
        parameters = {"strict-builtin-errors": "true", "provenance": "true"}
        asked, seconds = json.loads(given), self._client.timeout
        answer = self._call(lambda: self._client.query_rule(asked, f"{PACKAGE}/main", ANSWER, parameters), seconds)
        if not isinstance(answer, dict) or "result" not in answer:
            raise GateError(f"{self.name} gives no result: it lacks the rules, or lost them")
        provenance = answer.get("provenance")
        if isinstance(provenance, dict) and provenance.get("version"):
            self.name = f"opa {provenance['version']}"
        return answer["result"]

    def close(self) -> None:
        """Ends the connection."""
        self._client.close_connection()

    def _upload(self, rules: RuleSet) -> None:
        wanted = {REVISION: revision_module(rules), **rules.modules}
        there = self._call(self._texts)
        stale = [name for name in there if name not in wanted]
        # The server compiles everything anew with each module that it is given, which takes many seconds in all: it
        # gets what it lacks. The revision first: from here on, a review with other rules that is under way gets no
        # answer that it takes.
        lacking = [name for name, text in wanted.items() if there.get(name) != text]
        if lacking[:1] == [REVISION]:
            self.put(REVISION, wanted[lacking.pop(0)])
        for name in sorted(stale, key=lambda name: name.startswith("lib/")):
            self._call(partial(self._client.delete_policy, f"{PACKAGE}/{name}"))
        for name in lacking:
            self.put(name, wanted[name])

    def _texts(self) -> dict[str, str]:
        """Our modules as the server has them, by name."""
        answer = self._client._session.get(f"{self._client.root_url}/policies", timeout=self._client.timeout)
        answer.raise_for_status()
        ours = f"{PACKAGE}/"
        modules = answer.json()["result"]
        return {module["id"].removeprefix(ours): module["raw"] for module in modules if module["id"].startswith(ours)}

    def _call(self, request: Callable[[], Any], seconds: float = START_SECONDS) -> Any:
        """The result of a request. The client's own time-out starts anew with every byte, so this one bounds it all."""
        ended: list[Any] = []

        def work() -> None:
            try:
                ended.append((request(), None))
            except Exception as error:
                ended.append((None, error))

        thread = threading.Thread(target=work, name="gpuyard-opa", daemon=True)
        thread.start()
        thread.join(seconds + 1)
        if not ended:
            raise GateError(f"{self.name} has not answered in full after {seconds + 1:.0f} s: see what keeps it busy")
        result, error = ended[0]
        if error is None:
            return result
        response = getattr(error, "response", None)
        body = f": {response.text[:1000]}" if response is not None else ""
        raise GateError(f"{self.name} does not answer as it should: {error}{body}")


def _address(url: str) -> tuple[str, int, bool]:
    """Host, port and whether it is TLS. Raises GateError for a URL that is none; the message never has a password."""
    remedy = "give http:// or https://, a host and a port, and no path; a token goes into OPA_TOKEN"
    try:
        parts = urlsplit(url)
        port = parts.port or 8181
    except ValueError as error:
        raise GateError(f"OPA_URL is no address ({error}): {remedy}") from None
    if parts.username is not None or parts.password is not None:
        raise GateError(f"OPA_URL has a user name or a password in it: {remedy}")
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/"):
        raise GateError(f"OPA_URL is {url!r}: {remedy}")
    return parts.hostname, port, parts.scheme == "https"


@contextmanager
def started_opa(rules: RuleSet, program: str) -> Iterator[OpaServer]:
    """An OPA of our own on loopback, with the rules in it, ended when the block is left."""
    with tempfile.TemporaryDirectory(prefix="gpuyard-opa-") as folder:
        for name, text in {**rules.modules, REVISION: revision_module(rules)}.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        process, server = _start(program, folder)
        try:
            yield server
        finally:
            server.close()
            _end(process)


def _start(program: str, folder: str) -> tuple[subprocess.Popen[bytes], OpaServer]:
    # Others on this machine reach the port too: they may neither ask, nor change a rule, nor pass for the server.
    token, word = secrets.token_hex(16), secrets.token_hex(16)
    (Path(folder) / "own.rego").write_text(f'package {PACKAGE}.own\n\nword := "{word}"\n')
    (Path(folder) / "authz.rego").write_text(AUTHZ.format(token=token))
    for attempt in range(1, STARTS + 1):
        with socket.socket() as probe:
            probe.bind((LOOPBACK, 0))
            port = probe.getsockname()[1]
        with tempfile.TemporaryFile() as log:
            options = [f"--addr={LOOPBACK}:{port}", "--authentication=token", "--authorization=basic"]
            process = subprocess.Popen(
                [program, "run", "--server", *options, "--log-level=error", "--skip-version-check", folder],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
            try:
                server = OpaServer(LOOPBACK, port, token=token)
                if _listens(process, server, port, word):
                    return process, server
            except BaseException:
                _end(process)
                raise
            _end(process)
            log.seek(0)
            said = log.read()[-2000:].decode("utf-8", "replace").strip()
        if "address already in use" not in said or attempt == STARTS:
            raise GateError(f"{program} does not start: {said or f'it does not listen after {START_SECONDS:.0f} s'}")
    raise AssertionError("the loop returns or raises")


def _listens(process: subprocess.Popen[bytes], server: OpaServer, port: int, word: str) -> bool:
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        # The port first: the client takes long to see a refused connection.
        with socket.socket() as probe:
            probe.settimeout(1)
            if probe.connect_ex((LOOPBACK, port)) == 0 and server.knows(word):
                return True
        time.sleep(0.01)
    return False


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
