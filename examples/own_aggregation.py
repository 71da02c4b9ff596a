"""Your own aggregation: the training loop, the bounds and the classifier accept it without changes.

With probability q, this one replaces the output of a drawn network by a fair coin. Its Gibbs risk is (1 - q) r + q/2.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.datasets import load_digits

from abnet import ABNetClassifier
from abnet.networks import Aggregation, Exact, exact, linear_loss
from abnet.networks.gaussian_kl import gaussian_kl


@dataclass(frozen=True)
class Noisy(Aggregation):
    """ABNet whose output is replaced by a fair coin with probability q."""

    q: float = 0.1
    certified: ClassVar[bool] = True  # the coin is part of the hypothesis, with one distribution under Q and P

    def output(self, layers: tuple[Any, ...], lifted: Any, key: Any = None, table: Any = None) -> Any:
        """``(1 - q) F_A(x)``."""
        return (1 - self.q) * exact.output(layers, lifted, table)

    def losses(self, layers: tuple[Any, ...], lifted: Any, targets: Any, key: Any = None, table: Any = None) -> Any:
        """The linear loss of this output. It is exact, so certificates can use it."""
        return linear_loss(self.output(layers, lifted), targets)

    def kl(self, layers: tuple[Any, ...], prior: tuple[Any, ...], log_sigma: Sequence[Any]) -> Any:
        """The divergence of the Gaussians; the coins cancel."""
        return gaussian_kl(layers, prior, log_sigma)


X, digits = load_digits(return_X_y=True)
X = X / 16
y = digits % 2
for aggregation in (Exact(), Noisy(0.1)):
    clf = ABNetClassifier((4,), prior="init", aggregation=aggregation, preprocessor=None, max_iter=30, random_state=0)
    clf.fit(X, y)
    risk = clf.certificate_.gibbs_risk_bound
    error = np.mean(clf.predict(X) != y)
    print(f"{aggregation}: bound on the Gibbs risk {risk:.2f}, KL {clf.kl_:.0f}, training error {error:.2f}")
