"""Who may share a GPU that only its software divides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gpuyard.components.node_groups.base import NodeGroupSpec
from gpuyard.components.node_groups.partition import Mig
from gpuyard.components.serving import template
from gpuyard.components.serving.spec import EndpointSpec
from gpuyard.components.tenancy.tenant import TenantSpec


def problems(
    groups: Mapping[str, NodeGroupSpec], tenants: Mapping[str, TenantSpec], endpoints: Mapping[str, EndpointSpec]
) -> Iterator[str]:
    """What tenants and endpoints of groups without walls of hardware would do to each other, a sentence each."""
    for group, spec in groups.items():
        if spec.partition is None or isinstance(spec.partition, Mig):
            continue
        kind, path = spec.partition.kind, f"node_groups.{group}.partition"
        sharing = [name for name, tenant in tenants.items() if group in tenant.accelerators]
        if len(sharing) > 1:
            yield (
                f"{path}: {kind} keeps nobody's memory or faults from others on the GPU, and tenants "
                f"{', '.join(sharing)} have shares of the group: leave it to one of them, or choose kind mig"
            )
        users = {template.load(e.engine).security.user: e.engine for e in endpoints.values() if e.on == group}
        if kind == "mps" and len(users) > 1:
            # NVIDIA, MPS: the daemon serves one user, and others wait until that one has gone.
            yield (
                f"{path}: mps serves one user of the system at a time, and the images of "
                f"{' and '.join(users.values())} have different ones: give each engine a group of its own"
            )
