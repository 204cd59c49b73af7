"""Karpenter's description of a GPU node."""

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource

discovery = [{"tags": {"karpenter.sh/discovery": pulumi.Config().require("cluster")}}]

CustomResource(
    "gpu",
    api_version="karpenter.k8s.aws/v1",
    kind="EC2NodeClass",
    metadata={"name": "gpu"},
    spec={
        "role": "ml-nodes",
        "amiSelectorTerms": [{"alias": "al2023@v20260714"}],
        "subnetSelectorTerms": discovery,
        "securityGroupSelectorTerms": discovery,
        # One hop more, or the data loader gets no credentials for S3.
        "metadataOptions": {"httpTokens": "required", "httpPutResponseHopLimit": 2},
    },
)
