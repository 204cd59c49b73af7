# METADATA
# title: Jobs on accelerators come to an end
# description: >-
#   A job that hangs in a collective or waits for data holds its accelerators until somebody looks. A deadline ends it. A
#   RayJob keeps its cluster when its work is done, unless it is told not to.
# custom:
#   id: Q8
#   severity: medium
#   level: advisory
#   on_unknown: skip
#   scope: stack
#   waivable: true
#   thresholds:
#     longest_days:
#       type: integer
#       default: 30
#       description: The longest deadline, in days; a later one counts as none.
#   reads:
#     - {type: "kubernetes:batch/*:Job", path: /spec/activeDeadlineSeconds}
#     - {type: "kubernetes:batch/*:CronJob", path: /spec/jobTemplate/spec/activeDeadlineSeconds}
#     - {type: "kubernetes:ray.io/*:RayJob", path: /spec/activeDeadlineSeconds}
#     - {type: "kubernetes:ray.io/*:RayJob", path: /spec/shutdownAfterJobFinishes}
#     - {type: "kubernetes:trainer.kubeflow.org/*:TrainJob", path: /spec/activeDeadlineSeconds}
#   remediation: >-
#     Set activeDeadlineSeconds, somewhat above the longest run that is right, and shutdownAfterJobFinishes on a RayJob.
package gpuyard.rules.cost.deadlines

deny contains {"urn": workload.urn, "path": path, "message": message} if {
	some workload in jobs
	object.get(workload, "deadline", null) == null
	path := sprintf("%v/spec", [workload.object])
	message := sprintf("%v %v takes accelerators and has no activeDeadlineSeconds: if it hangs, it keeps them", [
		workload.kind,
		workload.name,
	])
}

deny contains {"urn": workload.urn, "path": path, "message": message} if {
	some workload in jobs
	longest := input.limits.thresholds["cost/deadlines"].longest_days
	workload.deadline > longest * 86400
	path := sprintf("%v/spec", [workload.object])
	message := sprintf("%v %v takes accelerators and may hang for %v days, and %v is the longest deadline", [
		workload.kind,
		workload.name,
		floor(workload.deadline / 86400),
		longest,
	])
}

deny contains {"urn": job.urn, "path": path, "message": message} if {
	some job in input.objects["RayJob.ray.io"]
	job.patch == false
	some workload in jobs
	workload.urn == job.urn
	workload.object == job.path
	object.get(job.body, ["spec", "shutdownAfterJobFinishes"], false) != true
	object.get(job.body, ["spec", "deletionStrategy"], null) == null
	object.get(job.body, ["spec", "clusterSelector"], null) == null
	path := sprintf("%v/spec/shutdownAfterJobFinishes", [job.path])
	message := sprintf("RayJob %v keeps its cluster, and its accelerators, when its work is done", [job.name])
}

# Kinds of which it is known where they say a deadline. One in a queue is counted by the queue, and hangs as well.
jobs := [workload |
	some workload in input.workloads
	workload.batch == true
	workload.key in [
		"CronJob.batch",
		"Job.batch",
		"JobSet.jobset.x-k8s.io",
		"MPIJob.kubeflow.org",
		"Pod",
		"PyTorchJob.kubeflow.org",
		"RayJob.ray.io",
		"TFJob.kubeflow.org",
		"TrainJob.trainer.kubeflow.org",
	]
	count(workload.accelerators) > 0
]
