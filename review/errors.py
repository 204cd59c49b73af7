"""The two ways in which a review ends without a verdict."""

from __future__ import annotations


class GateError(Exception):
    """The gate could not decide: exit code 3. An error is never a pass."""


class InputError(Exception):
    """What the user gave is wrong: exit code 2. The message names the place, the value and the remedy."""
