"""Model files: one safetensors file per predictor, with everything it needs and nothing that could run.

====================  ========================================================================================
part of the file      content
====================  ========================================================================================
tensors               ``Predictor.arrays()``: little-endian, C order
metadata ``format``   ``abnet``
metadata              ``1``; a reader refuses versions it does not know
``format_version``
metadata ``config``   one JSON text: kind of predictor, class labels, feature names, preparation, certificate,
                      details
metadata ``sha256``   digest of the config and the tensors: a flipped bit is noticed. It is no signature: who can
                      write the file can write the digest
====================  ========================================================================================

Loading needs NumPy and SciPy alone.
"""

from abnet.files.model_file import load, register, save

__all__ = ["load", "register", "save"]
