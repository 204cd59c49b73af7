"""What an endpoint says: a model, an engine, a place and a number of replicas."""

from __future__ import annotations

import zoneinfo
from typing import Annotated, Self

from pydantic import AfterValidator, Field, NonNegativeInt, PositiveInt, model_validator

from gpuyard import catalogue
from gpuyard.components.serving import template
from gpuyard.components.serving.model import HubModel, Model
from gpuyard.components.spec import KeyedSpec, Name, PartName, Quantity, Spec

GB = 10**9
"""Bytes of a GB, which catalogues of models and makers of accelerators count in."""


def _known_engine(name: str) -> str:
    template.load(name)
    return name


def _known_zone(name: str) -> str:
    known = zoneinfo.available_timezones()
    if known and name not in known:
        raise ValueError(
            f"timezone {name!r} is unknown: give a name of the IANA database, such as Europe/Berlin or UTC"
        )
    return name


EngineName = Annotated[str, AfterValidator(_known_engine)]
"""An engine that has a file in serving_templates/."""

ImageReference = Annotated[
    str,
    Field(
        pattern=r"^[a-z0-9.-]+(:[0-9]+)?/[a-z0-9._/-]+"
        r"(:[A-Za-z0-9_.-]{1,128}(@sha256:[0-9a-f]{64})?|@sha256:[0-9a-f]{64})$"
    ),
]
"""Registry, repository, and a tag, a digest or both."""

Time = Annotated[str, Field(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$")]
"""A time of day, quoted: "08:00"."""

Days = Annotated[str, Field(pattern=r"^(mon|tue|wed|thu|fri|sat|sun)(-(mon|tue|wed|thu|fri|sat|sun))?$")]
"""A day of the week, or the days from one to another."""


class Replicas(Spec):
    """How many copies of the server run."""

    min: NonNegativeInt = 1
    """The autoscaler keeps at least so many; 0 needs `hours`."""
    max: PositiveInt
    """The autoscaler never goes above this; quota is judged by it. Equal to min: no autoscaler."""
    load: PositiveInt | None = None
    """Requests in flight a replica at which another one is added; the engine's own start value when left out."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.min > self.max:
            raise ValueError(f"min {self.min} is above max {self.max}: raise max or lower min")
        if self.load is not None and self.min == self.max:
            raise ValueError(f"load {self.load} is given, but min and max are both {self.max}: raise max, or drop load")
        return self


class Hours(Spec):
    """The hours in which an endpoint is up whether or not it is asked anything."""

    start: Time
    """When they begin."""
    end: Time
    """Earlier than start: on the next day."""
    timezone: Annotated[str, AfterValidator(_known_zone)]
    """IANA name, such as Europe/Berlin."""
    days: Days | None = None
    """Days of the week, such as mon-fri; every day when left out."""
    replicas: PositiveInt = 1
    """Least replicas during these hours."""

    @model_validator(mode="after")
    def _window(self) -> Self:
        if self.start == self.end:
            raise ValueError(f"start and end are both {self.start}: give two different times")
        if self.days is not None and self.end < self.start:
            raise ValueError(
                f"hours from {self.start} to {self.end} end on the next day, which days {self.days} may not have: "
                "leave days out, or end before midnight"
            )
        return self


class EndpointSpec(KeyedSpec):
    """One model, served inside the cluster to one tenant."""

    tenant: Name
    """Tenant that owns the endpoint: its namespace, its quota, its clients. Given to another, the endpoint is made anew
    in that one's namespace."""
    engine: EngineName
    """Inference engine: vllm, triton, or another that has a serving template."""
    on: PartName
    """Node group that it runs on; where a group has slices of several MIG profiles, which of them: slices/1g.10gb."""
    model: Model
    """What is served."""
    weights: Quantity | None = None
    """Size of the model's files, at 16 bits a parameter or less. Needed where the catalogue does not know the model."""
    quantization: str | None = None
    """Number format that the engine loads the weights in; as the files have it when left out."""
    tensor_parallel: PositiveInt | None = None
    """Accelerators of one node that a replica is spread over; 1 when left out."""
    context: PositiveInt | None = None
    """Longest request and answer, in tokens; the model's own limit when left out."""
    replicas: Replicas
    """Least and most copies of the server."""
    hours: Hours | None = None
    """Hours in which a least number of replicas is up."""
    image: ImageReference | None = None
    """Image of one's own for the engine, with registry and tag or digest; the catalogue's when left out."""

    @property
    def accelerators(self) -> int:
        """Accelerators of one replica."""
        return self.tensor_parallel or 1

    @property
    def autoscaled(self) -> bool:
        """Whether a scaler owns the number of replicas."""
        return self.replicas.min < self.replicas.max

    @model_validator(mode="after")
    def _engine_takes_it(self) -> Self:
        engine = template.load(self.engine)
        if self.model.source not in engine.sources:
            known = ", ".join(engine.sources)
            raise ValueError(f"engine {self.engine} reads no model from {self.model.source}: it reads from {known}")
        for option in ("quantization", "tensor_parallel", "context"):
            if getattr(self, option) is not None and option not in engine.options:
                raise ValueError(
                    f"engine {self.engine} takes no {option}: leave it out (a Triton model says this in config.pbtxt)"
                )
        if self.quantization is not None and self.quantization not in engine.quantizations:
            known = ", ".join(engine.quantizations)
            raise ValueError(f"quantization {self.quantization!r} is unknown to {self.engine}: give one of {known}")
        return self

    @model_validator(mode="after")
    def _scales(self) -> Self:
        count = self.replicas
        if count.min == 0 and self.hours is None:
            raise ValueError(
                "replicas.min is 0, and nothing would wake the endpoint again, for load is measured at its replicas: "
                "give hours, or raise min to 1"
            )
        if self.hours is None:
            return self
        if not self.autoscaled:
            raise ValueError(f"hours are given, but replicas are fixed at {count.max}: lower min, or drop hours")
        if not count.min < self.hours.replicas <= count.max:
            raise ValueError(
                f"hours.replicas {self.hours.replicas} is not above replicas.min {count.min} and at most "
                f"replicas.max {count.max}: choose a number between"
            )
        return self

    @model_validator(mode="after")
    def _model_allows_it(self) -> Self:
        model = known_model(self)
        if model is None:
            if self.weights is None:
                what = self.model.id if isinstance(self.model, HubModel) else self.model.uri
                raise ValueError(
                    f"the catalogue does not know {what}, so the time and the disk that it needs are unknown: "
                    "give weights, the size of its files, such as weights: 15Gi"
                )
            return self
        if self.context is not None and model.max_context and self.context > model.max_context:
            raise ValueError(f"context {self.context} is above the {model.max_context} tokens of {model.id}: lower it")
        spread = self.accelerators
        if model.heads and model.heads % spread:
            raise ValueError(
                f"tensor_parallel {spread} does not divide the {model.heads} attention heads of {model.id}: "
                f"give one of {', '.join(str(n) for n in range(1, 17) if model.heads % n == 0)}"
            )
        if model.kv_heads and model.kv_heads % spread and spread % model.kv_heads:
            raise ValueError(
                f"tensor_parallel {spread} neither divides the {model.kv_heads} key-value heads of {model.id} nor is "
                "a multiple of them: choose one that does"
            )
        return self


def known_model(spec: EndpointSpec) -> catalogue.Model | None:
    """What the catalogue knows of the model; nothing of one that lies in a store."""
    return catalogue.model(spec.model.id) if isinstance(spec.model, HubModel) else None
