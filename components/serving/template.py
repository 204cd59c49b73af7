"""Serving templates: what there is to know of an inference engine, as one file of data."""

from __future__ import annotations

import difflib
import string
from functools import cache
from importlib.resources import files
from typing import Annotated, Literal, Self

from pydantic import Field, NonNegativeInt, PositiveInt, model_validator
from ruamel.yaml import YAML

from gpuyard.components.spec import Quantity, Spec

PLACEHOLDERS = frozenset(
    {
        "name",
        "model",
        "revision",
        "region",
        "quantization",
        "tensor_parallel",
        "context",
        "cache",
        "startup_seconds",
        "drain_seconds",
    }
)
"""Everything that a template may leave open in an argument or in a variable's value."""

LOAD_PLACEHOLDERS = frozenset({"selector"})
"""What the load query leaves open: the braces that select the endpoint's own series."""

Source = Literal["hub", "s3", "gs", "pvc"]
"""Where a model comes from: a model hub, an S3 or Google Cloud Storage bucket, a volume of the cluster."""

Option = Literal["quantization", "tensor_parallel", "context"]
"""A field of an endpoint that an engine may or may not know."""

PortName = Annotated[str, Field(pattern=r"^[a-z][-a-z0-9]{0,14}$")]
Port = Annotated[int, Field(ge=1024, le=65535)]
"""A port that a user other than root may open."""

Path = Annotated[str, Field(pattern=r"^(/[A-Za-z0-9._-]+)+$")]
Variable = Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]*$")]


class UnknownEngineError(ValueError):
    """There is no serving template of that name; the message lists those that there are."""


class SourceArguments(Spec):
    """What a model's place of origin adds to the command line and the environment."""

    arguments: list[str] = Field(default_factory=list)
    environment: dict[Variable, str] = Field(default_factory=dict)


class Quantization(Spec):
    """A number format for the weights."""

    format: Literal["fp4", "fp8"] | None = None
    """The format that the accelerator must compute natively; none where weights are unpacked first."""
    bits: PositiveInt | None = None
    """Least bits a weight after loading, where the engine quantises while it loads; none where the files are so."""


class Health(Spec):
    """What the probes ask for, by HTTP."""

    port: PortName
    startup: Path
    readiness: Path
    liveness: Path


class Metrics(Spec):
    """Where Prometheus finds the engine's metrics."""

    port: PortName
    path: Path


class Load(Spec):
    """How busy an endpoint is."""

    query: str
    """PromQL for the requests in flight, all replicas together."""
    target: PositiveInt
    """Requests in flight a replica at which another one is added, unless the endpoint says its own."""


class Resources(Spec):
    """What each accelerator of a replica comes with."""

    cpu: PositiveInt
    """CPU threads, where the machine's are not known."""
    memory_gib: PositiveInt
    """Main memory, GiB, where the machine's is not known."""
    shm_gib: PositiveInt
    """Size of /dev/shm, GiB. It counts as memory."""


class Security(Spec):
    """The user, and the few places that it may write to."""

    user: Annotated[int, Field(ge=1)]
    """User and group id."""
    cache: Path
    """Where models and compiled kernels are kept, on the node's disk."""
    writable: dict[Path, Quantity]
    """Other writable folders, each with its limit."""


class ServingTemplate(Spec):
    """One inference engine. Text is filled by `str.format` from a closed list; there is no logic in a template."""

    image: str
    """Image, by its name in the catalogue."""
    command: Annotated[list[str], Field(min_length=1)]
    """Program and subcommand."""
    arguments: list[str]
    """Arguments of every endpoint."""
    sources: Annotated[dict[Source, SourceArguments], Field(min_length=1)]
    """The places that the engine can read a model from."""
    options: dict[Option, list[str]]
    """Arguments of the optional fields that the engine knows; the others are refused."""
    quantizations: dict[str, Quantization]
    """Values that the engine knows for `quantization`."""
    ports: Annotated[dict[PortName, Port], Field(min_length=1)]
    """Ports by name; the first is where clients go."""
    health: Health
    metrics: Metrics
    load: Load
    accelerators: Annotated[list[str], Field(min_length=1)]
    """Kubernetes resources that the image can compute on."""
    weights_share: Annotated[float, Field(gt=0, le=1)] | None = None
    """Most of an accelerator's memory that weights can have; none where they need not be there."""
    resources: Resources
    start_seconds: PositiveInt
    """Time from weights on the node's disk to the first answer, seconds."""
    drain_seconds: NonNegativeInt
    """Time that the engine has at its end to finish what it has begun, seconds."""
    environment: dict[Variable, str]
    security: Security

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for use, port in (("health", self.health.port), ("metrics", self.metrics.port)):
            if port not in self.ports:
                raise ValueError(f"{use}.port {port!r} is none of the ports: give one of {', '.join(self.ports)}")
        for text in self._texts():
            _check_placeholders(text, PLACEHOLDERS)
        _check_placeholders(self.load.query, LOAD_PLACEHOLDERS)
        return self

    def _texts(self) -> list[str]:
        groups = [self.arguments, *self.options.values(), list(self.environment.values())]
        for source in self.sources.values():
            groups += [source.arguments, list(source.environment.values())]
        return [text for group in groups for text in group]


def names() -> list[str]:
    """The engines that have a template."""
    folder = files("gpuyard.serving_templates")
    return sorted(entry.name.removesuffix(".yaml") for entry in folder.iterdir() if entry.name.endswith(".yaml"))


@cache
def load(engine: str) -> ServingTemplate:
    """The template of an engine. Raises UnknownEngineError, or pydantic's ValidationError where the file is wrong."""
    known = names()
    if engine not in known:
        near = difflib.get_close_matches(engine, known, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise UnknownEngineError(f"engine {engine!r} has no serving template: {hint}give one of {', '.join(known)}")
    text = files("gpuyard.serving_templates").joinpath(f"{engine}.yaml").read_text(encoding="utf-8")
    return ServingTemplate.model_validate(YAML(typ="safe", pure=True).load(text))


def _check_placeholders(text: str, allowed: frozenset[str]) -> None:
    for _, field, form, conversion in string.Formatter().parse(text):
        if field is not None and (field not in allowed or form or conversion):
            raise ValueError(f"{text!r} leaves {{{field}}} open: plain placeholders are {', '.join(sorted(allowed))}")
