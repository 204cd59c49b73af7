# METADATA
# title: Waivers that are needed do not expire unseen
# description: >-
#   On the day after its last the finding that a waiver covers denies again, and so does every deployment of the stack.
#   Whoever has it needs some days to cure the cause, or to ask for another.
# custom:
#   id: W2
#   severity: medium
#   level: advisory
#   on_unknown: skip
#   scope: stack
#   waivable: false
#   reads: []
#   thresholds:
#     days: {type: integer, default: 7, description: Days before the last of a waiver on which it is told.}
#   remediation: Cure what it waives, or have it granted anew.
package gpuyard.rules.waivers.expires

deny contains {"urn": input.urn, "path": waiver.place, "message": message} if {
	some waiver in input.waivers
	waiver.state == "in force"
	waiver.used == true
	waiver.days <= input.limits.thresholds["waivers/expires"].days
	about := [waiver.ticket, waiver.rule, waiver.resource, waiver.days, waiver.expires]
	message := sprintf("the waiver %v of %v for %v expires in %v days, on %v", about)
}
