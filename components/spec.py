"""The base of every spec, and the scalar types that specs share."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

Manifest = dict[str, Any]
"""One Kubernetes object as plain data."""

HINTS: dict[str, str] = {}
"""What to give, by the pattern that a text does not match: nobody learns it from a regular expression."""


def pattern(regex: str, hint: str) -> Any:
    """A field whose text matches a pattern; `hint` says what to give, for the message."""
    HINTS[regex] = hint
    return Field(pattern=regex)


Name = Annotated[
    str,
    pattern(r"^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$", "at most 40 lower-case letters, digits and dashes, a letter first"),
]
"""A map key that becomes a Kubernetes name: at most 40 lower-case letters, digits and dashes, a letter first."""

LabelKey = Annotated[
    str, Field(pattern=r"^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$")
]
"""A Kubernetes label key: an optional DNS prefix and a name of at most 63 characters."""

LabelValue = Annotated[str, Field(pattern=r"^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$")]
"""A Kubernetes label value: at most 63 characters."""

Quantity = Annotated[str, pattern(r"^[1-9][0-9]*(Mi|Gi|Ti)$", "an amount such as 200Gi")]
"""An amount of bytes in the binary units of Kubernetes, such as 200Gi."""

GIB = 2**30
"""Bytes of a GiB."""

UNITS = {"Mi": 2**20, "Gi": GIB, "Ti": 2**40}
"""Bytes of the units that a Quantity has."""

Cidr = Annotated[str, pattern(r"^[0-9]{1,3}(\.[0-9]{1,3}){3}/[0-9]{1,2}$", "an IPv4 network such as 10.40.0.0/16")]
"""An IPv4 network such as 10.40.0.0/16."""

Usd = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]
"""US dollars."""


class Spec(BaseModel):
    """Plain values that are known before anything runs: never an Output, never a secret."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, use_attribute_docstrings=True)


class SecretKey(Spec):
    """Where a secret value lies: a key of a Kubernetes Secret that exists in the namespace of its user."""

    secret: Name
    """Name of the Secret."""
    key: Annotated[str, Field(pattern=r"^[-._a-zA-Z0-9]{1,253}$")]
    """Key inside the Secret."""


def in_bytes(quantity: Quantity) -> int:
    """Bytes of an amount such as 15Gi."""
    return int(quantity[:-2]) * UNITS[quantity[-2:]]


def in_gib(quantity: Quantity) -> int:
    """Whole GiB of an amount; less than one is 0."""
    return in_bytes(quantity) // GIB
