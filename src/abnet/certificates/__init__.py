"""Certificates: splitting the rows, observing a model on the bound rows, and what the observations prove."""

from abnet.certificates.split import Split, drawn_seed, row_hashes, row_order

__all__ = ["Split", "drawn_seed", "row_hashes", "row_order"]
