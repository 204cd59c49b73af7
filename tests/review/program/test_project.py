from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gpuyard.review.errors import InputError
from gpuyard.review.program.project import find_project


def lay(folder: Path, settings: str, *, main: str = "__main__.py") -> None:
    (folder / "Pulumi.yaml").write_text(settings)
    (folder / main).parent.mkdir(parents=True, exist_ok=True)
    (folder / main).write_text("")


def environment(folder: Path) -> Path:
    python = folder / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("")
    return python


def test_a_project_is_found_from_a_folder_below_it(tmp_path: Path) -> None:
    lay(tmp_path, "name: shop\nruntime: python\n")
    (tmp_path / "a" / "b").mkdir(parents=True)
    project = find_project(tmp_path / "a" / "b")
    assert (project.name, project.root, project.program) == ("shop", tmp_path, tmp_path)
    assert project.stacks == tmp_path
    assert project.python == Path(sys.executable)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("", "Pulumi.yaml: is not a mapping: give at least name and runtime"),
        ("runtime: python\n", "name is None: give the project a name"),
        ("name: ''\nruntime: python\n", "name is '': give the project a name"),
        ("name: 3\nruntime: python\n", "name is 3: give the project a name"),
        ("name: shop\n", "runtime is None: a review runs programs with `runtime: python` only"),
        ("name: shop\nruntime: nodejs\n", "runtime is 'nodejs'"),
        ("name: shop\nruntime: {name: go}\n", "runtime is 'go'"),
        ("name: shop\nruntime: {name: python, options: [a]}\n", "runtime.options is \\['a'\\]: give a mapping"),
        ("name: shop\nruntime: python\nmain: app\n", "its program .*/app does not exist: write it, or correct `main`"),
        ("name: shop\nruntime: python\nmain: [a]\n", "main is \\['a'\\]: give a path"),
        ("name: shop\nruntime: python\nconfig: [a]\n", "config is \\['a'\\]: give a mapping"),
        ("name: shop\nruntime: python\nconfig: a\nstackConfigDir: b\n", "keep stackConfigDir"),
        ("name: shop\nruntime: python\nstackConfigDir: 3\n", "stackConfigDir is 3"),
        (
            "name: shop\nruntime: {name: python, options: {virtualenv: venv}}\n",
            "its virtual environment .*/venv does not exist: create it",
        ),
        ("name: shop\nruntime: {name: python, options: {virtualenv: 3}}\n", "virtualenv is 3: give a path"),
        (
            "name: shop\nruntime: {name: python, options: {toolchain: conda}}\n",
            "toolchain is 'conda': give pip, poetry",
        ),
        ("name: shop\nruntime: {name: python, options: {toolchain: uv}}\n", "does not exist: run `uv sync`"),
        ("name: shop\nruntime: python\nmain: ../other\n", "its program .*/other does not exist: write it"),
        ("name: shop\nname: other\nruntime: python\n", "line 2: the key 'name' is given twice"),
    ],
)
def test_a_wrong_project_is_refused_with_the_file_and_the_remedy(tmp_path: Path, settings: str, message: str) -> None:
    lay(tmp_path, settings)
    with pytest.raises(InputError, match=message) as caught:
        find_project(tmp_path)
    assert str(caught.value).startswith(str(tmp_path / "Pulumi.yaml"))


def test_a_folder_without_a_project_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no Pulumi.yaml here or above: give the folder of a Pulumi program"):
        find_project(tmp_path)


def test_a_folder_without_a_program_is_refused(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: shop\nruntime: python\n")
    with pytest.raises(InputError, match=r"its program .*__main__.py does not exist"):
        find_project(tmp_path)


@pytest.mark.parametrize(("main", "program"), [("app", "app"), ("app/", "app"), ("./app/start.py", "app/start.py")])
def test_main_is_a_folder_or_a_file(tmp_path: Path, main: str, program: str) -> None:
    lay(tmp_path, f"name: shop\nruntime: python\nmain: {main}\n", main="app/__main__.py")
    (tmp_path / "app" / "start.py").write_text("")
    project = find_project(tmp_path)
    assert project.program == tmp_path / program
    assert project.directory == tmp_path / "app"
    assert project.root == tmp_path


def test_main_may_lie_outside_the_project_as_the_engine_has_it(tmp_path: Path) -> None:
    lay(tmp_path, "", main="app/__main__.py")
    for number, main in enumerate(("../app", str(tmp_path / "app"))):
        (tmp_path / f"{number}").mkdir()
        lay(tmp_path / f"{number}", f"name: shop\nruntime: python\nmain: {main}\n")
        assert find_project(tmp_path / f"{number}").program == tmp_path / "app"


def test_config_was_once_the_folder_of_the_stacks(tmp_path: Path) -> None:
    lay(tmp_path, "name: shop\nruntime: python\nconfig: stacks\n")
    assert find_project(tmp_path).stacks == tmp_path / "stacks"


def test_the_named_virtual_environment_runs_the_program(tmp_path: Path) -> None:
    lay(tmp_path, "name: shop\nruntime: {name: python, options: {virtualenv: ../venv}}\n", main="__main__.py")
    inner = tmp_path / "inner"
    inner.mkdir()
    lay(inner, "name: shop\nruntime: {name: python, options: {virtualenv: ../venv}}\n")
    python = environment(tmp_path / "venv")
    assert find_project(inner).python == python


def test_uv_keeps_its_environment_beside_its_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    lay(inner, "name: shop\nruntime: python\n")
    (tmp_path / "uv.lock").write_text("")
    python = environment(tmp_path / ".venv")
    monkeypatch.delenv("UV_PROJECT_ENVIRONMENT", raising=False)
    assert find_project(inner).python == python


def test_poetry_is_asked_for_its_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay(tmp_path, "name: shop\nruntime: python\n")
    (tmp_path / "poetry.lock").write_text("")
    python = environment(tmp_path / "cache" / "shop-py3.11")
    poetry = tmp_path / "bin" / "poetry"
    poetry.parent.mkdir()
    poetry.write_text(f'#!/bin/sh\n[ "$*" = "env info --path" ] && echo "{tmp_path}/cache/shop-py3.11"\n')
    poetry.chmod(0o755)
    monkeypatch.setenv("PATH", str(poetry.parent))
    assert find_project(tmp_path).python == python


def test_without_poetry_its_usual_folder_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay(tmp_path, "name: shop\nruntime: {name: python, options: {toolchain: poetry}}\n")
    (tmp_path / "pyproject.toml").write_text("")
    python = environment(tmp_path / ".venv")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_project(tmp_path).python == python
