"""Binary activated neural networks whose error on new data is certified.

Names are loaded when they are first used: prediction with a saved model never imports JAX.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from abnet import aggregation, bounds, data
    from abnet.bam import BAM
    from abnet.bounds.certificate import Certificate
    from abnet.compact import CompactABNet, CompactMAP
    from abnet.estimators.abnet import ABNetClassifier
    from abnet.estimators.binaryconnect import BinaryConnectClassifier
    from abnet.estimators.bnn import BNNClassifier
    from abnet.estimators.ebp import EBPClassifier
    from abnet.estimators.pbgnet import PBGNetClassifier
    from abnet.estimators.search import ABNetSearch
    from abnet.files import load

__version__ = "0.1.0"

_HOMES = {
    "BAM": "abnet.bam",
    "ABNetClassifier": "abnet.estimators.abnet",
    "PBGNetClassifier": "abnet.estimators.pbgnet",
    "ABNetSearch": "abnet.estimators.search",
    "EBPClassifier": "abnet.estimators.ebp",
    "BinaryConnectClassifier": "abnet.estimators.binaryconnect",
    "BNNClassifier": "abnet.estimators.bnn",
    "Certificate": "abnet.bounds.certificate",
    "CompactABNet": "abnet.compact",
    "CompactMAP": "abnet.compact",
    "load": "abnet.files",
}
_ROOMS = ("aggregation", "bounds", "data")

__all__ = [
    "ABNetClassifier",
    "ABNetSearch",
    "BAM",
    "BNNClassifier",
    "BinaryConnectClassifier",
    "Certificate",
    "CompactABNet",
    "CompactMAP",
    "EBPClassifier",
    "PBGNetClassifier",
    "aggregation",
    "bounds",
    "data",
    "load",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"abnet.{name}")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'abnet' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
