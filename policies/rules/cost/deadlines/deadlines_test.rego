package gpuyard.rules.cost.deadlines_test

import data.gpuyard.rules.cost.deadlines

job(more) := object.union(
	{
		"urn": "job",
		"object": "",
		"kind": "Job",
		"key": "Job.batch",
		"name": "train",
		"batch": true,
		"accelerators": {"nvidia.com/gpu": 8},
	},
	more,
)

stack(workloads) := {
	"limits": {"thresholds": {"cost/deadlines": {"longest_days": 30}}},
	"objects": {},
	"workloads": workloads,
}

paths(given) := found if {
	found := {finding.path | some finding in deadlines.deny} with input as given
}

test_a_job_with_a_deadline_is_allowed if paths(stack([job({"deadline": 86400})])) == set()

test_a_job_without_accelerators_is_allowed if {
	paths(stack([object.union(object.remove(job({}), ["accelerators"]), {"accelerators": {}})])) == set()
}

test_what_serves_is_not_judged if {
	paths(stack([job({"batch": false, "key": "Deployment.apps"})])) == set()
}

test_a_job_without_a_deadline_is_a_finding if paths(stack([job({})])) == {"/spec"}

test_a_deadline_that_never_comes_is_a_finding if {
	some finding in deadlines.deny with input as stack([job({"deadline": 999999999})])
	finding.message == "Job train takes accelerators and may hang for 11574 days, and 30 is the longest deadline"
}

ray(spec) := object.union(
	stack([job({"key": "RayJob.ray.io", "deadline": 60})]),
	{"objects": {"RayJob.ray.io": [{"urn": "job", "path": "", "name": "train", "patch": false, "body": {"spec": spec}}]}},
)

test_a_ray_job_that_shuts_down_is_allowed if {
	paths(ray({"shutdownAfterJobFinishes": true})) == set()
	paths(ray({"clusterSelector": {"ray.io/cluster": "shared"}})) == set()
}

test_a_ray_job_that_keeps_its_cluster_is_a_finding if paths(ray({})) == {"/spec/shutdownAfterJobFinishes"}
