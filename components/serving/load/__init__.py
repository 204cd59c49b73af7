"""How many replicas an endpoint needs for a load, what they cost, and how they bear what goes wrong."""
