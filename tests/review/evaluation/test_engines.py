"""The engines: the same answer, in any thread, and an error for whatever goes wrong."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from gpuyard.review.errors import GateError
from gpuyard.review.evaluation import engines
from gpuyard.review.evaluation.engines import Embedded, OpaServer, engine, started_opa
from gpuyard.review.evaluation.rules import RuleSet

MAIN = """package gpuyard.main

answer := {"findings": findings, "loaded": {"pets/none"}, "revision": data.gpuyard.revision.digest}

findings contains {"pet": pet} if some pet in input.pets
"""


def rules(main: str = MAIN, **more: str) -> RuleSet:
    return RuleSet({}, {f"{name}.rego": text for name, text in more.items()} | {"main.rego": main})


def pets(answer: Any) -> list[str]:
    return sorted(finding["pet"] for finding in answer["findings"])


def asked(*names: str) -> str:
    return json.dumps({"pets": names})


def test_the_embedded_engine_answers_and_says_of_which_texts() -> None:
    answer = Embedded(rules()).ask(asked("cat"))
    assert pets(answer) == ["cat"]
    assert answer["revision"] == rules().revision


def test_the_embedded_engine_works_in_any_thread() -> None:
    """An engine of regorus panics in a thread that did not make it; a gRPC server answers in many."""
    shared = Embedded(rules())
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda i: pets(shared.ask(asked(f"pet-{i}"))), range(40)))
    assert answers == [[f"pet-{i}"] for i in range(40)]


def test_an_engine_that_is_moved_to_another_thread_is_a_gate_error() -> None:
    shared = Embedded(rules())
    shared.ask(asked())
    moved, caught = shared._of_thread.engine, []

    def elsewhere() -> None:
        shared._of_thread.engine = moved
        try:
            shared.ask(asked())
        except GateError as error:
            caught.append(str(error))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join(30)
    assert len(caught) == 1


def test_other_rules_in_the_same_thread_are_other_rules() -> None:
    other = MAIN.replace("some pet in input.pets", 'pet := "dog"')
    assert pets(Embedded(rules()).ask(asked("cat"))) == ["cat"]
    assert pets(Embedded(rules(other)).ask(asked("cat"))) == ["dog"]
    assert pets(Embedded(rules()).ask(asked("cat"))) == ["cat"]


BROKEN = {
    "a syntax error": "package gpuyard.main\n\nanswer := {",
    "an unknown function": "package gpuyard.main\n\nanswer := no.such.function(input)\n",
    "a type error in a builtin": "package gpuyard.main\n\nanswer := count(input.n)\n",
    "a number that is none": 'package gpuyard.main\n\nanswer := to_number("8 GPUs")\n',
}


@pytest.mark.parametrize("main", BROKEN.values(), ids=BROKEN)
def test_what_the_embedded_engine_cannot_evaluate_is_a_gate_error(main: str) -> None:
    with pytest.raises(GateError, match="regorus") as error:
        Embedded(rules(main)).ask('{"n": 7}')
    assert "Stack backtrace" not in str(error.value)


@pytest.mark.parametrize("main", BROKEN.values(), ids=BROKEN)
def test_what_opa_cannot_evaluate_is_a_gate_error(main: str, opa: Path) -> None:
    with pytest.raises(GateError, match="opa"), started_opa(rules(main), str(opa)) as server:
        server.ask('{"n": 7}')


@pytest.mark.parametrize("given", ["", "{", "[1", '{"a": NaN}'])
def test_an_input_that_is_no_json_is_a_gate_error(given: str) -> None:
    with pytest.raises(GateError):
        Embedded(rules()).ask(given)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """The processes that are started meanwhile."""
    seen: list[subprocess.Popen[bytes]] = []
    start = engines._start

    def watched(program: str, folder: str) -> tuple[subprocess.Popen[bytes], OpaServer]:
        process, server = start(program, folder)
        seen.append(process)
        return process, server

    monkeypatch.setattr(engines, "_start", watched)
    return seen


def test_an_opa_of_ones_own_answers_and_is_gone_afterwards(opa: Path, started: list[subprocess.Popen[bytes]]) -> None:
    with started_opa(rules(), str(opa)) as server:
        answer = server.ask(asked("cat"))
        assert started[0].poll() is None
    assert pets(answer) == ["cat"]
    assert answer["revision"] == rules().revision
    assert server.name.startswith("opa 1.")
    assert started[0].poll() is not None


def test_an_opa_of_ones_own_is_ended_when_the_review_fails(opa: Path, started: list[subprocess.Popen[bytes]]) -> None:
    with pytest.raises(KeyboardInterrupt), started_opa(rules(), str(opa)):
        raise KeyboardInterrupt
    assert started[0].poll() is not None


def test_nobody_else_may_ask_an_opa_of_ones_own(opa: Path) -> None:
    with started_opa(rules(), str(opa)) as server:
        stranger = OpaServer("127.0.0.1", server._client.port)
        with pytest.raises(GateError, match="401"):
            stranger.ask(asked("cat"))
        with pytest.raises(GateError):
            stranger.put("main.rego", MAIN.replace("input.pets", "[]"))
        assert pets(server.ask(asked("cat"))) == ["cat"]


def test_no_proxy_of_the_environment_sees_a_stack(opa: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    with started_opa(rules(), str(opa)) as server:
        assert pets(server.ask(asked("cat"))) == ["cat"]


def program(folder: Path, script: str) -> str:
    path = folder / "opa"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def test_a_program_that_is_no_opa_is_a_gate_error(tmp_path: Path) -> None:
    with (
        pytest.raises(GateError, match="this is something else"),
        started_opa(rules(), program(tmp_path, "echo this is something else >&2; exit 3")),
    ):
        pass


def test_a_program_that_never_listens_is_ended_and_a_gate_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "START_SECONDS", 0.2)
    with (
        pytest.raises(GateError, match="does not listen"),
        started_opa(rules(), program(tmp_path, f"echo $$ > {tmp_path}/pid; exec sleep 600")),
    ):
        pass
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_a_port_that_somebody_else_takes_is_tried_again(tmp_path: Path, opa: Path) -> None:
    script = (
        f'test -f {tmp_path}/seen && exec {opa} "$@"\n'
        f"touch {tmp_path}/seen; echo 'listen tcp: bind: address already in use' >&2; exit 1"
    )
    with started_opa(rules(), program(tmp_path, script)) as server:
        assert pets(server.ask(asked("cat"))) == ["cat"]


# --- servers of somebody else


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
        shared_opa(rules(BROKEN["a syntax error"]))


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


# --- which engine


def test_without_any_opa_the_embedded_engine_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPA_URL", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with engine(rules()) as chosen:
        assert "embedded" in chosen.name


def test_an_opa_on_path_is_used(opa: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPA_URL", raising=False)
    monkeypatch.setenv("PATH", str(opa.parent))
    with engine(rules()) as chosen:
        assert pets(chosen.ask(asked("cat"))) == ["cat"]
        assert chosen.name.startswith("opa 1.")


def test_a_url_comes_before_a_program_and_there_is_no_way_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, "exit 1")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("OPA_URL", "http://127.0.0.1:1")
    with pytest.raises(GateError, match=r"127\.0\.0\.1:1"), engine(rules()):
        pass


def test_a_broken_opa_on_path_is_not_replaced_by_the_embedded_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPA_URL", raising=False)
    program(tmp_path, "exit 1")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GateError, match="does not start"), engine(rules()):
        pass


def test_opa_by_name_needs_an_opa(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPA_URL", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GateError, match="neither OPA_URL nor"), engine(rules(), "opa"):
        pass
