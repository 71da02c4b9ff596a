"""The version of the numerics behind stored runs."""

__all__ = ["NUMERICS_VERSION"]

NUMERICS_VERSION = 1
"""Raise by one, by hand, when a change makes a setting train to a different network; all runs are then done anew."""
