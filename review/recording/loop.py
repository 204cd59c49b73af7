"""Levers on the event loop: calls without a thread, and registrations that finish while the program still runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pulumi.resource
from pulumi.runtime import settings

from .sdk import lay_over, recorded
from .transforms import Callbacks

PUMP_FIRST = 500
"""Registrations before the pump starts: a shorter program gains little, and its callbacks run when the SDK does it."""

PUMP_EVERY = 64
PUMP_TURNS = 12
"""A registration was seen to take 9 to 11 turns of the event loop from its first step to its last."""


class InlineLoop(asyncio.SelectorEventLoop):
    """An event loop on which the SDK's calls to the recorder are plain calls: no thread in between.

    Where the program has callbacks of its own (transforms), the recorder waits for this loop to run them: then a
    thread is needed.
    """

    def __init__(self, callbacks: Callbacks) -> None:
        super().__init__()
        self._callbacks = callbacks

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> Any:  # type: ignore[override]
        """Calls what the SDK wants to call, and hands everything else to a thread."""
        if getattr(func, "__module__", "") != "pulumi.runtime._context" or self._callbacks.used:
            return super().run_in_executor(executor, func, *args)
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:  # it belongs to whoever awaits the call
            future.set_exception(error)
        return future


class Pump:
    """Lets registrations finish, and be freed, while the program still makes resources.

    Every so many registrations it turns the event loop until what is ready is done, as the SDK does itself when a
    program calls a function directly. It waits for nothing, so it cannot stop. It acts in the program's own task only,
    and while that runs its synchronous part: then the number of handles that the outer turn of the loop still has to
    find is known, and the queue is padded to it.
    """

    def __init__(self) -> None:
        self.turned = False
        self._count = 0
        self._floor = 0
        self._loop: Any = None
        self._task: Any = None

    def start(self) -> None:
        """To be called by the program's task, right before the program."""
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        self._floor = len(self._loop._ready)

    def stop(self) -> None:
        """To be called when the program's synchronous part is over."""
        self._task = None

    def registered(self) -> None:
        """Counts one registration, and turns the loop when it is time."""
        self._count += 1
        due = self._count >= PUMP_FIRST and self._count % PUMP_EVERY == 0
        if due and self._task is not None and asyncio.current_task(self._loop) is self._task:
            self._turn()

    def _turn(self) -> None:
        self.turned = True
        loop: Any = self._loop
        asyncio.tasks._leave_task(loop, self._task)
        try:
            for _ in range(PUMP_TURNS):
                if not loop._ready:
                    break
                loop._run_once()
            while len(loop._ready) < self._floor:
                handle = asyncio.Handle(lambda: None, [], loop)
                handle._cancelled = True
                loop._ready.append(handle)
        finally:
            asyncio.tasks._enter_task(loop, self._task)
        # What has failed, the manager itself remembers, and raises at the end.
        rpcs: list[Any] = settings._get_rpc_manager().rpcs
        rpcs[:] = [rpc for rpc in rpcs if not rpc.done()]


def pumped_registration() -> None:
    """Tells the pump of each registration."""

    def make(register_resource: Callable[..., None]) -> Callable[..., None]:
        def registered(*args: Any, **kwargs: Any) -> None:
            register_resource(*args, **kwargs)
            run = recorded.get()
            if run is not None and run.pump is not None:
                run.pump.registered()

        return registered

    lay_over(pulumi.resource, "register_resource", make)
