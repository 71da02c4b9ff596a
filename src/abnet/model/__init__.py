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
metadata ``sha256``   digest of the config and the tensors: a flipped bit is noticed. It is no signature: who can
                      write the file can write the digest
====================  ========================================================================================

Loading needs NumPy, SciPy and msgspec alone.
"""

from abnet.model.card import Card, Curve, Rival
from abnet.model.file import load, save
from abnet.model.model import Model

__all__ = ["Card", "Curve", "Model", "Rival", "load", "save"]
