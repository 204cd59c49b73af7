package gpuyard.rules.isolation.tenant_access_test

import data.gpuyard.rules.isolation.tenant_access

judged(objects, by_type, platform) := found if {
	limits := {
		"namespaces": {"system": ["kube-*"], "privileged": ["gpu-operator"]},
		"thresholds": {"isolation/tenant_access": {"platform_subjects": platform}},
	}
	found := [finding |
		some finding in tenant_access.deny with input as {"limits": limits, "objects": objects, "by_type": by_type}
	]
}

denied(objects) := {[finding.urn, object.get(finding, "level", "mandatory")] | some finding in judged(objects, {}, [])}

namespaces := {"Namespace": [{"urn": name, "path": "", "name": name, "patch": false, "body": {}} |
	some name in ["fraud", "vision", "gpu-operator"]
]}

role(kind, name, rules) := {"urn": name, "path": "", "name": name, "namespace": "gpu-operator", "body": {"kind": kind, "rules": rules}}

binding(urn, namespace, reference, who) := {
	"urn": urn,
	"path": "",
	"namespace": namespace,
	"body": {"roleRef": reference, "subjects": who},
}

team := {"kind": "Group", "name": "fraud-ml"}

account := {"kind": "ServiceAccount", "name": "default", "namespace": "fraud"}

cluster_role(name) := {"kind": "ClusterRole", "name": name}

given(bindings, cluster_bindings, roles) := object.union(namespaces, {
	"RoleBinding.rbac.authorization.k8s.io": bindings,
	"ClusterRoleBinding.rbac.authorization.k8s.io": cluster_bindings,
	"ClusterRole.rbac.authorization.k8s.io": roles,
})

own := binding("own", "fraud", cluster_role("edit"), [team])

test_a_role_in_ones_own_namespace_is_allowed if denied(given([own], [], [])) == set()

test_looking_at_the_cluster_is_allowed if {
	denied(given([own, binding("look", "gpu-operator", cluster_role("view"), [team])], [binding("see", "", cluster_role("view"), [team])], [])) == set()
}

test_the_platforms_people_are_allowed if {
	admins := {"kind": "Group", "name": "platform"}
	everywhere := [binding(name, name, cluster_role("admin"), [admins]) | some name in ["fraud", "vision"]]
	denied(given(everywhere, [binding("all", "", cluster_role("cluster-admin"), [admins])], [])) == set()
}

test_those_whom_the_limits_name_are_allowed if {
	judged(given([own], [binding("all", "", cluster_role("cluster-admin"), [team])], []), {}, ["fraud-*"]) == []
}

test_an_operators_account_is_allowed if {
	operator := {"kind": "ServiceAccount", "name": "gpu-operator", "namespace": "gpu-operator"}
	denied(given([], [binding("all", "", cluster_role("cluster-admin"), [operator])], [])) == set()
}

test_what_is_no_power_is_allowed_for_the_whole_cluster if {
	reviews := role("ClusterRole", "reviews", [{"apiGroups": ["authorization.k8s.io"], "resources": ["selfsubjectaccessreviews"], "verbs": ["create"]}])
	denied(given([own], [binding("r", "", cluster_role("reviews"), [team])], [reviews])) == set()
}

test_writing_into_an_operators_namespace_is_denied if {
	denied(given([own, binding("op", "gpu-operator", cluster_role("edit"), [team])], [], [])) == {["op", "mandatory"]}
}

test_a_role_of_ones_own_there_is_denied if {
	objects := object.union(given([own, binding("op", "gpu-operator", {"kind": "Role", "name": "w"}, [account])], [], []), {
		"Role.rbac.authorization.k8s.io": [role("Role", "w", [{"apiGroups": [""], "resources": ["pods/exec"], "verbs": ["create"]}])],
	})
	denied(objects) == {["op", "mandatory"]}
}

test_power_over_the_whole_cluster_is_denied if {
	denied(given([own], [binding("all", "", cluster_role("edit"), [team])], [])) == {["all", "mandatory"]}
	denied(given([], [binding("all", "", cluster_role("cluster-admin"), [account])], [])) == {["all", "mandatory"]}
	secrets := role("ClusterRole", "secrets", [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["list"]}])
	denied(given([], [binding("all", "", cluster_role("secrets"), [account])], [secrets])) == {["all", "mandatory"]}
}

test_power_for_everybody_is_denied if {
	everybody := {"kind": "Group", "name": "system:authenticated"}
	denied(given([], [binding("all", "", cluster_role("cluster-admin"), [everybody])], [])) == {["all", "mandatory"]}
	theirs := {"kind": "Group", "name": "system:serviceaccounts:fraud"}
	denied(given([], [binding("all", "", cluster_role("edit"), [theirs])], [])) == {["all", "mandatory"]}
}

test_rights_to_take_rights_are_denied_as_advice if {
	climb := role("ClusterRole", "climb", [{"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles"], "verbs": ["escalate"]}])
	denied(given([binding("b", "fraud", cluster_role("climb"), [team])], [], [climb])) == {["b", "advisory"]}
	denied(given([binding("b", "fraud", cluster_role("cluster-admin"), [team])], [], [])) == {["b", "advisory"]}
}

adds(name, rule) := given([], [], [{"urn": "r", "path": "", "name": "r", "body": {
	"metadata": {"labels": {sprintf("rbac.authorization.k8s.io/aggregate-to-%v", [name]): "true"}},
	"rules": [rule],
}}])

test_a_role_that_adds_what_tenants_need_is_allowed if {
	denied(adds("edit", {"apiGroups": ["ray.io"], "resources": ["rayclusters"], "verbs": ["*"]})) == set()
	denied(adds("view", {"apiGroups": ["ray.io"], "resources": ["rayclusters"], "verbs": ["get", "list"]})) == set()
}

test_a_role_that_adds_everything_to_others_is_denied if {
	denied(adds("edit", {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]})) == {["r", "mandatory"]}
	denied(adds("admin", {"apiGroups": [""], "resources": ["serviceaccounts"], "verbs": ["impersonate"]})) == {["r", "mandatory"]}
	denied(adds("view", {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]})) == {["r", "mandatory"]}
}

eks(policy, scope) := {finding.path | some finding in judged(
	namespaces, {
		"gpuyard:index:Tenant": [{"urn": "t", "name": "fraud", "inputs": {"groups": ["fraud-ml"]}}],
		"aws:eks/accessEntry:AccessEntry": [{"urn": "e", "inputs": {"principalArn": "arn:aws:iam::1:role/fraud", "kubernetesGroups": ["fraud-ml"]}}],
		"aws:eks/accessPolicyAssociation:AccessPolicyAssociation": [{"urn": "a", "inputs": {
			"principalArn": "arn:aws:iam::1:role/fraud",
			"policyArn": sprintf("arn:aws:eks::aws:cluster-access-policy/%v", [policy]),
			"accessScope": scope,
		}}],
	},
	[],
)}

test_a_tenants_principal_with_power_is_denied if {
	eks("AmazonEKSEditPolicy", {"type": "cluster"}) == {"/accessScope"}
	eks("AmazonEKSAdminPolicy", {"type": "namespace", "namespaces": ["fraud", "gpu-operator"]}) == {"/accessScope"}
}

test_a_tenants_principal_in_its_own_namespace_is_allowed if {
	eks("AmazonEKSAdminPolicy", {"type": "namespace", "namespaces": ["fraud"]}) == set()
	eks("AmazonEKSViewPolicy", {"type": "cluster"}) == set()
}
