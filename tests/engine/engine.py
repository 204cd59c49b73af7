"""The real `pulumi` on a program of this repository, in a project of its own: no login, no cloud, nothing of its user's."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from engine.processes import MARK, Watchdog, kill_marked, marked, wait_for_marked
from engine.run import Events, Run
from made import program as made_program
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"

SECONDS = 180
"""A run that takes longer hangs, and is ended."""


class Cloud(Protocol):
    """What the stand-in providers need: see `clouds.cloud`."""

    folder: Path


class Charts(Protocol):
    """Where charts come from: see `engine.charts`."""

    authority: Path
    repository: str


class Plane(Protocol):
    """What a program on a cluster that exists needs: see `control_plane.plane`."""

    def kubeconfig(self, path: Path, *, context: str, token: str | None) -> Path: ...


class Running:
    """A command that has not ended yet."""

    def __init__(self, engine: Engine, command: list[str], log: Path) -> None:
        self._engine, self._log = engine, log
        self._output = engine.folder / f"{log.stem}.output"
        with self._output.open("wb") as output:
            self._process = subprocess.Popen(
                command,
                cwd=engine.project,
                env=engine.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._watchdog = Watchdog(engine.folder)

    @property
    def id(self) -> int:
        """The engine's own process, and the group that it leads. Plugins have groups of their own."""
        return self._process.pid

    @property
    def ended(self) -> bool:
        return self._process.poll() is not None

    def events(self) -> Events:
        """What happened so far."""
        if not self._log.exists():
            return []
        lines = self._log.read_text().splitlines()
        found = []
        for number, line in enumerate(lines):
            try:
                found.append(json.loads(line))
            except json.JSONDecodeError:
                # The engine may be writing its last one.
                assert number == len(lines) - 1, f"{self._log} has a line that is no event: {line}"
        return found

    def count(self, kind: str) -> int:
        """Events of one kind so far. Cheaper than reading them."""
        return self._log.read_text().count(f'"{kind}":') if self._log.exists() else 0

    def wait(self, seconds: float = SECONDS) -> Run:
        """The command's result. One that hangs is ended, and fails the test, as does one that leaves a process behind."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"not done after {seconds} s:\n{self._said()}") from None
        left = wait_for_marked(self._engine.folder)
        self._watchdog.close()
        assert not left, f"these processes outlived the engine: {left}\n{self._said()}"
        return self._result()

    def kill(self) -> Run:
        """Ends the engine and all that it started, as a machine does that loses power; returns what it got to."""
        self._engine.kill_processes()
        self._process.wait()
        self._watchdog.close()
        return self._result()

    def _said(self) -> str:
        return self._output.read_text(errors="replace")

    def _result(self) -> Run:
        return Run(self._process.returncode, self._said(), self.events())


class Engine:
    """One stack of one program, on the real engine, with its own state, home and PATH.

    `cloud` is where the stand-ins of AWS and Google Cloud keep what exists; `plane` the API server that a stack on a
    cluster of one's own finds in its kubeconfig, under `context`, with the administrator's or another `token`; `charts`
    the mirror of Helm charts. `program` is a folder with a `__main__.py`; `more` are environment variables.
    """

    def __init__(
        self,
        folder: Path,
        stack: str = "dev",
        *,
        cloud: Cloud | None = None,
        plane: Plane | None = None,
        charts: Charts | None = None,
        context: str = "dgx",
        token: str | None = None,
        program: Path = ROOT,
        more: Mapping[str, str] | None = None,
    ) -> None:
        self.folder, self.stack = folder, stack
        self.project, self._runs = folder / "project", 0
        for name in ("project", "state", "home", "bin", "tmp"):
            (folder / name).mkdir(parents=True)
        if plane:
            plane.kubeconfig(folder / "kubeconfig", context=context, token=token)
        self.environment = self._environment(cloud) | dict(more or {})
        self._describe(program, ("aws", "gcp") if cloud else ())
        if charts:
            self.environment["SSL_CERT_FILE"] = str(charts.authority)
            self.edit(lambda platform: platform.update(artifacts={"charts": charts.repository}))
        done = subprocess.run(
            [*self._pulumi, "stack", "init", stack], cwd=self.project, env=self.environment, capture_output=True,
            text=True, timeout=SECONDS, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr

    @property
    def stack_file(self) -> Path:
        """The stack's file, which tests edit as a user does."""
        return self.project / f"Pulumi.{self.stack}.yaml"

    def edit(self, change: Callable[[Any], object]) -> None:
        """Changes the platform that the stack's file describes."""
        yaml = YAML(typ="rt")
        described = yaml.load(self.stack_file.read_text())
        change(described["config"]["gpuyard:platform"])
        with self.stack_file.open("w") as file:
            yaml.dump(described, file)

    def preview(self, *arguments: str, pack: Path | None = None, expect_failure: bool = False) -> Run:
        """What an update would do."""
        return self._finish(self.start("preview", *arguments, pack=pack), expect_failure)

    def up(self, *arguments: str, pack: Path | None = None, expect_failure: bool = False) -> Run:
        """Updates, without the preview of its own that would take the time again."""
        return self._finish(self.start("up", "--skip-preview", "--yes", *arguments, pack=pack), expect_failure)

    def destroy(self, *arguments: str, expect_failure: bool = False) -> Run:
        """Takes everything away that the stack made."""
        return self._finish(self.start("destroy", "--skip-preview", "--yes", *arguments), expect_failure)

    def refresh(self, *arguments: str, expect_failure: bool = False) -> Run:
        """Reads anew what exists."""
        return self._finish(self.start("refresh", "--skip-preview", "--yes", *arguments), expect_failure)

    def export(self) -> dict[str, Any]:
        """The deployment in the stack's state: `resources`, `pending_operations` and more."""
        deployment: dict[str, Any] = json.loads(self.pulumi("stack", "export").output)["deployment"]
        return deployment

    def start(self, command: str, *arguments: str, pack: Path | None = None) -> Running:
        """Starts preview, up, destroy, refresh or import, and does not wait."""
        self._runs += 1
        log = self.folder / f"{self._runs:02}-{command}.events"
        packs = ["--policy-pack", str(pack)] if pack else []
        return Running(
            self, [*self._pulumi, command, "--stack", self.stack, "--event-log", str(log), *packs, *arguments], log
        )

    def pulumi(self, *arguments: str, expect_failure: bool = False) -> Run:
        """Any other command: `stack export`, `config set`, `cancel`."""
        self._runs += 1
        log = self.folder / f"{self._runs:02}-{arguments[0]}.events"
        return self._finish(Running(self, [*self._pulumi, *arguments, "--stack", self.stack], log), expect_failure)

    def processes(self) -> list[int]:
        """Ids of what the engine started, directly or not, and has not ended."""
        return marked(self.folder)

    def kill_processes(self) -> list[int]:
        """Ends the engine and what it started; returns the ids."""
        return kill_marked(self.folder)

    @property
    def _pulumi(self) -> list[str]:
        return [str(self.folder / "bin" / "pulumi"), "--non-interactive", "--color", "never"]

    def _finish(self, running: Running, expect_failure: bool) -> Run:
        run = running.wait()
        assert (run.code != 0) == expect_failure, f"exit code {run.code}\n{run.output}"
        return run

    def _environment(self, cloud: Cloud | None) -> dict[str, str]:
        commands = self.folder / "bin"
        for name in ("pulumi", "pulumi-resource-kubernetes"):
            (commands / name).symlink_to(made_program(name))
        ours = [*(TESTS / "engine" / "bin").iterdir(), *(TESTS / "clouds" / "bin").glob("*")]
        for command in ours:
            (commands / command.name).symlink_to(command)
        return {
            "PATH": f"{commands}:/usr/bin:/bin",
            "HOME": str(self.folder / "home"),
            "TMPDIR": str(self.folder / "tmp"),
            "LANG": "C.UTF-8",
            "PULUMI_HOME": str(self.folder / "home" / ".pulumi"),
            "PULUMI_BACKEND_URL": f"file://{self.folder / 'state'}",
            "PULUMI_CONFIG_PASSPHRASE": "",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            # The event log is an option for debugging only.
            "PULUMI_DEBUG_COMMANDS": "true",
            "KUBECONFIG": str(self.folder / "kubeconfig"),
            "GPUYARD_PYTHON": sys.executable,
            **({"GPUYARD_CLOUD": str(cloud.folder)} if cloud else {}),
            MARK: str(self.folder),
        }

    def _describe(self, program: Path, clouds: Sequence[str]) -> None:
        """Writes the test's own project: the user's never hears of stand-ins."""
        own = YAML(typ="safe", pure=True).load((program / "Pulumi.yaml").read_text())
        described = {
            "name": own["name"],
            "runtime": {"name": "python", "options": {"virtualenv": sys.prefix}},
            "main": str(program / "__main__.py"),
            "options": own.get("options", {}),
            "plugins": {"providers": [{"name": name, "path": str(TESTS / "clouds" / name)} for name in clouds]},
        }
        with (self.project / "Pulumi.yaml").open("w") as file:
            YAML(typ="safe", pure=True).dump(described, file)
        stack = program / own.get("stackConfigDir", ".") / f"Pulumi.{self.stack}.yaml"
        if stack.exists():
            shutil.copyfile(stack, self.stack_file)
