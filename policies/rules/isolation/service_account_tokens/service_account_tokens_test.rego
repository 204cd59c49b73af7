package gpuyard.rules.isolation.service_account_tokens_test

import data.gpuyard.rules.isolation.service_account_tokens

denied(pods, objects) := found if {
	found := {finding.path | some finding in service_account_tokens.deny} with input as {
		"limits": {"namespaces": {"system": ["kube-*"], "privileged": []}},
		"pods": pods,
		"objects": objects,
	}
}

pod(spec) := {
	"urn": "u",
	"object": "",
	"path": "/spec",
	"kind": "Deployment",
	"namespace": "fraud",
	"whole": true,
	"accelerated": true,
	"spec": spec,
	"containers": [],
}

mounted := {"/spec/automountServiceAccountToken"}

account(name, body) := {"urn": "s", "path": "", "name": name, "namespace": "fraud", "body": body}

test_a_server_without_the_token_is_allowed if denied([pod({"automountServiceAccountToken": false})], {}) == set()

test_an_account_that_withholds_its_token_is_allowed if {
	held := {"ServiceAccount": [account("model", {"automountServiceAccountToken": false})]}
	denied([pod({"serviceAccountName": "model"})], held) == set()
}

test_an_account_of_somebody_else_is_not_judged if denied([pod({"serviceAccountName": "model"})], {}) == set()

test_an_account_with_rights_is_allowed_to_have_its_token if {
	binding := {"urn": "b", "path": "", "body": {"subjects": [{"kind": "ServiceAccount", "name": "ray"}]}}
	given := {"RoleBinding.rbac.authorization.k8s.io": [binding], "ServiceAccount": [account("ray", {})]}
	denied([pod({"serviceAccountName": "ray"})], given) == set()
	denied([pod({"serviceAccountName": "ray", "automountServiceAccountToken": true})], given) == set()
}

test_jobs_and_pods_without_accelerators_are_not_judged if {
	denied([object.union(pod({}), {"kind": "Job"}), object.union(pod({}), {"accelerated": false})], {}) == set()
}

test_pods_of_the_platform_are_not_judged if {
	denied([object.union(pod({}), {"namespace": "kube-system"})], {}) == set()
}

test_a_pod_of_which_somebody_else_says_the_rest_is_not_judged if {
	denied([object.union(pod({}), {"whole": false})], {}) == set()
}

test_a_server_that_says_nothing_is_denied if denied([pod({})], {}) == mounted

test_a_server_that_asks_for_the_token_is_denied if {
	denied([pod({"automountServiceAccountToken": true})], {}) == mounted
	held := {"ServiceAccount": [account("model", {"automountServiceAccountToken": false})]}
	denied([pod({"serviceAccountName": "model", "automountServiceAccountToken": true})], held) == mounted
}

test_an_account_that_says_nothing_is_denied if {
	denied([pod({"serviceAccountName": "model"})], {"ServiceAccount": [account("model", {})]}) == mounted
}
