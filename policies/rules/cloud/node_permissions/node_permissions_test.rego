package gpuyard.rules.cloud.node_permissions_test

import data.gpuyard.rules.cloud.node_permissions

thresholds := {
	"managed_policies": ["AdministratorAccess", "*FullAccess"],
	"actions": ["s3:getobject", "iam:passrole"],
	"roles": ["roles/editor", "roles/iam.*"],
}

found(given) := findings if {
	findings := node_permissions.deny with input as object.union(
		{"by_type": {}, "trusts": {"node": ["ec2.amazonaws.com"]}, "permissions": [], "limits": {"thresholds": {"cloud/node_permissions": thresholds}}},
		given,
	)
}

denied(given) := {[finding.urn, finding.path] | some finding in found(given)}

held(permission) := {"permissions": [object.union({"urn": "a", "path": "/policyArn", "holder": "/role", "references": {"/role": "node"}}, permission)]}

statement(actions, given) := held({"path": "/policy", "statements": [object.union(
	{"actions": actions, "all_but": false, "everything": true, "conditional": false},
	given,
)]})

test_what_a_node_needs_is_allowed if {
	denied(held({"managed": "AmazonEKSWorkerNodePolicy"})) == set()
	denied(statement(["s3:getobject", "s3:*"], {"everything": false})) == set()
	denied(statement(["ec2:describeinstances", "ecr:getauthorizationtoken"], {})) == set()
	denied(statement(["s3:getobject"], {"conditional": true})) == set()
}

test_the_same_of_another_role_is_not_judged if {
	denied(object.union(held({"managed": "AdministratorAccess"}), {"trusts": {"node": ["pods.eks.amazonaws.com"]}})) == set()
}

test_a_managed_policy_that_is_too_wide_is_denied if {
	denied(held({"managed": "AdministratorAccess"})) == {["a", "/policyArn"]}
	denied(held({"managed": "AmazonS3FullAccess"})) == {["a", "/policyArn"]}
	on_the_role := {"permissions": [{"urn": "node", "path": "/managedPolicyArns/0", "holder": "", "references": {}, "managed": "AdministratorAccess"}]}
	denied(on_the_role) == {["node", "/managedPolicyArns/0"]}
}

test_all_actions_of_a_service_on_everything_are_denied if {
	denied(statement(["s3:*"], {})) == {["a", "/policy"]}
	denied(statement(["*"], {"conditional": true})) == {["a", "/policy"]}
	denied(statement([], {"all_but": true})) == {["a", "/policy"]}
}

test_an_action_that_gives_models_or_roles_away_is_denied if {
	denied(statement(["s3:get*"], {})) == {["a", "/policy"]}
	denied(statement(["iam:passrole"], {})) == {["a", "/policy"]}
}

test_a_policy_by_itself_is_denied_where_a_node_is_given_it if {
	policy := {"urn": "p", "path": "/policy", "references": {}, "statements": [{"actions": ["s3:*"], "all_but": false, "everything": true, "conditional": false}]}
	attached := {"urn": "a", "path": "/policyArn", "policy": "/policyArn", "holder": "/role", "references": {"/role": "node", "/policyArn": "p"}}
	denied({"permissions": [policy, attached]}) == {["p", "/policy"]}
	denied({"permissions": [policy]}) == set()
}

test_a_role_that_a_node_group_names_is_judged_whoever_may_take_it if {
	group := {"aws:eks/nodeGroup:NodeGroup": [{"urn": "g", "references": {"/nodeRoleArn": "node"}}]}
	denied(object.union(held({"managed": "AdministratorAccess"}), {"trusts": {}, "by_type": group})) == {["a", "/policyArn"]}
}

test_a_policy_that_is_not_known_is_a_finding_of_a_node_only if {
	inline := {"urn": "i", "unknown": ["/policy"], "references": {"/role": "node"}}
	denied({"by_type": {"aws:iam/rolePolicy:RolePolicy": [inline]}}) == {["i", "/policy"]}
	denied({"trusts": {"node": ["lambda.amazonaws.com"]}, "by_type": {"aws:iam/rolePolicy:RolePolicy": [inline]}}) == set()
	denied({"by_type": {"aws:iam/rolePolicy:RolePolicy": [{"urn": "i", "unknown": ["/policy"], "references": {}}]}}) == set()
}

pool(account) := {"gcp:container/nodePool:NodePool": [{
	"urn": "pool",
	"unknown": [],
	"references": {},
	"inputs": {"nodeConfig": {"serviceAccount": account}},
}]}

test_nodes_with_an_account_of_their_own_are_allowed if {
	denied({"by_type": pool("nodes@example.iam.gserviceaccount.com")}) == set()
	unknown := {"urn": "pool", "unknown": ["/nodeConfig/serviceAccount"], "references": {}, "inputs": {"nodeConfig": {}}}
	denied({"by_type": {"gcp:container/nodePool:NodePool": [unknown]}}) == set()
}

test_nodes_with_the_default_account_are_denied if {
	path := {["pool", "/nodeConfig/serviceAccount"]}
	denied({"by_type": pool("default")}) == path
	denied({"by_type": pool("123456789012-compute@developer.gserviceaccount.com")}) == path
	denied({"by_type": {"gcp:container/nodePool:NodePool": [{"urn": "pool", "unknown": [], "references": {}, "inputs": {}}]}}) == path
}

cluster(inputs) := {"gcp:container/cluster:Cluster": [{"urn": "k", "unknown": [], "references": {}, "inputs": inputs}]}

test_pools_that_gke_makes_are_judged if {
	path := "/clusterAutoscaling/autoProvisioningDefaults/serviceAccount"
	denied({"by_type": cluster({"enableAutopilot": true})}) == {["k", path]}
	own := {"clusterAutoscaling": {"autoProvisioningDefaults": {"serviceAccount": "nodes@example.iam.gserviceaccount.com"}}}
	denied({"by_type": cluster(object.union({"enableAutopilot": true}, own))}) == set()
	denied({"by_type": cluster({"removeDefaultNodePool": true})}) == set()
	denied({"by_type": cluster({})}) == {["k", "/nodeConfig/serviceAccount"]}
}

bound(role, account) := {"permissions": [{"urn": "b", "path": "/role", "role": role, "references": {}, "members": [{"path": "/member", "account": account}]}]}

nodes := "nodes@example.iam.gserviceaccount.com"

test_a_role_of_somebody_else_is_allowed if {
	denied(object.union(bound("roles/editor", "ci@example.iam.gserviceaccount.com"), {"by_type": pool(nodes)})) == set()
	denied(object.union(bound("roles/container.defaultNodeServiceAccount", nodes), {"by_type": pool(nodes)})) == set()
}

test_a_role_of_nodes_that_is_too_wide_is_denied if {
	denied(object.union(bound("roles/editor", nodes), {"by_type": pool(nodes)})) == {["b", "/role"]}
	denied(object.union(bound("roles/iam.serviceAccountUser", nodes), {"by_type": pool(nodes)})) == {["b", "/role"]}
	by_dependency := {
		"permissions": [{"urn": "b", "path": "/role", "role": "roles/editor", "references": {"/member": "sa"}, "members": [{"path": "/member"}]}],
		"by_type": {"gcp:container/nodePool:NodePool": [{
			"urn": "pool",
			"unknown": ["/nodeConfig/serviceAccount"],
			"references": {"/nodeConfig/serviceAccount": "sa"},
			"inputs": {"nodeConfig": {}},
		}]},
	}
	denied(by_dependency) == {["b", "/role"]}
}
