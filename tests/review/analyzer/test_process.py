"""The pack as a program: started as the engine starts it, and gone when the engine is."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from documents import kubernetes, pod_spec, workload
from google.protobuf import empty_pb2
from pack import registration, struct
from pulumi.runtime.proto import analyzer_pb2 as pb
from pulumi.runtime.proto import analyzer_pb2_grpc

ROOT = Path(__file__).parents[3]
ANALYZER = ROOT / "policies" / "analyzer"
FOLDER = [sys.executable, "-u", "-m", "pulumi.policy"]
"""How the language host runs a pack that is a folder; the engine's address and the folder follow."""

SECONDS = 60


class Started:
    """The pack, started for an engine that only listens."""

    def __init__(self, where: Path, *, folder: bool = False, **variables: str) -> None:
        self.engine = socket.create_server(("127.0.0.1", 0))
        address = f"127.0.0.1:{self.engine.getsockname()[1]}"
        command = [*FOLDER, address, str(ANALYZER.parent)] if folder else [str(ANALYZER), "--logtostderr", address]
        self.process = subprocess.Popen(
            command,
            cwd=ANALYZER.parent if folder else where,
            env=os.environ | {"GPUYARD_PYTHON": sys.executable} | variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def connect(self) -> analyzer_pb2_grpc.AnalyzerStub:
        assert self.process.stdout
        port = self.process.stdout.readline().strip().decode()
        assert port.isdigit(), "the first line is the port, and nothing else"
        options = [("grpc.max_send_message_length", -1)]
        stub = analyzer_pb2_grpc.AnalyzerStub(grpc.insecure_channel(f"127.0.0.1:{port}", options))
        stub.Handshake(pb.AnalyzerHandshakeRequest(), timeout=SECONDS)
        stub.ConfigureStack(pb.AnalyzerStackConfigureRequest(stack="dev", project="shop"), timeout=SECONDS)
        return stub

    def ended(self) -> tuple[int, str]:
        """Exit code, and what was said beside the port."""
        said, problems = self.process.communicate(timeout=SECONDS)
        return self.process.returncode, (said + problems).decode()


@pytest.fixture(params=["executable", "folder"])
def pack(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Started]:
    started = Started(tmp_path, folder=request.param == "folder")
    with started.engine:
        yield started
    if started.process.poll() is None:
        os.killpg(started.process.pid, signal.SIGKILL)
    started.process.wait()
    for stream in (started.process.stdout, started.process.stderr):
        if stream:
            stream.close()


def test_it_serves_and_leaves_when_it_is_interrupted(pack: Started) -> None:
    stub = pack.connect()
    given = kubernetes(workload("Pod", pod_spec() | {"hostNetwork": True}))
    [finding] = stub.Analyze(registration(given), timeout=SECONDS).diagnostics
    assert finding.policyName == "isolation/privileged"
    os.killpg(pack.process.pid, signal.SIGINT)
    assert pack.ended() == (-signal.SIGINT, "")


def test_it_leaves_when_it_is_terminated(pack: Started) -> None:
    pack.connect()
    pack.process.terminate()
    assert pack.ended() == (-signal.SIGTERM, "")


def test_it_leaves_when_its_work_is_cancelled(pack: Started) -> None:
    stub = pack.connect()
    assert stub.Cancel(empty_pb2.Empty(), timeout=SECONDS) == empty_pb2.Empty()
    assert pack.ended() == (0, "")


def test_it_leaves_when_the_engine_is_killed(pack: Started) -> None:
    pack.connect()
    pack.engine.close()
    assert pack.ended() == (0, "")


def test_an_interrupt_while_it_still_loads_leaves_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "slow").mkdir()
    loading = tmp_path / "loading"
    (tmp_path / "slow/grpc.py").write_text(f"import time\nopen({str(loading)!r}, 'w').close()\ntime.sleep({SECONDS})\n")
    pack = Started(tmp_path, PYTHONPATH=str(tmp_path / "slow"))
    with pack.engine:
        deadline = time.monotonic() + SECONDS
        while not loading.exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        os.killpg(pack.process.pid, signal.SIGINT)
        assert pack.ended() == (-signal.SIGINT, "")


