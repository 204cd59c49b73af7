"""Runs a few components against the SDK's mock engine and gives back what they registered, options included."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pulumi
from pulumi.runtime import mocks, rpc

Resource = dict[str, Any]


class Cloud(pulumi.runtime.Mocks):
    """Gives every resource an id, a name, its inputs back, and outputs by type."""

    def __init__(self, outputs: Mapping[str, Mapping[str, Any]]) -> None:
        self.outputs = outputs

    def new_resource(self, args: pulumi.runtime.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        """The answer to a registration."""
        return f"{args.name}-id", {"name": args.name, **args.inputs, **self.outputs.get(args.typ, {})}

    def call(self, args: pulumi.runtime.MockCallArgs) -> tuple[dict[Any, Any], list[tuple[str, str]] | None]:
        """No component here may ask the cloud anything."""
        raise AssertionError(f"{args.token} was called")


class Engine(mocks.MockMonitor):
    """The SDK's mock engine, which also keeps each registration."""

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        self.registered: list[Resource] = []

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802 (the SDK's name)
        """Keeps the registration, then answers as the SDK's mock does."""
        answer = super().RegisterResource(request)  # type: ignore[no-untyped-call]
        self.registered.append(
            {
                "urn": answer.urn,
                "type": request.type,
                "name": request.name,
                "parent": request.parent,
                "provider": request.provider,
                "inputs": rpc.deserialize_properties(request.object),
                "options": {
                    "depends_on": list(request.dependencies),
                    "ignore_changes": list(request.ignoreChanges),
                    "protect": request.protect,
                },
            }
        )
        return answer


def registered(build: Callable[[], object], outputs: Mapping[str, Mapping[str, Any]] | None = None) -> list[Resource]:
    """What `build` registers, in order. `outputs` are those of a type, beside its inputs."""
    cloud = Cloud(outputs or {})
    engine = Engine(cloud)
    mocks.set_mocks(cloud, project="gpuyard", stack="test", preview=False, monitor=engine)
    pulumi.runtime.test(build)()  # type: ignore[no-untyped-call]
    return [resource for resource in engine.registered if resource["type"] != "pulumi:pulumi:Stack"]
