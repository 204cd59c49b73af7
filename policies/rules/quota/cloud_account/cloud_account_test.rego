package gpuyard.rules.quota.cloud_account_test

import data.gpuyard.rules.quota.cloud_account

quota(more) := object.union(
	{
		"cloud": "aws",
		"account": "111122223333",
		"region": "us-east-1",
		"code": "L-417A185B",
		"name": "Running On-Demand P instances",
		"unit": "vcpus",
		"need": 768,
		"groups": ["h100"],
		"limit": 768,
		"fetched": "2026-11-20",
		"age_days": 10,
	},
	more,
)

stack(quotas, limits) := {
	"urn": "stack",
	"environment": "production",
	"date": "2026-11-30",
	"limits": limits,
	"capacity": {"quotas": quotas},
}

found(quotas, limits) := findings if {
	findings := {finding | some finding in cloud_account.deny} with input as stack(quotas, limits)
}

strict := {"account_quota": {"max_age_days": 30, "unchecked": "mandatory"}}

test_groups_at_the_quota_are_allowed if found([quota({})], strict) == set()

test_groups_beyond_the_quota_are_denied_with_need_and_limit if {
	some finding in found([quota({"limit": 192})], {})
	finding.path == "/capacity/quotas/us-east-1/Running On-Demand P instances"
	finding.message == concat("", [
		"h100 may need 768 vcpus of Running On-Demand P instances (L-417A185B), ",
		"and 111122223333 in us-east-1 may have 192, as of 2026-11-20",
	])
}

test_a_quota_without_a_limit_is_allowed if found([quota({"limit": -1})], strict) == set()

test_an_old_snapshot_is_a_finding_that_warns if {
	some finding in found([quota({"age_days": 31})], strict)
	finding.level == "advisory"
	finding.message == "the quotas of 111122223333 in us-east-1 are of 2026-11-20, 31 days ago, and production allows 30"
}

test_a_snapshot_of_a_day_to_come_is_a_finding_that_warns if {
	some finding in found([quota({"age_days": -400, "fetched": "2028-01-04"})], {})
	finding.level == "advisory"
	finding.message == concat("", [
		"the quotas of 111122223333 in us-east-1 are of 2028-01-04, ",
		"which is after the review of 2026-11-30: how old they are is not known",
	])
	found([quota({"age_days": 0})], strict) == set()
}

test_a_group_that_cannot_be_counted_is_said if {
	some finding in found([quota({"uncounted": ["b200", "spot"]})], {})
	finding.level == "advisory"
	finding.message == concat("", [
		"what b200, spot may need of Running On-Demand P instances (L-417A185B) is not known, ",
		"and 111122223333 in us-east-1 may have 768, as of 2026-11-20",
	])
	some other in found([quota({"uncounted": ["b200"]})], strict)
	other.level == "mandatory"
}

test_a_group_that_cannot_be_counted_is_no_matter_where_there_is_no_limit if {
	found([quota({"uncounted": ["b200"], "limit": -1})], {}) == set()
	found([quota({"uncounted": []})], strict) == set()
	found([quota({"uncounted": {"a": "b"}})], strict) == set()
}

test_what_no_snapshot_tells_is_denied_only_where_the_limits_ask_for_it if {
	unknown := object.remove(quota({"unchecked": "no snapshot of its account and region"}), ["limit", "fetched", "age_days"])
	found([unknown], {}) == set()
	found([unknown], {"account_quota": {"max_age_days": 30}}) == set()
	some finding in found([unknown], strict)
	finding.level == "mandatory"
	finding.message == concat("", [
		"Running On-Demand P instances of 111122223333 in us-east-1 cannot be checked: ",
		"no snapshot of its account and region",
	])
}

test_a_list_that_is_none_is_not_judged if {
	found({"a": "b"}, strict) == set()
	found(["a", 1], strict) == set()
}
