"""The shape of a resource document in the JSON report, as typed models."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, JsonValue
from pydantic.json_schema import SkipJsonSchema


class Part(BaseModel):
    """What may be absent has a default here; it is never null in a report."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class Bounds(Part):
    """A number at the least, at creation, and at the most that scalers may reach; null where it is not known."""

    min: float | None
    initial: float | None
    max: float | None


class Dollars(Part):
    """US dollars a month of 730 hours, at the least, at creation and at the most."""

    min: float
    initial: float
    max: float


class Resource(Part):
    """A resource as the program registers it."""

    urn: str
    type: str
    """Pulumi type, or `kubernetes:<apiVersion>:<Kind>`."""
    name: str
    parent: str
    """URN of the component that it is part of; empty at the top."""
    custom: bool
    """Whether a provider makes it; a component is none."""
    provider: str
    """URN of its provider; empty for the default one."""
    inputs: JsonValue
    """What the program gives. Unknown and secret values are null."""
    unknown: list[str]
    """JSON pointers into `inputs`: what only a deployment will tell."""
    secret: list[str]
    """JSON pointers into `inputs`: what is never shown."""
    options: dict[str, JsonValue]
    """Of protect, ignore_changes, depends_on, aliases and retain_on_delete, those that are set."""
    remote: bool | SkipJsonSchema[None] = None
    """Whether another program makes its parts, which are then not here."""
    source: str | SkipJsonSchema[None] = None
    """`file:line` that registers it, relative to the program's folder."""
    autoname: str | SkipJsonSchema[None] = None
    """The name that its provider has chosen."""


class CostLine(Part):
    """What the machines of one node group cost."""

    urn: str
    name: str
    group: str
    cloud: str
    machine: str | None
    market: str
    """How it is bought: on_demand, spot, reservation, capacity_block, flex_start, owned, shared."""
    then: list[str]
    """Markets that follow where the first has no machine."""
    region: str | None
    usd_hour: float | None
    """Of one node."""
    dearest_usd_hour: float | None
    """Of one node, where it may be of several markets."""
    source: str | None
    """Where the price is from."""
    date: str | None
    """Day of the price, YYYY-MM-DD; empty where its owner gives none."""
    age_days: int | None
    upper_bound: bool
    """Whether the price is that of on demand, which it does not exceed."""
    accelerators_a_node: int | None
    parts: dict[str, float] | SkipJsonSchema[None] = None
    """By what tenants call it, the part of a node that one is."""
    hours: float | None
    """Hours a month that are paid."""
    nodes: Bounds
    gpu_hours: Bounds
    month: Dollars | None
    """Null where it is not known."""
    reserved: list[dict[str, JsonValue]] | SkipJsonSchema[None] = None
    """What of it is paid while idle."""
    usd_gpu_hour: Bounds
    unknown: str | None
    """Why the cost is not known."""


class Charge(Part):
    """What is no machine, and costs money: a disk, a gateway, a control plane; or what comes off the sum."""

    urn: str
    name: str
    what: str
    region: str | None
    usd: float | None
    """For one unit."""
    unit: str | None
    source: str | None
    date: str | None
    amount: Bounds | None
    month: Dollars
    unknown: str | None


class NotPriced(Part):
    """What costs money and is in no total."""

    urn: str
    name: str
    what: str
    why: str | None


class TenantCost(Part):
    """What a tenant's share costs a month, in US dollars; null where a price is not known."""

    quota: float | None
    worst: float | None
    """With all that it may borrow."""
    budget: float | None
    """Null where it has none."""


class PriceFile(Part):
    """The file of prices that goes over the catalogue's."""

    file: str
    rows: int
    sha256: str


class AsOf(Part):
    """The oldest of some prices."""

    date: str
    age_days: int | None


class Cost(Part):
    """What the stack costs."""

    currency: Literal["USD"]
    hours_a_month: int
    prices: PriceFile | None
    lines: list[CostLine]
    charges: list[Charge]
    charges_as_of: AsOf | None
    """Of the prices of `charges`; null where there are none."""
    not_priced: list[NotPriced]
    total: Dollars
    """Of what has a known price."""
    usd_gpu_hour: Bounds
    """For each accelerator-hour, all that the stack costs."""
    unknown: list[str]
    """URNs of node groups whose cost is not known: `total` is without them."""
    tenants: dict[str, TenantCost]
    shared: float | None
    """What quotas leave of the most that the stack may cost."""


class Group(Part):
    """A node group."""

    urn: str
    name: str
    cloud: str
    machine: str | None
    machine_path: str
    """JSON pointer into the inputs that says the machine."""
    accelerator: str | None
    """Model of it."""
    resource: str | None
    """What pods ask for, such as nvidia.com/gpu."""
    accelerators_a_node: int | None
    vcpus_a_node: int | None
    market: str
    region: str | None
    account: str | None
    attached: str | None
    """Model of an accelerator that is added to the machine."""
    nodes: Bounds
    accelerators: Bounds
    surge_nodes: int | None
    """Nodes beyond these while the group moves to another version."""
    parts: dict[str, dict[str, JsonValue]] | SkipJsonSchema[None] = None
    """What tenants take instead of whole accelerators, by what they call it."""
    ways: list[dict[str, JsonValue]] | SkipJsonSchema[None] = None
    """Every machine and market that it may be of."""


class AccountQuota(Part):
    """A quota of a cloud's account, and what the stack may need of it."""

    cloud: str
    account: str | None
    region: str | None
    code: str
    name: str
    unit: str
    need: float
    surge: float
    """What more while all node groups move to another version at once."""
    limit: float | None
    """Negative: there is none. Null: not known."""
    usage: float | None
    fetched: str | None
    age_days: int | None
    groups: list[str]
    uncounted: list[str]
    """Node groups whose need is not known."""
    unchecked: str | None
    """Why the limit is not known."""


class Share(Part):
    """Accelerators of one group that a tenant has, may borrow, and gives to endpoints at the most."""

    quota: int
    borrow: int
    endpoints_max: int


class Window(Part):
    """Capacity that is reserved for a time."""

    urn: str
    path: str
    what: str
    start: str | None
    end: str | None
    starts_in_days: float | None
    ends_in_days: float | None


class Capacity(Part):
    """Accelerators that node groups may grow to, and who may have them."""

    groups: list[Group]
    accelerators: dict[str, int]
    """By model, at the most."""
    total: int
    tenants: dict[str, dict[str, Share]]
    """By tenant and group."""
    quotas: list[AccountQuota]
    windows: list[Window]


class Pairing(Part):
    """An image and a node group whose driver is known not to run it, or of which it is not known."""

    urn: str
    path: str
    group: str
    machine: str | None
    driver: str | None
    image: str
    status: str
    reason: str


class DefaultProvider(Part):
    """What the stack's configuration says of a package's default provider."""

    inputs: dict[str, JsonValue]


class Document(Part):
    """The stack as it would be."""

    format: Literal["gpuyard.document/1"]
    date: str
    """YYYY-MM-DD: the day as of which it is judged."""
    project: str
    stack: str
    environment: str
    """Whose limits apply."""
    resources: list[Resource]
    default_providers: dict[str, DefaultProvider]
    """By package."""
    cost: Cost
    capacity: Capacity
    compatibility: list[Pairing]
