# METADATA
# title: Tenants have no power over the platform
# description: >-
#   The pods of the GPU Operator are privileged: whoever may write into its namespace, or bind and take on roles, owns
#   every node with a GPU. A role is wider than its name says where it is bound for the whole cluster, has a wildcard, or is
#   added to view, edit or admin by a label.
# custom:
#   id: I2
#   severity: critical
#   level: mandatory
#   on_unknown: deny
#   scope: stack
#   waivable: true
#   reads:
#     - {type: "aws:eks/accessEntry:AccessEntry", path: /kubernetesGroups, fires: true}
#     - {type: "aws:eks/accessPolicyAssociation:AccessPolicyAssociation", path: /accessScope, fires: true}
#     - {type: "aws:eks/accessPolicyAssociation:AccessPolicyAssociation", path: /policyArn, fires: true}
#     - {type: "aws:eks/accessPolicyAssociation:AccessPolicyAssociation", path: /principalArn, fires: true}
#     - {type: "gpuyard:index:Tenant", path: /groups, fires: true}
#     - {type: "gpuyard:index:Tenant", path: /viewers, fires: true}
#     - {type: "kubernetes:rbac.authorization.k8s.io/*:ClusterRole", path: /metadata/labels}
#     - {type: "kubernetes:rbac.authorization.k8s.io/*:ClusterRole", path: /rules}
#     - {type: "kubernetes:rbac.authorization.k8s.io/*:Role", path: /rules}
#     - {type: "kubernetes:rbac.authorization.k8s.io/*:ClusterRoleBinding", path: /roleRef}
#     - {type: "kubernetes:rbac.authorization.k8s.io/*:ClusterRoleBinding", path: /subjects}
#     - {type: "kubernetes:rbac.authorization.k8s.io/*:RoleBinding", path: /roleRef}
#     - {type: "kubernetes:rbac.authorization.k8s.io/*:RoleBinding", path: /subjects}
#   refers:
#     - {type: "kubernetes:*", path: /metadata/namespace, to: "kubernetes:core/v1:Namespace"}
#   thresholds:
#     platform_subjects:
#       type: texts
#       default: []
#       description: Groups, users and service accounts of the platform's own people; * stands for any characters.
#   frameworks:
#     - "CIS Amazon EKS Benchmark 1.7.0: 4.1.1, 4.1.2, 4.1.3"
#     - "NSA and CISA Kubernetes Hardening Guidance: Authentication and authorization"
#   remediation: >-
#     Bind tenants to roles in their own namespaces, with the verbs and resources that they need written out. Who runs the
#     platform is told apart by the threshold `platform_subjects` of this rule; an operator's namespace belongs to
#     `namespaces.system` in policies/limits.
package gpuyard.rules.isolation.tenant_access

import data.gpuyard.lib.match
import data.gpuyard.lib.roles
import data.gpuyard.lib.tenants

# --- whom a role is given to

deny contains finding if {
	some binding in cluster_bindings
	some i, subject in subjects(binding)
	tenant(subject)
	some power in roles.powers(roles.role_of(binding))
	finding := told(binding, i, sprintf("%v may %v, in every namespace", [shown(subject), power]))
}

deny contains finding if {
	some binding in bindings
	operators(binding)
	some i, subject in subjects(binding)
	tenant(subject)
	some write in roles.writes(roles.role_of(binding))
	finding := told(binding, i, sprintf("%v may %v in namespace %v, whose pods are privileged", [shown(subject), write, binding.namespace]))
}

deny contains finding if {
	some binding in bindings
	not operators(binding)
	some i, subject in subjects(binding)
	tenant(subject)
	some rule in roles.rules(roles.role_of(binding))
	some what in (roles.usurping(rule) | roles.unwalling(rule))
	message := sprintf("%v may %v in namespace %v, and so take away its quota and its walls", [shown(subject), what, binding.namespace])
	finding := object.union(told(binding, i, message), {"level": "advisory"})
}

told(binding, i, what) := {
	"urn": binding.urn,
	"path": sprintf("%v/subjects/%v", [binding.path, i]),
	"message": sprintf("%v (by role %v)", [what, object.get(binding.body, ["roleRef", "name"], "")]),
	"rests_on": [sprintf("%v/%v", [binding.path, part]) | some part in ["metadata/namespace", "roleRef", "subjects"]],
}

cluster_bindings := object.get(input.objects, "ClusterRoleBinding.rbac.authorization.k8s.io", [])

bindings := object.get(input.objects, "RoleBinding.rbac.authorization.k8s.io", [])

subjects(binding) := roles.listed(binding.body, "subjects")

operators(binding) if {
	is_string(binding.namespace)
	match.one_of(input.limits.namespaces.privileged, binding.namespace)
}

