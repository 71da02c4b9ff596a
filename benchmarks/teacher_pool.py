"""A default fit of abnet that keeps its pool of teachers, so that both can be compared on identical rows."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from abnet import CertifiedClassifier
from abnet.training import mixture_learning
from abnet.training.teach import teach

__all__ = ["FitWithPool", "fit_with_pool"]


class FitWithPool(NamedTuple):
    """A fitted classifier, and the pool that its networks were distilled from; None without teachers."""

    classifier: CertifiedClassifier
    pool: Any

    def pool_probabilities(self, X: Any) -> NDArray[np.float64]:
        """The pool's predictions for rows, prepared as for the networks."""
        features = np.asarray(self.classifier.model_.preparation.base.transform(X), np.float32)
        return np.asarray(self.pool.probabilities(features))


def fit_with_pool(X: Any, y: Any, seed: int) -> FitWithPool:
    """Fit with default settings, and keep the teachers, which a fit forgets once the targets are made."""
    with _kept_pools() as pools:
        classifier = CertifiedClassifier(random_state=seed).fit(X, y)
    return FitWithPool(classifier, pools[-1])


@contextmanager
def _kept_pools() -> Iterator[list[Any]]:
    pools: list[Any] = []

    def keep(*arguments: Any) -> Any:
        part, pool = teach(*arguments)
        pools.append(pool)
        return part, pool

    with patch.object(mixture_learning, "teach", keep):
        yield pools
