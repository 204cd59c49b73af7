"""One recording, from a fresh SDK to a list of resources."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from pulumi import runtime
from pulumi.runtime import settings

from . import Recording, levers, sdk
from .answers import Answers
from .log import Engine
from .recorder import Recorder
from .sources import Sources
from .transforms import Callbacks
from .values import masked

_THREADS = 64
"""Where the program has callbacks, each registration in flight holds a thread, and may wait for another one."""


class Session:
    """What belongs to one recording. The patches of the SDK find it by a context variable."""

    def __init__(
        self,
        project: str,
        stack: str,
        config: Mapping[str, str],
        secret_keys: Iterable[str],
        directory: Path,
        organization: str = "organization",
        fixtures: Mapping[str, dict[str, Any]] | None = None,
        upstream: Any = None,
        using: frozenset[str] | None = None,
        on_progress: Callable[[int], None] | None = None,
    ) -> None:
        self.levers = (levers.IN_THREAD if using is None else using) if levers.proven() else levers.NONE
        self.pump: Any = None
        self.engine = Engine()
        self._failure: tuple[BaseException, str | None] | None = None
        self._project, self._stack, self._organization = project, stack, organization
        self._config, self._secret_keys, self._directory = dict(config), list(secret_keys), directory
        answers, sources = Answers(directory, fixtures), Sources(directory)
        self.recorder = Recorder(project, stack, self._config, answers, sources, upstream, on_progress)

    def run(self, program: Callable[[], object]) -> Recording:
        """Records the program in a context of its own: what the SDK keeps for the caller stays as it is."""
        return contextvars.copy_context().run(self._run, program)

    def _run(self, program: Callable[[], object]) -> Recording:
        start = time.perf_counter()
        if asyncio._get_running_loop() is not None:
            raise RuntimeError("an event loop runs in this thread already: record in a thread of its own")
        sdk.prepare()
        levers.lay(self.levers)
        sdk.recorded.set(self)
        self._configure()
        events = self._new_loop()
        self.recorder.loop = events
        asyncio.set_event_loop(events)
        try:
            events.run_until_complete(runtime.run_in_stack(lambda: self._program(program)))
        finally:
            _close(events)
        resources: Any = sorted(self.recorder.resources.values(), key=lambda resource: resource["urn"])
        log = [{**line, "message": self.masked(line["message"])} for line in self.engine.log]
        shown = {key: value for key, value in self._config.items() if key not in self._secret_keys}
        return Recording(self._project, self._stack, resources, log, time.perf_counter() - start, shown)

    def masked(self, text: str) -> str:
        """The text without the secrets that were recorded so far."""
        return masked(text, self.recorder.secrets)

    def _configure(self) -> None:
        """As Pulumi's own entry does for a preview, with the recorder in the engine's place."""
        settings.ROOT.set(None)
        wanted: dict[str, Any] = {
            "project": self._project,
            "stack": self._stack,
            "organization": self._organization,
            "monitor": self.recorder,
            "engine": self.engine,
            "dry_run": True,
            "root_directory": str(self._directory),
        }
        # An older SDK has fewer settings.
        known = inspect.signature(settings.Settings.__init__).parameters
        settings.configure(settings.Settings(**{name: value for name, value in wanted.items() if name in known}))
        runtime.set_all_config(self._config, self._secret_keys)

    def _new_loop(self) -> asyncio.AbstractEventLoop:
        if "pump" in self.levers:
            from .loop import Pump

            self.pump = Pump()
        callbacks = Callbacks(self.recorder)
        settings.SETTINGS.callbacks = callbacks
        if "inline" in self.levers:
            from .loop import InlineLoop

            events: asyncio.AbstractEventLoop = InlineLoop(callbacks)
        else:
            events = asyncio.new_event_loop()
        events.set_default_executor(ThreadPoolExecutor(_THREADS, thread_name_prefix="gpuyard-recorder"))
        # A program that fails leaves much unawaited; the failure itself is raised, the rest would only be noise.
        events.set_exception_handler(lambda _, context: None)
        return events

    def _program(self, program: Callable[[], object]) -> Any:
        if self.pump is not None:
            self.pump.start()
        try:
            return program()
        except BaseException as error:
            # The SDK replaces the traceback of an error that a call to the recorder raised.
            self._failure = error, self.recorder.sources.last(error.__traceback__)
            raise
        finally:
            if self.pump is not None:
                self.pump.stop()

    @property
    def pumped(self) -> bool:
        """Whether callbacks may have run earlier than in a real run."""
        return self.pump is not None and self.pump.turned

    def place_of(self, error: BaseException) -> str | None:
        """Where in the program's own files an error arose, as `file:line`, or None."""
        if self._failure is not None and self._failure[0] is error:
            return self._failure[1]
        return self.recorder.sources.last(error.__traceback__)


def _close(events: asyncio.AbstractEventLoop) -> None:
    """Ends what the program left running on its loop; its threads are not waited for."""
    tasks = asyncio.all_tasks(events)
    for task in tasks:
        task.cancel()
    if tasks:
        events.run_until_complete(asyncio.wait(tasks, timeout=1))
    asyncio.set_event_loop(None)
    events.close()
