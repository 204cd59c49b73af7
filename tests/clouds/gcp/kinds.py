"""What all resources of Google Cloud share: how requests are judged, named and refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from clouds.cloud import Thing
from clouds.kind import Inputs, Kind, Reference, Session
from clouds.refused import RefusedError

API = "https://www.googleapis.com/compute/v1/"


class GcpKind(Kind):
    """A resource of Google Cloud."""

    in_use = ("resourceInUseByAnotherResource", "The resource '{}' is already being used by another resource")
    id_format: ClassVar[str]
    """The id, with names of inputs in braces."""

    def identify(self, session: Session, inputs: Inputs) -> str:
        place = {"project": project(session, inputs), "region": session.region}
        return self.id_format.format(**{**place, **inputs})

    def problems(self, inputs: Inputs) -> Sequence[str]:
        # The models take long to load, and no preview needs them.
        from oracles import gcp as oracle

        return oracle.problems({"type": self.token, "inputs": inputs})

    def invalid(self, problems: Sequence[str]) -> RefusedError:
        return RefusedError("badRequest", "; ".join(problems))

    def sentence(self, doing: str, operation: str, name: str, refusal: RefusedError) -> str:
        return (
            f"Error {doing} {self.what} ({name}): googleapi: Error {refusal.status}: {refusal.message}, {refusal.code}"
        )

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        return {"project": project(session, inputs)} if "project" in self.computed else {}


class Link(Reference):
    """A reference by full name, by address, or by the last name alone."""

    def means(self, name: str, thing: Thing) -> bool:
        return name.removeprefix(API) == thing.id or name == thing.id.rpartition("/")[2]


def project(session: Session, inputs: Inputs) -> str:
    """The project that a resource is in. Raises RefusedError, as the provider does, when nothing says which."""
    found = inputs.get("project") or session.account
    if not found:
        raise RefusedError("required", "project: required field is not set")
    return str(found)


def paths(text: str) -> frozenset[str]:
    """Paths of a text, separated by blanks."""
    return frozenset(text.split())
