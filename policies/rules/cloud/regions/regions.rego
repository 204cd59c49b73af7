# METADATA
# title: Everything is in a region that is allowed
# description: >-
#   Contracts and laws say in which countries data may lie, and quotas, reservations and private networks end with a
#   region. A provider puts all that says nothing into its own region; a resource may name another, and with newer
#   providers one by one.
# custom:
#   id: C9
#   severity: medium
#   level: mandatory
#   on_unknown: warn
#   scope: resource
#   waivable: true
#   reads:
#     - {type: "pulumi:providers:aws", path: /region}
#     - {type: "pulumi:providers:gcp", path: /region}
#     - {type: "aws:*", path: /region}
#     - {type: "gcp:*", path: /location}
#     - {type: "gcp:*", path: /region}
#   thresholds:
#     regions:
#       type: texts
#       default: ["*"]
#       description: Regions that a stack may use, and multi-regions such as eu; `*` stands for any characters.
#     zones:
#       type: texts
#       default: ["*"]
#       description: Zones that it may use, as far as it names any.
#   remediation: Use a region of the list, or have the platform's owner add it to `thresholds` in policies/limits.
package gpuyard.rules.cloud.regions

import data.gpuyard.lib.match

limits := input.limits.thresholds["cloud/regions"]

deny contains {"urn": place.urn, "path": place.path, "message": message} if {
	some place in input.places
	some message in outside(place)
}

deny contains {"urn": input.urn, "path": path, "message": message} if {
	some path, place in input.default_places
	some message in outside(place)
}

outside(place) := {message} if {
	region := place.region
	allowed := limits.regions
	not match.one_of(allowed, region)
	message := sprintf("region %v is not allowed in %v: allowed are %v", [region, input.environment, concat(", ", allowed)])
}

else := {message} if {
	zone := place.zone
	allowed := limits.zones
	not match.one_of(allowed, zone)
	message := sprintf("zone %v is not allowed in %v: allowed are %v", [zone, input.environment, concat(", ", allowed)])
}

else := set()
