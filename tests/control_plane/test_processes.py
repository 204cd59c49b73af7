from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from control_plane.processes import PortTakenError, ProgramFailedError, Programs, until


@pytest.fixture
def programs(tmp_path: Path) -> Iterator[Programs]:
    started = Programs(tmp_path)
    yield started
    started.close()


def is_there(process: int) -> bool:
    """Whether a process that is not our child still runs."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_a_program_that_dies_at_its_start_is_told_with_the_end_of_its_log(programs: Programs) -> None:
    program = programs.start("etcd", ["/bin/sh", "-c", "echo first; echo the disk is full >&2; exit 3"])
    with pytest.raises(
        ProgramFailedError, match=r"etcd ended with 3; the end of .*etcd\.log:\nfirst\nthe disk is full"
    ):
        program.wait(lambda: False, seconds=20)


def test_a_program_that_never_is_ready_is_told_with_the_end_of_its_log(programs: Programs) -> None:
    program = programs.start("etcd", ["/bin/sh", "-c", "echo waiting for a friend; exec sleep 60"])
    until(lambda: "friend" in program.tail(), "the program spoke")
    with pytest.raises(ProgramFailedError, match=r"not within 0\.1 s; the end of .*:\nwaiting for a friend"):
        program.wait(lambda: False, seconds=0.1)


def test_a_taken_port_is_told_apart_from_other_ends(programs: Programs) -> None:
    program = programs.start(
        "etcd", ["/bin/sh", "-c", "echo listen tcp 127.0.0.1:1: bind: address already in use; exit 1"]
    )
    with pytest.raises(PortTakenError):
        program.wait(lambda: False, seconds=20)


def test_programs_end_in_reverse_order_and_stubborn_ones_by_force(
    programs: Programs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("control_plane.processes.SECONDS_TO_LEAVE", 0.2)
    ends = tmp_path / "ends"
    polite = f"trap 'echo $0 >> {ends}; exit' TERM; echo up; while :; do sleep 0.05; done"
    running = [
        programs.start(name, ["/bin/sh", "-c", script, name])
        for name, script in {
            "first": polite,
            "second": polite,
            "stubborn": "trap '' TERM; echo up; while :; do sleep 0.05; done",
        }.items()
    ]
    for program in running:
        until(lambda program=program: "up" in program.tail(), "it is up")  # type: ignore[misc]
    programs.close()
    assert ends.read_text().split() == ["second", "first"]
    assert [program.process.returncode for program in running] == [0, 0, -signal.SIGKILL]
    assert programs.running == []


def test_programs_know_nothing_of_the_users_environment(programs: Programs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", "/home/someone/.kube/config")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    program = programs.start("env", ["/usr/bin/env"])
    program.process.wait(20)
    assert sorted(line.partition("=")[0] for line in program.tail().splitlines()) == ["GOMAXPROCS", "HOME", "PATH"]


def test_nothing_is_left_running_when_the_test_run_itself_is_killed(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from control_plane.processes import Programs\n"
        f"programs = Programs(Path({str(tmp_path)!r}))\n"
        "print(programs.start('etcd', ['/bin/sleep', '60']).process.pid, flush=True)\n"
        "sys.stdin.read()"
    )
    tests = Path(__file__).parents[1]
    runner = subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(tests)},
    )
    assert runner.stdout is not None
    started = int(runner.stdout.readline())
    assert is_there(started)
    runner.kill()
    runner.communicate()
    until(lambda: not is_there(started), "the program is gone", seconds=20)
