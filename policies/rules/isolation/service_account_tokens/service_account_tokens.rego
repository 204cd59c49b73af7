# METADATA
# title: Model servers do not carry the cluster's credentials
# description: >-
#   Kubernetes mounts the token of a service account into every pod unless it is told not to. A model server never calls
#   the cluster's API, so whoever takes it over should not find the key to it there.
# custom:
#   id: I11
#   severity: medium
#   level: advisory
#   on_unknown: skip
#   scope: stack
#   waivable: true
#   reads:
#     - {type: pod, path: /automountServiceAccountToken}
#     - {type: pod, path: /serviceAccountName}
#   refers:
#     - {type: "kubernetes:*", path: /metadata/namespace, to: "kubernetes:core/v1:Namespace"}
#   frameworks:
#     - "CIS Amazon EKS Benchmark 1.7.0: 4.1.6"
#     - "NSA and CISA Kubernetes Hardening Guidance: Pod security"
#   remediation: >-
#     Set automountServiceAccountToken to false in the pod's spec. Credentials of a cloud do not need it: EKS and GKE give
#     those by tokens of their own.
package gpuyard.rules.isolation.service_account_tokens

import data.gpuyard.lib.tenants

deny contains finding if {
	some pod in tenants.pods
	pod.whole == true
	pod.accelerated == true
	pod.kind in ["Deployment", "LeaderWorkerSet", "Pod", "ReplicaSet", "ReplicationController", "StatefulSet"]
	mounts(pod)
	path := sprintf("%v/automountServiceAccountToken", [pod.path])
	finding := {
		"urn": pod.urn,
		"path": path,
		"message": sprintf("the token of service account %v is mounted into a model server: %v", [
			account(pod),
			"set automountServiceAccountToken to false",
		]),
		"rests_on": [path, sprintf("%v/serviceAccountName", [pod.path]), tenants.namespace_of(pod)],
	}
}

account(pod) := name if {
	name := object.get(pod.spec, "serviceAccountName", "")
	is_string(name)
	name != ""
} else := "default"

said(pod) := object.get(pod.spec, "automountServiceAccountToken", null)

# The pod's own word goes over its account's. Rights that are given to the account are a reason to have its token.
mounts(pod) if {
	said(pod) == true
	not entitled(pod)
}

mounts(pod) if {
	said(pod) == null
	not entitled(pod)
	known(pod)
	not withheld(pod)
}

# An account of somebody else may withhold its token: only of the one that each namespace has is it known.
known(pod) if account(pod) == "default"

known(pod) if count(accounts(pod)) > 0

withheld(pod) if {
	some found in accounts(pod)
	object.get(found.body, "automountServiceAccountToken", null) == false
}

accounts(pod) := [found |
	some found in input.objects.ServiceAccount
	found.name == account(pod)
	found.namespace == pod.namespace
]

entitled(pod) if {
	some kind in ["ClusterRoleBinding.rbac.authorization.k8s.io", "RoleBinding.rbac.authorization.k8s.io"]
	some binding in input.objects[kind]
	subjects := object.get(binding.body, "subjects", [])
	is_array(subjects)
	some subject in subjects
	subject.kind == "ServiceAccount"
	subject.name == account(pod)
}
