"""What tenants are promised of node groups, and what their endpoints may take of it, as gpuyard's components say it."""

from __future__ import annotations

from typing import Any

from gpuyard.review.errors import InputError
from gpuyard.review.resources import Resource
from gpuyard.review.values import at, number, text


def shares(tenant: Resource) -> dict[str, tuple[int, int]]:
    """By node group, or part of one, the accelerators that a tenant has, and those that it may borrow.

    Raises InputError for what no tenant of gpuyard says: it would count as nothing.
    """
    given = tenant["inputs"].get("accelerators") or {}
    if not isinstance(given, dict):
        raise _wrong(tenant, "accelerators")
    return {
        group: (
            _count(tenant, share, "accelerators", group, "quota"),
            _count(tenant, share, "accelerators", group, "borrow"),
        )
        for group, share in given.items()
    }


def taken(endpoint: Resource) -> tuple[str, str, int]:
    """The tenant of an endpoint, where it runs, and the accelerators that it takes at the most. Raises InputError."""
    inputs = endpoint["inputs"]
    tenant, on, most = text(inputs.get("tenant")), text(inputs.get("on")), number(at(inputs, "replicas", "max"))
    if tenant is None or on is None or most is None:
        said = {"tenant": tenant, "on": on, "replicas.max": most}
        raise _wrong(endpoint, next(field for field, value in said.items() if value is None))
    return tenant, on, most * (_count(endpoint, inputs, "tensor_parallel") or 1)


def _count(resource: Resource, holder: Any, *path: str) -> int:
    """A count, 0 where it is left out."""
    value = holder.get(path[-1]) if isinstance(holder, dict) else holder
    count = 0 if value is None else number(value)
    if count is None or not isinstance(holder, dict | None):
        raise _wrong(resource, ".".join(path))
    return count


def _wrong(resource: Resource, field: str) -> InputError:
    # What it is instead may be a secret.
    kind = str(resource["type"]).rpartition(":")[2]
    return InputError(
        f"{kind} {resource['name']}: {field} is of another form than gpuyard's own {kind} gives it: make the {kind} by "
        "gpuyard's component"
    )
