"""A bucket for the weights that the training writes."""

import pulumi_gcp as gcp

gcp.storage.Bucket(
    "weights",
    location="US-CENTRAL1",
    uniform_bucket_level_access=True,
    # So that `pulumi destroy` of a branch works.
    force_destroy=True,
    labels={"owner": "training", "cost-center": "4711"},
)
