"""The stand-ins as processes: started as the engine starts its plugins, ended as it ends them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from clouds.aws.vpc import VPC
from clouds.cloud import Cloud
from clouds.wire import encode
from google.protobuf import empty_pb2
from pulumi.runtime.proto import provider_pb2 as messages
from pulumi.runtime.proto import provider_pb2_grpc as services

CLOUDS = Path(__file__).parent
SECONDS = 30.0


@pytest.fixture
def start(cloud: Cloud) -> Iterator[Callable[[str], tuple[subprocess.Popen[str], Any]]]:
    """Starts a provider by its launcher; ends it by its id."""
    started: list[subprocess.Popen[str]] = []

    def one(name: str) -> tuple[subprocess.Popen[str], Any]:
        program = CLOUDS / name / f"pulumi-resource-{name}"
        process = subprocess.Popen(
            [program, "127.0.0.1:1"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | cloud.environment,
        )
        started.append(process)
        assert process.stdout is not None
        return process, services.ResourceProviderStub(
            grpc.insecure_channel(f"127.0.0.1:{process.stdout.readline().strip()}")
        )

    yield one
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def said(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Exit code and errors of a process that ends."""
    _, errors = process.communicate(timeout=SECONDS)
    return process.returncode, errors


@pytest.mark.parametrize("name", ["aws", "gcp"])
def test_a_launcher_starts_its_provider(start: Callable[[str], tuple[Any, Any]], name: str) -> None:
    process, provider = start(name)
    assert provider.GetPluginInfo(empty_pb2.Empty(), timeout=SECONDS).version[0].isdigit()
    process.terminate()
    assert said(process) == (0, "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_provider_at_once_and_quietly(
    start: Callable[[str], tuple[Any, Any]], cloud: Cloud, number: signal.Signals
) -> None:
    process, provider = start("aws")
    provider.Configure(messages.ConfigureRequest(args=encode({"region": "us-east-1"})), timeout=SECONDS)
    cloud.fail("create", VPC, "hang")
    request = messages.CreateRequest(urn=f"urn:pulumi:s::p::{VPC}::n", properties=encode({"cidrBlock": "10.0.0.0/16"}))
    under_way = provider.Create.future(request, timeout=SECONDS)
    while not cloud.calls():
        assert not under_way.done()
    process.send_signal(number)
    assert said(process) == (0, "")
    with pytest.raises(grpc.RpcError):
        under_way.result(SECONDS)


ENGINE = """
import os, subprocess, sys, time
provider = subprocess.Popen([sys.argv[1], "127.0.0.1:1"], stdout=subprocess.PIPE, text=True)
print(provider.pid, provider.stdout.readline().strip(), flush=True)
time.sleep(600)
"""


def test_no_provider_survives_its_engine(cloud: Cloud) -> None:
    program = CLOUDS / "aws" / "pulumi-resource-aws"
    engine = subprocess.Popen(
        [sys.executable, "-c", ENGINE, program], stdout=subprocess.PIPE, text=True, env=os.environ | cloud.environment
    )
    assert engine.stdout is not None
    pid = int(engine.stdout.readline().split()[0])
    engine.kill()
    engine.wait(SECONDS)
    engine.stdout.close()
    until = time.monotonic() + SECONDS
    while Path(f"/proc/{pid}").exists() if Path("/proc/self").exists() else _lives(pid):
        assert time.monotonic() < until, f"process {pid} outlives its engine"
        time.sleep(0.05)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_provider_without_a_cloud_says_so() -> None:
    environment = {key: value for key, value in os.environ.items() if key != "GPUYARD_CLOUD"}
    environment["GPUYARD_PYTHON"] = sys.executable
    program = CLOUDS / "aws" / "pulumi-resource-aws"
    ended = subprocess.run([program], capture_output=True, text=True, env=environment, timeout=SECONDS, check=False)
    assert ended.returncode == 1
    assert ended.stderr == "GPUYARD_CLOUD is not set: it names the folder of the tests' cloud\n"
