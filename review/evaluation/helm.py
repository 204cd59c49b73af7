"""What can be told of a Helm release from the values that a program gives it. The chart itself is not rendered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gpuyard.review.evaluation.images import chart_image
from gpuyard.review.evaluation.objects import Json, Path, pointer
from gpuyard.review.values import at, mapping, text

_HOST = ("hostIPC", "hostNetwork", "hostPID")


def release(inputs: Json) -> Json:
    """`{chart, repository, version, values, value_files, images, grants}` of a release; what is left out is an empty
    text. `value_files` says whether files give more values, which nobody has read.

    A grant is a value that gives the chart's pods power over their node, such as `securityContext.privileged`; its
    `capability` is the Linux capability that it adds, if it is that.
    """
    values = mapping(inputs.get("values"))
    return {
        "chart": (text(inputs.get("chart")) or "").rstrip("/").rpartition("/")[2],
        "repository": text(at(inputs, "repositoryOpts", "repo")) or "",
        "version": text(inputs.get("version")) or "",
        "values": values,
        "value_files": bool(inputs.get("valueYamlFiles")),
        "images": [{"path": pointer(path), "image": found} for path, found in _images(values, _registry(values))],
        "grants": [
            {"path": pointer(path), "name": name, "capability": capability}
            for path, name, capability in _grants(values, ("values",))
        ],
    }


def _registry(values: Json) -> str:
    """The registry that a chart puts before every image, by the two customs there are."""
    shared = values.get("global")
    return text(at(shared, "imageRegistry")) or text(at(shared, "image", "registry")) or ""


def _images(value: Any, registry: str, path: Path = ("values",)) -> Iterator[tuple[Path, Json]]:
    if isinstance(value, dict):
        named = chart_image(value, path, registry)
        if named:
            yield (*path, named[0]), named[1]
        for key, member in value.items():
            yield from _images(member, registry, (*path, key))
    elif isinstance(value, list):
        for i, member in enumerate(value):
            yield from _images(member, registry, (*path, i))


def _grants(value: Any, path: Path) -> Iterator[tuple[Path, str, str]]:
    if isinstance(value, dict):
        in_context = str(path[-1]).lower().endswith("securitycontext")
        for key, member in value.items():
            if _true(member) and (key in _HOST or (key == "privileged" and in_context)):
                yield (*path, key), key, ""
            elif key == "capabilities" and in_context:
                yield from _capabilities(member, (*path, key))
            elif key == "hostPath" and isinstance(value.get("name"), str) and isinstance(member, dict):
                # A volume, as pods have them; a chart's own option called hostPath may be about something else.
                yield (*path, key), f"the host's path {text(member.get('path')) or ''}", ""
            yield from _grants(member, (*path, key))
    elif isinstance(value, list):
        for i, member in enumerate(value):
            yield from _grants(member, (*path, i))


def _true(value: Any) -> bool:
    """Whether a chart writes true where it writes the value: a text loses its quotes on the way."""
    return value is True or (isinstance(value, str) and value.lower() == "true")


def _capabilities(value: Any, path: Path) -> Iterator[tuple[Path, str, str]]:
    added = value.get("add") if isinstance(value, dict) else None
    for i, capability in enumerate(added if isinstance(added, list) else []):
        if isinstance(capability, str):
            yield (*path, "add", i), f"the capability {capability}", capability
