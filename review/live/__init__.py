"""What the engine itself plans for a stack, judged as a recording is."""

LIVE_SECONDS = 1800.0
"""A preview asks clouds and clusters, which may be slow."""
