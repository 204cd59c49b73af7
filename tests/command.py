"""Runs the real command as its user does: in a process of its own, for a bounded time."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
import textwrap
from dataclasses import dataclass
from multiprocessing.reduction import DupFd
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
GPUYARD = (str(Path(sys.executable).with_name("gpuyard")),)
SECONDS = 100

OURS = ("OPA_URL", "OPA_TOKEN", "COLUMNS", "NO_COLOR", "FORCE_COLOR", "GPUYARD_TRACEBACK", "PYTHONHASHSEED")
"""What whoever runs the tests may have set, and a test sets itself where it matters."""


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str


def environment(**more: str) -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in OURS} | more


def gpuyard(*arguments: object, command: tuple[str, ...] = GPUYARD, cwd: Path | None = None, **more: str) -> Answer:
    """What the command answers; `more` are environment variables."""
    given = environment(**more)
    if command == GPUYARD and "PYTHONHASHSEED" not in more:
        return _forked([*map(str, arguments)], cwd, given)
    done = subprocess.run(
        [*command, *map(str, arguments)],
        cwd=cwd,
        env=given,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())


FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["gpuyard.cli.commands", "gpuyard.cli.review"])
"""A process that has loaded the command, and forks for each run: to load it takes longer than most tests."""


def _forked(arguments: list[str], cwd: Path | None, given: dict[str, str]) -> Answer:
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = FORKS.Process(target=_run, args=(arguments, cwd, given, DupFd(out.fileno()), DupFd(err.fileno())))
        process.start()
        process.join(SECONDS)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise AssertionError(f"gpuyard {' '.join(arguments)}: not done after {SECONDS} s")
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode())
        return Answer(process.exitcode, *texts)


def _run(arguments: list[str], cwd: Path | None, given: dict[str, str], *outputs: Any) -> None:
    """In the fork: as a shell would have started it."""
    os.setsid()
    os.environ.clear()
    os.environ.update(given)
    if cwd:
        os.chdir(cwd)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, output in enumerate(outputs, 1):
        os.dup2(output.detach(), number)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115
    sys.argv = [*GPUYARD, *arguments]
    from gpuyard.cli.main import main

    main()


def patched(code: str) -> tuple[str, ...]:
    """The command, after some code that changes its parts; for what cannot be brought about from outside."""
    return (
        sys.executable,
        "-c",
        f"import sys\nsys.argv[0] = 'gpuyard'\n{code}\nfrom gpuyard.cli.main import main\nmain()",
    )


def refused(answer: Answer, code: int) -> str:
    """The one error of a command that says nothing else."""
    assert answer.code == code, answer
    assert answer.out == ""
    assert "Traceback" not in answer.err
    return answer.err


def program(folder: Path, source: str = "", *, settings: str = "", **stacks: str) -> Path:
    """A Pulumi program that never heard of gpuyard; its one stack is `dev` unless others are given."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "Pulumi.yaml").write_text(f"name: shop\nruntime: python\n{textwrap.dedent(settings)}")
    (folder / "__main__.py").write_text(f"import pulumi\n{textwrap.dedent(source)}")
    for stack, text in (stacks or {"dev": "config: {}\n"}).items():
        (folder / f"Pulumi.{stack}.yaml").write_text(textwrap.dedent(text))
    return folder


def rule(folder: Path, body: str, name: str = "own") -> None:
    """Gives a program a rule of its own."""
    path = folder / "policies" / "rules" / "house" / name / f"{name}.rego"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(RULE.format(name=name) + textwrap.dedent(body))


RULE = """# METADATA
# title: A rule of the house
# description: What this house forbids.
# custom:
#   id: H1
#   severity: high
#   level: mandatory
#   on_unknown: skip
#   waivable: false
#   reads: [{{type: "kubernetes:core/v1:ConfigMap", path: /data}}]
#   remediation: Ask the house.
package gpuyard.rules.house.{name}
"""

CONFIG_MAP = """
pulumi.CustomResource(
    "kubernetes:core/v1:ConfigMap",
    "settings",
    {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": "default"}, "data": {"a": "b"}},
)
"""

FORBIDDEN = """
deny contains {"urn": settings.urn, "path": sprintf("%v/data", [settings.path]), "message": "the house forbids settings"} if {
\tsome settings in input.objects.ConfigMap
}
"""
