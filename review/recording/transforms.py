"""Runs a program's resource and invoke transforms where the engine would run them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from pulumi.runtime import settings
from pulumi.runtime._callbacks import _CallbackServicer
from pulumi.runtime.proto import resource_pb2 as pb

_OPTIONS = {
    "protect": "protect",
    "retain_on_delete": "retainOnDelete",
    "provider": "provider",
    "version": "version",
    "deleted_with": "deletedWith",
    "plugin_download_url": "pluginDownloadURL",
}
_LISTS = {
    "ignore_changes": "ignoreChanges",
    "replace_on_changes": "replaceOnChanges",
    "aliases": "aliases",
    "additional_secret_outputs": "additionalSecretOutputs",
}


class Callbacks(_CallbackServicer):
    """The SDK's table of a program's callbacks, without the gRPC server that it starts for an engine elsewhere."""

    def __init__(self, monitor: Any) -> None:
        self._callbacks = {}
        self._transforms = {}
        self._state_migrations = {}
        self._monitor = monitor
        self._target = "recorder"

    @property
    def used(self) -> bool:
        """Whether the program has registered a callback."""
        return bool(self._callbacks)


def transformed(request: Any, callbacks: Iterable[Any], loop: asyncio.AbstractEventLoop) -> Any:
    """A registration after its transforms: its own first, then its ancestors', then the stack's.

    To be called from a thread other than the loop's, on which the transforms run.
    """
    options = _options_of(request)
    properties = request.object
    for callback in callbacks:
        message = pb.TransformRequest(
            type=request.type,
            name=request.name,
            custom=request.custom,
            parent=request.parent,
            properties=properties,
            options=options,
        )
        answer = _call(callback, message, loop)
        properties = answer.properties
        options = answer.options if answer.HasField("options") else options
    return _with(request, properties, options)


def transformed_invoke(request: Any, callbacks: Iterable[Any], loop: asyncio.AbstractEventLoop) -> Any:
    """A function call after the stack's invoke transforms."""
    args, options = request.args, pb.TransformInvokeOptions(provider=request.provider, version=request.version)
    for callback in callbacks:
        message = pb.TransformInvokeRequest(token=request.tok, args=args, options=options)
        answer = _call(callback, message, loop)
        args = answer.args
        options = answer.options if answer.HasField("options") else options
    changed = pb.ResourceInvokeRequest()
    changed.CopyFrom(request)
    changed.args.CopyFrom(args)
    changed.provider = options.provider
    return changed


def _call(callback: Any, message: Any, loop: asyncio.AbstractEventLoop) -> Any:
    coroutine = settings.SETTINGS.callbacks._callbacks[callback.token](message.SerializeToString())
    return asyncio.run_coroutine_threadsafe(coroutine, loop).result()


def given(message: Any, name: str) -> Any:
    """A scalar of a message, or None where it is not set. Older SDKs do not tell an unset one from an empty one."""
    if message.DESCRIPTOR.fields_by_name[name].has_presence and not message.HasField(name):
        return None
    return getattr(message, name)


def _options_of(request: Any) -> Any:
    options = pb.TransformResourceOptions(depends_on=request.dependencies, providers=request.providers)
    for name, field in _OPTIONS.items():
        value = given(request, field)
        if value is not None:
            setattr(options, name, value)
    for name, field in _LISTS.items():
        getattr(options, name).extend(getattr(request, field))
    return options


def _with(request: Any, properties: Any, options: Any) -> Any:
    changed: Any = pb.RegisterResourceRequest()
    changed.CopyFrom(request)
    changed.object.CopyFrom(properties)
    for name, field in _OPTIONS.items():
        changed.ClearField(field)
        value = given(options, name)
        if value is not None:
            setattr(changed, field, value)
    for name, field in _LISTS.items():
        changed.ClearField(field)
        getattr(changed, field).extend(getattr(options, name))
    # New options may leave out what the properties depend on by themselves.
    implied = {urn for dependency in request.propertyDependencies.values() for urn in dependency.urns}
    changed.ClearField("dependencies")
    changed.dependencies.extend(sorted({*options.depends_on, *implied}))
    return changed
