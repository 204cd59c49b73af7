package gpuyard.rules.supply_chain.signatures_test

import data.gpuyard.rules.supply_chain.signatures

found(required, given) := findings if {
	findings := signatures.deny with input as object.union(
		{
			"by_type": {},
			"objects": {},
			"releases": [],
			"limits": {"thresholds": {"supply_chain/signatures": {"required": required}}},
		},
		given,
	)
}

denied(required, given) := {[finding.path, object.get(finding, "level", "mandatory")] | some finding in found(required, given)}

sigstore(spec) := {"objects": {"ClusterImagePolicy.policy.sigstore.dev": [{"urn": "p", "path": "", "body": {"spec": spec}}]}}

eks := {"by_type": {"aws:eks/cluster:Cluster": [{"urn": "e", "inputs": {}}]}}

gke(mode) := {"by_type": {"gcp:container/cluster:Cluster": [{"urn": "g", "inputs": {"binaryAuthorization": {"evaluationMode": mode}}}]}}

test_policies_that_enforce_are_allowed if {
	denied(false, sigstore({"images": [{"glob": "**"}]})) == set()
	kyverno := {"urn": "k", "path": "", "body": {"spec": {"validationActions": ["Deny"]}}}
	denied(false, {"objects": {"ImageValidatingPolicy.policies.kyverno.io": [kyverno]}}) == set()
	strict := {"defaultAdmissionRule": {"enforcementMode": "ENFORCED_BLOCK_AND_AUDIT_LOG", "evaluationMode": "REQUIRE_ATTESTATION"}}
	denied(false, {"by_type": {"gcp:binaryauthorization/policy:Policy": [{"urn": "b", "inputs": strict}]}}) == set()
}

test_policies_that_let_everything_in_are_a_finding_that_warns if {
	denied(false, sigstore({"mode": "warn"})) == {["/spec/mode", "advisory"]}
	kyverno := {"urn": "k", "path": "", "body": {"spec": {"validationActions": ["Audit"]}}}
	denied(false, {"objects": {"ImageValidatingPolicy.policies.kyverno.io": [kyverno]}}) == {["/spec/validationActions", "advisory"]}
	weak := {"defaultAdmissionRule": {"enforcementMode": "DRYRUN_AUDIT_LOG_ONLY", "evaluationMode": "ALWAYS_ALLOW"}}
	denied(false, {"by_type": {"gcp:binaryauthorization/policy:Policy": [{"urn": "b", "inputs": weak}]}}) == {
		["/defaultAdmissionRule/enforcementMode", "advisory"],
		["/defaultAdmissionRule/evaluationMode", "advisory"],
	}
}

test_a_cluster_without_a_policy_is_allowed_where_nobody_asks_for_one if {
	denied(false, eks) == set()
	denied(false, gke("DISABLED")) == set()
}

test_a_cluster_without_a_policy_is_denied_where_the_limits_ask_for_one if {
	denied(true, eks) == {["", "mandatory"]}
	denied(true, gke("DISABLED")) == {["/binaryAuthorization/evaluationMode", "mandatory"]}
	denied(true, {"by_type": {"gcp:container/cluster:Cluster": [{"urn": "g", "inputs": {}}]}}) == {["/binaryAuthorization/evaluationMode", "mandatory"]}
}

test_a_cluster_with_a_policy_is_allowed if {
	denied(true, gke("PROJECT_SINGLETON_POLICY_ENFORCE")) == set()
	denied(true, object.union(eks, sigstore({"images": [{"glob": "**"}]}))) == set()
	rules := {"urn": "k", "path": "", "body": {"spec": {"rules": [{"verifyImages": [{}]}]}}}
	denied(true, object.union(eks, {"objects": {"ClusterPolicy.kyverno.io": [rules]}})) == set()
	denied(true, object.union(eks, {"releases": [{"chart": "connaisseur"}]})) == set()
}

test_a_policy_that_only_warns_does_not_count_and_is_denied if {
	denied(true, object.union(eks, sigstore({"mode": "warn"}))) == {["/spec/mode", "advisory"], ["", "mandatory"]}
}
