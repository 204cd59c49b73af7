"""The policy pack: judges each resource while Pulumi's engine registers it, by the rules and limits of the review."""
