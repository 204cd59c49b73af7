# METADATA
# title: The table of known holes is not old
# description: >-
#   Holes become known every week. A table that nobody has looked after for months lets through what everybody else
#   knows of. Its age is that of the row that was checked last.
# custom:
#   id: S14
#   severity: low
#   level: advisory
#   on_unknown: skip
#   scope: stack
#   waivable: true
#   reads: []
#   thresholds:
#     max_age_days:
#       type: integer
#       default: 90
#       description: Days from the newest row of the table to the review.
#   remediation: >-
#     Install a newer gpuyard, or check the rows of catalogue/data/security_floors.csv again and write the day into
#     them.
package gpuyard.rules.supply_chain.floors_age

deny contains {"urn": input.urn, "path": "", "message": message} if {
	most := input.limits.thresholds["supply_chain/floors_age"].max_age_days
	input.floors.age_days > most
	message := sprintf("the table of known holes was checked on %v, %v days before the review: %v allows %v", [
		input.floors.checked,
		input.floors.age_days,
		input.environment,
		most,
	])
}
