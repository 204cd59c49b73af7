"""The Rego of a ConstraintTemplate: the rule's own text, with what makes its input of an object that is admitted.

Gatekeeper takes libraries only below `data.lib`, so the names in `package` and `import` lines get that in front; not
another character of a rule changes.
"""

from __future__ import annotations

import json
import re

from gpuyard.review.admission import kinds, offered
from gpuyard.review.evaluation.rules import PACKAGE, Rule, RuleSet

PREPARED = "admission/prepared.rego"
"""Below the packaged policies."""

ENTRY = f"{PACKAGE}.admission.entry"
"""Where `violation` is, followed by the rule's id."""

_NAMES = re.compile(rf"^(package |import data\.)({PACKAGE}\.)", re.MULTILINE)

_ENTRY = """\
# What is refused, and what is warned of: `level` of the constraint's parameters says which of both is asked.
package {entry}.{path}

import data.lib.{package}.admission.prepared
import data.lib.{package}.rules.{path}

rule := {about}

violation contains {{"msg": message, "details": details}} if {{
	object.get(input.review, "operation", "") in ["", "CREATE", "UPDATE"]
	some finding in found
	not before(finding)
	message := sprintf("%v: %v (at %v)", [rule.id, finding.message, finding.path])
	details := {{"path": finding.path, "remediation": rule.remediation, "rule": rule.id, "severity": rule.severity}}
}}

found contains finding if {{
	some finding in {name}.deny with input as prepared.document
	object.get(finding, "level", rule.level) == input.parameters.level
}}

# An update is refused for what it brings. What was there before is told by the audit: else controllers could not even
# take their finalizers from an object that is older than its rule.
before(finding) if {{
	input.review.operation == "UPDATE"
	is_object(input.review.oldObject)
	old := prepared.document with input.review.object as input.review.oldObject
	some other in {name}.deny with input as old
	other.path == finding.path
	other.message == finding.message
}}
"""


def entry(rule: Rule) -> str:
    """The module in which Gatekeeper looks for `violation`."""
    about = {"id": rule.id, "level": rule.level, "remediation": rule.remediation.strip(), "severity": rule.severity}
    return _ENTRY.format(
        entry=ENTRY,
        package=PACKAGE,
        path=rule.id.replace("/", "."),
        name=rule.id.rpartition("/")[2],
        about=json.dumps(about, indent=1, ensure_ascii=False),
    )


def libraries(rule: Rule, rules: RuleSet, prepared: str) -> list[str]:
    """The modules that it needs. `prepared` is the text of policies/admission/prepared.rego."""
    return [_NAMES.sub(r"\1lib.\2", text) for text in (kinds.module(), prepared, *offered.texts(rule, rules).values())]
