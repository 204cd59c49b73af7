"""Runs Python programs and policy packs for the real engine, as the official `pulumi-language-python` does.

The official host is a Go program without a module of its own, so it cannot be built here. Behaviour, environment,
messages and exit codes are those of pulumi/pulumi, sdk/python/cmd/pulumi-language-python, as of CLI 3.260 to 3.274.
It answers what previews, updates, imports and policy packs need, and generates no code.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent import futures
from importlib import metadata
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import empty_pb2, json_format
from policy_proxy import PolicyProxy
from pulumi.runtime.proto import language_pb2, language_pb2_grpc, plugin_pb2

PROGRAM = Path(__file__).with_name("program_host.py")

SHOWN = 32
"""A program that exits with this code has shown its error already."""

SECONDS_TO_LEAVE = 5
"""After an interrupt, before a program is killed."""


class LanguageHost(language_pb2_grpc.LanguageRuntimeServicer):
    """One engine's language host."""

    def __init__(self, engine: str) -> None:
        self._engine = engine
        self._running: set[subprocess.Popen[bytes]] = set()
        self._cancelled = threading.Event()

    def Handshake(self, request: Any, context: Any) -> Any:  # noqa: N802
        self._engine = request.engine_address
        return language_pb2.LanguageHandshakeResponse()

    def GetPluginInfo(self, request: Any, context: Any) -> Any:  # noqa: N802
        return plugin_pb2.PluginInfo(version=metadata.version("pulumi"))

    def GetRequiredPackages(self, request: Any, context: Any) -> Any:  # noqa: N802
        return language_pb2.GetRequiredPackagesResponse(packages=[plugin_pb2.PackageDependency(**p) for p in plugins()])

    def GetRequiredPlugins(self, request: Any, context: Any) -> Any:  # noqa: N802
        return language_pb2.GetRequiredPluginsResponse()

    def InstallDependencies(self, request: Any, context: Any) -> Iterator[Any]:  # noqa: N802
        # The tests' Python has them.
        yield language_pb2.InstallDependenciesResponse(stdout=b"Nothing to install\n")

    def RuntimeOptionsPrompts(self, request: Any, context: Any) -> Any:  # noqa: N802
        return language_pb2.RuntimeOptionsResponse()

    def About(self, request: Any, context: Any) -> Any:  # noqa: N802
        return language_pb2.AboutResponse(executable=sys.executable, version=sys.version.split()[0])

    def GetProgramDependencies(self, request: Any, context: Any) -> Any:  # noqa: N802
        found = [language_pb2.DependencyInfo(name=d.name, version=d.version) for d in metadata.distributions()]
        return language_pb2.GetProgramDependenciesResponse(dependencies=found)

    def Cancel(self, request: Any, context: Any) -> Any:  # noqa: N802
        self._cancelled.set()
        for process in list(self._running):
            _interrupt(process)
        return empty_pb2.Empty()

    def Run(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Runs a program to its end."""
        python, environment = interpreter(request.info)
        config = json.dumps(dict(request.config))
        environment |= {
            "PULUMI_CONFIG": config,
            "PULUMI_CONFIG_SECRET_KEYS": json.dumps(list(request.configSecretKeys)),
        }
        process = subprocess.Popen(
            [python, str(PROGRAM), *arguments(request, self._engine)], env=environment, stdin=subprocess.DEVNULL
        )
        code = self._wait(process, context)
        if code == SHOWN:
            return language_pb2.RunResponse(bail=True)
        # A signal has no exit code, and the official host says -1.
        return language_pb2.RunResponse(
            error=f"program exited with non-zero exit code: {max(code, -1)}" if code else ""
        )

    def RunPlugin(self, request: Any, context: Any) -> Iterator[Any]:  # noqa: N802
        """Runs a policy pack until the engine hangs up. Its configuration comes by a call, and the pack wants it in
        its environment: so a proxy answers that call, and starts the pack."""
        if request.kind != "analyzer":
            context.abort(
                grpc.StatusCode.UNIMPLEMENTED, f"this host runs policy packs, and no plugin of kind {request.kind}"
            )
        python, environment = interpreter(request.info)
        environment |= dict(entry.partition("=")[::2] for entry in request.env)
        folder = request.info.program_directory
        with PolicyProxy() as proxy:
            yield language_pb2.RunPluginResponse(stdout=f"{proxy.port}\n".encode())
            if (configured := proxy.wait_for_configuration(context)) is None:
                return
            process = subprocess.Popen(
                [python, "-u", "-m", "pulumi.policy", *request.args, folder],
                cwd=folder,
                env=environment | configured,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
            )
            self._running.add(process)
            context.add_callback(lambda: _interrupt(process))
            assert process.stdout
            proxy.attach(process.stdout.readline())
            for line in process.stdout:
                yield language_pb2.RunPluginResponse(stdout=line)
            yield language_pb2.RunPluginResponse(exitcode=self._wait(process, context))

    def _wait(self, process: subprocess.Popen[bytes], context: Any) -> int:
        """Waits for a program, which is interrupted when the engine cancels or hangs up."""
        self._running.add(process)
        if not context.add_callback(lambda: _interrupt(process)) or self._cancelled.is_set():
            _interrupt(process)
        try:
            return process.wait()
        finally:
            self._running.discard(process)


def arguments(request: Any, engine: str) -> list[str]:
    """The command line of a program, as the official host gives it."""
    named = {
        "monitor": request.monitor_address,
        "engine": engine,
        "project": request.project,
        "root_directory": request.info.root_directory,
        "stack": request.stack,
        "pwd": request.pwd,
        "dry_run": "true" if request.dryRun else "false",
        "parallel": str(request.parallel),
        "organization": request.organization,
    }
    return [part for name, value in named.items() if value for part in (f"--{name}", value)] + [
        request.info.entry_point,
        *request.args,
    ]


def interpreter(info: Any) -> tuple[str, dict[str, str]]:
    """The Python of a program or a pack, and the environment that a virtual one sets."""
    options = json_format.MessageToDict(info.options)
    if "virtualenv" not in options:
        return sys.executable, dict(os.environ)
    home = Path(info.root_directory) / options["virtualenv"]
    found = {name: value for name, value in os.environ.items() if name != "PYTHONHOME"}
    found |= {"VIRTUAL_ENV": str(home), "PATH": f"{home / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"}
    return str(home / "bin" / "python"), found


def plugins() -> Iterator[dict[str, str]]:
    """Providers whose Python packages are installed: each carries a `pulumi-plugin.json`."""
    for distribution in metadata.distributions():
        for file in distribution.files or ():
            if file.name == "pulumi-plugin.json" and len(file.parts) == 2:
                described = json.loads(Path(str(file.locate())).read_text())
                if described.get("resource"):
                    version = described.get("version") or distribution.version
                    yield {"kind": "resource", "name": described["name"], "version": f"v{version.removeprefix('v')}"}


def _interrupt(process: subprocess.Popen[bytes]) -> None:
    """Asks a program to leave, and kills it where it stays."""
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGINT)
    killer = threading.Timer(SECONDS_TO_LEAVE, process.kill)
    killer.daemon = True
    killer.start()


def _end_with_engine() -> None:
    """The engine holds the other end of this process' input: when it is gone, however it went, so is all that runs."""
    with contextlib.suppress(OSError):
        while os.read(sys.stdin.fileno(), 4096):
            pass
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def main() -> None:
    """Serves one engine, whose address is the last argument."""
    host = LanguageHost(sys.argv[-1])
    server = grpc.server(futures.ThreadPoolExecutor(16), options=[("grpc.max_receive_message_length", 400 << 20)])
    language_pb2_grpc.add_LanguageRuntimeServicer_to_server(host, server)
    port = server.add_insecure_port("127.0.0.1:0")
    signal.signal(signal.SIGINT, lambda *_: os._exit(0))
    threading.Thread(target=_end_with_engine, daemon=True).start()
    server.start()
    print(port, flush=True)
    server.wait_for_termination()


if __name__ == "__main__":
    main()
