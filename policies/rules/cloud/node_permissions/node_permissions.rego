# METADATA
# title: Nodes may do little in the cloud
# description: >-
#   What a node may do, every pod that escapes onto it may do, and on some nodes every pod. A node needs to join its
#   cluster, pull images and write logs. What a workload needs, such as its models in S3, belongs to an identity of its
#   own: EKS Pod Identity, IRSA, or Workload Identity Federation for GKE. A GKE node that is given no account runs as the
#   project's default one, which may edit the project in most.
# custom:
#   id: C7
#   severity: high
#   level: mandatory
#   on_unknown: warn
#   scope: stack
#   waivable: true
#   reads:
#     - {type: "aws:iam/policy:Policy", path: /policy, fires: true}
#     - {type: "aws:iam/policyAttachment:PolicyAttachment", path: /policyArn, fires: true}
#     - {type: "aws:iam/role:Role", path: /assumeRolePolicy, fires: true}
#     - {type: "aws:iam/role:Role", path: /inlinePolicies/*/policy, fires: true}
#     - {type: "aws:iam/role:Role", path: /managedPolicyArns, fires: true}
#     - {type: "aws:iam/rolePolicy:RolePolicy", path: /policy, fires: true}
#     - {type: "aws:iam/rolePolicyAttachment:RolePolicyAttachment", path: /policyArn, fires: true}
#     - {type: "aws:iam/rolePolicyAttachmentsExclusive:RolePolicyAttachmentsExclusive", path: /policyArns, fires: true}
#     - {type: "gcp:container/cluster:Cluster", path: /clusterAutoscaling/autoProvisioningDefaults/serviceAccount, fires: true}
#     - {type: "gcp:container/cluster:Cluster", path: /nodeConfig/serviceAccount, fires: true}
#     - {type: "gcp:container/nodePool:NodePool", path: /nodeConfig/serviceAccount, fires: true}
#     - {type: "gcp:folder/iAMBinding:IAMBinding", path: /members, fires: true}
#     - {type: "gcp:folder/iAMMember:IAMMember", path: /member, fires: true}
#     - {type: "gcp:folder/iAMPolicy:IAMPolicy", path: /policyData, fires: true}
#     - {type: "gcp:organizations/iAMBinding:IAMBinding", path: /members, fires: true}
#     - {type: "gcp:organizations/iAMMember:IAMMember", path: /member, fires: true}
#     - {type: "gcp:organizations/iAMPolicy:IAMPolicy", path: /policyData, fires: true}
#     - {type: "gcp:projects/iAMBinding:IAMBinding", path: /members, fires: true}
#     - {type: "gcp:projects/iAMMember:IAMMember", path: /member, fires: true}
#     - {type: "gcp:projects/iAMPolicy:IAMPolicy", path: /policyData, fires: true}
#   refers:
#     - {type: "aws:eks/nodeGroup:NodeGroup", path: /nodeRoleArn, to: "aws:iam/role:Role"}
#     - {type: "aws:iam/policyAttachment:PolicyAttachment", path: /policyArn, to: "aws:iam/policy:Policy"}
#     - {type: "aws:iam/policyAttachment:PolicyAttachment", path: /roles/0, to: "aws:iam/role:Role"}
#     - {type: "aws:iam/rolePolicy:RolePolicy", path: /role, to: "aws:iam/role:Role"}
#     - {type: "aws:iam/rolePolicyAttachment:RolePolicyAttachment", path: /policyArn, to: "aws:iam/policy:Policy"}
#     - {type: "aws:iam/rolePolicyAttachment:RolePolicyAttachment", path: /role, to: "aws:iam/role:Role"}
#     - {type: "aws:iam/rolePolicyAttachmentsExclusive:RolePolicyAttachmentsExclusive", path: /policyArns/0, to: "aws:iam/policy:Policy"}
#     - {type: "aws:iam/rolePolicyAttachmentsExclusive:RolePolicyAttachmentsExclusive", path: /roleName, to: "aws:iam/role:Role"}
#     - {type: "gcp:container/cluster:Cluster", path: /nodeConfig/serviceAccount, to: "gcp:serviceaccount/account:Account"}
#     - {type: "gcp:container/nodePool:NodePool", path: /nodeConfig/serviceAccount, to: "gcp:serviceaccount/account:Account"}
#     - {type: "gcp:folder/iAMMember:IAMMember", path: /member, to: "gcp:serviceaccount/account:Account"}
#     - {type: "gcp:organizations/iAMMember:IAMMember", path: /member, to: "gcp:serviceaccount/account:Account"}
#     - {type: "gcp:projects/iAMMember:IAMMember", path: /member, to: "gcp:serviceaccount/account:Account"}
#   frameworks:
#     - "CIS Google Kubernetes Engine Benchmark 1.6.0: 5.2.1"
#     - "CIS Amazon EKS Benchmark 1.7.0: 5.2.1"
#   thresholds:
#     managed_policies:
#       type: texts
#       default: [AdministratorAccess, PowerUserAccess, SecretsManagerReadWrite, AmazonS3ReadOnlyAccess, "*FullAccess"]
#       description: Policies of AWS's that no node may have; `*` stands for any characters.
#     actions:
#       type: texts
#       default: ["iam:attachrolepolicy", "iam:createaccesskey", "iam:passrole", "iam:putrolepolicy", "kms:decrypt", "s3:deleteobject", "s3:getobject", "s3:putobject", "secretsmanager:getsecretvalue", "sts:assumerole"]
#       description: Actions, in lower case, that no node may have on everything without a condition; all actions of a service are too many anyway.
#     roles:
#       type: texts
#       default: [roles/owner, roles/editor, roles/compute.admin, roles/container.admin, "roles/iam.*", roles/secretmanager.admin, roles/secretmanager.secretAccessor, roles/storage.admin, roles/storage.objectAdmin]
#       description: Roles that no node's account may hold in a whole project, folder or organization; `*` stands for any characters.
#   remediation: >-
#     Leave nodes with AmazonEKSWorkerNodePolicy and AmazonEC2ContainerRegistryPullOnly, or with an account that holds
#     roles/container.defaultNodeServiceAccount, and give each workload an identity of its own for what it needs.
package gpuyard.rules.cloud.node_permissions

