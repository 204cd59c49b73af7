"""Fixtures of the tests with whole stacks."""

from engine.fixtures import charts

__all__ = ["charts"]
