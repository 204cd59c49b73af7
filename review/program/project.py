"""Finds a Pulumi project, its program and the interpreter that runs it, as the Pulumi CLI does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpuyard.review.errors import InputError
from gpuyard.review.program.yamlfile import load

FILES = ("Pulumi.yaml", "Pulumi.yml")
POETRY_SECONDS = 30

Options = Mapping[str, Any]


@dataclass(frozen=True)
class Project:
    """A Pulumi project with a Python program."""

    name: str
    file: Path
    """Pulumi.yaml."""
    program: Path
    """What is run: a folder with a __main__.py, or a file."""
    stacks: Path
    """The folder of the stack files."""
    python: Path
    """The interpreter that the program's packages are installed for."""
    config: Mapping[str, Any]
    """The project's own configuration block: defaults and types of stack configuration."""

    @property
    def root(self) -> Path:
        """The folder of Pulumi.yaml."""
        return self.file.parent

    @property
    def directory(self) -> Path:
        """The folder that the program runs in."""
        return self.program if self.program.is_dir() else self.program.parent


def root_of(directory: Path) -> Path:
    """The folder of the project that a folder is in, of any language; the folder itself where there is none."""
    file = _find(directory, *FILES)
    return file.parent if file else directory.resolve()


def find_project(directory: Path, python: Path | None = None) -> Project:
    """The project of a folder: its own, or that of the nearest folder above. `python` is its interpreter where that is
    known already, as for another version of a project.

    Raises InputError where there is none, where it is not a Python project, or where its program or its virtual
    environment does not exist.
    """
    file = _find(directory, *FILES)
    if file is None:
        raise InputError(f"{directory}: no Pulumi.yaml here or above: give the folder of a Pulumi program")
    settings = load(file)
    if not isinstance(settings, dict):
        raise InputError(f"{file}: is not a mapping: give at least name and runtime")
    name = settings.get("name")
    if not isinstance(name, str) or not name:
        raise InputError(f"{file}: name is {name!r}: give the project a name")
    options = _options(file, settings.get("runtime"))
    program = _program(file, settings.get("main"))
    stacks, config = _configuration(file, settings)
    folder = program if program.is_dir() else program.parent
    return Project(name, file, program, stacks, python or _python(file, folder, options), config)


def _find(directory: Path, *names: str) -> Path | None:
    """The nearest file of one of the names, in a folder or above it."""
    start = directory.resolve()
    for folder in (start, *start.parents):
        for name in names:
            if (folder / name).is_file():
                return folder / name
    return None


def _options(file: Path, runtime: Any) -> Options:
    name: Any = runtime
    options: Any = {}
    if isinstance(runtime, dict):
        name, options = runtime.get("name"), runtime.get("options") or {}
    if name != "python":
        raise InputError(f"{file}: runtime is {name!r}: a review runs programs with `runtime: python` only")
    if not isinstance(options, dict):
        raise InputError(f"{file}: runtime.options is {options!r}: give a mapping")
    return options


def _program(file: Path, main: Any) -> Path:
    if main is not None and not isinstance(main, str):
        raise InputError(f"{file}: main is {main!r}: give a path relative to Pulumi.yaml")
    program = Path(os.path.normpath(file.parent / (main or "")))
    entry = program / "__main__.py" if program.is_dir() else program
    if not entry.is_file():
        raise InputError(f"{file}: its program {entry} does not exist: write it, or correct `main`")
    return program


def _configuration(file: Path, settings: Options) -> tuple[Path, Mapping[str, Any]]:
    """The folder of the stack files, and the project's configuration; the first was once called `config` as well."""
    config, folder = settings.get("config"), settings.get("stackConfigDir")
    if isinstance(config, str):
        if folder is not None:
            raise InputError(f"{file}: config is {config!r} and stackConfigDir is {folder!r}: keep stackConfigDir")
        config, folder = None, config
    if folder is not None and not isinstance(folder, str):
        raise InputError(f"{file}: stackConfigDir is {folder!r}: give a path relative to Pulumi.yaml")
    if config is not None and not isinstance(config, dict):
        raise InputError(f"{file}: config is {config!r}: give a mapping of configuration keys")
    return Path(os.path.normpath(file.parent / (folder or ""))), config or {}


def _python(file: Path, folder: Path, options: Options) -> Path:
    toolchain, virtualenv = options.get("toolchain"), options.get("virtualenv")
    if virtualenv is not None and not isinstance(virtualenv, str):
        raise InputError(f"{file}: runtime.options.virtualenv is {virtualenv!r}: give a path relative to Pulumi.yaml")
    if toolchain is None:
        toolchain = "uv" if _find(folder, "uv.lock") else "poetry" if _find(folder, "poetry.lock") else "pip"
    if toolchain == "pip":
        if not virtualenv:
            return Path(sys.executable)
        remedy = "create it and install the program's packages, for example by `pulumi install`"
        return _interpreter(file, file.parent / virtualenv, remedy)
    if toolchain == "uv":
        return _interpreter(file, _uv_environment(file, folder, virtualenv), "run `uv sync`")
    if toolchain == "poetry":
        return _interpreter(file, _poetry_environment(folder), "run `poetry install`")
    raise InputError(f"{file}: runtime.options.toolchain is {toolchain!r}: give pip, poetry or uv")


def _interpreter(file: Path, environment: Path, remedy: str) -> Path:
    python = Path(os.path.normpath(environment)) / "bin" / "python"
    if not python.is_file():
        raise InputError(f"{file}: its virtual environment {python.parent.parent} does not exist: {remedy}")
    return python


def _uv_environment(file: Path, folder: Path, virtualenv: str | None) -> Path:
    if virtualenv:
        return file.parent / virtualenv
    marker = _find(folder, "uv.lock") or _find(folder, "pyproject.toml")
    home = marker.parent if marker else folder
    return home / os.environ.get("UV_PROJECT_ENVIRONMENT", ".venv")


def _poetry_environment(folder: Path) -> Path:
    """Where Poetry keeps it; the folder that it uses by itself when Poetry is not here to be asked."""
    marker = _find(folder, "pyproject.toml")
    inside = (marker.parent if marker else folder) / ".venv"
    try:
        asked = subprocess.run(
            ["poetry", "env", "info", "--path"],  # noqa: S607  the user's own Poetry, as the CLI calls it
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=POETRY_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return inside
    return Path(asked.stdout.strip() or inside)
