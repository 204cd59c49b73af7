"""Software of which the catalogue knows holes, wherever a program names its version.

An image is known by the end of its repository, which mirrors keep. What is built on another one is not known by it.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from packaging.version import Version

from gpuyard.catalogue import security
from gpuyard.review.evaluation.objects import Json, Object, pointer, steps
from gpuyard.review.evaluation.shells import texts
from gpuyard.review.values import at, mapping, text

OPERATOR = "gpu-operator"

_VALUES = {"nvidia-container-toolkit": "toolkit", "nvidia-driver": "driver"}
"""Parts of the GPU Operator's values by what their `version` is of. Source: its values.yaml."""
_BRANCHES = frozenset({"nvidia-driver"})
"""Products of which one number names a branch, and no version of it."""
_RAY = {
    "RayCluster.ray.io": "spec",
    "RayJob.ray.io": "spec.rayClusterSpec",
    "RayService.ray.io": "spec.rayClusterConfig",
}
_INSTALLED = re.compile(r"(?<![\w.-])(vllm|ray|torch|sglang)(?:\[[\w,.-]*\])?(?:===?|<=)(\d[\w.+!-]*)")
"""What pip and uv are told to install; of `<=` the newest that it may be."""
_PACKAGES = {"torch": "pytorch"}


def of_pod(pod: Json) -> Iterator[Json]:
    """What the containers of a prepared pod run: `{urn, path, product, version, source, named, floor, beyond, holes}`.

    `version` is empty where it cannot be told; `named` is the reference, chart or field that says it. A hole is
    `{cves, severity, fixed, through}`, the worst first; `through` is the last version that is known to have it where no
    version is known to be without. `floor` is the oldest version without any of which a fix is known, `beyond` the last
    one with any of the others.
    """
    for item in pod["containers"]:
        if "image" in item:
            yield from _image(pod["urn"], f"{item['path']}/image", "image", item["image"])
        for field in ("command", "args"):
            for place, said in texts(item["container"].get(field), f"{item['path']}/{field}"):
                for name, version in _INSTALLED.findall(said):
                    yield _entry(pod["urn"], place, "args", f"{name}=={version}", _PACKAGES.get(name, name), version)


def of_release(release: Json) -> Iterator[Json]:
    """The same of a prepared Helm release."""
    urn, chart, values = release["urn"], release["chart"], release["values"]
    product = security.software_of("chart", chart)
    if product and release["version"]:
        yield _entry(urn, "/version", "chart", f"chart {chart} {release['version']}", product, release["version"])
    for item in release["images"]:
        if not _disabled(values, item["path"]):
            yield from _image(urn, item["path"], "values", item["image"])
    for product, part in _VALUES.items() if chart == OPERATOR else ():
        version = text(at(values, part, "version"))
        # With a repository beside it, it is an image, and is told above.
        if not version or at(values, part, "repository") or mapping(values[part]).get("enabled") is False:
            continue
        if product not in _BRANCHES or _version(product, version):
            named = f"{part}.version {version} of chart {chart}"
            yield _entry(urn, f"/values/{part}/version", "values", named, product, version)


def of_object(urn: str, item: Object) -> Iterator[Json]:
    """The same of an object of Kubernetes that has a field for a version."""
    place = _RAY.get(item.key)
    if place is None:
        return
    path = tuple(place.split("."))
    version = text(at(item.body, *path, "rayVersion"))
    if version:
        yield _entry(urn, pointer((*item.path, *path, "rayVersion")), "field", f"rayVersion {version}", "ray", version)


def table(date: str) -> Json:
    """`{checked, age_days}` of the table of holes on a day: its newest day, which is all there is for no date."""
    checked = security.checked()
    try:
        age = datetime.date.fromisoformat(date) - datetime.date.fromisoformat(checked)
    except ValueError:
        return {"checked": checked}
    return {"checked": checked, "age_days": age.days}


def _image(urn: str, path: str, source: str, image: Json) -> Iterator[Json]:
    product = security.software_of("image", image["repository"])
    if product and not _left_open(product, image):
        yield _entry(urn, path, source, f"image {image['reference']}", product, image["tag"])


def _left_open(product: str, image: Json) -> bool:
    """Whether somebody else chooses the version: a chart that is given no tag, or whoever pushes `latest`, of which
    another rule speaks. Of a driver that is built already the tag says the branch alone."""
    if image["chart"] and not image["tag"]:
        return not image["digest"]
    branch = product in _BRANCHES and bool(image["tag"]) and _version(product, image["tag"]) is None
    return branch or (not image["digest"] and image["tag"] in ("", "latest"))


def _version(product: str, said: str) -> Version | None:
    found = security.version_of(said)
    return None if found and product in _BRANCHES and len(found.release) < 2 else found


def _entry(urn: str, path: str, source: str, named: str, product: str, version: str) -> Json:
    return {"urn": urn, "path": path, "source": source, "named": named, "product": product, **_known(product, version)}


@lru_cache(maxsize=4096)
def _known(product: str, said: str) -> Json:
    """What the catalogue knows of a version as it is written."""
    found = _version(product, said)
    if found is None:
        return {"version": "", "floor": "", "beyond": "", "holes": []}
    holes = security.holes(product, found)
    return {
        "version": said,
        "floor": _without_any(product, holes),
        "beyond": str(max((hole.through for hole in holes if hole.through), default="")),
        "holes": [
            {
                "cves": list(hole.cves),
                "severity": hole.severity,
                "fixed": hole.fixed_text,
                "through": str(hole.through or ""),
            }
            for hole in holes
        ],
    }


def _without_any(product: str, holes: Sequence[security.Floor]) -> str:
    """The oldest version that has neither these holes nor others that are mended; empty where there is none."""
    found = ""
    while mended := [hole for hole in holes if hole.fixed]:
        newest = max(mended, key=lambda hole: hole.fixed or Version("0"))
        found = newest.fixed_text
        holes = security.holes(product, newest.fixed or Version("0"))
    return found


def _disabled(values: Json, path: str) -> bool:
    """Whether a part of values above a place says `enabled: false`."""
    part: Any = values
    for step in steps(path)[1:-1]:
        part = part.get(step) if isinstance(part, dict) else part[int(step)] if isinstance(part, list) else None
        if isinstance(part, dict) and part.get("enabled") is False:
            return True
    return False
