"""The comparison that a user would make, on the same rows for all: the job of `abnet compare`."""

import pickle
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from joblib import cpu_count
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from abnet.certificates.certificate import Certificate
from abnet.certificates.certify import Terms
from abnet.cli.jobs.inputs import (
    Labelled,
    check_use,
    in_options,
    make_estimator,
    read_labelled,
    take,
    take_groups,
    two_random_parts,
    usual_models,
)
from abnet.decisions.certify_model import certify_judged
from abnet.decisions.outside import judge_answers
from abnet.estimators.recipe import prior_share
from abnet.preparation import TablePreparation
from abnet.preparation.choose import DecimalMarkError
from abnet.tables.cells import CellError
from abnet.tables.reading import TableSource

__all__ = [
    "CompareOutcome",
    "Contender",
    "Parts",
    "attempt",
    "auc",
    "balanced_error",
    "calibration_error",
    "certified",
    "compare_table",
    "judged",
    "log_loss",
]


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
    log_loss, calibration_error : float or None
        Of the probabilities on the test rows (`log_loss`, `calibration_error`).
    is_fit : bool
        Whether `abnet fit` with the same options would make this model.
    certificate : Certificate or None
        What `bound` is taken from.
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
    log_loss: float | None = None
    calibration_error: float | None = None
    is_fit: bool = False
    certificate: Certificate | None = None

    @property
    def test_error(self) -> float | None:
        """Rate of errors on the test rows."""
        return None if self.test_errors is None else self.test_errors / self.n_test

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, with the rate of errors."""
        plain = asdict(replace(self, certificate=None))
        del plain["certificate"]
        return {**plain, "test_error": self.test_error}


def balanced_error(answers: NDArray[Any], labels: NDArray[Any]) -> float:
    """Mean of the classes' rates of errors.

    Examples
    --------
    >>> balanced_error(np.array(["a", "a", "a", "a"]), np.array(["a", "a", "a", "b"]))
    0.5
    """
    return float(np.mean([np.mean(answers[labels == label] != label) for label in np.unique(labels)]))


def auc(scores: NDArray[np.float64], classes: NDArray[Any], labels: NDArray[Any]) -> float | None:
    """Area under the ROC curve; of several classes the mean, each against the rest. None where only one occurs.

    Examples
    --------
    >>> auc(np.array([0.1, 0.4, 0.35, 0.8]), np.array([0, 1]), np.array([0, 0, 1, 1]))
    0.75
    """
    from sklearn.metrics import roc_auc_score

    by_class = scores.T if len(classes) > 2 else scores.T.reshape(-1, len(scores))[-1:]  # of two, the second's
    cases = [(labels == label, own) for label, own in zip(classes[-len(by_class) :], by_class, strict=True)]
    areas = [roc_auc_score(hit, own) for hit, own in cases if hit.any() and not hit.all()]
    return float(np.mean(areas)) if areas else None


def log_loss(proba: NDArray[np.float64], classes: NDArray[Any], labels: NDArray[Any]) -> float:
    """Mean of ``-ln P(true class)``, in nats; a probability below 1e-6, or a label that is not known, counts as 1e-6.

    Examples
    --------
    >>> round(log_loss(np.array([[0.5, 0.5], [0.2, 0.8]]), np.array(["a", "b"]), np.array(["a", "b"])), 4)
    0.4581
    """
    at = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    chance = np.where(classes[at] == labels, proba[np.arange(len(labels)), at], 0.0)
    return float(-np.log(np.maximum(chance, 1e-6)).mean())


CALIBRATION_BINS = 15


def calibration_error(proba: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    """Expected calibration error: mean gap of confidence and rate of right answers, over bins of the confidence.

    Examples
    --------
    >>> calibration_error(np.array([[0.25, 0.75]] * 4), np.array([True, True, True, False]))
    0.0
    """
    top = proba.max(axis=1)
    bins = np.minimum((top * CALIBRATION_BINS).astype(int), CALIBRATION_BINS - 1)
    count = np.bincount(bins, minlength=CALIBRATION_BINS)
    gaps = np.bincount(bins, weights=right - top, minlength=CALIBRATION_BINS)
    return float(np.abs(gaps).sum() / max(count.sum(), 1))


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
    from abnet.preparation import UnseenWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenWarning)  # every contender meets the same ones
        try:
            return run(name)
        except (CellError, DecimalMarkError):
            raise  # whoever learns from the table
        except ValueError as error:
            return Contender(name, note=f"{name} could not be learned: {error}")


def certified(name: str, classifier: Any, learn: Labelled, test: Labelled, preparation: Any = None) -> Contender:
    """A certified classifier, learned from rows that are prepared already if a preparation is given."""
    with _compilation() as compiling:
        start = perf_counter()
        classifier.fit(learn.X, learn.y, groups=learn.groups)
        seconds = perf_counter() - start
    certificate: Certificate | None = classifier.certificate_
    answers, proba = classifier.predict(test.X), classifier.predict_proba(test.X)
    wrong = answers != test.y
    return Contender(
        name,
        bound=None if certificate is None else certificate.vote_error_bound,
        method="" if certificate is None else "PAC-Bayes" if certificate.facts.trained else "test set",
        gibbs_bound=None if certificate is None else certificate.gibbs_risk_bound,
        test_errors=int(np.count_nonzero(wrong)),
        n_test=len(wrong),
        size=_file_size(classifier, preparation),
        seconds=seconds - sum(compiling),
        compile_seconds=sum(compiling),
        balanced_error=balanced_error(answers, test.y),
        auc=auc(classifier.decision_function(test.X), classifier.classes_, test.y),
        log_loss=log_loss(proba, classifier.classes_, test.y),
        calibration_error=calibration_error(proba, ~wrong),
        certificate=certificate,
    )


def _file_size(classifier: Any, preparation: Any) -> int:
    from abnet.model.file import save

    model = classifier.compact()
    if preparation is not None:
        model = replace(model, preparation=preparation, feature_names=None)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.abnet"
        save(model, path)
        return path.stat().st_size


class Parts(NamedTuple):
    """Rows to learn from, rows to count errors on, and a preparation that was fitted on the former, if any."""

    first: Any
    second: Any
    preparation: Any = None


def judged(
    name: str, model: Any, learn: Labelled, test: Labelled, parts: Parts, delta: float, n_candidates: int = 1
) -> Contender:
    """A scikit-learn model learned from the first part, with the test-set bound from its errors on the second."""
    start = perf_counter()
    first, second = take(learn, parts.first), take(learn, parts.second)
    prepare = (lambda X: X) if parts.preparation is None else parts.preparation.transform
    _fit(model, prepare(first.X), first.y)
    found, places = judge_answers(second.y, model.predict(prepare(second.X))), np.arange(len(second.y))  # of the split
    certificate = certify_judged(found, Terms(delta=delta, n_candidates=n_candidates), places, groups=second.groups)
    seconds = perf_counter() - start
    rows = prepare(test.X)
    answers, proba = model.predict(rows), model.predict_proba(rows)
    wrong = answers != test.y
    size = len(pickle.dumps((parts.preparation, model)))
    return Contender(
        name, certificate.vote_error_bound, "test set", None, int(np.count_nonzero(wrong)), len(wrong), size, seconds,
        balanced_error=balanced_error(answers, test.y), auc=auc(proba, model.classes_, test.y),
        log_loss=log_loss(proba, model.classes_, test.y), calibration_error=calibration_error(proba, ~wrong),
        certificate=certificate,
    )  # fmt: skip


def _fit(model: Any, X: Any, y: Any) -> None:
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # still a legitimate rule to judge
        model.fit(X, y)


LEAST_ROWS = 20


@dataclass(frozen=True)
class CompareOutcome:
    """All contenders, the numbers of rows and threads that they had, and the majority-class error on the test rows."""

    n_learn: int
    n_test: int
    delta: float
    contenders: tuple[Contender, ...]
    threads: int
    base_rate: float
    n_candidates: int = 1
    notices: tuple[str, ...] = ()

    @property
    def winner(self) -> Contender | None:
        """The contender with the tightest certificate, the first of equals; None where nobody has one."""
        certified = [contender for contender in self.contenders if contender.bound is not None]
        return min(certified, key=lambda contender: contender.bound or 0.0, default=None)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        names = ("n_learn", "n_test", "delta", "n_candidates", "threads", "base_rate")
        contenders = [contender.to_dict() for contender in self.contenders]
        return {**{name: getattr(self, name) for name in names}, "contenders": contenders}


@dataclass
class _Contest:
    """What all contenders share; `parts` are those of the network, once it is fitted."""

    learn: Labelled
    test: Labelled
    settings: dict[str, Any]
    prepare: dict[str, Any]
    verbose: bool
    parts: Parts | None = None

    def preparation(self) -> TablePreparation:
        return TablePreparation(**self.prepare)

    def network(self, name: str) -> Contender:
        network = make_estimator(self.settings, preprocessor=self.preparation(), verbose=self.verbose)
        contender = replace(certified(name, network, self.learn, self.test), is_fit=True)
        self.parts = Parts(network.other_rows_, network.bound_rows_, network.preprocessor_)
        return contender

    def sklearn_model(self, model: Any) -> Callable[[str], Contender]:
        terms = (self.settings["delta"], self.settings["n_candidates"])
        return lambda name: judged(name, model, self.learn, self.test, self.parts or self.own_parts(), *terms)

    def own_parts(self) -> Parts:
        """Two parts for the scikit-learn models, where no network has any."""
        share, seed = prior_share(make_estimator(self.settings)), self.settings["random_state"]
        first, second = two_random_parts(self.learn, share, seed)
        return Parts(first, second, self.preparation().fit(take(self.learn, first).X))


def compare_table(
    table: Path,
    target: str,
    *,
    settings: dict[str, Any],
    drop: Sequence[str] = (),
    group: str | None = None,
    preparation: dict[str, Any] | None = None,
    test_fraction: float = 0.2,
    save: Path | None = None,
    verbose: bool = False,
) -> CompareOutcome:
    """Learn the target of a table in several ways.

    Parameters
    ----------
    table : path
    target : str
    settings : dict
        Parameters of the classifier.
    drop : sequence of str
    group : str, optional
        Column that says which rows belong together; it is no feature.
    preparation : dict, optional
        Parameters of `TablePreparation`.
    test_fraction : float
        Share of the rows that nobody learns from.
    save : path, optional
        Where to write the certificate of the model that has the tightest one. All certificates then pay for the choice
        among all contenders.
    verbose : bool
        Draw progress bars.
    """
    make_estimator(settings)
    preparation = preparation or {}
    with tempfile.TemporaryDirectory(prefix="abnet-") as folder:
        part = read_labelled(
            TableSource(table, folder), target, drop=drop, at_least=LEAST_ROWS, max_learn_rows=sys.maxsize, share=0.5,
            seed=0,
        )  # fmt: skip
    part, groups = take_groups(part, group)
    data = Labelled(part.X, part.y, groups)
    check_use(preparation.get("use", ()), part.X.columns)
    learn, test = two_random_parts(data, 1 - test_fraction, settings["random_state"])
    settings = {"n_candidates": 1, **settings}
    contest = _Contest(take(data, np.sort(learn)), take(data, np.sort(test)), settings, preparation, verbose)
    if save is not None:
        contest.settings["n_candidates"] = len(_entries(contest))
    threads = cpu_count()
    with threadpool_limits(threads):  # JAX takes as many by itself
        try:
            contenders = tuple(attempt(name, run) for name, run in _entries(contest).items())
        except CellError:  # its row is one of a part; the whole table has the row of the file
            contest.preparation().fit(*data[:2]).transform(data.X)
            raise
    read = () if contest.parts is None else contest.parts.preparation.notes_
    commonest = np.unique(contest.test.y, return_counts=True)[1].max()
    outcome = CompareOutcome(
        len(learn), len(test), settings["delta"], contenders, threads, 1.0 - float(commonest / len(test)),
        contest.settings["n_candidates"], tuple(map(in_options, (*part.notes, *read))),
    )  # fmt: skip
    if save is not None and outcome.winner is not None and outcome.winner.certificate is not None:
        outcome.winner.certificate.save(save)
    return outcome


def _entries(contest: _Contest) -> dict[str, Callable[[str], Contender]]:
    from sklearn.dummy import DummyClassifier

    peers = usual_models(contest.settings["random_state"]) | {"majority rule": DummyClassifier()}
    return {"ABNet": contest.network} | {name: contest.sklearn_model(model) for name, model in peers.items()}
