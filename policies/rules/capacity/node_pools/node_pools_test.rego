package gpuyard.rules.capacity.node_pools_test

import data.gpuyard.rules.capacity.node_pools

market(values) := {"key": "karpenter.sh/capacity-type", "operator": "In", "values": values}

pool(spec) := {"urn": "pool", "path": "", "name": "gpu", "patch": false, "body": {"spec": spec}}

stack(spec, each) := {
	"objects": {"NodePool.karpenter.sh": [pool(spec)]},
	"capacity": {"groups": [{"urn": "pool", "accelerators_a_node": each}]},
}

paths(given) := found if {
	found := {finding.path | some finding in node_pools.deny} with input as given
}

limited := {"limits": {"nvidia.com/gpu": 8}}

test_a_pool_with_limits_is_allowed if paths(stack(limited, 4)) == set()

test_a_pool_that_consolidates_is_allowed if {
	paths(stack(object.union(limited, {"disruption": {"consolidateAfter": "10m"}}), 4)) == set()
}

test_a_pool_of_a_fixed_size_is_allowed if {
	paths(stack({"replicas": 2, "disruption": {"consolidateAfter": "Never"}}, 4)) == set()
}

test_a_pool_without_accelerators_is_not_judged if paths(stack({}, 0)) == set()

test_reserved_machines_may_stay_and_are_allowed if {
	disruption := {"disruption": {"consolidateAfter": "Never"}}
	template := {"template": {"spec": {"requirements": [market(["reserved"])]}}}
	paths(stack(object.union_n([limited, disruption, template]), 4)) == set()
}

test_a_budget_for_some_hours_is_allowed if {
	budgets := [{"nodes": "0", "schedule": "0 9 * * mon-fri", "duration": "8h"}, {"nodes": "0", "reasons": ["Drifted"]}]
	paths(stack(object.union(limited, {"disruption": {"budgets": budgets}}), 4)) == set()
}

test_a_pool_without_limits_is_denied if paths(stack({}, 4)) == {"/spec/limits"}

test_a_limit_of_what_machines_are_not_counted_by_is_denied if {
	paths(stack({"limits": {"ephemeral-storage": "1Ti"}}, 4)) == {"/spec/limits"}
}

test_a_pool_in_a_group_of_objects_is_judged_by_its_taint if {
	taints := {"template": {"spec": {"taints": [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}]}}}
	paths({"objects": {"NodePool.karpenter.sh": [pool(taints)]}, "capacity": {"groups": []}}) == {"/spec/limits"}
}

test_a_pool_that_never_gives_back_is_denied if {
	paths(stack(object.union(limited, {"disruption": {"consolidateAfter": "Never"}}), 4)) == {
		"/spec/disruption/consolidateAfter",
	}
}

test_reserved_and_other_machines_that_stay_are_denied if {
	disruption := {"disruption": {"consolidateAfter": "Never"}}
	template := {"template": {"spec": {"requirements": [market(["reserved", "on-demand"])]}}}
	count(paths(stack(object.union_n([limited, disruption, template]), 4))) == 1
}

test_a_budget_of_nothing_is_denied if {
	budgets := [{"nodes": "10%"}, {"nodes": "0%", "reasons": ["Empty"]}]
	paths(stack(object.union(limited, {"disruption": {"budgets": budgets}}), 4)) == {"/spec/disruption/budgets/1"}
}
