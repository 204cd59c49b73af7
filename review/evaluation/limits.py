"""Limits: the numbers and names that rules compare with, per environment, as data of whoever owns the platform.

The environment follows from the stack's name by `environments.yaml`, not from what the stack's author says of it; a
name that the map lacks is judged by the strictest. An unknown key or a wrong type is an error: a typo must not lift a
limit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, ValidationError, model_validator

from gpuyard.review.errors import GateError, InputError
from gpuyard.review.evaluation.thresholds import Given, Threshold, filled, wrong
from gpuyard.review.evaluation.waiver_limits import WaiverLimit
from gpuyard.review.program import yamlfile

ENVIRONMENTS = "environments.yaml"

PACKAGED = "gpuyard:"
"""Before the name of an environment that gpuyard brings: `extends: gpuyard:production`."""

PROBLEMS = 5
"""Of a file, that are told at once."""

_NAME = r"[a-z][a-z0-9-]{0,39}"
_EXTENDED = re.compile(rf"({PACKAGED})?({_NAME})")

Glob = Annotated[str, Field(pattern=r"^[A-Za-z0-9._*-]+$")]
"""A name in which `*` stands for any characters."""

Registry = Annotated[str, Field(pattern=r"^[a-z0-9.-]+(:[0-9]+)?(/[a-z0-9._-]+)*/?$")]
"""With a slash at its end, everything below it; without, that one repository: `ghcr.io/acme` would let in
`ghcr.io/acmeevil` if it were a mere prefix. Docker Hub is `docker.io/`, its official images `docker.io/library/`."""

Environment = Annotated[str, Field(pattern=rf"^{_NAME}$")]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, use_attribute_docstrings=True)


_Model = TypeVar("_Model", bound=BaseModel)


class Accelerators(_Part):
    """How many accelerators a stack's node groups may grow to, autoscaler maxima counted."""

    max: NonNegativeInt
    """All models together."""
    models: dict[Glob, NonNegativeInt] = Field(default_factory=dict)
    """By model, as the catalogue names it: `{"h100-*": 64}`. A pattern's models are counted one by one."""


class Budget(_Part):
    """What a stack may cost."""

    month_usd: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    """US dollars in a month of 730 hours, at the most that the scalers may reach."""
    unknown_price: Literal["advisory", "mandatory"]
    """Whether a node group whose price is not known warns or denies."""


class Namespaces(_Part):
    """Kubernetes namespaces by what they are for."""

    privileged: list[Glob]
    """Operators whose pods need the host: no user's workload may run there."""
    system: list[Glob]
    """Namespaces of the platform itself, which need no default deny of their own."""


class Api(_Part):
    """Who may reach a cluster's public API endpoint."""

    widest_ipv4: Annotated[int, Field(ge=1, le=32)]
    """Shortest prefix of a public IPv4 network that may be allowed: 24 allows up to 256 addresses an entry."""
    widest_ipv6: Annotated[int, Field(ge=1, le=128)]
    """The same for IPv6."""


class AccountQuota(_Part):
    """What the quotas of the clouds' accounts must be checked by: a snapshot that `gpuyard quotas fetch` wrote."""

    max_age_days: NonNegativeInt
    """An older snapshot gives a finding."""
    unchecked: Literal["advisory", "mandatory"] | None = None
    """Whether a quota that no snapshot tells warns or denies; nothing is said where this is left out, but for the
    report."""


class PriceAge(_Part):
    """How old the prices may be that a review counts with."""

    warn_days: NonNegativeInt
    """Days from a machine's price to the review; an older one warns."""
    deny_days: NonNegativeInt
    """The same; an older one denies."""


class CapacityWindow(_Part):
    """When it is told that capacity which is reserved for a time comes to its end."""

    ends_within_days: NonNegativeInt
    """Days before the end. What has ended is denied without it too."""


class _Stack(_Part):
    """What one stack may have that its environment as a whole may not."""

    accelerators: Accelerators | None = None
    machines: list[Glob] | None = None
    budget: Budget | None = None
    thresholds: Given = Field(default_factory=dict)


class Limits(_Part):
    """The limits of one environment. A file may say `extends: <environment>`, or `extends: gpuyard:<environment>` for
    one that gpuyard brings: what it leaves out is the other's, save `stacks`. Thresholds are left out one by one."""

    accelerators: Accelerators
    machines: list[Glob]
    """Machines that node groups may use, as their cloud names them."""
    tags: list[Annotated[str, Field(min_length=1)]]
    """Tags (AWS) or labels (Google Cloud) that everything which costs money must carry."""
    budget: Budget
    registries: list[Registry]
    """Where container images may come from."""
    namespaces: Namespaces
    capabilities: list[Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]+$")]]
    """Linux capabilities that a container may add."""
    api: Api
    account_quota: AccountQuota | None = None
    """How the quotas of accounts are checked. What exceeds a quota that is known is denied without it too."""
    price_age: PriceAge | None = None
    """How old prices may be; as old as they are where this is left out."""
    capacity_window: CapacityWindow | None = None
    """How early the end of a Capacity Block or a reservation is told."""
    waivers: WaiverLimit | None = None
    """None are allowed where this is left out."""
    thresholds: Given = Field(default_factory=dict)
    """By rule and name, what a rule compares with where that is not its default: `gpuyard explain RULE` has them."""
    stacks: dict[str, _Stack] = Field(default_factory=dict)
    """Limits of single stacks, by exact name; what one leaves out is the environment's."""

    def of_stack(self, stack: str, known: Mapping[str, Mapping[str, Threshold]]) -> dict[str, Any]:
        """The limits as rules read them, for one stack. `known` are the thresholds of the rules."""
        own = self.stacks.get(stack, _Stack())
        thresholds = filled(known, self.thresholds, own.thresholds)
        return self.model_dump(exclude={"stacks"}) | own.model_dump(exclude_none=True) | {"thresholds": thresholds}

    def wrong(self, known: Mapping[str, Mapping[str, Threshold]]) -> list[str]:
        """What is wrong with what it says of rules, also for other stacks."""
        others = [f"stacks/{name}/{one}" for name, own in self.stacks.items() for one in wrong(known, own.thresholds)]
        unknown = self.waivers.unknown(known) if self.waivers else ()
        return [*wrong(known, self.thresholds), *others, *unknown]