import data.gpuyard.lib.match

limits := input.limits.thresholds["cloud/node_permissions"]

# --- AWS: roles that machines take

node_roles contains urn if {
	some urn, services in input.trusts
	some service in ["ec2.amazonaws.com", "ec2.amazonaws.com.cn"]
	service in services
}

# Who may take a role may not be known; that a node group does, is.
node_roles contains found if {
	some group in input.by_type["aws:eks/nodeGroup:NodeGroup"]
	found := group.references["/nodeRoleArn"]
}

holder(permission) := permission.urn if permission.holder == ""

else := permission.references[permission.holder]

of_a_node(permission) if holder(permission) in node_roles

deny contains {"urn": permission.urn, "path": permission.path, "message": message, "rests_on": [permission.path]} if {
	some permission in input.permissions
	of_a_node(permission)
	policy := permission.managed
	match.one_of(limits.managed_policies, policy)
	message := sprintf("nodes hold %v, and so does whoever escapes onto one", [policy])
}

# A policy that is written where it is given.
deny contains {"urn": permission.urn, "path": permission.path, "message": message, "rests_on": [permission.path]} if {
	some permission in input.permissions
	of_a_node(permission)
	some message in too_much(permission)
}

# A policy by itself, where a node's role is given it.
deny contains {"urn": policy.urn, "path": policy.path, "message": message, "rests_on": [policy.path]} if {
	some policy in input.permissions
	policy.urn in policies_of_nodes
	some message in too_much(policy)
}

policies_of_nodes contains found if {
	some permission in input.permissions
	of_a_node(permission)
	found := permission.references[permission.policy]
}

# What is not known yet of a policy may be too much.
deny contains {"urn": role.urn, "path": "/policy", "message": message, "rests_on": ["/policy"]} if {
	some role in input.by_type["aws:iam/rolePolicy:RolePolicy"]
	role.references["/role"] in node_roles
	"/policy" in role.unknown
	message := "what nodes may do is not known"
}

