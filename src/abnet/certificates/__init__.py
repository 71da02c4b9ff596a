"""Promises: which rows are counted, what they showed, and what that proves."""

from abnet.certificates.split import Split, drawn_seed, row_hashes, row_order

__all__ = ["Split", "drawn_seed", "row_hashes", "row_order"]
