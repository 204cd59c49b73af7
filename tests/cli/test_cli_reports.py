"""What the command prints and writes, wherever its output goes."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import textwrap
from pathlib import Path

from command import CONFIG_MAP, FORBIDDEN, GPUYARD, ROOT, SECONDS, environment, gpuyard, program, refused, rule

from gpuyard.cli.review import FILES


def test_two_reviews_of_one_day_are_equal_byte_for_byte_whatever_the_hash_seed_and_the_folder(tmp_path: Path) -> None:
    day = ("--format", "json", "--date", "2026-11-30")
    first = gpuyard("review", "dev", *day, cwd=ROOT, PYTHONHASHSEED="1")
    second = gpuyard("review", "dev", *day, "--program", ROOT, cwd=tmp_path, PYTHONHASHSEED="2")
    assert first.code == 0, first.err
    assert first == second
    (review,) = json.loads(first.out)
    assert (review["document"]["stack"], review["document"]["date"]) == ("dev", "2026-11-30")
    assert str(ROOT) not in first.out


def test_a_finding_that_denies_is_exit_code_1_in_every_format_and_the_files_say_the_same(tmp_path: Path) -> None:
    where = program(tmp_path / "shop", CONFIG_MAP)
    rule(where, FORBIDDEN)
    out = tmp_path / "new" / "reports"
    day = ("--program", where, "--date", "2026-11-30")
    printed = {f: gpuyard("review", *day, "--format", f, "--out", out) for f in ("terminal", "json", "html")}
    assert {answer.code for answer in printed.values()} == {1}
    assert {answer.err for answer in printed.values()} == {""}, "quiet in a pipe"
    assert all("the house forbids settings" in answer.out for answer in printed.values())
    assert json.loads(printed["json"].out)[0]["verdict"] == "refused"
    written = {path.name: path.read_text() for path in out.iterdir()}
    assert {*written} == {*FILES.values()}
    assert {f: written[FILES[f]] for f in printed} == {f: answer.out for f, answer in printed.items()}
    assert [name for name, text in written.items() if "the house forbids settings" not in text] == []


def test_files_of_an_earlier_run_do_not_pass_for_those_of_one_that_failed(tmp_path: Path) -> None:
    where, out = program(tmp_path / "shop", CONFIG_MAP), tmp_path / "reports"
    out.mkdir()
    (out / "notes").touch()
    assert gpuyard("review", "--program", where, "--out", out).code == 0
    assert len(list(out.iterdir())) == len(FILES) + 1
    (where / "Pulumi.dev.yaml").write_text("")
    refused(gpuyard("review", "--program", where, "--out", out), 2)
    assert [path.name for path in out.iterdir()] == ["notes"]


def test_a_file_that_cannot_be_replaced_is_said_before_anything_runs_and_nothing_is_written(tmp_path: Path) -> None:
    where, out = program(tmp_path / "shop", "raise ValueError('it ran')"), tmp_path / "reports"
    (out / "review.md").mkdir(parents=True)
    error = refused(gpuyard("review", "--program", where, "--out", out), 2)
    assert f"--out {out}: Is a directory" in error
    assert "it ran" not in error
    assert [path.name for path in out.iterdir()] == ["review.md"]


def test_several_stacks_end_with_those_that_are_refused(tmp_path: Path) -> None:
    source = f"if pulumi.get_stack() == 'b':\n{textwrap.indent(CONFIG_MAP, '    ')}"
    where = program(tmp_path, source, a="config: {}", b="config: {}", c="config: {}")
    rule(where, FORBIDDEN)
    answer = gpuyard("review", "--program", where, COLUMNS="100")
    assert answer.code == 1
    assert answer.out.endswith("\n3 stacks, refused: b\n")
    lines = answer.out.splitlines()
    assert max(map(len, lines)) <= 100
    assert [line for line in lines if line.endswith(" ")] == []
    assert gpuyard("review", "a", "c", "--program", where).out.endswith("\n2 stacks, may deploy, all of them\n")


def test_a_reader_that_has_seen_enough_changes_no_verdict(tmp_path: Path) -> None:
    where = program(tmp_path, CONFIG_MAP)
    rule(where, FORBIDDEN)
    # Its reader is gone before a word is written.
    piped = ("bash", "-c", '{ "$@" ; echo "code $?" >&2 ; } | true', "-", *GPUYARD)
    answer = gpuyard("review", "--program", where, command=piped)
    assert answer.err == "code 1\n"


def shown(where: Path, **more: str) -> str:
    """What a terminal of 80 columns gets, stderr included."""
    controller, terminal = pty.openpty()
    command = ["sh", "-c", 'stty cols 80 rows 24; exec "$0" "$@"', *GPUYARD, "review", "--program", str(where)]
    more = {"TERM": "xterm-256color", **more}
    with subprocess.Popen(
        command, stdin=terminal, stdout=terminal, stderr=terminal, env=environment(**more)
    ) as process:
        os.close(terminal)
        seen = b""
        try:
            while data := os.read(controller, 65536):
                seen += data
        except OSError:
            pass  # Linux says so that the last writer is gone.
        os.close(controller)
        assert process.wait(SECONDS) == 1
    return seen.decode()


def test_a_terminal_sees_progress_and_colours_and_a_report_of_its_width(tmp_path: Path) -> None:
    where = program(tmp_path, CONFIG_MAP)
    rule(where, FORBIDDEN.replace("forbids settings", "forbids settings " + "very " * 40))
    colourful = shown(where)
    progress, _, report = colourful.rpartition("\x1b[?25h")
    assert "starting" in progress
    assert "\x1b[1;31m" in report
    plain = shown(where, NO_COLOR="1")
    assert re.search(r"\x1b\[[0-9;]*3[0-7]", plain) is None
    lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", report).splitlines()
    assert max(map(len, lines)) <= 80
    assert "the house forbids settings" in "\n".join(lines)
