"""A lever: the outputs of a resource share one state and are built when somebody asks.

The SDK makes four futures and a task for every property of every resource, though a program reads few of them.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Iterable
from typing import Any

from pulumi.output import Output, _OutputData
from pulumi.runtime import rpc

from .sdk import lay_over, recorded

Resolved = dict[str, tuple[Any, bool, bool, Any]]
"""Value, known, secret and dependencies of each property."""


class Registration:
    """What all outputs of one resource wait for."""

    __slots__ = ("_error", "_loop", "_resolve", "_resolved", "_resource", "_waiting")

    def __init__(self, resource: Any) -> None:
        self._resource = resource
        self._loop = asyncio.get_running_loop()
        self._resolve: Callable[[Resolved], None] | None = None
        self._resolved: Resolved | None = None
        self._error: Exception | None = None
        self._waiting: list[tuple[str, asyncio.Future[Any]]] = []

    def future(self, name: str) -> asyncio.Future[Any]:
        """A future of one property."""
        future: asyncio.Future[Any] = self._loop.create_future()
        if self._error is not None or self._resolved is not None or self._resolve is not None:
            self._settle(name, future)
        else:
            self._waiting.append((name, future))
        return future

    def done(self, resolve: Callable[[Resolved], None]) -> None:
        """The resource is registered; `resolve` fills in its properties when they are wanted."""
        self._resolve = resolve
        self._release()

    def failed(self, error: Exception) -> None:
        """The resource is not registered: whoever reads a property meets the error."""
        self._error = error
        self._release()

    def _release(self) -> None:
        waiting, self._waiting = self._waiting, []
        for name, future in waiting:
            self._settle(name, future)

    def _settle(self, name: str, future: asyncio.Future[Any]) -> None:
        if self._error is None and self._resolved is None and self._resolve is not None:
            self._build(self._resolve)
        if self._error is not None:
            future.set_exception(self._error)
            future.exception()  # seen: the registration itself raises it
            return
        value, known, secret, dependencies = (self._resolved or {}).get(name, (None, False, False, None))
        resources = {self._resource, *(dependencies or ())}
        future.set_result(_OutputData(resources=resources, value=value, is_known=known, is_secret=secret))

    def _build(self, resolve: Callable[[Resolved], None]) -> None:
        resolved: Resolved = {}
        self._resolve = None
        try:
            resolve(resolved)
        except Exception as error:
            self._error = error
        else:
            self._resolved = resolved


class PropertyOutput(Output[Any]):
    """An output whose state is asked for when it is first used."""

    def __init__(self, registration: Registration, name: str) -> None:
        self.__dict__["_registration"] = registration
        self.__dict__["_property"] = name

    @functools.cached_property
    def _data(self) -> asyncio.Future[Any]:  # type: ignore[override]
        future: asyncio.Future[Any] = self.__dict__["_registration"].future(self.__dict__["_property"])
        return future


class Resolvers(dict[str, Any]):
    """What the SDK hands from the making of a resource's outputs to their resolution."""

    __slots__ = ("registration",)
    registration: Registration


def lazy_outputs() -> None:
    """Lays lazily built outputs over the SDK."""
    lay_over(rpc, "transfer_properties", _transfer)
    lay_over(rpc, "resolve_outputs", _resolve)
    lay_over(rpc, "resolve_outputs_due_to_exception", _fail)


def _transfer(transfer_properties: Callable[..., Any]) -> Callable[..., Any]:
    def transferred(res: Any, props: Iterable[str], custom: bool) -> Any:
        run = recorded.get()
        if run is None or "outputs" not in run.levers:
            return transfer_properties(res, props, custom)
        resolvers = Resolvers()
        resolvers.registration = registration = Registration(res)
        for name in props:
            if name != "urn" and not (name == "id" and custom):
                resolvers[name] = None
                res.__dict__[name] = PropertyOutput(registration, name)
        return resolvers

    return transferred


def _resolve(resolve_outputs: Callable[..., None]) -> Callable[..., None]:
    def resolved(
        res: Any, serialized: Any, outputs: Any, deps: Any, resolvers: Any, custom: bool, *args: Any, **kwargs: Any
    ) -> None:
        if not isinstance(resolvers, Resolvers):
            resolve_outputs(res, serialized, outputs, deps, resolvers, custom, *args, **kwargs)
            return

        def fill(into: Resolved) -> None:
            def setter(name: str) -> Callable[..., None]:
                def settle(value: Any, known: bool, secret: bool, dependencies: Any, failed: Exception | None) -> None:
                    into[name] = (value, known, secret, dependencies)

                return settle

            setters = {name: setter(name) for name in resolvers}
            resolve_outputs(res, serialized, outputs, deps, setters, custom, *args, **kwargs)

        resolvers.registration.done(fill)

    return resolved


def _fail(resolve_outputs_due_to_exception: Callable[..., None]) -> Callable[..., None]:
    def failed(resolvers: Any, exn: Exception) -> None:
        if isinstance(resolvers, Resolvers):
            resolvers.registration.failed(exn)
        else:
            resolve_outputs_due_to_exception(resolvers, exn)

    return failed
