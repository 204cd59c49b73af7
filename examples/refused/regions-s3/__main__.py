"""A bucket for recordings, near the users of a pilot."""

import pulumi_aws as aws

aws.s3.Bucket(
    "recordings",
    region="me-south-1",
    tags={"owner": "training", "cost-center": "4711"},
)
