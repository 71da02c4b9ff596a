"""A fitted model: predictor, labels, preparation, calibration, certificate, decision and card, and its file.

====================  ========================================================================================
part of the file      content
====================  ========================================================================================
tensors               ``Predictor.arrays()``: little-endian, C order
metadata ``format``   ``abnet``
metadata              ``2``; a reader refuses versions it does not know
``format_version``
metadata ``config``   one JSON text: kind of predictor, class labels, feature names, preparation, calibration,
                      certificate, decision, card
metadata ``sha256`` digest of the config and the tensors, which detects damage. It is not a signature: anyone who can
                      write the file can write the digest
====================  ========================================================================================

Loading needs only NumPy, SciPy and msgspec.
"""

from abnet.model.card import Card, Curve, Rival
from abnet.model.file import load, save
from abnet.model.model import Model

__all__ = ["Card", "Curve", "Model", "Rival", "load", "save"]
