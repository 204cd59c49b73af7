# METADATA
# title: $title
# description: $description
# custom:
#   id: $id
#   severity: $severity
#   level: $level
#   on_unknown: $on_unknown
#   scope: $scope
#   reads:
#     - {type: $type, path: $path}
#   remediation: $remediation
package gpuyard.rules.$group.$rule

deny contains {"urn": one.urn, "path": path, "message": message} if {
	some one in $things
	value := object.get(one.$member, $steps, null)
	wrong(value)
	message := sprintf("%v is %v", [$last, value])
	path := $place
}

# Write here what must not be, for any value, null included: where the value is missing.
wrong(value) if value == "TO BE WRITTEN"
