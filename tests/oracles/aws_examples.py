"""A resource of each type of AWS that is checked, with nothing wrong in it."""

from __future__ import annotations

import json
from typing import Any

CLUSTER = "aws:eks/cluster:Cluster"
GROUP = "aws:eks/nodeGroup:NodeGroup"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
ROLE = "aws:iam/role:Role"
RESERVATION = "aws:ec2/capacityReservation:CapacityReservation"
SECURITY_GROUP = "aws:ec2/securityGroup:SecurityGroup"
INGRESS = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
FILES = "aws:efs/fileSystem:FileSystem"
QUEUE, RULE = "aws:sqs/queue:Queue", "aws:cloudwatch/eventRule:EventRule"
TRUST = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "ec2.amazonaws.com"}}],
}
GOOD: dict[str, dict[str, Any]] = {
    CLUSTER: {
        "version": "1.35",
        "roleArn": None,
        "deletionProtection": True,
        "enabledClusterLogTypes": ["api", "audit"],
        "accessConfig": {"authenticationMode": "API", "bootstrapClusterCreatorAdminPermissions": False},
        "encryptionConfig": {"provider": {"keyArn": None}, "resources": ["secrets"]},
        "vpcConfig": {
            "subnetIds": [None, None],
            "endpointPrivateAccess": True,
            "endpointPublicAccess": True,
            "publicAccessCidrs": ["203.0.113.0/24"],
        },
        "tags": {"owner": "ml"},
    },
    GROUP: {
        "clusterName": "prod",
        "nodeRoleArn": "arn:aws:iam::111122223333:role/node",
        "subnetIds": ["subnet-0123456789abcdef0"],
        "instanceTypes": ["p5.48xlarge"],
        "amiType": "AL2023_x86_64_NVIDIA",
        "capacityType": "ON_DEMAND",
        "scalingConfig": {"minSize": 0.0, "desiredSize": 2.0, "maxSize": 4.0},
        "launchTemplate": {"id": None, "version": "1"},
        "taints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}],
        "labels": {"gpuyard.io/node-group": "h100"},
        "updateConfig": {"maxUnavailable": 1.0},
        "nodeRepairConfig": {"enabled": True},
    },
    TEMPLATE: {
        "updateDefaultVersion": True,
        "metadataOptions": {"httpEndpoint": "enabled", "httpTokens": "required", "httpPutResponseHopLimit": 1.0},
        "blockDeviceMappings": [
            {"deviceName": "/dev/xvda", "ebs": {"volumeSize": 200.0, "volumeType": "gp3", "encrypted": "true"}}
        ],
        "networkInterfaces": [
            {"networkCardIndex": 0.0, "deviceIndex": 0.0, "interfaceType": "interface", "securityGroups": ["sg-1"]},
            {"networkCardIndex": 1.0, "deviceIndex": 0.0, "interfaceType": "efa-only", "securityGroups": ["sg-1"]},
        ],
        "tagSpecifications": [{"resourceType": "instance", "tags": {"owner": "ml"}}],
        "capacityReservationSpecification": {
            "capacityReservationPreference": "capacity-reservations-only",
            "capacityReservationTarget": {"capacityReservationId": "cr-0123456789abcdef0"},
        },
        "userData": "TUlNRS1WZXJzaW9uOiAxLjA=",
    },
    "aws:eks/addon:Addon": {
        "clusterName": "prod",
        "addonName": "vpc-cni",
        "configurationValues": '{"enableNetworkPolicy": "true"}',
        "resolveConflictsOnCreate": "OVERWRITE",
        "resolveConflictsOnUpdate": "OVERWRITE",
        "podIdentityAssociations": [{"serviceAccount": "aws-node", "roleArn": None}],
    },
    "aws:eks/accessEntry:AccessEntry": {
        "clusterName": "prod",
        "principalArn": "arn:aws:iam::111122223333:role/platform",
        "kubernetesGroups": ["fraud-ml"],
    },
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": {
        "clusterName": "prod",
        "principalArn": "arn:aws:iam::111122223333:role/platform",
        "policyArn": "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy",
        "accessScope": {"type": "cluster"},
    },
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": {
        "clusterName": "prod",
        "namespace": "kube-system",
        "serviceAccount": "cluster-autoscaler",
        "roleArn": None,
    },
    "aws:ec2/vpc:Vpc": {"cidrBlock": "10.40.0.0/16", "enableDnsHostnames": True, "tags": {"Name": "prod"}},
    "aws:ec2/subnet:Subnet": {
        "vpcId": None,
        "availabilityZone": "us-east-1a",
        "cidrBlock": "10.40.0.0/19",
        "mapPublicIpOnLaunch": False,
    },
    "aws:ec2/internetGateway:InternetGateway": {"vpcId": None},
    "aws:ec2/eip:Eip": {"domain": "vpc"},
    "aws:ec2/natGateway:NatGateway": {"allocationId": None, "subnetId": None},
    "aws:ec2/routeTable:RouteTable": {"vpcId": None},
    "aws:ec2/route:Route": {"routeTableId": None, "destinationCidrBlock": "0.0.0.0/0", "natGatewayId": None},
    "aws:ec2/routeTableAssociation:RouteTableAssociation": {"routeTableId": None, "subnetId": None},
    "aws:ec2/vpcEndpoint:VpcEndpoint": {
        "vpcId": None,
        "vpcEndpointType": "Gateway",
        "serviceName": "com.amazonaws.us-east-1.s3",
        "routeTableIds": [None],
    },
    RESERVATION: {
        "availabilityZone": "us-east-1a",
        "instanceType": "g6.12xlarge",
        "instancePlatform": "Linux/UNIX",
        "instanceCount": 2.0,
        "endDateType": "limited",
        "endDate": "2027-02-28T00:00:00Z",
        "tags": {"owner": "ml"},
    },
    "aws:ec2/placementGroup:PlacementGroup": {"strategy": "cluster", "tags": {"owner": "ml"}},
    SECURITY_GROUP: {
        "description": "Model servers",
        "vpcId": None,
        "ingress": [{"protocol": "tcp", "fromPort": 8000.0, "toPort": 8000.0, "cidrBlocks": ["10.40.0.0/16"]}],
        "egress": [{"protocol": "-1", "fromPort": 0.0, "toPort": 0.0, "cidrBlocks": ["0.0.0.0/0"]}],
        "tags": {"owner": "ml"},
    },
    INGRESS: {
        "securityGroupId": None,
        "ipProtocol": "tcp",
        "fromPort": 8265.0,
        "toPort": 8265.0,
        "cidrIpv4": "10.0.0.0/8",
    },
    ROLE: {"assumeRolePolicy": json.dumps(TRUST), "tags": {"owner": "ml"}},
    "aws:iam/rolePolicy:RolePolicy": {
        "role": None,
        "policy": json.dumps(
            {
                "Version": "2012-10-17",
                "Statement": [{"Effect": "Allow", "Action": ["ec2:DescribeImages"], "Resource": "*"}],
            }
        ),
    },
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": {
        "role": None,
        "policyArn": "arn:aws:iam::aws:policy/AmazonEKS_CNI_Policy",
    },
    "aws:iam/openIdConnectProvider:OpenIdConnectProvider": {"url": None, "clientIdLists": ["sts.amazonaws.com"]},
    "aws:iam/instanceProfile:InstanceProfile": {"role": None, "tags": {"owner": "ml"}},
    QUEUE: {"messageRetentionSeconds": 300.0, "sqsManagedSseEnabled": True, "tags": {"owner": "ml"}},
    "aws:sqs/queuePolicy:QueuePolicy": {"queueUrl": None, "policy": json.dumps(TRUST)},
    RULE: {"eventPattern": '{"source": ["aws.ec2"]}', "tags": {"owner": "ml"}},
    "aws:cloudwatch/eventTarget:EventTarget": {"rule": None, "arn": "arn:aws:sqs:us-east-1:111122223333:queue"},
    "aws:kms/key:Key": {"description": "secrets", "enableKeyRotation": True, "deletionWindowInDays": 30.0},
    "aws:s3/bucket:Bucket": {"bucket": "models", "forceDestroy": False, "tags": {"owner": "ml"}},
    "aws:s3/bucketObject:BucketObject": {"bucket": "models", "content": "x", "contentType": "text/plain"},
    "aws:ecr/repository:Repository": {
        "imageTagMutability": "IMMUTABLE",
        "encryptionConfigurations": [{"encryptionType": "KMS", "kmsKey": None}],
        "tags": {"owner": "ml"},
    },
    FILES: {
        "encrypted": True,
        "kmsKeyId": "arn:aws:kms:us-east-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab",
        "throughputMode": "elastic",
        "lifecyclePolicies": [{"transitionToIa": "AFTER_30_DAYS"}],
        "tags": {"owner": "ml"},
    },
    "aws:fsx/lustreFileSystem:LustreFileSystem": {
        "deploymentType": "PERSISTENT_2",
        "perUnitStorageThroughput": 250.0,
        "storageCapacity": 4800.0,
        "subnetIds": None,
    },
}
