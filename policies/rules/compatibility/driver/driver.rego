# METADATA
# title: Images run on the drivers and GPUs of their nodes
# description: >-
#   An image whose CUDA is newer than the node's driver, or a driver that does not know the GPU, fails when the model
#   loads: after the node is paid for and the image is pulled. Of an endpoint it is said too where that is not known.
# custom:
#   id: X1
#   severity: high
#   level: mandatory
#   on_unknown: skip
#   scope: stack
#   waivable: true
#   reads:
#     - {type: "aws:eks/nodeGroup:NodeGroup", path: /amiType}
#     - {type: "aws:eks/nodeGroup:NodeGroup", path: /instanceTypes}
#     - {type: "gcp:container/nodePool:NodePool", path: /nodeConfig/machineType}
#     - {type: "gpuyard:index:NodeInventory", path: /machine}
#     - {type: pod, path: /containers/*/image}
#   remediation: >-
#     Use an image that is built for the nodes' driver and GPUs, nodes with a newer driver, or another machine. Where the
#     driver is not known, say it in the stack as `cluster.driver_version`; where the image is not known, add what it is
#     built for to the catalogue, with its source.
package gpuyard.rules.compatibility.driver

deny contains {"urn": line.urn, "path": line.path, "message": message} if {
	some line in lines
	line.status == "refused"
	message := sprintf("on node group %v: %v", [line.group, line.reason])
}

# Not to know is no pass, and no proof of a mistake either.
deny contains {"urn": line.urn, "path": line.path, "message": message, "level": "advisory"} if {
	some line in lines
	line.status == "unknown"
	message := sprintf("whether it runs on node group %v is not known: %v", [line.group, line.reason])
}

lines := [line |
	is_array(input.compatibility)
	some line in input.compatibility
	is_object(line)
]
