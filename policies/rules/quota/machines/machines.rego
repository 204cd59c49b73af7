# METADATA
# title: Machines are on the allow-list
# description: >-
#   A machine type decides what an hour costs and which quota it takes. Only those that the environment's limits name
#   may be used, wherever a program writes one.
# custom:
#   id: Q6
#   severity: high
#   level: mandatory
#   on_unknown: deny
#   scope: resource
#   waivable: true
#   reads:
#     - {type: "aws:autoscaling/group:Group", path: /mixedInstancesPolicy/launchTemplate/overrides/*/instanceType}
#     - {type: "aws:ec2/instance:Instance", path: /instanceType}
#     - {type: "aws:ec2/launchConfiguration:LaunchConfiguration", path: /instanceType}
#     - {type: "aws:ec2/launchTemplate:LaunchTemplate", path: /instanceRequirements/allowedInstanceTypes}
#     - {type: "aws:ec2/launchTemplate:LaunchTemplate", path: /instanceType}
#     - {type: "aws:eks/nodeGroup:NodeGroup", path: /instanceTypes}
#     - {type: "gcp:compute/instance:Instance", path: /machineType}
#     - {type: "gcp:compute/instanceTemplate:InstanceTemplate", path: /machineType}
#     - {type: "gcp:container/cluster:Cluster", path: /nodeConfig/machineType}
#     - {type: "gcp:container/cluster:Cluster", path: /nodePools/*/nodeConfig/machineType}
#     - {type: "gcp:container/nodePool:NodePool", path: /nodeConfig/machineType}
#     - {type: "gpuyard:index:NodeInventory", path: /machine}
#     - {type: "kubernetes:cloud.google.com/*:ComputeClass", path: /spec/priorities/*/machineFamily}
#     - {type: "kubernetes:cloud.google.com/*:ComputeClass", path: /spec/priorities/*/machineType}
#     - {type: "kubernetes:karpenter.sh/*:NodeClaim", path: /spec/requirements/*/values, fires: true}
#     - {type: "kubernetes:karpenter.sh/*:NodePool", path: /spec/template/spec/requirements/*/values, fires: true}
#   frameworks:
#     - "OWASP Top 10 for LLM Applications 2025: LLM10 Unbounded Consumption"
#   remediation: Use a machine of the list, or have the platform's owner add it to `machines` in policies/limits.
package gpuyard.rules.quota.machines

import data.gpuyard.lib.match

deny contains {"urn": use.urn, "path": use.path, "message": message} if {
	some use in uses
	machine := use.machine
	is_string(machine)
	allowed := input.limits.machines
	not match.one_of(allowed, machine)
	message := sprintf("machine %v is not allowed in %v: allowed are %v", [machine, input.environment, concat(", ", nearest(machine, allowed))])
}

# Only of the machines' requirement it matters that its values are not known: zones may be.
deny contains {"urn": pool.urn, "path": path, "message": message, "rests_on": [path]} if {
	some pool in karpenters
	some path, machines in chosen(pool, "node.kubernetes.io/instance-type")
	not all_known(machines)
	message := "the machines that Karpenter may choose are not known"
}

# A family of which no machine is on the list; one of which some are is left to what counts accelerators and money.
deny contains {"urn": use.urn, "path": use.path, "message": message} if {
	some use in families
	is_string(use.family)
	same := [pattern | some pattern in input.limits.machines; of_family(pattern, use.family)]
	count(same) == 0
	message := sprintf("no machine of family %v is allowed in %v: allowed are %v", [
		use.family,
		input.environment,
		concat(", ", input.limits.machines),
	])
}

of_family(pattern, family) if startswith(lower(pattern), lower(family))

of_family(pattern, _) if startswith(pattern, "*")

# A list of all clouds' machines hides the few that the reader may choose from.
nearest(machine, allowed) := same if {
	same := [pattern | some pattern in allowed; style(pattern) == style(machine)]
	count(same) > 0
} else := allowed

# How clouds write names: EC2's have a dot, Compute Engine's begin with a series such as e2- or c3d-.
style(name) := {"dot": contains(name, "."), "series": regex.match("^[a-z]+[0-9]+[a-z]*-", name)}

# Types that name their machine in one input.
single := {
	"aws:ec2/instance:Instance": "instanceType",
	"aws:ec2/launchConfiguration:LaunchConfiguration": "instanceType",
	"aws:ec2/launchTemplate:LaunchTemplate": "instanceType",
	"gcp:compute/instance:Instance": "machineType",
	"gcp:compute/instanceTemplate:InstanceTemplate": "machineType",
	"gpuyard:index:NodeInventory": "machine",
}

