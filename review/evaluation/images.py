"""Container image references, taken apart as the container runtimes do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

DOCKER_HUB = "docker.io"
HUB_ALIASES = {"index.docker.io", "registry-1.docker.io", "registry.hub.docker.com"}

_OF_AN_IMAGE = {"image", "imagePullPolicy", "pullPolicy", "registry"}
"""What stands beside `repository` where it is an image's, and not a chart's, a model's or a git server's."""
_GIT = re.compile(r"(?:github|gitlab)\.com/|bitbucket\.org/|.*\.git$")
_REFERENCE = re.compile(
    r"(?:[A-Za-z0-9.-]+(?::[0-9]+)?/)?[a-z0-9._-]+(?:/[a-z0-9._-]+)*(?::\w[\w.-]*)?(?:@[a-z0-9]+:[A-Fa-f0-9]{32,})?"
)
_PICTURE = re.compile(r"projects/|.*\.(?:png|svg|jpe?g|gif|ico|webp|iso|qcow2)$")
"""What charts call an image too: of a web page, or of a machine's disk."""


def image(reference: str) -> dict[str, Any]:
    """`{reference, repository, tag, digest, chart}`: tag and digest are empty where they are left out.

    The repository has its registry: `nginx` is `docker.io/library/nginx`, for a short name is Docker Hub's.
    """
    rest, _, digest = reference.partition("@")
    head, slash, last = rest.rpartition("/")
    name, _, tag = last.partition(":")
    repository = _full(f"{head}{slash}{name}")
    return {"reference": reference, "repository": repository, "tag": tag, "digest": digest, "chart": False}


def chart_image(values: dict[str, Any], path: Sequence[str | int], registry: str) -> tuple[str, dict[str, Any]] | None:
    """The image that a part of Helm values names, after the key that names it; None where it names none.

    Charts write `image: {registry, repository, tag, digest}`, `{repository, image, version}` as NVIDIA's operators do,
    or `image: <reference>`, perhaps with the tag beside it. They choose a tag themselves where they are given none:
    `chart` says so. `path` is where the part lies, and `registry` the values' global one, which overrides that of each
    `repository`.
    """
    repository, reference = values.get("repository"), values.get("image")
    if isinstance(repository, str) and repository and _is_image(values, repository, path):
        return "repository", _of_parts(values, repository, registry)
    if isinstance(reference, str) and _REFERENCE.fullmatch(reference) and not _PICTURE.match(reference):
        return _of_reference(values, reference)
    return None


def _is_image(values: dict[str, Any], repository: str, path: Sequence[str | int]) -> bool:
    """Whether a repository is one of images: the keys beside or above it say so, or it begins with a registry's host.

    Git servers, charts and models have repositories and tags too.
    """
    if "://" in repository or _GIT.match(repository):
        return False
    above, own = ["", "", *[step.lower() for step in path if isinstance(step, str)]][-2:]
    if own.endswith("image") or above == "images" or _OF_AN_IMAGE & values.keys():
        return True
    # vLLM's own chart has repository and tag in modelSpec, routerSpec and so on.
    host = _has_host(repository) and not own.startswith("git")
    return "tag" in values and (host or own.endswith("spec"))


def _of_parts(values: dict[str, Any], repository: str, registry: str) -> dict[str, Any]:
    own = registry or values.get("registry")
    parts = [part for part in (own, repository, values.get("image")) if isinstance(part, str) and part]
    tag = next((t for t in (values.get("tag"), values.get("version")) if isinstance(t, str) and t), "")
    digest = values.get("digest") or values.get("sha")
    written = "/".join(part.strip("/") for part in parts)
    return {
        "reference": f"{written}:{tag}" if tag else written,
        "repository": _full(written),
        "tag": tag,
        "digest": digest if isinstance(digest, str) else "",
        "chart": True,
    }


def _of_reference(values: dict[str, Any], reference: str) -> tuple[str, dict[str, Any]] | None:
    registry, tag = values.get("registry"), values.get("tag")
    written = reference
    if isinstance(tag, str) and tag and not image(reference)["tag"]:
        written = f"{written}:{tag}"
    if isinstance(registry, str) and registry and not _has_host(reference):
        written = f"{registry.strip('/')}/{written}"
    # A word alone may be the last part of a name, the rest of which the chart knows.
    named = any(mark in written for mark in "/:@")
    return ("image", image(written) | {"chart": True}) if named else None


def _has_host(name: str) -> bool:
    first, slash, _ = name.partition("/")
    return bool(slash) and ("." in first or ":" in first or first.lower() == "localhost")


def _full(name: str) -> str:
    if not _has_host(name):
        return f"{DOCKER_HUB}/{name}" if "/" in name else f"{DOCKER_HUB}/library/{name}"
    first, _, rest = name.partition("/")
    host = first.lower()
    if host in HUB_ALIASES:
        host = DOCKER_HUB
    if host == DOCKER_HUB and "/" not in rest:
        rest = f"library/{rest}"
    return f"{host}/{rest}"
