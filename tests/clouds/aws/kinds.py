"""What all resources of AWS share: how requests are judged, and how the provider reports what AWS refuses."""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Sequence
from typing import Any, ClassVar

from clouds.kind import Inputs, Kind, Session
from clouds.refused import RefusedError


class AwsKind(Kind):
    """A resource of AWS."""

    invalid_code: ClassVar[str] = "ValidationException"
    """The code with which the service refuses a request by itself."""
    prefix: ClassVar[str] = ""
    """Of ids that the cloud makes."""

    def identify(self, session: Session, inputs: Inputs) -> str:
        return f"{self.prefix}-{secrets.token_hex(9)[:17]}"

    def problems(self, inputs: Inputs) -> Sequence[str]:
        # The models take long to load, and no preview needs them.
        from oracles import aws as oracle

        given = {key: value for key, value in inputs.items() if key != "tagsAll"}
        return oracle.problems({"type": self.token, "inputs": given})

    def invalid(self, problems: Sequence[str]) -> RefusedError:
        return RefusedError(self.invalid_code, "; ".join(problems))

    def sentence(self, doing: str, operation: str, name: str, refusal: RefusedError) -> str:
        request = f"https response error StatusCode: {refusal.status}, RequestID: {uuid.uuid4()}"
        return f"{doing} {self.what} ({name}): operation error {self.service}: {operation}, {request}, {refusal}"


def arn(service: str, session: Session, rest: str, *, inputs: Inputs | None = None) -> str:
    """The name of something in all of AWS; of a region, where its inputs are given."""
    place = region(session, inputs) if inputs is not None else ""
    return f"arn:aws:{service}:{place}:{session.account}:{rest}"


def region(session: Session, inputs: Inputs) -> str:
    """The region that a resource is in."""
    return str(inputs.get("region") or session.region)


def marked(paths: str) -> frozenset[str]:
    """Paths of a text, separated by blanks."""
    return frozenset(paths.split())


def first(value: Any) -> Any:
    """The first item of a list."""
    return value[0] if value else None
