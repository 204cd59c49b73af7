package gpuyard.rules.isolation.device_access_test

import data.gpuyard.rules.isolation.device_access

denied(given) := found if {
	limits := {"namespaces": {"system": ["kube-*"], "privileged": ["gpu-operator"]}}
	found := {finding.path | some finding in device_access.deny} with input as object.union({"limits": limits}, given)
}

operator(version, values) := denied({"releases": [{
	"urn": "u",
	"chart": "gpu-operator",
	"version": version,
	"value_files": false,
	"values": values,
}]})

refusing := {"env": [{"name": "ACCEPT_NVIDIA_VISIBLE_DEVICES_ENVVAR_WHEN_UNPRIVILEGED", "value": "false"}]}

test_an_operator_that_refuses_the_variable_is_allowed if {
	operator("v26.7.0", {"toolkit": refusing}) == set()
	operator("", {"toolkit": refusing}) == set()
	operator("v24.9.0", {"toolkit": refusing, "cdi": {"enabled": true}}) == set()
}

test_an_operator_without_the_toolkit_is_not_judged if operator("v24.9.0", {"toolkit": {"enabled": false}}) == set()

test_another_chart_and_values_in_files_are_not_judged if {
	other := {"urn": "u", "chart": "keda", "version": "1", "value_files": false, "values": {}}
	files := {"urn": "u", "chart": "gpu-operator", "version": "v26.7.0", "value_files": true, "values": {}}
	denied({"releases": [other, files]}) == set()
}

test_an_operator_that_takes_the_variable_is_denied if {
	operator("v26.7.0", {}) == {"/values/toolkit/env"}
	accepting := {"env": [{"name": "ACCEPT_NVIDIA_VISIBLE_DEVICES_ENVVAR_WHEN_UNPRIVILEGED", "value": "true"}]}
	operator("v26.7.0", {"toolkit": accepting}) == {"/values/toolkit/env"}
}

test_an_operator_without_cdi_is_denied if {
	operator("v26.7.0", {"toolkit": refusing, "cdi": {"enabled": false}}) == {"/values/cdi/enabled"}
	operator("v25.3.4", {"toolkit": refusing}) == {"/values/cdi/enabled"}
}

test_a_cluster_policy_is_denied_for_what_it_leaves_out if {
	denied({"objects": {"ClusterPolicy.nvidia.com": [{"urn": "u", "path": "", "patch": false, "body": {"spec": {}}}]}}) == {
		"/spec/toolkit/env",
		"/spec/cdi/enabled",
	}
}

test_a_cluster_policy_that_refuses_the_variable_is_allowed if {
	spec := {"toolkit": object.union(refusing, {"enabled": true}), "cdi": {"enabled": true}}
	denied({"objects": {"ClusterPolicy.nvidia.com": [{"urn": "u", "path": "", "patch": false, "body": {"spec": spec}}]}}) == set()
}

pod(namespace, container) := denied({"pods": [{
	"urn": "u",
	"object": "",
	"namespace": namespace,
	"containers": [{"path": "/spec/containers/0", "container": container}],
}]})

sees(value) := {"name": "c", "env": [{"name": "HOME", "value": "/"}, {"name": "NVIDIA_VISIBLE_DEVICES", "value": value}]}

test_a_pod_that_asks_by_its_limits_is_allowed if {
	pod("fraud", {"resources": {"limits": {"nvidia.com/gpu": 1}}, "env": [{"name": "NVIDIA_DRIVER_CAPABILITIES", "value": "all"}]}) == set()
}

test_a_pod_that_wants_no_gpus_is_allowed if {
	pod("fraud", sees("void")) == set()
	pod("fraud", sees("none")) == set()
}

test_a_pod_of_an_operator_is_not_judged if pod("gpu-operator", sees("all")) == set()

test_a_pod_that_helps_itself_is_denied if {
	pod("fraud", sees("all")) == {"/spec/containers/0/env/1"}
	pod("fraud", sees("0")) == {"/spec/containers/0/env/1"}
}

test_a_mount_for_each_device_is_denied if {
	pod("fraud", {"volumeMounts": [{"name": "d", "mountPath": "/var/run/nvidia-container-devices/all"}]}) == {"/spec/containers/0/volumeMounts/0/mountPath"}
}
