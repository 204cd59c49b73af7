# METADATA
# title: What makes a stack much dearer is approved
# description: >-
#   A budget says what a stack may cost; it does not notice that a change doubles it. Judged where a change is reviewed
#   beside its base, and nowhere else.
# custom:
#   id: Q11-B
#   severity: medium
#   level: mandatory
#   on_unknown: skip
#   scope: stack
#   waivable: true
#   thresholds:
#     percent:
#       type: number
#       default: 50
#       description: By how much of the base's cost a month the cost may rise.
#     month_usd:
#       type: number
#       default: 10000
#       description: US dollars a month by which it may rise whatever part of the base's cost they are.
#   frameworks:
#     - "OWASP Top 10 for LLM Applications 2025: LLM10 Unbounded Consumption"
#   reads: []
#   remediation: >-
#     Have it approved: by a waiver for the URN of the stack, which somebody else merges first. Or let it rise less, or
#     in steps; how much may is a threshold of this rule.
package gpuyard.rules.cost.increase

import data.gpuyard.lib.money

deny contains {"urn": input.urn, "path": path, "message": message} if {
	some bound, words in {"initial": "at start", "max": "at the most"}
	is_object(input.comparison.cost[bound])
	base := input.comparison.cost[bound].base
	head := input.comparison.cost[bound].head
	is_number(base)
	is_number(head)
	limits := input.limits.thresholds["cost/increase"]
	is_number(limits.month_usd)
	is_number(limits.percent)
	more := head - base
	more > limits.month_usd
	more * 100 > base * limits.percent
	path := sprintf("/cost/total/%v", [bound])
	message := sprintf("a month costs %v %v, %v more than the %v of the base: without approval %v allows %v percent more, or %v", [
		money.usd(head),
		words,
		money.usd(more),
		money.usd(base),
		input.environment,
		limits.percent,
		money.usd(limits.month_usd),
	])
}
