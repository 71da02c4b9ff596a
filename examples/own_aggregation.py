"""An aggregation of one's own: it goes into the training loop, the bounds and the classifier as it is.

This one lets every drawn network answer by a fair coin with probability q, so that its Gibbs risk is (1 - q) r + q/2.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.datasets import load_digits

from abnet import ABNetClassifier
from abnet.aggregation import Aggregation, Exact, exact
from abnet.aggregation.gaussian_kl import gaussian_kl
from abnet.aggregation.protocol import linear_loss


@dataclass(frozen=True)
class Noisy(Aggregation):
    """ABNet whose answers pass a channel that replaces them by a fair coin with probability q."""

    q: float = 0.1
    certified: ClassVar[bool] = True  # the coin belongs to the hypothesis: posterior and prior have the same one

    def output(self, layers: tuple[Any, ...], lifted: Any, key: Any = None, table: Any = None) -> Any:
        """``(1 - q) F_A(x)``."""
        return (1 - self.q) * exact.output(layers, lifted, table)

    def losses(self, layers: tuple[Any, ...], lifted: Any, targets: Any, key: Any = None, table: Any = None) -> Any:
        """The linear loss of this output, exactly: so certificates can rest on it."""
        return linear_loss(self.output(layers, lifted), targets)

    def kl(self, layers: tuple[Any, ...], prior: tuple[Any, ...], log_sigma: Sequence[Any]) -> Any:
        """That of the Gaussians: the coins cancel."""
        return gaussian_kl(layers, prior, log_sigma)


X, digits = load_digits(return_X_y=True)
X, y = X / 16, digits % 2
for aggregation in (Exact(), Noisy(0.1)):
    clf = ABNetClassifier((4,), prior="init", aggregation=aggregation, preprocessor=None, max_iter=30, random_state=0)
    clf.fit(X, y)
    risk, error = clf.certificate_.gibbs_risk_bound, np.mean(clf.predict(X) != y)
    print(f"{aggregation}: bound on the Gibbs risk {risk:.2f}, KL {clf.kl_:.0f}, training error {error:.2f}")
