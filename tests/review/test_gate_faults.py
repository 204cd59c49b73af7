"""Faults of what judges: each ends the review with exit code 3, or 2 where the input is the user's, and passes nothing.

Faults of OPA's answers are in tests/review/evaluation/test_engines.py and test_evaluate.py, those that need a process of
their own in tests/cli/test_cli_fails_closed.py.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import socket
import sys
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from documents import DATE, document, kubernetes, pod_spec, workload

from gpuyard import policies as packaged
from gpuyard.cli import main
from gpuyard.review import days, judge
from gpuyard.review.errors import GateError
from gpuyard.review.evaluation import engines, evaluate, installation, prepare, rules

POLICIES = Path(*packaged.__path__)


class Panic(BaseException):
    """What a panic in Rust is to Python."""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program with nothing wrong, its policies in a copy that a test may break, and no OPA near."""
    shutil.copytree(POLICIES, tmp_path / "installed", ignore=shutil.ignore_patterns("*_test.rego", "__pycache__"))
    monkeypatch.setattr(evaluate, "files", lambda _: tmp_path / "installed")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("OPA_URL", raising=False)
    monkeypatch.delenv("OPA_TOKEN", raising=False)
    folder = tmp_path / "shop"
    (folder / "policies").mkdir(parents=True)
    (folder / "quotas").mkdir()
    (folder / "Pulumi.yaml").write_text("name: shop\nruntime: python\n")
    (folder / "document.json").write_text(json.dumps(document([kubernetes(workload("Pod", pod_spec()))])))
    return folder


def code(program: Path, monkeypatch: pytest.MonkeyPatch, *, date: str = DATE) -> int:
    """The exit code of the command, in this process."""
    given = ("--document", str(program / "document.json"), "--program", str(program), "--date", date)
    monkeypatch.setattr(sys, "argv", ["gpuyard", "review", *given])
    return main._code()


def raising(error: BaseException) -> Callable[..., Any]:
    def fail(*_: Any, **__: Any) -> Any:
        raise error

    return fail


class Answers:
    """An engine that answers what a test wants."""

    name = "a test"
    answer: Any = None

    def __init__(self, _: Any) -> None:
        pass

    def ask(self, _: str) -> Any:
        return self.answer


def whole() -> dict[str, Any]:
    loaded = rules.load((POLICIES,))
    return {"findings": [], "loaded": [*loaded.rules], "revision": loaded.revision}


