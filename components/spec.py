"""The base of every spec, and the scalar types that specs share."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

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

PartName = Annotated[
    str,
    pattern(
        r"^[a-z]([-a-z0-9]{0,38}[a-z0-9])?(/[1-9]g\.[1-9][0-9]{0,2}gb([+-][a-z.]{1,8})?)?$",
        "the key of a node group, or, of one that has slices of several MIG profiles, <group>/1g.10gb",
    ),
]
"""A node group; of one with slices of several MIG profiles, one of these: slices/1g.10gb."""

LabelKey = Annotated[
    str, Field(pattern=r"^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$")
]
"""A Kubernetes label key: an optional DNS prefix and a name of at most 63 characters."""

LabelValue = Annotated[str, Field(pattern=r"^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$")]
"""A Kubernetes label value: at most 63 characters."""

Quantity = Annotated[str, pattern(r"^[1-9][0-9]*(Mi|Gi|Ti)$", "an amount such as 200Gi")]
"""An amount of bytes in the binary units of Kubernetes, such as 200Gi."""

SECONDS = {"m": 60, "h": 3600, "d": 24 * 3600}
"""Seconds of the units that a Duration has."""

Duration = Annotated[str, pattern(r"^[1-9][0-9]{0,5}(m|h|d)$", "a time such as 90m, 12h or 7d")]
"""A time in minutes, hours or days."""

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


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


FormerKeys = Annotated[list[Name], BeforeValidator(_listed, json_schema_input_type=Name | list[Name])]
"""One former key, or several, the oldest first."""


class KeyedSpec(Spec):
    """What stands under a key of the stack's own choosing. The key may change; what it stands for stays."""

    was: FormerKeys = Field(default_factory=list)
    """Key that this had before it was renamed: the cloud and the cluster go on with that name, and nothing is replaced.
    Renamed again, all its former keys, the oldest first: [first, second]. Renamed back to its first key, the same, that
    key included. It stays for as long as the part does."""

    @model_validator(mode="after")
    def _each_key_once(self) -> Self:
        if twice := sorted({key for key in self.was if self.was.count(key) > 1}):
            raise ValueError(f"was names {', '.join(twice)} twice: give each former key once, the oldest first")
        return self

    def known_as(self, key: str) -> str:
        """The name by which the cloud and the cluster know what is called `key` now."""
        return self.was[0] if self.was else key


class SecretKey(Spec):
    """Where a secret value lies: a key of a Kubernetes Secret that exists in the namespace of its user."""

    secret: Name
    """Name of the Secret."""
    key: Annotated[str, Field(pattern=r"^[-._a-zA-Z0-9]{1,253}$")]
    """Key inside the Secret."""


def in_bytes(quantity: Quantity) -> int:
    """Bytes of an amount such as 15Gi."""
    return int(quantity[:-2]) * UNITS[quantity[-2:]]


def in_seconds(duration: Duration) -> int:
    """Seconds of a time such as 12h."""
    return int(duration[:-1]) * SECONDS[duration[-1]]


def in_gib(quantity: Quantity) -> int:
    """Whole GiB of an amount; less than one is 0."""
    return in_bytes(quantity) // GIB
