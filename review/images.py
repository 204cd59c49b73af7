"""Container image references, taken apart as the container runtimes do."""

from __future__ import annotations

from typing import Any

DOCKER_HUB = "docker.io"
_OF_AN_IMAGE = {"image", "imagePullPolicy", "pullPolicy", "registry", "tag"}
"""What stands beside `repository` where it is an image's, and not a chart's or a git server's."""
_HUB_ALIASES = {"index.docker.io", "registry-1.docker.io", "registry.hub.docker.com"}


def image(reference: str) -> dict[str, Any]:
    """`{reference, repository, tag, digest, chart}`: tag and digest are empty where they are left out.

    The repository has its registry: `nginx` is `docker.io/library/nginx`, for a short name is Docker Hub's.
    """
    rest, _, digest = reference.partition("@")
    head, slash, last = rest.rpartition("/")
    name, _, tag = last.partition(":")
    repository = _full(f"{head}{slash}{name}")
    return {"reference": reference, "repository": repository, "tag": tag, "digest": digest, "chart": False}


def chart_image(values: dict[str, Any], registry: str) -> dict[str, Any] | None:
    """The image that a part of Helm values names; None where it names none, or leaves its repository to the chart.

    Charts write `image: {registry, repository, tag, digest}`, or `{repository, image, version}` as NVIDIA's operators
    do, and choose a tag themselves where they are given none: `chart` says so. `registry` is the values' global
    registry, which overrides that of each image.
    """
    repository = values.get("repository")
    if not isinstance(repository, str) or not repository or "://" in repository or not _OF_AN_IMAGE & values.keys():
        return None
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


def _full(name: str) -> str:
    first, slash, rest = name.partition("/")
    host = first.lower()
    if not slash or not ("." in first or ":" in first or host == "localhost"):
        return f"{DOCKER_HUB}/{name}" if slash else f"{DOCKER_HUB}/library/{name}"
    if host in _HUB_ALIASES:
        host = DOCKER_HUB
    if host == DOCKER_HUB and "/" not in rest:
        rest = f"library/{rest}"
    return f"{host}/{rest}"
