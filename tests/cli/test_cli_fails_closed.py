"""The gate through the command, when it cannot decide: exit code 3, one reason, and nothing passes."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from command import CONFIG_MAP, GPUYARD, Answer, gpuyard, patched, program, refused, rule

from gpuyard import policies


def undecided(answer: Answer) -> str:
    error = refused(answer, 3)
    assert "the gate could not decide: " in error
    assert "may deploy" not in error
    return error


def test_the_same_program_passes_where_nothing_is_wrong(tmp_path: Path) -> None:
    assert gpuyard("review", "--program", program(tmp_path, CONFIG_MAP)).code == 0


def test_no_rules_are_no_pass(tmp_path: Path) -> None:
    where = program(tmp_path / "shop", CONFIG_MAP)
    (where / "policies" / "rules").mkdir(parents=True)
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "limits").symlink_to(Path(*policies.__path__) / "limits")
    packaged = patched(
        f"import gpuyard.review.evaluation.evaluate as e; e.files = lambda _: {str(tmp_path / 'none')!r}"
    )
    assert "no rule is found" in undecided(gpuyard("review", "--program", where, command=packaged))


def test_no_limits_are_no_pass_and_neither_are_those_of_an_environment_that_is_not_there(tmp_path: Path) -> None:
    limits = program(tmp_path, CONFIG_MAP) / "policies" / "limits"
    limits.mkdir(parents=True)
    assert "environments.yaml is missing" in undecided(gpuyard("review", "--program", tmp_path))
    (limits / "environments.yaml").write_text("strictest: production\nstacks: {}\n")
    assert "production.yaml is missing" in undecided(gpuyard("review", "--program", tmp_path))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('deny contains {"urn": input.urn if { true }\n', "own"),
        ('import data.gpuyard.lib.gone\ndeny contains {"urn": gone.x} if { gone.y }\n', "house/own.rego imports data.gpuyard.lib.gone"),
        ('deny contains {"urn": "x"} if { true }\n', "another shape: house/own"),
        ('deny contains x if { x := {"urn": "u", "path": "", "message": "m"} }\n', "not in the document"),
        ('deny contains x if { x := to_number(input.stack) }\n', "to_number"),
        ('text := `\ndeny contains `\n', "house/own"),
    ],
    ids=["syntax", "import", "shape", "place", "builtin", "undefined"],
)  # fmt: skip
def test_a_rule_that_does_not_load_or_gives_no_whole_answer_is_no_pass(tmp_path: Path, body: str, said: str) -> None:
    rule(program(tmp_path, CONFIG_MAP), body)
    assert said in undecided(gpuyard("review", "--program", tmp_path))


def test_a_dead_opa_is_no_pass_and_its_stacks_are_not_asked_one_after_the_other(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    where = program(tmp_path, CONFIG_MAP, dev="config: {}", prod="config: {}")
    error = undecided(gpuyard("review", "--program", where, OPA_URL=url))
    assert "opa at 127.0.0.1" in error
    assert error.count("could not decide") == 1


def test_an_opa_that_takes_the_connection_and_never_answers_is_no_pass(tmp_path: Path) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        impatient = patched("import gpuyard.review.evaluation.engines as e; e.START_SECONDS = 0.5")
        where = program(tmp_path, CONFIG_MAP)
        error = undecided(gpuyard("review", "--program", where, command=impatient, OPA_URL=url))
    assert "timed out" in error


def test_a_url_that_is_none_is_no_pass(tmp_path: Path) -> None:
    error = undecided(gpuyard("review", "--program", program(tmp_path, CONFIG_MAP), OPA_URL="localhost:8181"))
    assert "OPA_URL is 'localhost:8181': give http:// or https://" in error


def test_a_url_with_an_impossible_port_is_no_pass(tmp_path: Path) -> None:
    undecided(gpuyard("review", "--program", program(tmp_path, CONFIG_MAP), OPA_URL="http://127.0.0.1:99999"))


ANSWERS: list[Callable[[str], object]] = [
    lambda revision: {},
    lambda revision: {"result": True},
    lambda revision: {"result": {"revision": revision, "loaded": [], "findings": []}},
]
"""What a server may say of a query, by the revision of the rules that it was given."""


@contextmanager
def opa(answer: Callable[[str], object], *, html: bool = False) -> Iterator[str]:
    """The URL of a server that takes every policy and answers a query as it likes."""
    revision = [""]

    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            text = self.rfile.read(int(self.headers["Content-Length"])).decode()
            revision[0] = (re.findall(r'^digest := "(.+)"$', text, re.MULTILINE) or revision)[0]
            self.say({})

        def do_GET(self) -> None:
            self.say({"result": []})

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.say(answer(revision[0]))

        def say(self, value: object) -> None:
            body = b"<html>Welcome to nginx!</html>" if html else json.dumps(value).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


def test_an_opa_that_answers_nonsense_is_no_pass(tmp_path: Path) -> None:
    where = program(tmp_path, CONFIG_MAP)
    for answer in ANSWERS:
        with opa(answer) as url:
            undecided(gpuyard("review", "--program", where, OPA_URL=url))
    with opa(ANSWERS[0], html=True) as url:
        undecided(gpuyard("review", "--program", where, OPA_URL=url))


def test_an_error_inside_gpuyard_is_no_pass_and_shows_its_traceback_on_demand_only(tmp_path: Path) -> None:
    where = program(tmp_path, CONFIG_MAP)
    broken = patched("import gpuyard.review.judge as j; j.capacity = lambda *_: {}['hunter2']")
    error = undecided(gpuyard("review", "--program", where, command=broken))
    assert "an error inside gpuyard, KeyError in gpuyard.review.judge:" in error
    assert "GPUYARD_TRACEBACK=1" in error
    assert "hunter2" not in error, "its text may quote a secret"
    shown = gpuyard("review", "--program", where, command=broken, GPUYARD_TRACEBACK="1")
    assert shown.code == 3
    assert "KeyError: 'hunter2'" in shown.err


def test_an_exit_from_deep_inside_is_no_pass(tmp_path: Path) -> None:
    leaving = patched("import gpuyard.review.judge as j; j.capacity = lambda *_: sys.exit(0)")
    assert "SystemExit in gpuyard.review.judge" in undecided(
        gpuyard("review", "--program", program(tmp_path), command=leaving)
    )


def test_an_installation_that_lacks_a_part_is_no_pass(tmp_path: Path) -> None:
    lacking = patched("sys.modules['regorus'] = None")
    assert "ModuleNotFoundError" in undecided(gpuyard("review", "--program", program(tmp_path), command=lacking))


def test_a_report_that_cannot_be_written_is_no_pass(tmp_path: Path) -> None:
    where = program(tmp_path, CONFIG_MAP)
    full = ("sh", "-c", '"$0" "$@" > /dev/full', *GPUYARD)
    assert "No space left on device" in undecided(gpuyard("review", "--program", where, command=full))