too_much(permission) := {message |
	some statement in object.get(permission, "statements", [])
	some message in reach(statement)
}

reach(statement) := {"nodes may do everything but what is named (NotAction)"} if {
	statement.all_but == true
	statement.everything == true
}

else := {sprintf("nodes may do %v on everything, and so may whoever escapes onto one", [action]) |
	statement.everything == true
	some action in statement.actions
	too_wide(action, statement.conditional)
}

too_wide(action, _) if action == "*"

too_wide(action, _) if {
	action != "*"
	endswith(action, ":*")
}

# A condition may leave little of one action.
too_wide(action, false) if {
	some name in limits.actions
	covers(action, name)
}

covers(action, name) if action == name

covers(action, name) if {
	not endswith(action, ":*")
	endswith(action, "*")
	startswith(name, trim_suffix(action, "*"))
}

# --- Google Cloud: the account that nodes run as

deny contains {"urn": pool.urn, "path": "/nodeConfig/serviceAccount", "message": message, "rests_on": []} if {
	some pool in pools
	account := object.get(pool.inputs, ["nodeConfig", "serviceAccount"], "")
	default_account(account)
	not told(pool)
	message := "nodes run as the project's default account: give them one of their own"
}

told(pool) if {
	some path in ["/nodeConfig", "/nodeConfig/serviceAccount"]
	path in pool.unknown
}

# Autopilot, and pools that GKE makes by itself.
deny contains {"urn": cluster.urn, "path": path, "message": message, "rests_on": []} if {
	some cluster in input.by_type["gcp:container/cluster:Cluster"]
	makes_pools(cluster)
	path := "/clusterAutoscaling/autoProvisioningDefaults/serviceAccount"
	account := object.get(cluster.inputs, ["clusterAutoscaling", "autoProvisioningDefaults", "serviceAccount"], "")
	default_account(account)
	not told_for_pools(cluster)
	message := "nodes that GKE makes by itself run as the project's default account: give them one of their own"
}

makes_pools(cluster) if object.get(cluster.inputs, "enableAutopilot", false) == true

makes_pools(cluster) if object.get(cluster.inputs, ["clusterAutoscaling", "enabled"], false) == true

told_for_pools(cluster) if {
	some path in [
		"/clusterAutoscaling",
		"/clusterAutoscaling/autoProvisioningDefaults",
		"/clusterAutoscaling/autoProvisioningDefaults/serviceAccount",
	]
	path in cluster.unknown
}

default_account(account) if account in ["", "default"]

default_account(account) if {
	is_string(account)
	endswith(account, "-compute@developer.gserviceaccount.com")
}

pools contains pool if {
	some pool in input.by_type["gcp:container/nodePool:NodePool"]
}

# The pool that comes with a cluster is its own, unless it is removed at once.
pools contains cluster if {
	some cluster in input.by_type["gcp:container/cluster:Cluster"]
	object.get(cluster.inputs, "removeDefaultNodePool", false) == false
	object.get(cluster.inputs, "enableAutopilot", false) == false
	object.get(cluster.inputs, "nodePools", []) == []
}

deny contains {"urn": binding.urn, "path": binding.path, "message": message, "rests_on": [member.path]} if {
	some binding in input.permissions
	role := binding.role
	match.one_of(limits.roles, role)
	some member in binding.members
	runs_nodes(binding, member)
	message := sprintf("nodes hold %v, and so does whoever escapes onto one", [role])
}

runs_nodes(_, member) if member.account in accounts_of_nodes

runs_nodes(binding, member) if binding.references[member.path] in accounts_of_nodes

# By address and, where that is not known yet, by URN.
accounts_of_nodes contains found if {
	some pool in pools
	found := object.get(pool.inputs, ["nodeConfig", "serviceAccount"], null)
}

accounts_of_nodes contains found if {
	some pool in pools
	found := pool.references["/nodeConfig/serviceAccount"]
}
