"""A preview is run as its user would run it, and read event by event; a script stands in for the CLI here."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from gpuyard.review.errors import GateError, InputError
from gpuyard.review.live.preview import Preview, preview

URN = "urn:pulumi:dev::x::kubernetes:core/v1:Namespace::fraud"


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `pulumi` that is alone on PATH; tests write what it does."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    return tmp_path / "bin" / "pulumi"


def does(cli: Path, script: str) -> None:
    cli.write_text(f"#!/bin/sh\n{script}\n")
    cli.chmod(0o755)


def says(*events: dict[str, object]) -> str:
    lines = [json.dumps({"sequence": number} | event) for number, event in enumerate(events)]
    return "cat <<'EOF'\n" + "\n".join(lines) + "\nEOF\n"


def step(op: str, **more: object) -> dict[str, object]:
    return {"resourcePreEvent": {"metadata": {"op": op, "urn": URN, **more}}}


def asked(tmp_path: Path, timeout_s: float = 20, seen: list[int] | None = None) -> Preview:
    tell = seen.append if seen is not None else None
    return preview("dev", tmp_path, pack=tmp_path / "pack", timeout_s=timeout_s, on_progress=tell)


def test_steps_become_changes_and_progress_is_told(cli: Path, tmp_path: Path) -> None:
    does(cli, "echo a line of a plugin\n" + says(step("update", diffs=["metadata"]), {"summaryEvent": {}}))
    seen: list[int] = []
    found = asked(tmp_path, seen=seen)
    assert [(change.operation, change.because) for change in found.changes] == [("update", ("metadata",))]
    assert found.errors == []
    assert seen == [1, 1], "after each event"


def test_the_cli_is_asked_for_one_stack_without_colours_or_questions(cli: Path, tmp_path: Path) -> None:
    does(cli, f'echo "$@" > {tmp_path}/asked\n' + says(step("same"), {"summaryEvent": {}}))
    asked(tmp_path)
    said = (tmp_path / "asked").read_text().split()
    assert said[:3] == ["preview", "--stack", "dev"]
    assert {"--json", "--non-interactive", "--policy-pack"} <= {*said}


def test_a_preview_that_fails_says_what_the_engine_said(cli: Path, tmp_path: Path) -> None:
    error = {"diagnosticEvent": {"severity": "error", "message": "no such zone\n"}}
    warning = {"diagnosticEvent": {"severity": "warning", "message": "old"}}
    does(cli, says(step("create"), warning, error, {"summaryEvent": {}}) + "exit 255")
    found = asked(tmp_path)
    assert found.errors == ["no such zone"]


def test_a_preview_that_fails_without_a_word_says_what_the_cli_printed(cli: Path, tmp_path: Path) -> None:
    does(cli, says(step("create")) + "echo panic: nil >&2; exit 2")
    assert asked(tmp_path).errors == ["panic: nil"]
    does(cli, says(step("create")) + "exit 2")
    assert asked(tmp_path).errors == ["exit code 2, and not a word"]


def test_a_cli_that_does_not_reach_the_program_is_the_users_to_mend(cli: Path, tmp_path: Path) -> None:
    does(cli, "echo \"error: no stack named 'dev' found\" >&2; exit 255")
    with pytest.raises(InputError, match=r"does not get as far as the program:\nerror: no stack named 'dev' found"):
        asked(tmp_path)


def test_without_the_cli_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="there is no `pulumi` on PATH: install the Pulumi CLI"):
        asked(tmp_path)


def test_events_that_end_without_a_summary_decide_nothing(cli: Path, tmp_path: Path) -> None:
    does(cli, says(step("create")))
    with pytest.raises(GateError, match="without a summary"):
        asked(tmp_path)


def test_a_step_of_a_newer_engine_decides_nothing(cli: Path, tmp_path: Path) -> None:
    does(cli, says(step("vaporise"), {"summaryEvent": {}}))
    with pytest.raises(GateError, match="step 'vaporise'"):
        asked(tmp_path)


def test_a_preview_that_hangs_is_ended_with_what_it_started(cli: Path, tmp_path: Path) -> None:
    does(cli, f"sleep 300 & echo $! > {tmp_path}/child; trap 'kill $!; exit 1' INT; wait")
    with pytest.raises(GateError, match=r"not done after 0\.5 s: give more by --timeout"):
        asked(tmp_path, timeout_s=0.5)
    child = int((tmp_path / "child").read_text())
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            os.kill(child, 0)
        except ProcessLookupError:
            return
        time.sleep(0.02)
    pytest.fail("the child of the preview is still there")