def test_a_stack_in_one_message_may_be_large(tmp_path: Path) -> None:
    pack = Started(tmp_path)
    with pack.engine:
        stub = pack.connect()
        outputs = struct({"text": "x" * (1 << 20)}, [], [])
        resources = [pb.AnalyzerResource(urn=f"urn:{i}", properties=outputs) for i in range(16)]
        request = pb.AnalyzeStackRequest(resources=resources)
        assert request.ByteSize() > 16 << 20, "gRPC takes 4 MiB by itself"
        assert not stub.AnalyzeStack(request, timeout=SECONDS).diagnostics
        pack.process.terminate()
        pack.ended()


def test_a_program_cannot_put_its_own_modules_in_the_place_of_ours(tmp_path: Path) -> None:
    for name in ("grpc", "pulumi", "json", "gpuyard"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('not me')\n")
    pack = Started(tmp_path)
    with pack.engine:
        pack.connect()
        pack.process.terminate()
        assert pack.ended()[1] == ""


def test_the_programs_own_rules_and_limits_count(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: shop\nruntime: python\n")
    shutil.copytree(ROOT / "policies/limits", tmp_path / "policies/limits")
    limits = tmp_path / "policies/limits/development.yaml"
    limits.write_text(limits.read_text().replace("  - docker.io/vllm/\n", ""))
    (tmp_path / "program").mkdir()
    pack = Started(tmp_path / "program")
    with pack.engine:
        stub = pack.connect()
        given = kubernetes(workload("Pod", pod_spec()))
        [finding] = stub.Analyze(registration(given), timeout=SECONDS).diagnostics
        pack.process.terminate()
        pack.ended()
    assert "comes from docker.io/vllm/vllm-openai" in finding.message


# --- the launcher


def launched(launcher: Path, *arguments: str, **variables: str) -> tuple[int, str]:
    environment = {name: value for name, value in os.environ.items() if name != "GPUYARD_PYTHON"} | variables
    ended = subprocess.run(
        [launcher, *arguments], env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    return ended.returncode, ended.stdout + ended.stderr


def test_a_library_that_does_not_load_is_named_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "grpc.py").write_text("raise ImportError('no grpc for this machine')\n")
    code, said = launched(ANALYZER, "127.0.0.1:1", GPUYARD_PYTHON=sys.executable, PYTHONPATH=str(tmp_path))
    assert code == 1
    assert said == (
        f"{sys.executable} cannot load gpuyard: no grpc for this machine: name a Python that has it in GPUYARD_PYTHON\n"
    )


def test_what_fails_while_it_serves_is_not_said_to_be_a_gpuyard_that_does_not_load(tmp_path: Path) -> None:
    """Its own name for the failure stays: the same Python has loaded gpuyard."""
    (tmp_path / "sitecustomize.py").write_text(
        "import asyncio\n\n\ndef run(serving):\n    serving.close()\n    raise ImportError('later')\n\n\nasyncio.run = run\n"
    )
    code, said = launched(ANALYZER, "127.0.0.1:1", GPUYARD_PYTHON=sys.executable, PYTHONPATH=str(tmp_path))
    assert code == 1
    assert "cannot load gpuyard" not in said
    assert said.endswith("ImportError: later\n")


def test_started_by_hand_it_says_who_starts_it() -> None:
    says = "gpuyard's policy pack is started by Pulumi: give its path to pulumi preview or up, by --policy-pack\n"
    assert launched(ANALYZER, GPUYARD_PYTHON=sys.executable) == (1, says)


def test_it_is_found_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "first").symlink_to(ANALYZER)
    (tmp_path / "second").symlink_to("first")
    _, said = launched(tmp_path / "second", PATH="/usr/bin:/bin")
    assert ("is started by Pulumi" in said) == (ROOT / ".venv/bin/python").exists()


@pytest.mark.parametrize(
    ("python", "says"),
    [
        ("/nowhere/python", "there is no /nowhere/python: run make in "),
        ("bare", "cannot load gpuyard: No module named 'gpuyard': name a Python that has it in GPUYARD_PYTHON"),
    ],
)
def test_without_a_python_that_has_gpuyard_it_says_so_in_one_line(python: str, says: str, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n')
    bare.chmod(0o755)
    code, said = launched(ANALYZER, "127.0.0.1:1", GPUYARD_PYTHON=str(bare) if python == "bare" else python)
    assert code == 1
    assert says in said
    assert len(said.splitlines()) == 1
