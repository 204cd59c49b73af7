"""What can be told of a Helm release from the values that a program gives it. The chart itself is not rendered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gpuyard.review.images import chart_image, image
from gpuyard.review.objects import Json, Path, pointer

_HOST = ("hostIPC", "hostNetwork", "hostPID")


def release(inputs: Json) -> Json:
    """`{chart, repository, namespace, values, images, grants}` of a release; what is left out is an empty text.

    A grant is a value that gives the chart's pods power over their node, such as `securityContext.privileged`.
    """
    values = inputs.get("values")
    values = values if isinstance(values, dict) else {}
    options = inputs.get("repositoryOpts")
    return {
        "chart": _text(inputs.get("chart")).rstrip("/").rpartition("/")[2],
        "repository": _text(options.get("repo") if isinstance(options, dict) else None),
        "namespace": _text(inputs.get("namespace")) or "default",
        "values": values,
        "images": [{"path": pointer(path), "image": found} for path, found in _images(values, _registry(values))],
        "grants": [{"path": pointer(path), "name": str(path[-1])} for path in _grants(values, ("values",))],
    }


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _registry(values: Json) -> str:
    """The registry that a chart puts before every image, by the two customs there are."""
    shared = values.get("global")
    shared = shared if isinstance(shared, dict) else {}
    inner = shared.get("image")
    return _text(shared.get("imageRegistry")) or _text(inner.get("registry") if isinstance(inner, dict) else None)


def _images(value: Any, registry: str, path: Path = ("values",)) -> Iterator[tuple[Path, Json]]:
    if isinstance(value, dict):
        named = chart_image(value, registry)
        if named:
            yield (*path, "repository"), dict(named)
        elif isinstance(value.get("image"), str) and "/" in value["image"]:
            yield (*path, "image"), dict(image(value["image"]))
        for key, member in value.items():
            yield from _images(member, registry, (*path, key))
    elif isinstance(value, list):
        for i, member in enumerate(value):
            yield from _images(member, registry, (*path, i))


def _grants(value: Any, path: Path) -> Iterator[Path]:
    if isinstance(value, dict):
        for key, member in value.items():
            in_context = str(path[-1]).lower().endswith("securitycontext")
            if member is True and (key in _HOST or (key == "privileged" and in_context)):
                yield (*path, key)
            yield from _grants(member, (*path, key))
    elif isinstance(value, list):
        for i, member in enumerate(value):
            yield from _grants(member, (*path, i))
