"""Whether the rules that were installed are all there."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

from gpuyard.review.errors import GateError


def installed() -> list[Path]:
    """Files of rules and libraries that the installation of gpuyard has brought, by its own record; none in a checkout,
    where git says what is missing."""
    try:
        listed = metadata.files("gpuyard") or []
    except metadata.PackageNotFoundError:
        return []
    ours = [one for one in listed if one.parts[:2] == ("gpuyard", "policies") and one.suffix == ".rego"]
    return [Path(str(one.locate())) for one in ours]


def check_installed() -> None:
    """Raises GateError for a rule that is lost: it would deny nothing, and nobody would miss it."""
    lost = [path for path in installed() if not path.is_file()]
    if lost:
        raise GateError(f"{lost[0]} is gone, which gpuyard was installed with: install it again")
