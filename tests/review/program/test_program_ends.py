"""A program is ended with all that it has started, whatever it does."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
from recorded import inputs, record, refused, write

from gpuyard.review.program import process
from gpuyard.review.program.record import record_program

RESOURCE = 'import pulumi\npulumi.CustomResource("a:b:C", "it", {"x": 1})\n'


@pytest.mark.parametrize(
    "source",
    [
        "while True:\n    pass\n",
        "import time\ntime.sleep(3600)\n",
        "import threading\nthreading.Event().wait()\n",
        "import asyncio, pulumi\nasync def main():\n    await asyncio.sleep(3600)\npulumi.run(main)\n",
        "import signal\nfor s in (2, 15):\n    signal.signal(s, signal.SIG_IGN)\nwhile True:\n    pass\n",
        "import pulumi\npulumi.CustomResource('a:b:C', 'it', {'x': pulumi.Output.from_input(None).apply(lambda _: "
        "__import__('asyncio').get_event_loop().create_future())})\n",
        "while True:\n    print('x' * 1000)\n",
    ],
)
def test_a_program_that_never_ends_is_ended(tmp_path: Path, source: str) -> None:
    assert f"{tmp_path}: is not done after 1.5 s, and was ended" in refused(tmp_path, source, seconds=1.5)


def test_what_the_program_started_is_ended_with_it(tmp_path: Path) -> None:
    """Whether it is interrupted or ends by itself."""

    def interrupt(count: int) -> None:
        raise KeyboardInterrupt

    source = f"""
import os, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open({str(tmp_path / "pid")!r}, "w").write(str(child.pid))
{RESOURCE}
pulumi.runtime.invoke("aws:index/getRegion:getRegion", {{}})
"""
    with pytest.raises(KeyboardInterrupt):
        record_program(write(tmp_path, f"{source}\nwhile True: pass\n"), "dev", timeout_s=60, on_progress=interrupt)
    pids = [int((tmp_path / "pid").read_text())]
    record(write(tmp_path, source))
    pids.append(int((tmp_path / "pid").read_text()))
    for pid in pids:
        assert gone(pid), "it would wait for ten minutes"


def gone(pid: int) -> bool:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").exists() and Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z":
                return True
        except ProcessLookupError:
            return True
        os.sched_yield()  # a killed process is gone as soon as its new parent has looked
    return False


def test_threads_and_cleanups_of_a_program_do_not_hold_a_review(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "GRACE_SECONDS", 600)
    source = f"""
import atexit, threading, time
threading.Thread(target=time.sleep, args=(600,)).start()
atexit.register(lambda: open({str(tmp_path / "left")!r}, "w").write("tidied"))
{RESOURCE}
"""
    assert inputs(record(write(tmp_path, source), seconds=600), "it") == {"x": 1}
    assert (tmp_path / "left").read_text() == "tidied"


def test_a_cleanup_that_hangs_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "GRACE_SECONDS", 0.5)
    source = f"import atexit, time\natexit.register(time.sleep, 600)\n{RESOURCE}"
    assert inputs(record(write(tmp_path, source), seconds=600), "it") == {"x": 1}


def test_an_interrupted_review_ends_its_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[int] = []
    real = os.killpg

    def killpg(pid: int, number: int) -> None:
        ended.append(pid)
        assert number == signal.SIGKILL
        real(pid, number)

    def interrupt(count: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "killpg", killpg)
    source = f"{RESOURCE}pulumi.runtime.invoke('aws:index/getRegion:getRegion', {{}})\nwhile True: pass\n"
    with pytest.raises(KeyboardInterrupt):
        record_program(write(tmp_path, source), "dev", timeout_s=60, on_progress=interrupt)
    assert len(ended) == 1
    assert gone(ended[0])
