"""The language host runs programs and packs as the official one does, and ends with its engine."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from engine.engine import Engine, Running

pytestmark = pytest.mark.engine

Program = Callable[..., Engine]


@pytest.fixture
def program(tmp_path: Path) -> Program:
    def make(source: str) -> Engine:
        folder = tmp_path / "program"
        folder.mkdir()
        (folder / "Pulumi.yaml").write_text("name: shop\nruntime: python\n")
        (folder / "__main__.py").write_text(f"import pulumi\n{textwrap.dedent(source)}")
        return Engine(tmp_path / "engine", program=folder)

    return make


def until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, f"not within 30 s: {what}"
        time.sleep(0.02)


SETTINGS = """
import json, os, sys
config = pulumi.Config()
pulumi.export("settings", {
    "plain": config.require("plain"),
    "exported": json.loads(os.environ["PULUMI_CONFIG"]),
    "secret keys": json.loads(os.environ["PULUMI_CONFIG_SECRET_KEYS"]),
    "root": pulumi.runtime.get_root_directory(),
    "folder": os.getcwd(),
    "stack": [pulumi.get_organization(), pulumi.get_project(), pulumi.get_stack()],
    "arguments": sys.argv,
    "dry": pulumi.runtime.is_dry_run(),
})
pulumi.export("secret", config.require_secret("password"))
"""


def test_a_program_finds_its_configuration_and_its_place(program: Program) -> None:
    engine = program(SETTINGS)
    engine.pulumi("config", "set", "plain", "text")
    engine.pulumi("config", "set", "--secret", "password", "hush")
    engine.up()
    outputs = engine.export()["resources"][0]["outputs"]
    assert outputs["settings"] == {
        "plain": "text",
        "exported": {"shop:plain": "text", "shop:password": "hush"},
        "secret keys": ["shop:password"],
        "root": str(engine.project),
        "folder": str(engine.folder.parent / "program"),
        "stack": ["organization", "shop", "dev"],
        "arguments": ["__main__.py"],
        "dry": False,
    }
    assert "hush" not in str(outputs["secret"]), "a secret is encrypted in the state"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("raise pulumi.RunError('no such zone')", ["no such zone", "program exited with non-zero exit code: 1"]),
        ("import sys; sys.exit(3)", ["program exited with non-zero exit code: 3"]),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", ["program exited with non-zero exit code: -1"]),
    ],
)
def test_a_failing_program_says_why_and_no_more(program: Program, source: str, said: list[str]) -> None:
    run = program(source).preview(expect_failure=True)
    assert [message.removeprefix("an unhandled error occurred: ") for message in run.diagnostics("error")] == said
    assert "Traceback" not in run.output


def test_a_traceback_begins_with_the_users_own_program(program: Program) -> None:
    (message,) = program("\ndef price():\n    return 1 / 0\nprice()").preview(expect_failure=True).diagnostics("error")
    assert [line.split('"')[1] for line in message.splitlines() if line.startswith("  File")] == ["__main__.py"] * 2
    assert message.endswith("ZeroDivisionError: division by zero")


PACK = """
import json, os, sys
from concurrent import futures
import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import analyzer_pb2 as pb, analyzer_pb2_grpc, plugin_pb2

class Pack(analyzer_pb2_grpc.AnalyzerServicer):
    def GetAnalyzerInfo(self, request, context): return pb.AnalyzerInfo(name="house", version="1.0.0")
    def GetPluginInfo(self, request, context): return plugin_pb2.PluginInfo(version="1.0.0")
    def Configure(self, request, context): return empty_pb2.Empty()
    def Remediate(self, request, context): return pb.RemediateResponse()
    def AnalyzeStack(self, request, context): return pb.AnalyzeResponse()
    def Analyze(self, request, context):
        seen = {name: os.environ[f"PULUMI_{name}"] for name in ("PROJECT", "STACK", "DRY_RUN", "CONFIG")}
        return pb.AnalyzeResponse(diagnostics=[pb.AnalyzeDiagnostic(policyName="seen", policyPackName="house",
            policyPackVersion="1.0.0", message=json.dumps([seen, os.getcwd()]), enforcementLevel=pb.ADVISORY)])

