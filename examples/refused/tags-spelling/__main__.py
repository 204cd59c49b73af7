"""A bucket of models and a repository of images, tagged once for all by the provider."""

import pulumi
import pulumi_aws as aws

tags = {"owner": "ml-platform", "costcenter": "4711"}
tagged = pulumi.ResourceOptions(
    provider=aws.Provider("tagged", region="us-east-1", default_tags={"tags": tags}),
)
aws.s3.Bucket("models", opts=tagged)
aws.ecr.Repository("servers", image_tag_mutability="IMMUTABLE", opts=tagged)
