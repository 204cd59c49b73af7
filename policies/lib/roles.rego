# What roles of Kubernetes let whoever has them do: those of a program, and Kubernetes' own.
package gpuyard.lib.roles

role_of(binding) := {
	"kind": object.get(binding.body, ["roleRef", "kind"], ""),
	"name": object.get(binding.body, ["roleRef", "name"], ""),
	"namespace": object.get(binding, "namespace", ""),
}

# Kubernetes' own, as far as they write.
known := {
	"admin": [{"apiGroups": ["", "apps", "batch", "rbac.authorization.k8s.io"], "resources": ["pods", "secrets", "roles"], "verbs": ["create", "update"]}],
	"cluster-admin": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}],
	"edit": [{"apiGroups": ["", "apps", "batch"], "resources": ["pods", "secrets"], "verbs": ["create", "update"]}],
}

rules(role) := array.concat(object.get(known, role.name, []), own) if {
	role.kind == "ClusterRole"
	own := [rule |
		some found in cluster_roles
		part_of(found, role.name)
		some rule in listed(found.body, "rules")
		is_object(rule)
	]
} else := [rule |
	some found in input.objects["Role.rbac.authorization.k8s.io"]
	found.name == role.name
	object.get(found, "namespace", "") == role.namespace
	some rule in listed(found.body, "rules")
	is_object(rule)
]

cluster_roles := object.get(input.objects, "ClusterRole.rbac.authorization.k8s.io", [])

# A cluster role by its name, those that its aggregation selects, and those that add themselves to Kubernetes' own.
part_of(found, name) if found.name == name

part_of(found, name) if {
	some role in cluster_roles
	role.name == name
	some selector in listed(object.get(role.body, "aggregationRule", {}), "clusterRoleSelectors")
	selects(selector, object.get(found.body, ["metadata", "labels"], {}))
}

part_of(found, name) if {
	name in ["admin", "edit", "view"]
	object.get(found.body, ["metadata", "labels", sprintf("rbac.authorization.k8s.io/aggregate-to-%v", [name])], "") == "true"
}

selects(selector, labels) if {
	is_object(selector)
	is_object(labels)
	object.get(selector, "matchExpressions", []) == []
	wanted := object.get(selector, "matchLabels", {})
	is_object(wanted)
	others := [key | some key, value in wanted; object.get(labels, key, null) != value]
	count(others) == 0
}

listed(value, name) := found if {
	is_object(value)
	found := object.get(value, name, [])
	is_array(found)
} else := []

changing := ["*", "bind", "create", "delete", "deletecollection", "escalate", "impersonate", "patch", "update"]

writes(role) := {sprintf("%v %v", [verb, resource]) |
	some rule in rules(role)
	some verb in listed(rule, "verbs")
	verb in changing
	some resource in listed(rule, "resources")
}

# What ends in power over the cluster or others' pods where it is not bound to one namespace. Others' secrets are read by
# reading alone.
reaching := [
	"*", "*/attach", "*/ephemeralcontainers", "*/exec", "*/proxy", "*/token", "clusterrolebindings", "clusterroles", "configmaps", "cronjobs", "customresourcedefinitions", "daemonsets",
	"deployments", "jobs", "mutatingwebhookconfigurations", "namespaces", "nodes", "nodes/proxy", "persistentvolumes", "pods",
	"pods/attach", "pods/ephemeralcontainers", "pods/exec", "replicasets", "rolebindings", "roles", "secrets",
	"serviceaccounts", "serviceaccounts/token", "statefulsets", "validatingadmissionpolicies",
	"validatingadmissionpolicybindings", "validatingwebhookconfigurations",
]

powers(role) := (changes(role) | readings(role)) | {usurped |
	some rule in rules(role)
	some usurped in usurping(rule)
}

changes(role) := {sprintf("%v %v", [verb, resource]) |
	some rule in rules(role)
	some verb in listed(rule, "verbs")
	verb in changing
	some resource in listed(rule, "resources")
	resource in reaching
	[verb, resource] != ["*", "*"]
}

readings(role) := {sprintf("%v secrets", [verb]) |
	some rule in rules(role)
	some verb in listed(rule, "verbs")
	verb in ["get", "list", "watch"]
	some resource in listed(rule, "resources")
	resource in ["*", "secrets"]
} | {sprintf("get %v", [resource]) |
	# A kubelet runs commands in its pods for whoever may read from it.
	some rule in rules(role)
	"get" in listed(rule, "verbs")
	some resource in listed(rule, "resources")
	resource in ["*/proxy", "nodes/proxy"]
}

usurping(rule) := {sprintf("%v %v", [verb, resource]) |
	some verb in listed(rule, "verbs")
	verb in ["bind", "escalate", "impersonate"]
	some resource in listed(rule, "resources")
} | {"do everything" |
	"*" in listed(rule, "verbs")
	"*" in listed(rule, "resources")
}

# Kubernetes' own admin may not: who is kept by a quota does not write it.
unwalling(rule) := {sprintf("%v %v", [verb, resource]) |
	some verb in listed(rule, "verbs")
	verb in changing
	some resource in listed(rule, "resources")
	resource in ["limitranges", "resourcequotas"]
}
