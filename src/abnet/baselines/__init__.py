"""The methods that the paper compares with: EBP, BinaryConnect and BNN.

Each training rule is a *learner*: a frozen, hashable record of options with pure methods `init`, `start`, `step`,
`output` and `monitor`, which the shared training loop compiles. `ebp_output` and `FoldedNetwork` predict with NumPy
alone. Names are loaded on first use, so that prediction never imports JAX.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from abnet.baselines.binaryconnect import BinaryConnect
    from abnet.baselines.bnn import BNN
    from abnet.baselines.ebp import EBP
    from abnet.baselines.ebp_adam import EBPAdam
    from abnet.baselines.folded import FoldedNetwork
    from abnet.baselines.posterior_average import ebp_output

__all__ = ["EBP", "EBPAdam", "BinaryConnect", "BNN", "FoldedNetwork", "ebp_output"]

_HOMES = {
    "EBP": "ebp",
    "EBPAdam": "ebp_adam",
    "BinaryConnect": "binaryconnect",
    "BNN": "bnn",
    "FoldedNetwork": "folded",
    "ebp_output": "posterior_average",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it offers {', '.join(__all__)}.")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
