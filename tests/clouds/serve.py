"""Runs a stand-in provider: `python -m clouds.serve aws ENGINE_ADDRESS`, as the engine starts its plugins."""

from __future__ import annotations

import os
import signal
import sys
import threading
from concurrent import futures
from pathlib import Path

import grpc
from clouds.cloud import Cloud
from clouds.package import package
from clouds.provider import Provider
from pulumi.runtime.proto import provider_pb2_grpc as services

MESSAGE_BYTES = 400 << 20
"""What the engine allows a message. Source: pulumi, sdk/go/common/util/rpcutil."""

SECONDS_BETWEEN_LOOKS = 0.2
"""How soon a provider sees that its engine is gone."""

SECONDS_TO_END = 1.0
"""For calls under way to say that they were cancelled."""


def main() -> None:
    """Serves until the engine ends it, or is gone itself."""
    folder = os.environ.get("GPUYARD_CLOUD")
    if not folder:
        sys.exit("GPUYARD_CLOUD is not set: it names the folder of the tests' cloud")
    parent = os.getppid()
    ended, stopped = threading.Event(), threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    server = grpc.server(
        futures.ThreadPoolExecutor(max_workers=32),
        options=[("grpc.max_receive_message_length", MESSAGE_BYTES), ("grpc.max_send_message_length", MESSAGE_BYTES)],
    )
    provider = Provider(package(sys.argv[1]), Cloud(Path(folder)), ended)
    services.add_ResourceProviderServicer_to_server(provider, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)
    while not stopped.wait(SECONDS_BETWEEN_LOOKS):
        if os.getppid() != parent:
            break
    ended.set()  # so that calls under way end
    server.stop(grace=SECONDS_TO_END).wait()
    os._exit(0)  # threads of calls that do not end, too


if __name__ == "__main__":
    main()
