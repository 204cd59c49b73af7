"""What `--policy-pack-config` makes of the rules' levels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pulumi.runtime.proto import analyzer_pb2

from gpuyard.review.errors import InputError
from gpuyard.review.evaluation.findings import Finding
from gpuyard.review.evaluation.rules import Rule

ALL = "all"
"""Not a rule: Pulumi's word for every policy of a pack."""

LEVELS = {"advisory": analyzer_pb2.ADVISORY, "mandatory": analyzer_pb2.MANDATORY}
_STRICTNESS = (analyzer_pb2.DISABLED, analyzer_pb2.ADVISORY, analyzer_pb2.MANDATORY)


class Levels:
    """The levels at which rules are applied: their own, until the engine says otherwise."""

    def __init__(self) -> None:
        self._set: dict[str, int] = {}

    def configure(self, rules: Mapping[str, Rule], wanted: Mapping[str, int]) -> None:
        """Takes what the engine wants, which is a level for each rule.

        Raises InputError for a rule that there is not: a typing error must not leave a rule as it was.
        """
        for name, level in sorted(wanted.items()):
            if name not in rules and name != ALL:
                raise InputError(
                    f"--policy-pack-config names {name!r}, and there is no such rule: "
                    f"give {ALL}, or one of {', '.join(sorted(rules))}"
                )
            # What would be repaired is denied here: nothing is repaired.
            level = analyzer_pb2.MANDATORY if level == analyzer_pb2.REMEDIATE else level
            if name in rules and level != LEVELS[rules[name].level]:
                self._set[name] = level

    def of(self, finding: Finding) -> int:
        """The level of a finding: that of its rule if it was set, else its own; what is waived warns at most."""
        level = self._set.get(finding.rule, LEVELS[finding.level])
        return min(level, LEVELS["advisory"], key=_STRICTNESS.index) if finding.waiver else level

    def loosened(self, rules: Mapping[str, Rule]) -> Iterator[tuple[Rule, str]]:
        """Rules that are applied less strictly than they are written, and what is made of them."""
        for name, level in sorted(self._set.items()):
            if _STRICTNESS.index(level) < _STRICTNESS.index(LEVELS[rules[name].level]):
                yield rules[name], "is off" if level == analyzer_pb2.DISABLED else "only warns"
