"""What the recorder adds to Pulumi's SDK, in a way that a program which is not recorded never notices.

Each addition is laid over a function of the SDK once in a process and stays there. It asks a context variable whether
this run is recorded, and otherwise calls what was there before: so a recording in a thread of a live program, or two
programs side by side, cannot disturb each other.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import pulumi
import pulumi.runtime
from pulumi.runtime import config
from pulumi.runtime import invoke as invokes

from .values import UNKNOWN

recorded: ContextVar[Any] = ContextVar("gpuyard_recorded", default=None)
"""The recording that the running code belongs to, or None."""

in_output_form: ContextVar[bool] = ContextVar("gpuyard_in_output_form", default=False)
"""Whether a call to the recorder comes from the *_output form of a function, whose result may be unknown."""

_laid: set[tuple[int, str]] = set()
_lock = threading.Lock()

_SECRET_GETTERS = ("get_secret", "require_secret")
_KINDS = ("", "_bool", "_int", "_float", "_object")


def lay_over(owner: Any, name: str, make: Callable[[Any], Any]) -> None:
    """Replaces `owner.name` by what `make` builds around it, unless that was done before."""
    with _lock:
        if (id(owner), name) not in _laid:
            setattr(owner, name, make(getattr(owner, name)))
            _laid.add((id(owner), name))


def prepare() -> None:
    """Lays over the SDK what every recording needs, whatever the SDK's version."""
    _tell_output_forms()
    _keep_secrets_unknown()


def _tell_output_forms() -> None:
    """The monitor sees one request for both forms of a function; only the caller knows which it was."""

    def make(invoke_output: Any) -> Any:
        def invoke_output_told(*args: Any, **kwargs: Any) -> Any:
            if recorded.get() is None:
                return invoke_output(*args, **kwargs)
            token = in_output_form.set(True)
            try:
                # The call is made by a task that is created here, and a task keeps the context of its creation.
                return invoke_output(*args, **kwargs)
            finally:
                in_output_form.reset(token)

        return invoke_output_told

    for owner in (invokes, pulumi.runtime):
        if hasattr(owner, "invoke_output"):
            lay_over(owner, "invoke_output", make)


def _keep_secrets_unknown() -> None:
    """A secret of the configuration is never decrypted: what reads it as a secret gets an output that is not known.

    So a callback that would parse it does not run, where the text that stands for it would make it fail.
    """

    def make(getter: Any) -> Any:
        def blinded_getter(self: pulumi.Config, key: str, *args: Any, **kwargs: Any) -> Any:
            if recorded.get() is not None and config.get_config(self.full_key(key)) == UNKNOWN:
                return unknown_secret()
            return getter(self, key, *args, **kwargs)

        return blinded_getter

    for name in (getter + kind for getter in _SECRET_GETTERS for kind in _KINDS):
        lay_over(pulumi.Config, name, make)


def unknown_secret() -> pulumi.Output[Any]:
    """An output that is secret, and not known before an update."""

    async def value(of: Any) -> Any:
        return of

    return pulumi.Output(set(), value(None), value(False), value(True))
