"""A model with its certificate, and its errors on a test set that nobody learned from: one line of a comparison."""

import pickle
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abnet.bounds import clopper_pearson_bound
from abnet.bounds.certificate import Certificate
from abnet.cli.jobs.inputs import Labelled, take

__all__ = ["Contender", "Parts", "attempt", "auc", "balanced_error", "certified", "judged"]


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
        Time to learn and certify, without compilation.
    note : str
        What a reader should know, such as why there is no figure.
    compile_seconds : float
        Time to compile programs, which later fits of the same shape are spared.
    balanced_error : float or None
        Mean of the classes' rates of errors on the test rows.
    auc : float or None
        Area under the ROC curve on the test rows, of models with scores; None where they have one class only.
    is_fit : bool
        Whether `abnet fit` with the same options would make this model.
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
    compile_seconds: float = 0.0
    balanced_error: float | None = None
    auc: float | None = None
    is_fit: bool = False

    @property
    def test_error(self) -> float | None:
        """Rate of errors on the test rows."""
        return None if self.test_errors is None else self.test_errors / self.n_test

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, with the rate of errors."""
        return {**asdict(self), "test_error": self.test_error}


def balanced_error(answers: NDArray[Any], labels: NDArray[Any]) -> float:
    """Mean of the classes' rates of errors.

    Examples
    --------
    >>> balanced_error(np.array(["a", "a", "a", "a"]), np.array(["a", "a", "a", "b"]))
    0.5
    """
    return float(np.mean([np.mean(answers[labels == label] != label) for label in np.unique(labels)]))


def auc(scores: NDArray[np.float64], labels: NDArray[Any]) -> float | None:
    """Area under the ROC curve of two classes; None for more, or where only one occurs.

    Examples
    --------
    >>> auc(np.array([0.1, 0.4, 0.35, 0.8]), np.array([0, 0, 1, 1]))
    0.75
    """
    from sklearn.metrics import roc_auc_score

    of_second = scores if scores.ndim == 1 else scores[:, -1]
    if len(np.unique(labels)) != 2 or (scores.ndim == 2 and scores.shape[1] != 2):
        return None
    return float(roc_auc_score(labels == np.unique(labels)[1], of_second))


@contextmanager
def _compilation() -> Iterator[list[float]]:
    """A list of the times, in seconds, that JAX spends on making programs."""
    _listen_once()
    _LISTENERS.append([])
    try:
        yield _LISTENERS[-1]
    finally:
        _LISTENERS.pop()


@cache
def _listen_once() -> None:
    """Ask JAX to tell of its compilations; not all of its versions let a listener leave again."""
    from jax import monitoring

    def listen(event: str, duration_secs: float, **_: Any) -> None:
        if event in _COMPILING and _LISTENERS:
            _LISTENERS[-1].append(duration_secs)

    monitoring.register_event_duration_secs_listener(listen)


_LISTENERS: list[list[float]] = []

_COMPILING = ("/jax/core/compile/jaxpr_to_mlir_module_duration", "/jax/core/compile/backend_compile_duration")


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
    with _compilation() as compiling:
        start = perf_counter()
        classifier.fit(learn.X, learn.y)
        seconds = perf_counter() - start
    certificate: Certificate | None = classifier.certificate_
    answers = classifier.predict(test.X)
    wrong = answers != test.y
    return Contender(
        name,
        bound=None if certificate is None else certificate.vote_error_bound,
        method="" if certificate is None else certificate.vote_method or "",
        gibbs_bound=None if certificate is None else certificate.gibbs_risk_bound,
        test_errors=int(np.count_nonzero(wrong)),
        n_test=len(wrong),
        size=_file_size(classifier, preparation),
        seconds=seconds - sum(compiling),
        compile_seconds=sum(compiling),
        balanced_error=balanced_error(answers, test.y),
        auc=auc(classifier.decision_function(test.X), test.y),
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
    rows = prepare(test.X)
    answers = model.predict(rows)
    wrong = answers != test.y
    size = len(pickle.dumps((parts.preparation, model)))
    return Contender(
        name, bound, "test set", None, int(np.count_nonzero(wrong)), len(wrong), size, seconds,
        balanced_error=balanced_error(answers, test.y), auc=auc(model.predict_proba(rows), test.y),
    )  # fmt: skip


def _identity(X: Any) -> Any:
    return X


def _fit(model: Any, X: Any, y: Any) -> None:
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # still a legitimate rule to judge
        model.fit(X, y)
