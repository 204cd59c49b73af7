"""How a cloud says no."""

from __future__ import annotations

from clouds.cloud import Thing


class RefusedError(Exception):
    """What a cloud answers instead of doing what was asked."""

    def __init__(self, code: str, message: str, *, status: int = 400) -> None:
        super().__init__(f"{code}: {message}")
        self.code, self.message, self.status = code, message, status


class NotReadyError(Exception):
    """Something was made, and does not become what it is to be. The message is what the provider reports."""

    def __init__(self, thing: Thing, message: str) -> None:
        super().__init__(message)
        self.thing = thing


class NotConfiguredError(Exception):
    """The provider cannot work with what it was told about the account; the message is what the user reads."""
