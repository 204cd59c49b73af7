package gpuyard.rules.serving.internode_traffic_test

import data.gpuyard.rules.serving.internode_traffic

server(options) := {
	"urn": "u",
	"path": "/spec/containers/0",
	"container": "vllm",
	"engine": "vllm",
	"options": options,
	"places": {flag: sprintf("/spec/containers/0/args/%v", [flag]) | some flag, _ in options},
	"environment": {},
	"models": [],
	"host_network": false,
}

found(servers) := findings if {
	limits := {"thresholds": {"serving/internode_traffic": {}}}
	findings := {finding | some finding in internode_traffic.deny} with input as {"servers": servers, "limits": limits}
}

test_one_node_and_a_name_are_allowed if {
	found([server({}), server({"--master-addr": "llama-0.llama"}), server({"--dist-init-addr": "10.1.2.3:5000"})]) == set()
}

test_the_host_network_alone_is_allowed_here if found([object.union(server({}), {"host_network": true})]) == set()

test_an_address_of_all_interfaces_is_denied if {
	some finding in found([server({"--dist-init-addr": "0.0.0.0:5000"})])
	finding.message == "--dist-init-addr is 0.0.0.0:5000: what its nodes tell each other is offered on every interface"
	count(found([server({"--master-addr": "[::]:29500"})])) == 1
}

test_the_variable_is_denied_too if {
	count(found([object.union(server({}), {"environment": {"VLLM_HOST_IP": "0.0.0.0"}})])) == 1
	found([object.union(server({}), {"environment": {"VLLM_HOST_IP": "10.0.0.1"}})]) == set()
}

test_several_nodes_in_the_hosts_network_are_denied if {
	some finding in found([object.union(server({"--nnodes": "2"}), {"host_network": true})])
	finding.message == "vllm runs over several nodes (--nnodes) in the host's network, where no network policy holds"
}
