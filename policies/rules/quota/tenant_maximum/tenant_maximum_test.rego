package gpuyard.rules.quota.tenant_maximum_test

import data.gpuyard.rules.quota.tenant_maximum

quota(more) := object.union(
	{
		"urn": "quota",
		"path": "/spec/hard/requests.nvidia.com~1gpu",
		"name": "gpus",
		"resource": "nvidia.com/gpu",
		"hard": 8,
		"taken": 0,
		"by": [],
		"jobs": [],
		"uncounted": [],
	},
	more,
)

stack(more) := {"urn": "stack", "capacity": {}, "namespaces": [{"name": "fraud", "quotas": [quota(more)]}], "queued": []}

messages(given) := found if {
	found := {finding.message | some finding in tenant_maximum.deny} with input as given
}

test_workloads_at_their_quota_are_allowed if messages(stack({"taken": 8})) == set()

test_a_quota_that_is_not_known_is_not_judged if {
	given := {"namespaces": [{"name": "fraud", "quotas": [object.remove(quota({"taken": 90}), ["hard"])]}]}
	messages(given) == set()
}

test_a_maximum_beyond_the_quota_is_denied if {
	messages(stack({"taken": 16, "by": [{"name": "Deployment model", "max": 16}]})) == {concat("", [
		"workloads of namespace fraud may take 16 nvidia.com/gpu (Deployment model 16), ",
		"and ResourceQuota gpus allows 8",
	])}
}

job(most) := {"urn": "job", "path": "/spec/parallelism", "name": "Job train", "max": most}

test_jobs_that_fit_one_by_one_are_allowed if messages(stack({"jobs": [job(8), job(4)]})) == set()

test_a_job_that_never_fits_is_denied if {
	messages(stack({"jobs": [job(16)]})) == {concat("", [
		"Job train takes 16 nvidia.com/gpu at once, ",
		"and ResourceQuota gpus of namespace fraud allows 8: its pods never all start",
	])}
}

line(more) := object.union(
	{
		"urn": "quota",
		"path": "/spec/hard/requests.nvidia.com~1gpu",
		"resource": "nvidia.com/gpu",
		"namespaces": ["fraud"],
		"queues": [{"name": "fraud", "nominal": 8, "most": 8}],
		"taken": 0,
		"most": 8,
		"allowed": 8,
	},
	more,
)

test_queues_within_the_quota_are_allowed if messages({"queued": [line({})]}) == set()

test_a_queue_without_a_known_bound_is_not_judged if {
	messages({"queued": [object.remove(line({"taken": 8}), ["most"])]}) == set()
}

test_borrowing_past_the_quota_is_denied if {
	queues := [{"name": "fraud", "nominal": 8, "most": 16}]
	messages({"queued": [line({"queues": queues, "most": 16})]}) == {concat("", [
		"namespace fraud may have 16 nvidia.com/gpu: its queues 16 (fraud 16, of which 8 borrowed), ",
		"its other workloads 0; quotas allow 8",
	])}
}

test_a_second_queue_past_the_quota_is_denied if {
	queues := [{"name": "fraud", "nominal": 8, "most": 8}, {"name": "night", "nominal": 8, "most": 8}]
	messages({"queued": [line({"queues": queues, "most": 16})]}) == {concat("", [
		"namespace fraud may have 16 nvidia.com/gpu: its queues 16 (fraud 8, night 8), ",
		"its other workloads 0; quotas allow 8",
	])}
}

test_what_serves_beside_queues_is_denied_where_both_do_not_fit if {
	count(messages({"queued": [line({"taken": 1})]})) == 1
}

test_what_nobody_can_count_is_denied_and_says_on_what_it_rests if {
	place := {"urn": "scaler", "path": "/spec/maxReplicas", "name": "Deployment model"}
	some finding in tenant_maximum.deny with input as stack({"uncounted": [place]})
	[finding.urn, finding.path, finding.rests_on] == ["scaler", "/spec/maxReplicas", ["/spec/maxReplicas"]]
	contains(finding.message, "Deployment model of namespace fraud may take is not known")
}

test_a_queue_that_is_not_known_is_a_finding_that_rests_on_it if {
	space := {"name": "fraud", "provider": "k8s", "queues": ["fraud"], "quotas": [quota({})], "asked": [], "unclear": []}
	queue := {"urn": "queue", "name": "fraud", "provider": "k8s", "uncounted": ["/spec/resourceGroups"]}
	some finding in tenant_maximum.deny with input as {"namespaces": [space], "cluster_queues": [queue]}
	[finding.urn, finding.rests_on] == ["queue", ["/spec/resourceGroups"]]
}

test_a_quota_that_is_not_known_is_a_finding_that_rests_on_it if {
	place := {"urn": "quota", "path": "/spec/hard", "name": "gpus"}
	space := {"name": "fraud", "queues": [], "quotas": [], "asked": ["nvidia.com/gpu"], "unclear": [place]}
	some finding in tenant_maximum.deny with input as {"namespaces": [space]}
	[finding.urn, finding.rests_on] == ["quota", ["/spec/hard"]]
}

tenants(most) := {"urn": "stack", "capacity": {"tenants": {"fraud": {"l40s": {
	"quota": 8,
	"borrow": 4,
	"endpoints_max": most,
}}}}}

test_endpoints_within_their_share_are_allowed if messages(tenants(12)) == set()

test_endpoints_beyond_their_share_are_denied if {
	messages(tenants(13)) == {"endpoints of tenant fraud may take 13 accelerators of l40s, and its share is 12"}
}
