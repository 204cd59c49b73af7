# METADATA
# title: The cluster lets in signed images only, where the limits ask for it
# description: >-
#   A digest says that an image is the same as before, not who made it. A policy that checks signatures as pods are admitted
#   stops an image that was pushed with a stolen password. One that only warns, or that allows everything, looks like
#   protection and is none.
# custom:
#   id: S12
#   severity: medium
#   level: mandatory
#   on_unknown: warn
#   scope: stack
#   waivable: true
#   reads:
#     - {type: "aws:eks/cluster:Cluster", path: /version, fires: true}
#     - {type: "gcp:binaryauthorization/policy:Policy", path: /defaultAdmissionRule/enforcementMode}
#     - {type: "gcp:binaryauthorization/policy:Policy", path: /defaultAdmissionRule/evaluationMode}
#     - {type: "gcp:container/cluster:Cluster", path: /binaryAuthorization/evaluationMode, fires: true}
#     - {type: "kubernetes:kyverno.io/*:ClusterPolicy", path: /spec/rules}
#     - {type: "kubernetes:policies.kyverno.io/*:ImageValidatingPolicy", path: /spec/validationActions}
#     - {type: "kubernetes:policy.sigstore.dev/*:ClusterImagePolicy", path: /spec/mode}
#   refers:
#     - {type: "kubernetes:*", path: /metadata/namespace, to: "kubernetes:core/v1:Namespace"}
#   frameworks:
#     - "CIS Google Kubernetes Engine Benchmark 1.6.0: 5.1.4"
#     - "OWASP Top 10 for LLM Applications 2025: LLM03 Supply Chain"
#   thresholds:
#     required:
#       type: boolean
#       default: false
#       description: Whether a program that makes a cluster must bring a policy that checks signatures of images.
#   remediation: >-
#     Add a ClusterImagePolicy of Sigstore, an ImageValidatingPolicy of Kyverno, or Binary Authorization with
#     REQUIRE_ATTESTATION, and let it enforce.
package gpuyard.rules.supply_chain.signatures

# --- policies that let everything through

deny contains {"urn": found.urn, "path": found.path, "message": found.message, "level": "advisory"} if {
	some found in weaknesses
}

weaknesses contains {"urn": policy.urn, "path": path, "message": message} if {
	some policy in input.objects["ClusterImagePolicy.policy.sigstore.dev"]
	object.get(policy.body, ["spec", "mode"], "enforce") == "warn"
	path := sprintf("%v/spec/mode", [policy.path])
	message := "the policy warns of images that are not signed, and lets them in"
}

weaknesses contains {"urn": policy.urn, "path": path, "message": message} if {
	some kind in ["ImageValidatingPolicy.policies.kyverno.io", "NamespacedImageValidatingPolicy.policies.kyverno.io"]
	some policy in input.objects[kind]
	actions := object.get(policy.body, ["spec", "validationActions"], ["Deny"])
	is_array(actions)
	denying := "Deny"
	not denying in actions
	path := sprintf("%v/spec/validationActions", [policy.path])
	message := "the policy does not deny images that are not signed"
}

weaknesses contains {"urn": policy.urn, "path": path, "message": message} if {
	some policy in input.by_type["gcp:binaryauthorization/policy:Policy"]
	some field, value in {"enforcementMode": "DRYRUN_AUDIT_LOG_ONLY", "evaluationMode": "ALWAYS_ALLOW"}
	object.get(policy.inputs, ["defaultAdmissionRule", field], "") == value
	path := sprintf("/defaultAdmissionRule/%v", [field])
	message := sprintf("Binary Authorization lets in images that are not signed: %v is %v", [field, value])
}

# --- no policy, where there must be one

deny contains {"urn": cluster.urn, "path": "", "message": message, "rests_on": []} if {
	required
	some cluster in input.by_type["aws:eks/cluster:Cluster"]
	not checked_in(cluster)
	message := "nothing in the program checks signatures of images in this cluster, and the limits ask for it"
}

deny contains {"urn": cluster.urn, "path": path, "message": message, "rests_on": [path]} if {
	required
	some cluster in input.by_type["gcp:container/cluster:Cluster"]
	not checked_in(cluster)
	mode := object.get(cluster.inputs, ["binaryAuthorization", "evaluationMode"], "DISABLED")
	mode == "DISABLED"
	path := "/binaryAuthorization/evaluationMode"
	message := "nothing in the program checks signatures of images in this cluster, and the limits ask for it"
}

required if input.limits.thresholds["supply_chain/signatures"].required == true

checked_in(_) if {
	some kind in [
		"ClusterImagePolicy.policy.sigstore.dev",
		"ImageValidatingPolicy.policies.kyverno.io",
	]
	some policy in input.objects[kind]
	not weak(policy)
}

checked_in(_) if {
	some policy in input.objects["ClusterPolicy.kyverno.io"]
	rules := object.get(policy.body, ["spec", "rules"], [])
	is_array(rules)
	some rule in rules
	is_object(rule)
	is_array(rule.verifyImages)
}

# Products whose policies are values of their charts.
checked_in(_) if {
	some release in input.releases
	release.chart in ["connaisseur", "ratify"]
}

weak(policy) if {
	some weakness in weaknesses
	weakness.urn == policy.urn
}
