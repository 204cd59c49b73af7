"""What one command of the engine did, as its event log and its display tell."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Events = list[dict[str, Any]]


@dataclass(frozen=True)
class Run:
    """What one command did."""

    code: int
    output: str
    events: Events = field(repr=False)

    def operations(self) -> dict[str, str]:
        """URN to what was done or planned; a resource that is replaced says so, whatever its steps are."""
        found: dict[str, str] = {}
        for event in self.events:
            if step := event.get("resourcePreEvent"):
                name = step["metadata"]["op"]
                urn = step["metadata"]["urn"]
                replaced = "replace" in name or "replace" in found.get(urn, "")
                found[urn] = "replace" if replaced else name
        return found

    def done(self, *kinds: str) -> dict[str, str]:
        """What was changed, by short name: `type::name` to operation. With `kinds`, these operations only."""
        return {
            short(urn): operation
            for urn, operation in self.operations().items()
            if (operation in kinds if kinds else operation not in ("same", "read", "refresh"))
        }

    def policies(self) -> Events:
        """Every finding that a policy pack gave, as the engine passes it on."""
        return [event["policyEvent"] for event in self.events if "policyEvent" in event]

    def diagnostics(self, *severities: str) -> list[str]:
        """What was said, without the rest of the display: errors and warnings, or what has the severities given."""
        said = [event["diagnosticEvent"] for event in self.events if "diagnosticEvent" in event]
        return [one["message"].strip() for one in said if one["severity"] in (severities or ("error", "warning"))]

    @property
    def changes(self) -> dict[str, int]:
        """Operation to count, as the engine sums them up."""
        sums = [event["summaryEvent"]["resourceChanges"] for event in self.events if "summaryEvent" in event]
        return dict(sums[-1]) if sums else {}


def short(urn: str) -> str:
    """A URN without project, stack and parents: `kubernetes:core/v1:Namespace::fraud`."""
    kind, _, name = urn.split("::", 2)[2].partition("::")
    return f"{kind.rpartition('$')[2]}::{name}"
