# METADATA
# title: Waivers waive something
# description: >-
#   A waiver that nobody needs waits for the next mistake at its resource, and lets it through unseen. One that has
#   expired is done with once its resource is in order.
# custom:
#   id: W1
#   severity: low
#   level: advisory
#   on_unknown: skip
#   scope: stack
#   waivable: false
#   reads: []
#   remediation: Remove it from the file of waivers, or correct its rule, its resource or its path.
package gpuyard.rules.waivers.unused

deny contains {"urn": input.urn, "path": waiver.place, "message": message} if {
	some waiver in input.waivers
	waiver.used == false
	why := reason(waiver)
	message := sprintf("the waiver %v of %v for %v waives nothing: %v", [waiver.ticket, waiver.rule, waiver.resource, why])
}

reason(waiver) := "the rule finds nothing there" if {
	waiver.state == "in force"
	waiver.resources < 2
} else := sprintf("the name is that of %v resources, so give a URN for each, or the rule finds nothing there", [waiver.resources]) if {
	waiver.state == "in force"
} else := sprintf("it has expired on %v", [waiver.expires]) if {
	waiver.state == "expired"
}
