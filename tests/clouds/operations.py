"""What a provider does in its cloud, with what can go wrong on the way."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import grpc
from clouds.cloud import Thing
from clouds.kind import KINDS, Kind, Session
from clouds.package import Package
from clouds.paths import merged, put
from clouds.refused import NotReadyError, RefusedError

Result = TypeVar("Result")

HANG_SECONDS = 600.0
"""How long a call that hangs waits at most, in case nobody ends it."""

BACK_OFF_SECONDS = 0.02
"""Before the second attempt; it doubles before each further one."""


class Operations:
    """Calls of one request of the engine; `timeout` in seconds, 0 for the provider's own."""

    def __init__(
        self, package: Package, session: Session, ended: threading.Event, context: Any, timeout: float
    ) -> None:
        self._package, self._session, self._cloud = package, session, session.cloud
        self._ended, self._context, self._timeout = ended, context, timeout

    def create(self, kind: Kind, inputs: dict[str, Any]) -> Thing:
        def make() -> Thing:
            if problems := kind.problems(inputs):
                raise kind.invalid(problems)
            for reference in kind.references:
                reference.check(self._session, inputs)
            kind.refuse_create(self._session, inputs)
            name = kind.identify(self._session, inputs)
            if kind.taken[0] and self._is_taken(kind, name, inputs):
                raise RefusedError(kind.taken[0], kind.taken[1].format(name), status=409)
            made = self._filled(kind, name, inputs, {})
            self._cloud.put(made)
            return made

        return self._ready(kind, self._call("create", kind, kind.shown_name(inputs), "creating", kind.create, make))

    def update(self, kind: Kind, name: str, inputs: dict[str, Any]) -> Thing:
        def change() -> Thing:
            thing = self._cloud.find(kind.token, name)
            if thing is None:
                raise RefusedError("NotFound", f"{name} does not exist", status=404)
            if problems := kind.problems(inputs):
                raise kind.invalid(problems)
            for reference in kind.references:
                reference.check(self._session, inputs)
            kind.refuse_update(self._session, thing, inputs)
            changed = self._filled(kind, name, inputs, thing.outputs)
            self._cloud.put(changed)
            return changed

        return self._ready(kind, self._call("update", kind, name, "updating", kind.update or kind.create, change))

    def delete(self, kind: Kind, name: str, state: Mapping[str, Any]) -> None:
        def end() -> None:
            thing = self._cloud.find(kind.token, name)
            if thing is None:
                return  # somebody else did it
            kind.refuse_delete(self._session, Thing(thing.kind, thing.id, thing.inputs, dict(state)))
            if self._holders(kind, thing):
                raise RefusedError(kind.in_use[0], kind.in_use[1].format(name), status=409)
            self._cloud.remove(thing, remains=bool(kind.remains))
            kind.deleted(self._session, thing)

        self._call("delete", kind, name, "deleting", kind.delete or kind.create, end)

    def read(self, kind: Kind, name: str) -> Thing | None:
        return self._call("read", kind, name, "reading", "Read", lambda: kind.found(self._session, name))

    def invoke(self, token: str, answer: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any]:
        try:
            return self._answered("invoke", token, "", answer)
        except RefusedError as refusal:
            self._context.abort(grpc.StatusCode.UNKNOWN, f"invoking {token}: {refusal}")
            raise

    def _ready(self, kind: Kind, thing: Thing) -> Thing:
        """The thing, when it is what it is to be. Raises NotReadyError where it exists and is not."""
        problem = kind.not_ready(self._session, thing)
        if problem is None:
            return thing
        outputs = merged(kind.failed, thing.outputs)
        self._cloud.put(Thing(thing.kind, thing.id, thing.inputs, outputs))
        raise NotReadyError(Thing(thing.kind, thing.id, thing.inputs, outputs), problem)

    def _call(self, operation: str, kind: Kind, name: str, doing: str, api: str, act: Callable[[], Result]) -> Result:
        try:
            return self._answered(operation, kind.token, name, act)
        except RefusedError as refusal:
            self._context.abort(grpc.StatusCode.UNKNOWN, kind.sentence(doing, api, name, refusal))
            raise

    def _answered(self, operation: str, token: str, name: str, act: Callable[[], Result]) -> Result:
        """Does it, unless it is to fail, and notes how it went."""
        lost = False
        for attempt in range(1, self._package.attempts + 1):
            fault = self._cloud.take_fault(operation, token)
            if fault == "throttle":
                self._cloud.log(operation, token, name, "throttled")
                if attempt == self._package.attempts:
                    raise RefusedError(*self._package.too_many, status=429)
                self._wait(BACK_OFF_SECONDS * 2**attempt)
                continue
            if fault == "refuse":
                self._cloud.log(operation, token, name, self._package.unavailable[0])
                raise RefusedError(*self._package.unavailable, status=503)
            if fault == "hang":
                self._cloud.log(operation, token, name, "hung")
                self._hang(token, name)
            lost = fault == "lose"
            break
        result = self._done(operation, token, name, act, "lost" if lost else "done")
        if operation in ("create", "update", "delete"):
            self._wait(self._cloud.setting("seconds") or 0)
        if lost:
            self._context.abort(grpc.StatusCode.UNAVAILABLE, f"{token} {name}: the connection was reset by the peer")
        return result

    def _done(self, operation: str, token: str, name: str, act: Callable[[], Result], outcome: str) -> Result:
        try:
            with self._cloud.transaction():
                result = act()
                self._cloud.log(operation, token, result.id if isinstance(result, Thing) else name, outcome)
        except RefusedError as refusal:
            self._cloud.log(operation, token, name, refusal.code)
            raise
        return result

    def _hang(self, token: str, name: str) -> None:
        limit = self._timeout or HANG_SECONDS
        start = time.monotonic()
        self._wait(limit)
        waited = time.monotonic() - start
        message = f"{token} {name}: timeout while waiting for state to become 'ACTIVE' ({waited:.0f}s)"
        self._context.abort(grpc.StatusCode.DEADLINE_EXCEEDED, message)

    def _wait(self, seconds: float) -> None:
        """Waits, unless the engine ends it."""
        if self._ended.wait(seconds):
            self._context.abort(grpc.StatusCode.CANCELLED, "the operation was cancelled")

    def _filled(self, kind: Kind, name: str, inputs: dict[str, Any], before: Mapping[str, Any]) -> Thing:
        outputs = merged(inputs, {})
        for path, value in kind.outputs(self._session, name, inputs, before).items():
            put(outputs, path, value)
        return Thing(kind.token, name, inputs, outputs)

    def _is_taken(self, kind: Kind, name: str, inputs: Mapping[str, Any]) -> bool:
        if kind.unique:
            value = inputs.get(kind.unique)
            return value is not None and self._session.find(kind.token, value, kind.unique) is not None
        return self._cloud.find(kind.token, name) is not None

    def _holders(self, kind: Kind, thing: Thing) -> list[Thing]:
        """What refers to a thing and keeps it from being deleted."""
        found = []
        for other in self._cloud.resources():
            for reference in KINDS[other.kind].references if other.kind in KINDS else ():
                if reference.holds and reference.kind == kind.token and reference.refers(other.inputs, thing):
                    found.append(other)
        return found
