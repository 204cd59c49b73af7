"""What makes recording fast and small. Each lever is a function, and none changes what is recorded.

The SDK makes all of a program's resources before it registers the first, so that every coroutine is alive at once, and
does much for each resource that a recording never looks at. `bench/review_scale.py` measures what the levers save.
They reach into the SDK's internals, so they are loaded on the versions that they were proven on and on no other.
"""

from __future__ import annotations

import gc
from importlib.metadata import version

PROVEN = frozenset({"3.272.0"})
"""Versions of the SDK on which a recording with levers was seen to equal one without, byte for byte."""

ALL = frozenset({"collector", "pump", "inline", "outputs", "source", "urn", "aliases", "types", "unknowns", "debug"})

IN_THREAD = ALL - {"collector", "pump"}
"""Those for a thread of a live program: the collector is the whole process's, and the pump runs callbacks early."""

NONE: frozenset[str] = frozenset()


def proven() -> bool:
    """Whether the SDK of this process is one that the levers know."""
    return version("pulumi") in PROVEN


def lay(levers: frozenset[str]) -> None:
    """Lays the named levers over the SDK. They act only within a recording that names them."""
    if levers:
        from .shortcuts import LAID

        for name in sorted(levers & LAID.keys()):
            LAID[name]()


def collector() -> None:
    """Keeps the garbage collector off what lives until the end anyway. For a process that only records."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(200_000, 50, 1000)
