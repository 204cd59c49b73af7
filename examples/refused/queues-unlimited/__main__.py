"""Two teams share GPUs. What one may borrow of the other, nobody said."""

from pulumi_kubernetes.apiextensions import CustomResource

teams = {"fraud": {"borrowingLimit": "4"}, "vision": {}}
for team, borrowing in teams.items():
    quota = {"name": "nvidia.com/gpu", "nominalQuota": "8", **borrowing}
    group = {"coveredResources": ["nvidia.com/gpu"], "flavors": [{"name": "h100", "resources": [quota]}]}
    CustomResource(
        team,
        api_version="kueue.x-k8s.io/v1beta2",
        kind="ClusterQueue",
        metadata={"name": team},
        spec={"cohortName": "all", "namespaceSelector": {}, "resourceGroups": [group]},
    )