server = grpc.server(futures.ThreadPoolExecutor(2))
analyzer_pb2_grpc.add_AnalyzerServicer_to_server(Pack(), server)
print(server.add_insecure_port("127.0.0.1:0"), flush=True)
server.start()
server.wait_for_termination()
"""


def test_a_pack_that_is_a_folder_runs_in_it_with_the_stacks_configuration(program: Program, tmp_path: Path) -> None:
    pack = tmp_path / "pack"
    pack.mkdir()
    (pack / "PulumiPolicy.yaml").write_text("runtime: python\n")
    (pack / "__main__.py").write_text(PACK)
    engine = program("")
    engine.pulumi("config", "set", "--secret", "password", "hush")
    (seen,) = engine.preview(pack=pack).policies()
    settings, folder = json.loads(seen["message"])
    assert folder == str(pack)
    # The pack had the word itself, which the engine knows for a secret, and hides.
    assert settings == {"PROJECT": "shop", "STACK": "dev", "DRY_RUN": "true", "CONFIG": '{"shop:password": "[secret]"}'}


def test_a_pack_that_does_not_start_is_one_error(program: Program, tmp_path: Path) -> None:
    pack = tmp_path / "pack"
    pack.mkdir()
    (pack / "PulumiPolicy.yaml").write_text("runtime: python\n")
    (pack / "__main__.py").write_text("raise SystemExit('this pack needs more')")
    run = program("").preview(pack=pack, expect_failure=True)
    assert "policy pack not started" in run.output
    assert "this pack needs more" in run.output


SLEEPS = """
import pathlib, subprocess, time
subprocess.Popen(["sleep", "600"])
pathlib.Path("started").touch()
time.sleep(600)
"""


def started(engine: Engine) -> Running:
    running = engine.start("preview")
    until((engine.folder.parent / "program" / "started").exists, "the program runs")
    return running


def test_a_killed_engine_leaves_no_host_and_no_program(program: Program) -> None:
    engine = program(SLEEPS)
    running = started(engine)
    assert len(engine.processes()) >= 4, "the engine, the host, the program and what it started"
    os.kill(running.id, signal.SIGKILL)
    until(lambda: not engine.processes(), "nothing that the engine started is left")


TESTS_THAT_DIE = """
import os, signal, sys, time
from pathlib import Path
from engine.engine import Engine
folder = Path(sys.argv[1])
Engine(folder / "engine", program=folder / "program").start("preview")
while not (folder / "program" / "started").exists():
    time.sleep(0.02)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_tests_that_are_killed_leave_no_engine(program: Program, tmp_path: Path) -> None:
    engine = program(SLEEPS)
    shutil.rmtree(engine.folder)
    found = {"PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run(
        [sys.executable, "-c", TESTS_THAT_DIE, str(tmp_path)], env=os.environ | found, timeout=60, check=False
    )
    until(lambda: not engine.processes(), "nothing that the engine started is left")


GATED = """
import threading, pathlib, time
from gpuyard.review.gate import gated

def build():
    # The gate's own look at the program is in another thread.
    if threading.current_thread() is threading.main_thread():
        pathlib.Path("started").touch()
        time.sleep(600)

gated(build)
"""


@pytest.mark.parametrize(("source", "traced"), [(SLEEPS.replace('["sleep", "600"]', '["true"]'), True), (GATED, False)])
def test_an_interrupted_engine_interrupts_the_program(program: Program, source: str, traced: bool) -> None:
    engine = program(source)
    running = started(engine)
    os.kill(running.id, signal.SIGINT)
    run = running.wait()
    assert run.code != 0
    assert ("KeyboardInterrupt" in run.output) == traced, "a gated program leaves quietly"
