# The entry point: gathers what every rule denies. It stands outside data.gpuyard.rules, so that no rule can be
# recursive, and names no rule: adding one is adding a file.
package gpuyard.main

# All or nothing: without any of these three there is no answer, and no answer is not a pass.
answer := {
	"findings": findings,
	"loaded": loaded,
	"revision": data.gpuyard.revision.digest,
}

findings contains finding if {
	some group, name
	some denied in data.gpuyard.rules[group][name].deny
	finding := object.union(denied, {"rule": sprintf("%v/%v", [group, name])})
}

# A rule that is lost, or whose deny is no set, denies nothing: the evaluator compares this with the files that it read.
loaded contains sprintf("%v/%v", [group, name]) if {
	some group, name
	is_set(data.gpuyard.rules[group][name].deny)
}