shown(subject) := sprintf("service account %v/%v", [subject.namespace, object.get(subject, "name", "")]) if {
	subject.kind == "ServiceAccount"
	is_string(subject.namespace)
} else := sprintf("%v %v", [lower(subject.kind), object.get(subject, "name", "")]) if {
	is_string(subject.kind)
} else := "somebody"

# --- who is a tenant: everybody, pods of tenants' namespaces, and whoever has a role in one of these alone

tenant(subject) if {
	is_string(subject.name)
	subject.kind == "Group"
	subject.name in ["system:anonymous", "system:authenticated", "system:serviceaccounts", "system:unauthenticated"]
}

tenant(subject) if {
	subject.kind == "User"
	subject.name == "system:anonymous"
}

tenant(subject) if {
	is_string(subject.name)
	some namespace in own_namespaces
	of_accounts(subject, namespace)
	not of_the_platform(subject)
}

tenant(subject) if {
	subject.kind == "ServiceAccount"
	subject.namespace in own_namespaces
	not of_the_platform(subject)
}

tenant(subject) if {
	subject.kind in ["Group", "User"]
	is_string(subject.name)
	subject.name in tenants_people
	not of_the_platform(subject)
}

# Kubernetes' names for the service accounts of a namespace: all of them, and each.
of_accounts(subject, namespace) if {
	subject.kind == "Group"
	subject.name == sprintf("system:serviceaccounts:%v", [namespace])
}

of_accounts(subject, namespace) if {
	subject.kind == "User"
	startswith(subject.name, sprintf("system:serviceaccount:%v:", [namespace]))
}

of_the_platform(subject) if {
	is_string(subject.name)
	match.one_of(input.limits.thresholds["isolation/tenant_access"].platform_subjects, subject.name)
}

own_namespaces := {namespace.name | some namespace in tenants.namespaces; namespace.name != ""}

tenants_people contains name if {
	some tenant_ in input.by_type["gpuyard:index:Tenant"]
	some part in ["groups", "viewers"]
	some name in roles.listed(tenant_.inputs, part)
}

# Whoever has roles in several is more likely one who runs them all.
tenants_people contains name if {
	some name, where in roles_in
	count(where) == 1
}

roles_in[name] contains binding.namespace if {
	some binding in bindings
	binding.namespace in own_namespaces
	some subject in subjects(binding)
	subject.kind in ["Group", "User"]
	name := subject.name
}

# --- roles that add themselves to those which tenants have

deny contains finding if {
	some role in input.objects["ClusterRole.rbac.authorization.k8s.io"]
	some name in ["admin", "edit", "view"]
	object.get(role.body, ["metadata", "labels", sprintf("rbac.authorization.k8s.io/aggregate-to-%v", [name])], "") == "true"
	some i, rule in roles.listed(role.body, "rules")
	is_object(rule)
	some added in aggregated(name, rule)
	path := sprintf("%v/rules/%v", [role.path, i])
	finding := {
		"urn": role.urn,
		"path": path,
		"message": sprintf("cluster role %v adds %v to %v, for everybody who has it", [role.name, added, name]),
		"rests_on": [path, sprintf("%v/metadata/labels", [role.path])],
	}
}

aggregated(name, rule) := roles.usurping(rule) | {"the reading of secrets" |
	name == "view"
	some verb in roles.listed(rule, "verbs")
	verb in ["get", "list", "watch"]
	"secrets" in roles.listed(rule, "resources")
	"" in roles.listed(rule, "apiGroups")
}

# --- EKS: a policy of AWS's own, for a principal that is a tenant's

deny contains finding if {
	some association in input.by_type["aws:eks/accessPolicyAssociation:AccessPolicyAssociation"]
	policy := object.get(association.inputs, "policyArn", "")
	some power in ["AmazonEKSAdminPolicy", "AmazonEKSClusterAdminPolicy", "AmazonEKSEditPolicy"]
	is_string(policy)
	endswith(policy, sprintf("/%v", [power]))
	where := reach(association)
	some entry in input.by_type["aws:eks/accessEntry:AccessEntry"]
	entry.inputs.principalArn == association.inputs.principalArn
	some group in roles.listed(entry.inputs, "kubernetesGroups")
	tenant({"kind": "Group", "name": group})
	finding := {
		"urn": association.urn,
		"path": "/accessScope",
		"message": sprintf("%v is of the tenant's group %v, and has %v %v", [association.inputs.principalArn, group, power, where]),
		"rests_on": ["/accessScope", "/policyArn", "/principalArn"],
	}
}

reach(association) := "in every namespace" if object.get(association.inputs, ["accessScope", "type"], "") == "cluster"

else := sprintf("in namespace %v, whose pods are privileged", [sort(found)[0]]) if {
	found := {name |
		some name in roles.listed(object.get(association.inputs, "accessScope", {}), "namespaces")
		is_string(name)
		match.one_of(input.limits.namespaces.privileged, name)
	}
	count(found) > 0
}
