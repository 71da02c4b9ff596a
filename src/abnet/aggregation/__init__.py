"""The expected output of an aggregation of binary activated networks, one file per way to compute it."""

from abnet.aggregation.exact import expected_output, kl, region_values

__all__ = ["expected_output", "kl", "region_values"]
