"""The engines: the same answer, in any thread, and an error for whatever goes wrong."""

from __future__ import annotations

import os
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from few_rules import MAIN, asked, pets, rules

from gpuyard.review.errors import GateError
from gpuyard.review.evaluation import engines
from gpuyard.review.evaluation.engines import Embedded, OpaServer, engine, started_opa


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
