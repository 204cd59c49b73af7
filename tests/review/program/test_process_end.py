"""When the process of a program ends, and what is read of it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from recorded import record, write

from gpuyard.review.program import process

PROGRAM = 'import time\nimport pulumi\ntime.sleep(0.3)\npulumi.CustomResource("a:b:C", "it", {})\n'


def test_what_a_process_says_right_before_its_end_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    has_ended, asked = process._has_ended, []

    def it_says_all_and_ends_while_it_is_asked(running: subprocess.Popen[bytes]) -> bool:
        if running.stdin is not None and running.stdin.closed:
            asked.append(running.pid)
        if len(asked) > 1:
            os.waitid(os.P_PID, running.pid, os.WEXITED | os.WNOWAIT)
        return has_ended(running)

    monkeypatch.setattr(process, "_has_ended", it_says_all_and_ends_while_it_is_asked)
    assert [resource["name"] for resource in record(write(tmp_path, PROGRAM)).resources][-1] == "it"
    assert len(asked) > 1