def answering(change: Callable[[dict[str, Any]], Any]) -> Callable[[Path, pytest.MonkeyPatch], None]:
    def arrange(_: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(Answers, "answer", change(whole()))
        monkeypatch.setattr(engines, "Embedded", Answers)

    return arrange


def installed(change: Callable[[Path], object]) -> Callable[[Path, pytest.MonkeyPatch], None]:
    return lambda program, _: change(program.parent / "installed") and None


def cut(path: Path) -> None:
    """Leaves the first half of a file, as a full disk does."""
    text = path.read_bytes()
    path.write_bytes(text[: len(text) // 2])


def written(name: str, text: str) -> Callable[[Path, pytest.MonkeyPatch], None]:
    """A file of the program's own."""
    return lambda program, _: ((program / name).write_text(text), None)[1]


def opa_program(text: str) -> Callable[[Path, pytest.MonkeyPatch], None]:
    def arrange(program: Path, _: pytest.MonkeyPatch) -> None:
        path = program.parent / "opa"
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    return arrange


def dead(_: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        monkeypatch.setenv("OPA_URL", f"http://127.0.0.1:{free.getsockname()[1]}")


def panics(_: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines.Embedded, "_engine", raising(Panic("an index out of bounds")))


def breaks(owner: Any, name: str, error: BaseException) -> Callable[[Path, pytest.MonkeyPatch], None]:
    return lambda _, monkeypatch: monkeypatch.setattr(owner, name, raising(error))


PRIVILEGED = Path("rules/isolation/privileged/privileged.rego")
SHADOW = "package gpuyard.lib.match\n\none_of(_, _) := true\n"


def shadow(program: Path, _: pytest.MonkeyPatch) -> None:
    """A library of the program's own in the place of ours, beside a rule of its own, so that both are read."""
    folder = program / "policies"
    (folder / "lib").mkdir()
    (folder / "rules").mkdir()
    (folder / "lib" / "match.rego").write_text(SHADOW)


def replaced(folder: Path) -> None:
    """A rule's file in the place of another's."""
    shutil.copy(folder / "rules/isolation/sandbox/sandbox.rego", folder / PRIVILEGED)


def lost(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule that was installed and is gone, in an installation whose record has all of them."""
    at = program.parent / "installed"
    brought = sorted(at.rglob("*.rego"))
    (at / PRIVILEGED).unlink()
    monkeypatch.setattr(installation, "installed", lambda: brought)


def silenced(folder: Path) -> None:
    text = (folder / PRIVILEGED).read_text()
    (folder / PRIVILEGED).write_text(text.replace("deny contains", "allow contains"))


UNDECIDED: dict[str, tuple[Callable[[Path, pytest.MonkeyPatch], None], str]] = {
    "an engine that panics": (panics, "an index out of bounds"),
    "an engine that is not there": (breaks(engines, "Embedded", ImportError("gone")), "ImportError"),
    "no answer": (answering(lambda _: None), "no whole answer"),
    "half an answer": (answering(lambda a: {"findings": a["findings"]}), "no whole answer"),
    "an answer by other rules": (answering(lambda a: a | {"revision": "0" * 64}), "another set of rules"),
    "an answer by a rule less": (answering(lambda a: a | {"loaded": a["loaded"][1:]}), "without a set `deny`"),
    "an answer about something else": (
        answering(lambda a: a | {"findings": [{"rule": "a/b", "urn": "u", "path": "", "message": "m"}]}),
        "not in the document",
    ),
    "a dead OPA": (dead, "does not answer as it should"),
    "an OPA that ends at once": (opa_program("echo no such flag >&2; exit 2"), "no such flag"),
    "an OPA of a version that reads no such rules": (
        opa_program("echo 'rego_parse_error: unexpected `if` keyword' >&2; exit 1"),
        "rego_parse_error",
    ),
    "no entry point": (installed(lambda at: (at / "main.rego").unlink()), "main.rego cannot be read"),
    "an entry point that is cut": (installed(lambda at: cut(at / "main.rego")), ""),
    "a library that is missing": (installed(lambda at: (at / "lib/match.rego").unlink()), "which is not there"),
    "a rule that is missing": (lost, "privileged.rego is gone, which gpuyard was installed with"),
    "a rule that is cut": (installed(lambda at: cut(at / PRIVILEGED)), "privileged"),
    "a rule that is empty": (installed(lambda at: (at / PRIVILEGED).write_text("")), "the package is missing"),
    "a rule that is no text": (installed(lambda at: (at / PRIVILEGED).write_bytes(b"\xff\xfe")), "cannot be read"),
    "a rule in the place of another": (installed(replaced), "must be gpuyard.rules.isolation.privileged"),
    "a rule that denies nothing": (installed(silenced), "could never fire"),
    "no rules": (installed(lambda at: shutil.rmtree(at / "rules")), "no rule is found"),
    "a library of one's own in the place of ours": (shadow, "there is a lib/match already"),
    "no limits": (installed(lambda at: shutil.rmtree(at / "limits")), "environments.yaml is missing"),
    "no limits of one environment": (
        installed(lambda at: (at / "limits/development.yaml").unlink()),
        "development.yaml is missing",
    ),
    "a disk without room": (
        breaks(judge, "cost", OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))),
        "the gate could not decide",
    ),
    "memory that is short": (breaks(evaluate, "prepare", MemoryError()), "MemoryError"),
    "inputs that nobody can go through": (breaks(evaluate, "prepare", RecursionError("too deep")), "too deep"),
    "an exit from deep inside": (breaks(prepare.demand, "demand", SystemExit(0)), "SystemExit"),
}

WRONG: dict[str, tuple[Callable[[Path, pytest.MonkeyPatch], None], str]] = {
    "waivers that are cut": (written("policies/waivers.yaml", "waivers: [{rule: isolation/priv"), "waivers.yaml"),
    "waivers that are no text": (
        lambda program, _: ((program / "policies/waivers.yaml").write_bytes(b"\xff\xfe\x00"), None)[1],
        "waivers.yaml",
    ),
    "prices that are cut": (written("policies/prices.csv", "cloud,region,machine\naws,us-ea"), "prices.csv"),
    "quotas that are cut": (written("quotas/111122223333.json", '{"format": "gpuyard.quotas/1", "clo'), "cut short"),
    "limits that are cut": (installed(lambda at: cut(at / "limits/environments.yaml")), "environments.yaml"),
    "a document that is cut": (lambda program, _: cut(program / "document.json"), "document.json"),
}


def test_the_same_program_passes_where_nothing_is_wrong(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert code(program, monkeypatch) == 0


@pytest.mark.parametrize("fault", UNDECIDED)
def test_a_gate_that_is_broken_is_no_pass(
    fault: str, program: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    arrange, said = UNDECIDED[fault]
    arrange(program, monkeypatch)
    assert code(program, monkeypatch) == 3
    out, err = capfd.readouterr()
    assert out == ""
    assert "the gate could not decide" in err
    assert said in err


@pytest.mark.parametrize("fault", WRONG)
def test_a_file_that_is_broken_is_no_pass(
    fault: str, program: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    arrange, said = WRONG[fault]
    arrange(program, monkeypatch)
    assert code(program, monkeypatch) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert said in err


def test_a_day_before_what_gpuyard_knows_is_no_pass(
    program: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    assert code(program, monkeypatch, date="2020-02-29") == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert "2020-02-29, is before" in err


def test_a_price_of_a_later_day_than_the_review_is_no_pass() -> None:
    days.check_day(DATE, [{"date": DATE}, {"date": None}])
    with pytest.raises(Exception, match="is before 2999-01-01"):
        days.check_day(DATE, [{"date": "2999-01-01"}])


class Recorded(PurePosixPath):
    """A file of an installation's record."""

    def locate(self) -> Path:
        return Path("/installed") / self


def test_an_installation_says_which_rules_it_brought(monkeypatch: pytest.MonkeyPatch) -> None:
    files = ["gpuyard/policies/rules/a/b/b.rego", "gpuyard/policies/waivers.yaml", "gpuyard/cli/templates/rule.rego"]
    monkeypatch.setattr(installation.metadata, "files", lambda _: [*map(Recorded, files)])
    assert installation.installed() == [Path("/installed/gpuyard/policies/rules/a/b/b.rego")]
    with pytest.raises(GateError, match="is gone"):
        installation.check_installed()
    monkeypatch.setattr(installation.metadata, "files", raising(installation.metadata.PackageNotFoundError()))
    installation.check_installed()