class _Pattern(_Part):
    stacks: Glob
    environment: Environment


class Environments(_Part):
    """Which environment a stack belongs to."""

    strictest: Environment
    """For a stack whose name is not here."""
    stacks: dict[str, Environment]
    """By exact name."""
    patterns: list[_Pattern] = Field(default_factory=list)
    """Tried in this order when no exact name matches."""

    @model_validator(mode="after")
    def _named_once(self) -> Self:
        """A pattern that takes in every name would leave nothing for `strictest`."""
        for pattern in self.patterns:
            if not pattern.stacks.strip("*"):
                raise ValueError(
                    f"pattern {pattern.stacks!r} takes in every stack: name what its stacks have in common"
                )
        return self

    def of_stack(self, stack: str) -> str:
        """The environment of a stack, whose name may be written with its organisation and project."""
        name = stack.rpartition("/")[2]
        if name in self.stacks:
            return self.stacks[name]
        return next((p.environment for p in self.patterns if fnmatchcase(name, p.stacks)), self.strictest)


def environment(stack: str, folder: Path) -> str:
    """The environment of a stack. Raises InputError for a wrong map, GateError where there is none."""
    path = folder / ENVIRONMENTS
    return checked(path, _read(path), Environments).of_stack(stack)


def environments(folder: Path) -> list[str]:
    """Every environment that has limits."""
    return sorted(path.stem for path in folder.glob("*.yaml") if path.name != ENVIRONMENTS)


def limits(
    stack: str, environment: str, folder: Path, thresholds: Mapping[str, Mapping[str, Threshold]]
) -> dict[str, Any]:
    """The limits of a stack; `thresholds` are those that the rules have.

    Raises InputError for a wrong file, GateError where there is none.
    """
    path = folder / f"{environment}.yaml"
    found = checked(path, _content(path), Limits)
    if said := found.wrong(thresholds):
        raise InputError("\n".join(f"{path}: {sentence}" for sentence in said[:PROBLEMS]))
    return found.of_stack(stack.rpartition("/")[2], thresholds)


def _content(path: Path, *, extended_by: Path | None = None) -> Any:
    """What a file says, and where it leaves something out, what the one says that it extends."""
    content = _read(path)
    if not isinstance(content, dict) or "extends" not in content:
        return content
    given = content["extends"]
    named = _EXTENDED.fullmatch(given) if isinstance(given, str) else None
    packaged, name = named.groups() if named else (None, "")
    folder = Path(str(files("gpuyard.policies"))).resolve() / "limits" if packaged else path.parent
    file = folder / f"{name}.yaml"
    if not file.is_file() or file.resolve() == path.resolve():
        there = ", ".join(f"{packaged or ''}{name}" for name in environments(folder) if name != path.stem)
        raise InputError(f"{path}: extends: {given!r} is no environment that it can extend: give one of {there}")
    if extended_by and not packaged:
        raise InputError(
            f"{extended_by}: extends: {path.stem} extends another: extend one that stands by itself, or one of "
            f"gpuyard's, as {PACKAGED}production"
        )
    return _over(_content(file, extended_by=None if packaged else path), content)


def _over(base: Any, own: Mapping[str, Any]) -> dict[str, Any]:
    """A file over the one that it extends; thresholds one by one."""
    inherited = {key: value for key, value in base.items() if key != "stacks"} if isinstance(base, dict) else {}
    found = inherited | {key: value for key, value in own.items() if key != "extends"}
    theirs, ours = inherited.get("thresholds"), own.get("thresholds")
    if isinstance(theirs, dict) and isinstance(ours, dict):
        found["thresholds"] = theirs | ours
        for rule in {*theirs}.intersection(ours):
            if isinstance(theirs[rule], dict) and isinstance(ours[rule], dict):
                found["thresholds"][rule] = theirs[rule] | ours[rule]
    return found


def _read(path: Path) -> Any:
    if not path.is_file():
        raise GateError(f"{path} is missing, and without limits nothing can be judged")
    return yamlfile.load(path)


def checked(path: Path, content: Any, model: type[_Model]) -> _Model:
    """What a file says, as a model. Raises InputError, with a sentence for each problem."""
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise InputError("\n".join(_sentence(path, problem) for problem in error.errors()[:PROBLEMS])) from None


def _sentence(path: Path, problem: Any) -> str:
    where = "/".join(str(step) for step in problem["loc"])
    given = problem["input"]
    shown = "" if isinstance(given, dict | list) else f" ({given!r} is given)"
    return f"{path}: {where or 'the file'}: {problem['msg'].removeprefix('Value error, ')}{shown}"
