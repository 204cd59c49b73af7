package gpuyard.rules.isolation.privileged_test

import data.gpuyard.rules.isolation.privileged

limits := limits_with([])

limits_with(images) := {
	"namespaces": {"privileged": ["gpu-operator", "kube-*"]},
	"capabilities": ["NET_BIND_SERVICE"],
	"thresholds": {"isolation/privileged": {"images": images}},
}

denied(pods) := found if {
	found := {finding.path | some finding in privileged.deny} with input as {
		"limits": limits,
		"pods": pods,
		"releases": [],
		"objects": {},
	}
}

in_namespace(namespace, spec, context) := {
	"urn": "u",
	"object": "",
	"path": "/spec",
	"namespace": namespace,
	"spec": spec,
	"containers": [{"path": "/spec/containers/0", "container": {"name": "c", "securityContext": context}}],
}

pod(spec, context) := in_namespace("fraud", spec, context)

restricted := {"runAsNonRoot": true, "capabilities": {"drop": ["ALL"], "add": ["net_bind_service"]}, "privileged": false}

volumes := {"volumes": [{"name": "shm", "emptyDir": {"medium": "Memory"}}, {"name": "m", "persistentVolumeClaim": {}}]}

test_a_restricted_pod_is_allowed if denied([pod(volumes, restricted)]) == set()

test_a_pod_that_says_nothing_is_allowed if denied([pod({}, {})]) == set()

test_host_namespaces_turned_off_are_allowed if denied([pod({"hostNetwork": false, "hostPID": false}, {})]) == set()

test_an_operator_may_do_all_of_it if {
	spec := {"hostPID": true, "volumes": [{"hostPath": {"path": "/dev"}}]}
	denied([in_namespace("gpu-operator", spec, {"privileged": true})]) == set()
	denied([in_namespace("kube-system", spec, {"privileged": true})]) == set()
}

test_a_name_that_only_begins_like_an_operators_is_denied if {
	count(denied([in_namespace("gpu-operator-x", {}, {"privileged": true})])) == 1
}

test_a_privileged_container_is_denied if {
	denied([pod({}, {"privileged": true})]) == {"/spec/containers/0/securityContext/privileged"}
}

test_each_host_namespace_is_denied if {
	denied([pod({"hostNetwork": true, "hostPID": true, "hostIPC": true}, {})]) == {
		"/spec/hostIPC",
		"/spec/hostNetwork",
		"/spec/hostPID",
	}
}

test_a_path_of_the_host_is_denied if {
	spec := {"volumes": [{"name": "a", "emptyDir": {}}, {"name": "d", "hostPath": {"path": "/var/run/docker.sock"}}]}
	denied([pod(spec, {})]) == {"/spec/volumes/1/hostPath"}
}

test_an_added_capability_is_denied if {
	denied([pod({}, {"capabilities": {"add": ["NET_BIND_SERVICE", "SYS_ADMIN", "ALL"]}})]) == {
		"/spec/containers/0/securityContext/capabilities/add/1",
		"/spec/containers/0/securityContext/capabilities/add/2",
	}
}

test_a_host_process_of_windows_is_denied if {
	options := {"windowsOptions": {"hostProcess": true}}
	denied([pod({"securityContext": options}, options)]) == {
		"/spec/securityContext/windowsOptions/hostProcess",
		"/spec/containers/0/securityContext/windowsOptions/hostProcess",
	}
}

test_a_pod_whose_namespace_is_not_known_is_denied_and_says_what_it_rests_on if {
	unknown := object.remove(pod({}, {"privileged": true}), ["namespace"])
	found := [finding | some finding in privileged.deny] with input as {"limits": limits, "pods": [unknown]}
	"/metadata/namespace" in found[0].rests_on
}

charts(releases) := found if {
	found := {finding.urn | some finding in privileged.deny} with input as {"limits": limits, "releases": releases}
}

host := {"path": "/values/hostNetwork", "name": "hostNetwork", "capability": ""}

test_values_of_a_chart_are_judged_by_its_namespace if {
	operator := {"urn": "u", "chart": "c", "grants": [host], "namespace": "gpu-operator"}
	tenant := {"urn": "v", "chart": "c", "grants": [host], "namespace": "fraud"}
	unknown := {"urn": "w", "chart": "c", "grants": [host]}
	charts([operator, tenant, unknown]) == {"v", "w"}
}

adds(name) := {"path": "/p", "name": name, "capability": name}

test_a_capability_in_values_is_allowed_if_it_is_harmless if {
	charts([{"urn": "u", "chart": "c", "namespace": "fraud", "grants": [adds("NET_BIND_SERVICE")]}]) == set()
	charts([{"urn": "u", "chart": "c", "namespace": "fraud", "grants": [adds("SYS_ADMIN")]}]) == {"u"}
}

test_a_persistent_volume_on_the_host_is_denied if {
	volume := {"urn": "u", "path": "", "body": {"spec": {"hostPath": {"path": "/"}}}}
	disk := {"urn": "v", "path": "", "body": {"spec": {"csi": {"driver": "ebs.csi.aws.com"}}}}
	found := {finding.urn | some finding in privileged.deny} with input as {
		"limits": limits,
		"objects": {"PersistentVolume": [volume, disk]},
	}
	found == {"u"}
}

by_image(repository) := found if {
	operator := in_namespace("gpu-operator", {"hostPID": true}, {})
	item := object.union(operator.containers[0], {"image": {"repository": repository}})
	found := {finding.message | some finding in privileged.deny} with input as {
		"limits": limits_with(["nvcr.io/nvidia/*"]),
		"pods": [object.union(operator, {"containers": [item]})],
	}
}

test_an_image_of_operators_is_allowed_where_the_limits_name_them if by_image("nvcr.io/nvidia/k8s/dcgm.exporter") == set()

test_another_image_among_operators_is_denied_where_the_limits_name_them if {
	by_image("docker.io/evil/nvidia") == {"the pod shares a namespace of the host (hostPID), and its images are not those of operators"}
}
