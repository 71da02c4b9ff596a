"""What a promise is made from: which rows learn and which are counted."""

from abnet.certificates.split import Split, drawn_seed, row_hashes, row_order

__all__ = ["Split", "drawn_seed", "row_hashes", "row_order"]
