"""The levers that are laid over the SDK: each does less for a resource where a recording needs less."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pulumi
import pulumi.resource
from pulumi import _types, log, output
from pulumi.runtime import resource
from pulumi.runtime.proto import source_pb2

from .loop import pumped_registration
from .outputs import lazy_outputs
from .sdk import lay_over, recorded


def _acts(lever: str) -> bool:
    run = recorded.get()
    return run is not None and lever in run.levers


def source_position() -> None:
    """Finds the line that makes a resource without reading every source file on the stack."""

    def make(stack_trace: Callable[[], Any]) -> Callable[[], Any]:
        def one_position() -> Any:
            if not _acts("source"):
                return stack_trace()
            # As the SDK does: what called the third constructor from the inside made the resource.
            frame, constructors = sys._getframe(1), 0
            while frame is not None and constructors < 3:
                constructors += frame.f_code.co_name == "__init__"
                frame = frame.f_back  # type: ignore[assignment]
            sources = recorded.get().recorder.sources
            while frame is not None:
                uri = sources.uri(frame.f_code.co_filename)
                if uri is not None:
                    position = source_pb2.SourcePosition(uri=uri, line=frame.f_lineno)
                    return source_pb2.StackTrace(frames=[source_pb2.StackFrame(pc=position)])
                frame = frame.f_back  # type: ignore[assignment]
            return source_pb2.StackTrace()

        return one_position

    lay_over(resource, "_get_stack_trace", make)


class _Known:
    """Stands for an output where only its `future` is asked for."""

    async def future(self) -> str:
        return ""


def known_urn() -> None:
    """Spares the URN that the SDK makes up for programs without a monitor: nine tasks a resource, and never read."""
    known = _Known()

    def make(create_urn: Callable[..., Any]) -> Callable[..., Any]:
        def spared(name: Any, type_: Any, parent: Any = None, project: Any = None, stack: Any = None) -> Any:
            # Aliases are made here too, and theirs are read: those come with a project and a stack, or with outputs.
            plain = isinstance(name, str) and isinstance(type_, str) and isinstance(parent, str)
            if plain and project is None and stack is None and _acts("urn"):
                return known
            return create_urn(name, type_, parent, project, stack)

        return spared

    lay_over(resource, "create_urn", make)


def alias_urns() -> None:
    """Spares the URNs of aliases that the SDK works out for engines too old to do it: the recorder does it."""

    def make(collapse_alias_to_urn: Callable[..., Any]) -> Callable[..., Any]:
        def spared(alias: Any, name: Any, type_: Any, parent: Any) -> Any:
            whole = isinstance(alias, pulumi.Alias) and alias.name is not None and alias.type_ is not None
            return "" if whole and _acts("aliases") else collapse_alias_to_urn(alias, name, type_, parent)

        return spared

    lay_over(pulumi.resource, "collapse_alias_to_urn", make)


def types_once() -> None:
    """Takes the wrappers off each type annotation once, not once for each value of each resource."""

    def make(unwrap: Callable[[Any], Any]) -> Callable[[Any], Any]:
        # By identity, as most annotations are slow to hash; each is kept here, so no identity is used again.
        known: dict[int, tuple[Any, Any]] = {}

        def unwrapped(annotation: Any) -> Any:
            if not _acts("types"):
                return unwrap(annotation)
            found = known.get(id(annotation))
            if found is None:
                found = known[id(annotation)] = annotation, unwrap(annotation)
            return found[1]

        return unwrapped

    lay_over(_types, "unwrap_type", make)
    lay_over(_types, "unwrap_optional_type", make)


def plain_values() -> None:
    """Sees at once that a text, a number or nothing holds no unknown part."""

    def make(contains_unknowns: Callable[[Any], bool]) -> Callable[[Any], bool]:
        def contains(value: Any) -> bool:
            return False if type(value) in _PLAIN and _acts("unknowns") else contains_unknowns(value)

        return contains

    lay_over(output, "contains_unknowns", make)


def debug_log() -> None:
    """Spares debugging messages, which the recorder would drop."""

    def make(debug: Callable[..., None]) -> Callable[..., None]:
        def spared(*args: Any, **kwargs: Any) -> None:
            if not _acts("debug"):
                debug(*args, **kwargs)

        return spared

    lay_over(log, "debug", make)


_PLAIN = frozenset({str, int, float, bool, type(None)})

LAID: dict[str, Callable[[], None]] = {
    "source": source_position,
    "outputs": lazy_outputs,
    "urn": known_urn,
    "aliases": alias_urns,
    "types": types_once,
    "unknowns": plain_values,
    "debug": debug_log,
    "pump": pumped_registration,
}
