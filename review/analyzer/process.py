"""The policy pack's process: serves the engine that has started it, and leaves with it."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path
from typing import NoReturn

import grpc

from gpuyard.review.analyzer.service import Analyzer
from gpuyard.review.evaluation.evaluate import find_policies

LOOPBACK = "127.0.0.1"
MESSAGE_BYTES = 400 << 20
"""AnalyzeStack carries all resources in one message. Source: the engine's own limit, sdk/go/common/util/rpcutil."""

WATCH_SECONDS = 1.0
LEAVE_SECONDS = 0.1
"""After Cancel, for its answer."""

_ADDRESS = re.compile(r"[^\s/=]+:[0-9]+")
_PROJECT = ("Pulumi.yaml", "Pulumi.yml")


def run(directory: Path | None) -> NoReturn:
    """See the package's `main`."""
    engine = next((word for word in reversed(sys.argv[1:]) if _ADDRESS.fullmatch(word)), None)
    if engine is None:
        sys.exit("gpuyard's policy pack is started by Pulumi: give its path to pulumi preview or up, by --policy-pack")
    asyncio.run(_serve(engine, directory or _project(Path.cwd())))
    _leave()


def _project(here: Path) -> Path:
    return next(
        (folder for folder in (here, *here.parents) if any((folder / name).is_file() for name in _PROJECT)), here
    )


async def _serve(engine: str, directory: Path) -> None:
    loop = asyncio.get_running_loop()
    server = grpc.aio.server(options=[("grpc.max_receive_message_length", MESSAGE_BYTES)])
    analyzer = Analyzer(find_policies(directory), cancelled=lambda: loop.call_later(LEAVE_SECONDS, _leave))
    server.add_generic_rpc_handlers((analyzer.handlers(),))
    port = server.add_insecure_port(f"{LOOPBACK}:0")
    await server.start()
    print(port, flush=True)
    await _until_gone(engine)


async def _until_gone(engine: str) -> None:
    """Returns when nobody listens at the engine's address: one that is killed asks no plugin to leave."""
    host, _, port = engine.rpartition(":")
    while True:
        await asyncio.sleep(WATCH_SECONDS)
        try:
            _, writer = await asyncio.open_connection(host.strip("[]"), int(port))
            writer.close()
        except ConnectionRefusedError:
            return
        except OSError:
            # Too many open files or a slow machine say nothing of the engine.
            continue


def _leave() -> NoReturn:
    """Ends the process at once: nothing here is worth a wait."""
    sys.stdout.flush()
    os._exit(0)
