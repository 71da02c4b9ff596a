"""A model with its certificate, and its errors on a test set that nobody learned from: one line of a comparison."""

import pickle
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from abnet.bounds import clopper_pearson_bound
from abnet.bounds.certificate import Certificate
from abnet.cli.jobs.inputs import Labelled, take

__all__ = ["Contender", "Parts", "attempt", "certified", "judged"]


@dataclass(frozen=True)
class Contender:
    """One line of a comparison.

    Attributes
    ----------
    name : str
    bound : float or None
        Certified bound on the error of its labels; None where there is none.
    method : str
        Where the bound comes from.
    gibbs_bound : float or None
        Certified bound on the Gibbs risk, of networks only.
    test_errors, n_test : int
        Errors on the test rows, and their number.
    size : int
        Bytes of what would be deployed, preparation included: the model file, or the pickle of a scikit-learn model.
    seconds : float
        Time to learn and certify, with compilation.
    note : str
        What a reader should know, such as why there is no figure.
    """

    name: str
    bound: float | None = None
    method: str = ""
    gibbs_bound: float | None = None
    test_errors: int | None = None
    n_test: int = 0
    size: int | None = None
    seconds: float | None = None
    note: str = ""

    @property
    def test_error(self) -> float | None:
        """Rate of errors on the test rows."""
        return None if self.test_errors is None else self.test_errors / self.n_test

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, with the rate of errors."""
        return {**asdict(self), "test_error": self.test_error}


def attempt(name: str, run: Callable[[str], Contender]) -> Contender:
    """A contender, or where it cannot be learned, the reason in its place: nothing is hidden."""
    from abnet.data.preparation import UnseenWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenWarning)  # every contender meets the same ones
        try:
            return run(name)
        except ValueError as error:
            return Contender(name, note=f"{name} could not be learned: {error}")


def certified(name: str, classifier: Any, learn: Labelled, test: Labelled, preparation: Any = None) -> Contender:
    """A certified classifier, learned from rows that are prepared already if a preparation is given."""
    start = perf_counter()
    classifier.fit(learn.X, learn.y)
    seconds = perf_counter() - start
    certificate: Certificate | None = classifier.certificate_
    wrong = classifier.predict(test.X) != test.y
    return Contender(
        name,
        bound=None if certificate is None else certificate.vote_error_bound,
        method="" if certificate is None else certificate.vote_method or "",
        gibbs_bound=None if certificate is None else certificate.gibbs_risk_bound,
        test_errors=int(np.count_nonzero(wrong)),
        n_test=len(wrong),
        size=_file_size(classifier, preparation),
        seconds=seconds,
    )


def _file_size(classifier: Any, preparation: Any) -> int:
    from abnet.files import save

    predictor = classifier.compact()
    if preparation is not None:
        predictor = replace(predictor, info=replace(predictor.info, preparation=preparation, feature_names=None))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.abnet"
        save(predictor, path)
        return path.stat().st_size


class Parts(NamedTuple):
    """Rows to learn from, rows to count errors on, and a preparation that was fitted on the former, if any."""

    first: Any
    second: Any
    preparation: Any = None


def judged(name: str, model: Any, learn: Labelled, test: Labelled, parts: Parts, delta: float) -> Contender:
    """A scikit-learn model learned from the first part, with the test-set bound from its errors on the second."""
    start = perf_counter()
    first, second = take(learn, parts.first), take(learn, parts.second)
    prepare = _identity if parts.preparation is None else parts.preparation.transform
    _fit(model, prepare(first.X), first.y)
    errors = int(np.count_nonzero(model.predict(prepare(second.X)) != second.y))
    bound = clopper_pearson_bound(errors, len(second.y), delta)
    seconds = perf_counter() - start
    wrong = model.predict(prepare(test.X)) != test.y
    size = len(pickle.dumps((parts.preparation, model)))
    return Contender(name, bound, "test set", None, int(np.count_nonzero(wrong)), len(wrong), size, seconds)


def _identity(X: Any) -> Any:
    return X


def _fit(model: Any, X: Any, y: Any) -> None:
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # still a legitimate rule to judge
        model.fit(X, y)
