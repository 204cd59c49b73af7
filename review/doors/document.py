"""A stored resource document, or a JSON report with documents in it, as a way into the review.

Of a document its resources count, and what the stack's configuration says of default providers. Environment, date,
cost and capacity are not read: whoever wrote the file does not say by what it is judged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gpuyard.review.document import FORMAT
from gpuyard.review.doors import Given
from gpuyard.review.doors.jsonfile import load
from gpuyard.review.errors import InputError
from gpuyard.review.recording import Recording
from gpuyard.review.recording.values import at
from gpuyard.review.report import document_schema
from gpuyard.review.report.json import FORMAT as REPORT
from gpuyard.review.unseen import Unseen

REMEDY = f"give a document ({FORMAT}), or what `gpuyard review --format json` writes"
PROBLEMS = 5
"""That are told at once."""

Pointer = Annotated[str, Field(pattern=r"^(/|$)")]
Text = Annotated[str, Field(min_length=1)]


class _Options(BaseModel):
    model_config = ConfigDict(extra="allow")

    depends_on: list[str] = Field(default_factory=list)
    aliases: list[str] = Field(default_factory=list)


class _Resource(document_schema.Resource):
    urn: Annotated[str, Field(pattern=r"(?s)^urn:pulumi:[^:]+::[^:]+::.+::.+$")]
    type: Text
    inputs: dict[str, Any]
    unknown: list[Pointer]
    secret: list[Pointer]
    options: _Options  # type: ignore[assignment]


class _Document(BaseModel):
    model_config = ConfigDict(extra="ignore")

    format: Literal["gpuyard.document/1"]
    project: Text
    stack: Text
    resources: list[_Resource]
    default_providers: dict[str, document_schema.DefaultProvider] = Field(default_factory=dict)


def from_document(path: Path) -> list[Given]:
    """The stacks of a file, each once. Raises InputError for a file that is anything else than documents."""
    content = load(path, REMEDY)
    listed = content if isinstance(content, list) else [content]
    if not listed:
        raise InputError(f"{path}: has no document in it: {REMEDY}")
    found = [_given(path, f"/{i}" if content is listed else "", one) for i, one in enumerate(listed)]
    for stack, count in Counter(one.recording.stack for one in found).items():
        if count > 1:
            raise InputError(f"{path}: has {count} documents of the stack {stack!r}: keep one")
    return found


def _given(path: Path, place: str, value: Any) -> Given:
    if isinstance(value, dict) and value.get("format") == REPORT:
        value, place = value.get("document"), f"{place}/document"
    try:
        document = _Document.model_validate(value, strict=True)
    except ValidationError as error:
        said = [
            f"{path}: {'/'.join((place, *map(str, one['loc']))) or 'the file'}: {one['msg']}"
            for one in error.errors(include_input=False, include_url=False)
        ]
        raise InputError("\n".join([*said[:PROBLEMS], REMEDY])) from None
    own = f"urn:pulumi:{document.stack}::{document.project}::"
    resources = [one.model_dump(mode="json", exclude_none=False, exclude_unset=True) for one in document.resources]
    urns = Counter(one["urn"] for one in resources)
    for urn, count in urns.items():
        if count > 1:
            raise InputError(f"{path}: {place}/resources: {count} are called {urn}: keep one")
        if not urn.startswith(own):
            raise InputError(f"{path}: {place}/resources: {urn} is not of the stack {document.stack!r}, which {own} is")
    hidden = [Unseen(one["urn"], f"{one['name']}{where}, which is secret") for one in resources for where in _lost(one)]
    recording: Any = Recording(
        document.project, document.stack, _whole(resources), [], 0.0, dict(_configuration(path, document))
    )
    return Given(recording, hidden)


def _lost(resource: dict[str, Any]) -> list[str]:
    """Secret places that a document does not show. They are not known here, which is not the same as empty."""
    return [path for path in resource["secret"] if _value(resource["inputs"], path) is None]


def _whole(resources: list[dict[str, Any]]) -> list[Any]:
    return [one | {"unknown": sorted({*one["unknown"], *_lost(one)})} for one in resources]


def _value(inputs: Any, path: str) -> Any:
    try:
        return at(inputs, path)
    except (KeyError, IndexError, TypeError, ValueError):
        return None


def _configuration(path: Path, document: _Document) -> Iterator[tuple[str, str]]:
    """What `default_providers` were made of."""
    for package, provider in document.default_providers.items():
        for name, value in provider.inputs.items():
            if not isinstance(value, str):
                raise InputError(
                    f"{path}: /default_providers/{package}/inputs/{name}: is no text, as configuration is: {REMEDY}"
                )
            yield f"{package}:{name}", value