uses contains {"urn": resource.urn, "path": sprintf("/%v", [field]), "machine": machine} if {
	some type, field in single
	some resource in input.by_type[type]
	machine := resource.inputs[field]
}

uses contains {"urn": group.urn, "path": sprintf("/instanceTypes/%v", [i]), "machine": machine} if {
	some group in input.by_type["aws:eks/nodeGroup:NodeGroup"]
	is_array(group.inputs.instanceTypes)
	some i, machine in group.inputs.instanceTypes
}

uses contains {"urn": template.urn, "path": sprintf("/instanceRequirements/allowedInstanceTypes/%v", [i]), "machine": machine} if {
	some template in input.by_type["aws:ec2/launchTemplate:LaunchTemplate"]
	machines := object.get(template.inputs, ["instanceRequirements", "allowedInstanceTypes"], [])
	is_array(machines)
	some i, machine in machines
}

uses contains {"urn": group.urn, "path": path, "machine": machine} if {
	some group in input.by_type["aws:autoscaling/group:Group"]
	overrides := object.get(group.inputs, ["mixedInstancesPolicy", "launchTemplate", "overrides"], [])
	is_array(overrides)
	some i, override in overrides
	is_object(override)
	machine := override.instanceType
	path := sprintf("/mixedInstancesPolicy/launchTemplate/overrides/%v/instanceType", [i])
}

uses contains {"urn": resource.urn, "path": "/nodeConfig/machineType", "machine": machine} if {
	some type in ["gcp:container/cluster:Cluster", "gcp:container/nodePool:NodePool"]
	some resource in input.by_type[type]
	machine := object.get(resource.inputs, ["nodeConfig", "machineType"], null)
}

uses contains {"urn": cluster.urn, "path": sprintf("/nodePools/%v/nodeConfig/machineType", [i]), "machine": machine} if {
	some cluster in input.by_type["gcp:container/cluster:Cluster"]
	is_array(cluster.inputs.nodePools)
	some i, pool in cluster.inputs.nodePools
	is_object(pool)
	machine := object.get(pool, ["nodeConfig", "machineType"], null)
}

uses contains {"urn": pool.urn, "path": sprintf("%v/%v", [path, i]), "machine": machine} if {
	some pool in karpenters
	some path, machines in chosen(pool, "node.kubernetes.io/instance-type")
	is_array(machines)
	some i, machine in machines
}

families contains {"urn": pool.urn, "path": sprintf("%v/%v", [path, i]), "family": family} if {
	some pool in karpenters
	some path, values in chosen(pool, "karpenter.k8s.aws/instance-family")
	is_array(values)
	some i, family in values
}

families contains {"urn": class.urn, "path": path, "family": family} if {
	some class in input.objects["ComputeClass.cloud.google.com"]
	priorities := object.get(class.body, ["spec", "priorities"], [])
	is_array(priorities)
	some i, priority in priorities
	is_object(priority)
	family := priority.machineFamily
	path := sprintf("%v/spec/priorities/%v/machineFamily", [class.path, i])
}

uses contains {"urn": class.urn, "path": path, "machine": machine} if {
	some class in input.objects["ComputeClass.cloud.google.com"]
	priorities := object.get(class.body, ["spec", "priorities"], [])
	is_array(priorities)
	some i, priority in priorities
	is_object(priority)
	machine := priority.machineType
	path := sprintf("%v/spec/priorities/%v/machineType", [class.path, i])
}

# NodePools, and single nodes that somebody claims without one; and where each says what it asks for.
karpenters := [object.union(pool, {"steps": steps}) |
	some kind, steps in {"NodePool": ["spec", "template", "spec"], "NodeClaim": ["spec"]}
	some pool in input.objects[sprintf("%v.karpenter.sh", [kind])]
]

# By path, the lists from which one chooses by a label; null is a list that is not known.
chosen(pool, label) := {path: object.get(requirement, "values", null) |
	requirements := object.get(pool.body, array.concat(pool.steps, ["requirements"]), [])
	is_array(requirements)
	some i, requirement in requirements
	is_object(requirement)
	requirement.key == label
	requirement.operator == "In"
	path := sprintf("%v/%v/requirements/%v/values", [pool.path, concat("/", pool.steps), i])
}

all_known(machines) if {
	is_array(machines)
	not null in machines
}
