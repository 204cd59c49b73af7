"""OPA servers of somebody else: what they are given, and an error for whatever they answer wrong."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from few_rules import MAIN, asked, pets, rules

from gpuyard.review.errors import GateError
from gpuyard.review.evaluation import engines
from gpuyard.review.evaluation.engines import OpaServer, started_opa
from gpuyard.review.evaluation.rules import RuleSet


def address(server: OpaServer) -> tuple[str, str]:
    """URL and token of a server."""
    return f"http://127.0.0.1:{server._client.port}", server._client.headers["Authorization"].removeprefix("Bearer ")


@pytest.fixture
def shared_opa(opa: Path, tmp_path: Path) -> Iterator[Callable[[RuleSet], OpaServer]]:
    """A way into an OPA server that has no rules yet."""
    process, server = engines._start(str(opa), str(tmp_path))
    url, token = address(server)
    yield lambda rules: OpaServer.at(url, rules, token=token)
    server.close()
    engines._end(process)


def test_a_shared_opa_is_given_the_rules_and_loses_those_of_an_earlier_review(
    shared_opa: Callable[[RuleSet], OpaServer],
) -> None:
    lib = "package gpuyard.lib.names\n\nhello(x) := x\n"
    user = "package gpuyard.rules.a.b\n\nimport data.gpuyard.lib.names\n\ndeny contains names.hello(1)\n"
    first = shared_opa(rules(**{"lib/names": lib, "rules/a/b": user}))
    assert pets(first.ask(asked("cat"))) == ["cat"]
    assert "gpuyard/rules/a/b.rego" in first._client.get_policies_list()
    second = shared_opa(rules())
    ours = sorted(name for name in second._client.get_policies_list() if name.startswith("gpuyard/"))
    assert ours == ["gpuyard/main.rego", "gpuyard/revision.rego"]
    assert pets(second.ask(asked("dog"))) == ["dog"]


def test_a_shared_opa_is_given_only_what_it_lacks(
    shared_opa: Callable[[RuleSet], OpaServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    put, given = OpaServer.put, []

    def noted(self: OpaServer, name: str, text: str) -> None:
        given.append(name)
        put(self, name, text)

    monkeypatch.setattr(OpaServer, "put", noted)
    user = {"rules/a/b": "package gpuyard.rules.a.b\n\ndeny contains 1\n"}
    server = shared_opa(rules(**user))
    assert given[0] == "revision.rego"
    assert {*given[1:]} == {"main.rego", "rules/a/b.rego"}
    given.clear()
    shared_opa(rules(**user))
    assert given == []
    given.clear()
    put(server, "rules/a/b.rego", "package gpuyard.rules.a.b\n")
    shared_opa(rules(**user))
    assert given == ["rules/a/b.rego"], "what somebody else changed is put right"


def test_a_shared_opa_keeps_the_policies_of_others(shared_opa: Callable[[RuleSet], OpaServer]) -> None:
    server = shared_opa(rules())
    server._client.update_policy_from_string("package other\n", "other.rego", rego_compat=False)
    shared_opa(rules())
    assert "other.rego" in server._client.get_policies_list()


def test_a_shared_opa_with_our_packages_under_other_names_is_a_gate_error(opa: Path) -> None:
    with started_opa(rules(), str(opa)) as loaded:
        url, token = address(loaded)
        other = OpaServer.at(url, rules(MAIN + "# changed"), token=token)
        with pytest.raises(GateError, match="produced conflicting values"):
            other.ask(asked())


def test_a_shared_opa_that_refuses_a_rule_is_a_gate_error(shared_opa: Callable[[RuleSet], OpaServer]) -> None:
    with pytest.raises(GateError, match="compiling module"):
        shared_opa(rules("package gpuyard.main\n\nanswer := {"))


@pytest.mark.parametrize("url", ["localhost:8181", "ftp://a", "http://", "http://a/v1/data", "opa"])
def test_a_url_that_is_none_is_a_gate_error(url: str) -> None:
    with pytest.raises(GateError, match="OPA_URL"):
        OpaServer.at(url, rules())


def test_a_dead_opa_is_a_gate_error() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with pytest.raises(GateError, match="does not answer"):
        OpaServer.at(f"http://127.0.0.1:{port}", rules())


def test_an_opa_that_takes_a_connection_and_never_answers_is_a_gate_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "START_SECONDS", 0.2)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with pytest.raises(GateError, match="timed out"):
            OpaServer.at(f"http://127.0.0.1:{silent.getsockname()[1]}", rules())


class FakeOpa(BaseHTTPRequestHandler):
    """Takes every policy, and answers a query with whatever the test put there."""

    status, body = 200, b"{}"
    hangs = threading.Event()

    def do_PUT(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self._send(200, b"{}")

    def do_GET(self) -> None:
        self._send(200, b'{"result": []}')

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        if self.body == b"hang":
            self.hangs.wait(60)
            return
        if self.body == b"drip":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            while not self.hangs.wait(0.05):
                self.wfile.write(b" ")
            return
        self._send(self.status, self.body)

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        """Says nothing."""


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    FakeOpa.hangs.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), FakeOpa)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    FakeOpa.hangs.set()
    server.shutdown()
    thread.join(10)
    server.server_close()


@pytest.mark.parametrize(
    ("status", "body", "says"),
    [
        (200, b"{}", "gives no result"),
        (200, b"[]", "gives no result"),
        (200, b'{"result"', "does not answer as it should"),
        (200, b"", "does not answer as it should"),
        (500, b'{"code": "internal_error", "message": "eval_builtin_error"}', "eval_builtin_error"),
        (502, b"<html>Bad Gateway</html>", "Bad Gateway"),
        (401, b"who are you?", "who are you"),
    ],
)
def test_an_answer_that_is_none_is_a_gate_error(
    status: int, body: bytes, says: str, fake: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakeOpa, "status", status)
    monkeypatch.setattr(FakeOpa, "body", body)
    with pytest.raises(GateError, match=says):
        OpaServer.at(fake, rules()).ask(asked())


def test_an_opa_that_is_slow_to_answer_is_a_gate_error(fake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeOpa, "body", b"hang")
    monkeypatch.setattr(engines, "ANSWER_SECONDS", 0.2)
    with pytest.raises(GateError, match="timed out"):
        OpaServer.at(fake, rules()).ask(asked())


def test_an_opa_that_sends_a_byte_now_and_then_is_a_gate_error(fake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeOpa, "body", b"drip")
    monkeypatch.setattr(engines, "ANSWER_SECONDS", 0.2)
    with pytest.raises(GateError, match="has not answered in full"):
        OpaServer.at(fake, rules()).ask(asked())


@pytest.mark.parametrize("url", ["http://user:hunter2@127.0.0.1:8181", "http://127.0.0.1:99999", "http://[::1"])
def test_a_url_that_cannot_be_used_is_a_gate_error_without_its_password(url: str) -> None:
    with pytest.raises(GateError, match="OPA_URL") as refused:
        OpaServer.at(url, rules())
    assert "hunter2" not in str(refused.value)


def test_a_large_input_gets_more_time(fake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeOpa, "body", b'{"result": 1}')
    server = OpaServer.at(fake, rules())
    server.ask(asked("x" * 5_000_000))
    assert server._client.timeout >= 20 + engines.ANSWER_SECONDS
