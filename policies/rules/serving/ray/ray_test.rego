package gpuyard.rules.serving.ray_test

import data.gpuyard.rules.serving.ray

found(parts) := findings if {
	nothing := {"software": [], "servers": [], "pods": [], "objects": {}}
	limits := {"thresholds": {"serving/ray": {"deny": ["critical", "high"]}}}
	findings := {finding | some finding in ray.deny} with input as object.union_n([nothing, {"limits": limits}, parts])
}

object_of(spec) := {"urn": "u", "path": "", "body": {"spec": spec}}

cluster(spec) := {"objects": {"RayCluster.ray.io": [object_of(spec)]}}

software(version, holes, floor) := {"software": [{
	"urn": "u",
	"path": "/spec/rayVersion",
	"source": "field",
	"named": sprintf("rayVersion %v", [version]),
	"product": "ray",
	"version": version,
	"floor": floor,
	"beyond": "",
	"holes": holes,
}]}

says(mode) := {"pods": [{"urn": "u", "path": "/spec/headGroupSpec/template/spec", "containers": [{"container": {"env": [{"name": "RAY_AUTH_MODE", "value": mode}]}}]}]}

start(host, environment) := {"servers": [{
	"urn": "u",
	"path": "/c",
	"engine": "ray",
	"options": {"--dashboard-host": host},
	"places": {"--dashboard-host": "/c/args/1"},
	"environment": environment,
}]}

test_a_token_is_allowed if {
	found(cluster({"authOptions": {"mode": "token"}})) == set()
	found(object.union(cluster({}), says("token"))) == set()
}

test_a_version_that_asks_by_itself_is_allowed if found(object.union(cluster({}), software("2.61.0", [], ""))) == set()

test_a_dashboard_of_the_pod_alone_is_allowed if found(start("127.0.0.1", {})) == set()

test_no_token_is_denied if {
	some finding in found(object.union(cluster({}), software("2.60.1", [], "")))
	finding.path == "/spec/authOptions/mode"
	finding.message == "the Ray cluster asks for no token: whoever reaches it runs any code on it"
}

test_a_token_that_is_switched_off_is_denied if {
	count(found(object.union(cluster({"authOptions": {"mode": "disabled"}}), software("2.61.0", [], "")))) == 1
	count(found(object.union_n([cluster({}), software("2.61.0", [], ""), says("disabled")]))) == 1
}

test_clusters_of_jobs_and_services_are_denied_too if {
	paths := {finding.path | some finding in found({"objects": {
		"RayJob.ray.io": [object_of({"rayClusterSpec": {}})],
		"RayService.ray.io": [object_of({"rayClusterConfig": {}})],
	}})}
	paths == {"/spec/rayClusterSpec/authOptions/mode", "/spec/rayClusterConfig/authOptions/mode"}
}

test_a_job_on_a_cluster_that_is_there_is_allowed if found({"objects": {"RayJob.ray.io": [object_of({"clusterSelector": {}})]}}) == set()

test_a_dashboard_for_everybody_is_denied if {
	count(found(start("0.0.0.0", {}))) == 1
	found(start("0.0.0.0", {"RAY_AUTH_MODE": "token"})) == set()
}

test_a_version_with_holes_is_denied if {
	holes := [{"cves": ["CVE-2026-41486"], "severity": "high", "fixed": "2.55.0", "through": ""}]
	messages := {finding.message | some finding in found(software("2.54.0", holes, "2.55.0"))}
	messages == {"rayVersion 2.54.0 has CVE-2026-41486 (high): use 2.55.0 or later"}
}
