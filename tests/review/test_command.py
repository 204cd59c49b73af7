"""Which command of Pulumi runs a program: what destroys is never refused, and what deploys never passes for it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gpuyard.review import command
from gpuyard.review.command import subcommand


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("pulumi destroy --run-program --yes", "destroy"),
        ("/usr/bin/pulumi --non-interactive --color never down --stack dev", "down"),
        ("pulumi -C stacks/dev --logtostderr -v=9 refresh", "refresh"),
        ("pulumi --cwd=destroy up", "up"),
        ("pulumi --cwd destroy up", "up"),
        ("pulumi up --message destroy", "up"),
        ("pulumi up destroy", "up"),
        ("pulumi --disable-integrity-checking destroy --run-program", "destroy"),
        ("pulumi --memprofilerate 1 destroy", "destroy"),
        ("pulumi --otel-traces file://x destroy", "destroy"),
        ("pulumi --tracing-header x --profiling=destroy up", "up"),
        ("pulumi -v3 -eQ destroy", "destroy"),
        ("pulumi --emoji=true --an-option-of-tomorrow=up destroy", "destroy"),
        ("pulumi -s dev destroy", "destroy"),
        ("pulumi --stack destroy up", "up"),
        ("pulumi --an-option-of-tomorrow destroy up", None),
        ("pulumi -- destroy", None),
        ("pulumi", None),
        ("pulumi --cwd", None),
    ],
)
def test_the_command_is_the_first_word_that_is_no_option(words: str, expected: str | None) -> None:
    assert subcommand(words.split()) == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("pulumi destroy --run-program --stack dev", "destroy"),
        ("pulumi --non-interactive destroy --stack dev", "destroy"),
        ("pulumi -C stacks/dev destroy --run-program --yes", "destroy"),
        # Of `pulumi -C "/x/my destroy" up` and the like.
        ("pulumi -C /x/my destroy up", None),
        ("pulumi --cwd=/x/my destroy --yes up", None),
        ("pulumi --tracing=file:/x destroy up", None),
    ],
)
def test_where_spaces_may_be_within_words_a_command_is_the_only_one_that_it_may_be(
    words: str, expected: str | None
) -> None:
    assert subcommand(words.split(), exact=False) == expected


PROGRAM = "from gpuyard.review.command import creates_nothing; print(creates_nothing())"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["destroy", "--run-program"], "True"),
        (["refresh"], "True"),
        (["up", "--refresh"], "False"),
        (["preview"], "False"),
        (["up", "-m", "destroy"], "False"),
    ],
)
def test_a_program_knows_the_command_above_it(words: list[str], expected: str, tmp_path: Path) -> None:
    """A shell stands where pulumi stands, and another where the language host does."""
    (tmp_path / "host").write_text(f"'{sys.executable}' -c '{PROGRAM}'\n:\n")
    (tmp_path / words[0]).write_text("sh host\n:\n")
    run = subprocess.run(
        ["pulumi", *words],  # noqa: S607
        executable="/bin/sh",
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert run.stdout.strip() == expected


@pytest.mark.skipif(shutil.which("ps") is None, reason="there is no ps here, nor where nothing else is asked")
def test_where_there_is_no_proc_another_program_is_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    there = command._process(os.getpid())
    monkeypatch.setattr(command, "PROC", tmp_path)
    asked = command._process(os.getpid())
    assert there is not None
    assert asked is not None
    assert asked[0] == there[0] == os.getppid()
    assert asked[1][0] == there[1][0]
    assert (there[2], asked[2]) == (True, False)


def test_a_process_that_is_gone_says_nothing() -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    assert command._process(gone.pid) is None


def test_without_a_command_above_it_a_program_is_gated() -> None:
    assert not command.creates_nothing()
