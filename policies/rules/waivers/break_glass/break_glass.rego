# METADATA
# title: No break-glass is in force or left behind
# description: >-
#   An override for an incident lets through what would deny. It is seen in every report until it ends; what it let
#   through denies again from then on, and the entry has no more place in the file.
# custom:
#   id: W3
#   severity: critical
#   level: advisory
#   on_unknown: skip
#   scope: stack
#   waivable: false
#   reads: []
#   remediation: Cure what it lets through before it ends, then remove it from the file of waivers.
package gpuyard.rules.waivers.break_glass

deny contains {"urn": input.urn, "path": glass.place, "message": message} if {
	some glass in input.break_glass
	glass.state == "in force"
	about := [glass.until, concat(", ", glass.rules), glass.ticket, glass.by, glass.approver, glass.reason]
	message := sprintf("BREAK GLASS until %v: what denies does not, of %v (%v, for %v, approved by %v: %v)", about)
}

deny contains {"urn": input.urn, "path": glass.place, "message": message} if {
	some glass in input.break_glass
	glass.state == "expired"
	message := sprintf("the break-glass %v of %v has ended on %v: it must be removed", [glass.ticket, glass.by, glass.until])
}
