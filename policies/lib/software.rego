# What is to say of software that has known holes, or of which nobody can tell.
package gpuyard.lib.software

# A finding about an item of input.software; none where nothing is known against it. `deny` are the severities that deny.
finding(item, deny) := described(item, message) if {
	some hole in item.holes
	hole.severity in deny
	message := sprintf("%v has %v: %v", [item.named, told(item.holes), advice(item)])
}

else := object.union(described(item, message), {"level": "advisory"}) if {
	count(item.holes) > 0
	message := sprintf("%v has %v: %v", [item.named, told(item.holes), advice(item)])
}

else := object.union(described(item, message), {"level": "advisory"}) if {
	item.version == ""
	message := sprintf("%v does not say which version it is, so known holes cannot be ruled out", [item.named])
}

described(item, message) := {"urn": item.urn, "path": item.path, "message": message, "rests_on": [item.path]}

advice(item) := sprintf("use a version after %v", [item.beyond]) if item.beyond != ""

else := sprintf("use %v or later", [item.floor])

# Each hole by its CVEs; of many, the worst.
told(holes) := concat(", ", texts(holes)) if count(holes) <= 3

else := sprintf("%v and %v more", [concat(", ", texts(array.slice(holes, 0, 3))), count(holes) - 3])

texts(holes) := [sprintf("%v (%v)", [concat(", ", hole.cves), hole.severity]) | some hole in holes]
