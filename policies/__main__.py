"""The policy pack as the language host runs it, from its folder: pulumi preview --policy-pack policies."""

from pathlib import Path

from gpuyard.review.analyzer import main

main(Path(__file__).resolve().parent.parent)
