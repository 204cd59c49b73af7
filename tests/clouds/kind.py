"""A kind of resource: what a provider and its cloud know of it. Each kind is one small class."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from clouds.paths import at, covers, every
from clouds.refused import RefusedError

if TYPE_CHECKING:
    from clouds.cloud import Cloud, Thing

Inputs = Mapping[str, Any]


@dataclass(frozen=True)
class Session:
    """A provider that knows its account."""

    cloud: Cloud
    settings: Inputs
    """The provider's own inputs."""
    account: str
    """AWS account, or project of Google Cloud."""
    region: str

    def find(self, kind: str, name: str, by: str = "id") -> Thing | None:
        """What exists of a kind under an id, or another output."""
        return next(self.having(kind, by, name), None)

    def having(self, kind: str, path: str, value: Any) -> Iterator[Thing]:
        """What exists of a kind and has a value at a path of its outputs, `id` being its id."""
        for thing in self.cloud.resources(kind):
            if thing.id == value if path == "id" else value in every(thing.outputs, path):
                yield thing


@dataclass(frozen=True)
class Reference:
    """An input that names something else, which must exist."""

    path: str
    kind: str
    code: str
    """What the cloud answers when it does not exist."""
    message: str
    """With {} for what was named."""
    by: str = "id"
    """The output of the other by which it is named."""
    holds: bool = True
    """Whether the other cannot be deleted while this exists."""
    status: int = 400

    def check(self, session: Session, inputs: Inputs) -> None:
        """Raises RefusedError when the inputs name what does not exist."""
        for name in every(inputs, self.path):
            if not any(self.means(name, thing) for thing in session.cloud.resources(self.kind)):
                raise RefusedError(self.code, self.message.format(name), status=self.status)

    def refers(self, inputs: Inputs, thing: Thing) -> bool:
        """Whether the inputs name a thing of the other's kind."""
        return any(self.means(name, thing) for name in every(inputs, self.path))

    def means(self, name: str, thing: Thing) -> bool:
        """Whether it is called so."""
        return name == thing.id if self.by == "id" else name in every(thing.outputs, self.by)


KINDS: dict[str, Kind] = {}
"""Every kind by its Pulumi type, of the providers that `package` has made."""


@dataclass(frozen=True)
class AutoName:
    """The name that the provider makes when the program gives none. Source: pulumi-terraform-bridge, AutoName."""

    name: str = "name"
    length: int = 255
    transform: Callable[[str], str] = field(default=str)


class Kind:
    """What holds for all resources of one type. Without a token it is a base of others."""

    token: ClassVar[str] = ""
    what: ClassVar[str]
    """How the provider calls one in its errors."""
    service: ClassVar[str]
    """The API's name as AWS's SDK says it; the host of Google's."""
    create: ClassVar[str]
    update: ClassVar[str] = ""
    delete: ClassVar[str] = ""
    """Operations of the API, by which it names what failed."""
    autoname: ClassVar[AutoName | None] = None
    defaults: ClassVar[Mapping[str, Any]] = {}
    """Inputs that the provider's schema adds; a path into a block counts where the block is given."""
    source: ClassVar[str] = ""
    """Where the real provider says what follows: a file of Terraform's provider, in internal/service (AWS) or
    google-beta/services (Google Cloud), and the commit that was read."""
    replaces: ClassVar[frozenset[str]] = frozenset()
    """Inputs whose change needs a new resource. A path stands for all that lies in it."""
    sets: ClassVar[frozenset[str]] = frozenset()
    """Lists without an order."""
    kept: ClassVar[frozenset[str]] = frozenset()
    """Inputs that, no longer given, stay as they are."""
    computed: ClassVar[tuple[str, ...]] = ()
    """Outputs, by path, that the cloud fills in where the inputs do not say."""
    renewed: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Outputs, by path, that a change of one of these inputs makes unknown."""
    secret: ClassVar[tuple[str, ...]] = ()
    """Outputs that are secrets."""
    references: ClassVar[tuple[Reference, ...]] = ()
    unique: ClassVar[str] = ""
    """The output that no two of a kind share, unless the id is it; empty where the cloud makes the id."""
    taken: ClassVar[tuple[str, str]] = ("", "")
    """Code and message, {} being the id, for a second one of the same id; empty where asking twice is no error."""
    in_use: ClassVar[tuple[str, str]] = ("DependencyViolation", "{} has dependencies and cannot be deleted.")
    """The same for deleting one that others hold."""
    failed: ClassVar[Mapping[str, Any]] = {}
    """Outputs of one that does not become ready."""
    remains: ClassVar[str] = ""
    """Why the cloud keeps one that was deleted; empty where it is gone."""

    def __init_subclass__(cls) -> None:
        if cls.token:
            KINDS[cls.token] = cls()

    def identify(self, session: Session, inputs: Inputs) -> str:
        """The id of a new one."""
        raise NotImplementedError

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        """What the cloud fills in for the id `name`, by path; `before` are the outputs until now, empty at first."""
        return {}

    def problems(self, inputs: Inputs) -> Sequence[str]:
        """What the cloud's API refuses in the inputs, each by its path; None in the inputs is not known."""
        return []

    def invalid(self, problems: Sequence[str]) -> RefusedError:
        """How the API says that."""
        raise NotImplementedError

    def refuse_create(self, session: Session, inputs: Inputs) -> None:
        """Raises RefusedError for what depends on what else there is."""

    def refuse_update(self, session: Session, thing: Thing, inputs: Inputs) -> None:
        """The same for a change."""

    def refuse_delete(self, session: Session, thing: Thing) -> None:
        """The same for a deletion."""

    def not_ready(self, session: Session, thing: Thing) -> str | None:
        """Why one that was made or changed does not become ready, as the provider reports it; None where it does."""
        return None

    def deleted(self, session: Session, thing: Thing) -> None:
        """What goes with it."""

    def must_replace(self, path: str, old: Inputs, new: Inputs) -> bool:
        """Whether a change at a path needs a new resource."""
        return covers(self.replaces, path)

    def renews(self, changed: Collection[str], inputs: Inputs) -> Iterator[str]:
        """Outputs that a change of these inputs makes unknown."""
        for cause, paths in self.renewed.items():
            if any(covers([cause], path) for path in changed):
                yield from paths

    def found(self, session: Session, name: str) -> Thing | None:
        """What is there under an id, or under what `pulumi import` is given."""
        return session.find(self.token, name)

    def sentence(self, doing: str, operation: str, name: str, refusal: RefusedError) -> str:
        """The error that the provider reports."""
        raise NotImplementedError

    def shown_name(self, inputs: Inputs) -> str:
        """What errors call it."""
        return str(at(inputs, self.autoname.name) if self.autoname else "") or "new"


def kind_of(token: str) -> Kind:
    """The kind of a Pulumi type. Raises LookupError, which says what to add, for one that is not there."""
    try:
        return KINDS[token]
    except KeyError:
        raise LookupError(f"the stand-in has no {token}; add a row") from None
