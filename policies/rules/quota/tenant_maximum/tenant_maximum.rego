# METADATA
# title: A tenant's workloads and queues stay within its quota
# description: >-
#   What a scaler may reach counts, not today's replicas: a model that is to have 16 GPUs under load and may have 8 fails
#   when the load comes. Whatever queues admit beyond a namespace's quota, borrowed or by a second queue, waits for pods
#   that are refused, while it holds what others need. A workload that nobody can count would count as nothing, so it is
#   told too, where a quota counts it.
# custom:
#   id: Q1
#   severity: high
#   level: mandatory
#   on_unknown: deny
#   scope: stack
#   waivable: true
#   reads:
#     - {type: "gpuyard:index:Endpoint", path: /replicas}
#     - {type: "gpuyard:index:Tenant", path: /accelerators}
#     - {type: "kubernetes:*", path: /spec, fires: true}
#     - {type: "kubernetes:core/v1:ResourceQuota", path: /metadata/namespace}
#     - {type: "kubernetes:kueue.x-k8s.io/*:ClusterQueue", path: /spec/cohort}
#     - {type: "kubernetes:kueue.x-k8s.io/*:ClusterQueue", path: /spec/cohortName}
#     - {type: "kubernetes:kueue.x-k8s.io/*:LocalQueue", path: /spec/clusterQueue}
#     - {type: "kubernetes:resource.k8s.io/*:ResourceClaimTemplate", path: /spec}
#   refers:
#     - {type: "kubernetes:*", path: /metadata/namespace, to: "kubernetes:core/v1:Namespace"}
#     - {type: "kubernetes:autoscaling/*:HorizontalPodAutoscaler", path: /spec/scaleTargetRef/name, to: "kubernetes:apps/v1:Deployment"}
#     - {type: "kubernetes:autoscaling/*:HorizontalPodAutoscaler", path: /spec/scaleTargetRef/name, to: "kubernetes:apps/v1:StatefulSet"}
#     - {type: "kubernetes:keda.sh/*:ScaledObject", path: /spec/scaleTargetRef/name, to: "kubernetes:apps/v1:Deployment"}
#     - {type: "kubernetes:keda.sh/*:ScaledObject", path: /spec/scaleTargetRef/name, to: "kubernetes:apps/v1:StatefulSet"}
#   frameworks:
#     - "OWASP Top 10 for LLM Applications 2025: LLM10 Unbounded Consumption"
#   remediation: >-
#     Lower the scalers' maxima or what queues may borrow, or raise the quota of the namespace. Give a number where
#     nobody can count, such as a maximum of replicas.
package gpuyard.rules.quota.tenant_maximum

# --- what serves, at the most that its scalers may reach

deny contains {"urn": quota.urn, "path": quota.path, "message": message} if {
	some namespace in input.namespaces
	some quota in namespace.quotas
	quota.taken > quota.hard
	message := sprintf("workloads of namespace %v may take %v %v (%v), and ResourceQuota %v allows %v", [
		namespace.name,
		quota.taken,
		quota.resource,
		concat(", ", [sprintf("%v %v", [one.name, one.max]) | some one in quota.by]),
		quota.name,
		quota.hard,
	])
}

# --- a job that never fits, whatever else runs

deny contains {"urn": job.urn, "path": job.path, "message": message} if {
	some namespace in input.namespaces
	some quota in namespace.quotas
	some job in quota.jobs
	job.max > quota.hard
	message := sprintf("%v takes %v %v at once, and ResourceQuota %v of namespace %v allows %v: its pods never all start", [
		job.name,
		job.max,
		quota.resource,
		quota.name,
		namespace.name,
		quota.hard,
	])
}

# --- what serves, and what queues admit beside it

deny contains {"urn": line.urn, "path": line.path, "message": message} if {
	some line in input.queued
	line.taken + line.most > line.allowed
	message := sprintf("namespace %v may have %v %v: its queues %v (%v), its other workloads %v; quotas allow %v", [
		concat(", ", line.namespaces),
		line.taken + line.most,
		line.resource,
		line.most,
		concat(", ", [shown(queue) | some queue in line.queues]),
		line.taken,
		line.allowed,
	])
}

shown(queue) := sprintf("%v %v, of which %v borrowed", [queue.name, queue.most, queue.most - queue.nominal]) if {
	queue.most > queue.nominal
}

else := sprintf("%v %v", [queue.name, queue.nominal])

# --- what nobody can count, where a quota counts it

deny contains {"urn": place.urn, "path": place.path, "message": message, "rests_on": [place.path]} if {
	some namespace in input.namespaces
	some quota in namespace.quotas
	some place in quota.uncounted
	message := sprintf("how many %v %v of namespace %v may take is not known, or has no bound, and ResourceQuota %v counts it", [
		quota.resource,
		place.name,
		namespace.name,
		quota.name,
	])
}

deny contains {"urn": place.urn, "path": place.path, "message": message, "rests_on": [place.path]} if {
	some namespace in input.namespaces
	count(namespace.asked) > 0
	some place in namespace.unclear
	message := sprintf("what ResourceQuota %v of namespace %v allows is not known", [place.name, namespace.name])
}

deny contains {"urn": queue.urn, "path": path, "message": message, "rests_on": [path]} if {
	some namespace in input.namespaces
	count(namespace.quotas) > 0
	some name in namespace.queues
	some queue in input.cluster_queues
	queue.name == name
	queue.provider == namespace.provider
	some path in queue.uncounted
	message := sprintf("what ClusterQueue %v gives to namespace %v is not known", [name, namespace.name])
}

# --- endpoints of gpuyard, whose namespace may be another stack's

deny contains {"urn": input.urn, "path": path, "message": message} if {
	is_object(input.capacity.tenants)
	some tenant, groups in input.capacity.tenants
	is_object(groups)
	some group, share in groups
	is_number(share.quota)
	is_number(share.borrow)
	share.endpoints_max > share.quota + share.borrow
	path := sprintf("/capacity/tenants/%v/%v", [tenant, group])
	message := sprintf("endpoints of tenant %v may take %v accelerators of %v, and its share is %v", [
		tenant,
		share.endpoints_max,
		group,
		share.quota + share.borrow,
	])
}
