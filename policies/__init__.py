"""The rules in Rego and the limits that they compare with. Data only: `gpuyard.review` reads it."""
