"""Two groups of an on-prem cluster; the configuration says which node is in which."""

import pulumi
import pulumi_kubernetes

from gpuyard.components.node_groups.onprem import NodeGroup, NodeGroupSpec

cluster = pulumi_kubernetes.Provider("hall", cluster_identifier="hall", enable_server_side_apply=True)
for group in ("old", "new"):
    names = pulumi.Config().require(group).split()
    spec = NodeGroupSpec(machine="dgx-h100", count=len(names), names=names)
    NodeGroup(group, spec, opts=pulumi.ResourceOptions(provider=cluster))
