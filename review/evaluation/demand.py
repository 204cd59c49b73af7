"""What the workloads of a whole stack may take of accelerators, and what quotas and queues let them have.

See workloads.py, queues.py and namespaces.py for what each list has. A stack that is not whole yet has none of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpuyard.review.evaluation.namespaces import namespaces
from gpuyard.review.evaluation.queues import cluster_queues
from gpuyard.review.evaluation.references import Steps
from gpuyard.review.evaluation.workloads import workloads

LISTS = ("workloads", "cluster_queues", "namespaces", "queued")


def demand(rego: Mapping[str, Any], unknown: Mapping[str, list[Steps]]) -> dict[str, Any]:
    """The lists, from what `prepare` made of all objects and pods. `unknown` are paths by URN."""
    found = {"workloads": workloads(rego, unknown), "cluster_queues": cluster_queues(rego, unknown)}
    return found | namespaces({**rego, **found}, unknown)
