"""`compare`: compare the model of `abnet.fit_table` with common models, trained and certified on the same rows."""

import pickle
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cache
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from abnet.certificates.certificate import Certificate
from abnet.certificates.certify_model import certify_judged
from abnet.certificates.outside import judge_answers
from abnet.certificates.terms import Terms
from abnet.estimators.certificate_mixin import CertificateMixin
from abnet.estimators.table_parts import Labelled, for_tables, read_rows, take, two_random_parts
from abnet.model.model import Model
from abnet.model.performance_measures import auc, balanced_error, calibration_error, log_loss
from abnet.tables.labels import Labels
from abnet.tables.model_labels import label_places
from abnet.tables.notes import Note
from abnet.tables.preparation.column_kinds import DecimalMarkError
from abnet.tables.table_source import TableSource
from abnet.utils.atomic import temporary_folder
from abnet.utils.parameters import check_fraction
from abnet.utils.progress import report_progress
from abnet.utils.threads import cores

__all__ = ["Comparison", "Contender", "Parts", "attempt", "certified", "compare", "judged", "usual_models"]


@dataclass(frozen=True)
class Contender:
    """One line of a comparison.

    Attributes
    ----------
    name : str
    bound : float or None
        Certified bound on its error rate; None if there is none.
    method : str
        Name of the bound.
    gibbs_bound : float or None
        Certified bound on the Gibbs risk, for networks only.
    test_errors, n_test : int
        Errors on the test rows, and their number.
    size : int
        Size in bytes of the deployed model with its preparation: the model file, or the pickle of a scikit-learn model.
    seconds : float
        Time to train and certify, without compilation.
    note : str
        A note for the reader, such as why a figure is missing.
    compile_seconds : float
        Time to compile programs; later fits of the same shape do not need it.
    balanced_error : float or None
        Mean of the per-class error rates on the test rows.
    auc : float or None
        Area under the ROC curve on the test rows, for models with scores; None if the rows have only one class.
    log_loss, calibration_error : float or None
        Log loss and expected calibration error on the test rows.
    is_fit : bool
        Whether `abnet fit` with the same options would train this model.
    certificate : Certificate or None
        The certificate with `bound`.
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
        """Error rate on the test rows."""
        return None if self.test_errors is None else self.test_errors / self.n_test

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, including the error rate."""
        plain = asdict(replace(self, certificate=None))
        del plain["certificate"]
        return {**plain, "test_error": self.test_error}


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
    """Register a listener for JAX compilations, once: not all versions of JAX can remove a listener."""
    from jax import monitoring

    def listen(event: str, duration_secs: float, **_: Any) -> None:
        if event in _COMPILING and _LISTENERS:
            _LISTENERS[-1].append(duration_secs)

    monitoring.register_event_duration_secs_listener(listen)


_LISTENERS: list[list[float]] = []
_COMPILING = ("/jax/core/compile/jaxpr_to_mlir_module_duration", "/jax/core/compile/backend_compile_duration")


def attempt(name: str, run: Callable[[str], Contender]) -> Contender:
    """Train a contender; if training fails, return one with the reason as its note."""
    from abnet.tables.preparation import UnseenWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenWarning)  # every contender meets the same ones
        try:
            return run(name)
        except DecimalMarkError:
            raise  # whoever learns from the table
        except ValueError as error:
            return Contender(name, note=f"{name} could not be trained: {error}")


def certified(name: str, classifier: CertificateMixin, learn: Labelled, test: Labelled) -> Contender:
    """A certified classifier, with the certificate from its own bound rows."""
    with _compilation() as compiling:
        start = perf_counter()
        classifier._fit(learn.X, learn.y, groups=learn.groups, written=True)
        seconds = perf_counter() - start
    certificate: Certificate | None = classifier.certificate_
    found = Contender(
        name, size=_file_size(classifier.model_), seconds=seconds - sum(compiling),
        compile_seconds=sum(compiling), certificate=certificate, **_measured(classifier, test.X, test.y),
    )  # fmt: skip
    if certificate is None:
        return found
    return replace(
        found, bound=certificate.vote_error_bound, gibbs_bound=certificate.gibbs_risk_bound,
        method="PAC-Bayes" if certificate.facts.trained else "test set",
    )  # fmt: skip


def _measured(model: Any, X: Any, y: NDArray[Any]) -> dict[str, Any]:
    """Measures of a fitted classifier on the test rows, by the names of `Contender`."""
    proba = model.predict_proba(X)
    scores = model.decision_function(X) if isinstance(model, CertificateMixin) else proba
    labels = Labels(model.classes_)
    answers = labels.encode(model.predict(X))
    written, rows = np.unique(y, return_inverse=True)
    codes = label_places(written.tolist(), model.classes_.tolist())[rows]  # the model's labels may be numbers
    classes = np.arange(labels.n_classes)
    return {
        "test_errors": int(np.count_nonzero(answers != codes)), "n_test": len(y),
        "balanced_error": balanced_error(answers, codes), "auc": auc(scores, classes, codes),
        "log_loss": log_loss(proba, classes, codes), "calibration_error": calibration_error(proba, answers == codes),
    }  # fmt: skip


def _file_size(model: Model) -> int:
    from abnet.model.file import save

    with temporary_folder() as folder:
        path = folder / "model.abnet"
        save(model, path)
        return path.stat().st_size


class Parts(NamedTuple):
    """Training rows, held-out rows, and a preparation fitted on the training rows, if any."""

    first: Any
    second: Any
    preparation: Any = None


def judged(
    name: str, model: Any, learn: Labelled, test: Labelled, parts: Parts, delta: float, n_candidates: int = 1
) -> Contender:
    """A scikit-learn model trained on the first part, with the test-set bound from its errors on the second."""
    start = perf_counter()
    first, second = take(learn, parts.first), take(learn, parts.second)
    prepare = (lambda X: X) if parts.preparation is None else parts.preparation.transform
    _fit(model, prepare(first.X), first.y)
    found, places = judge_answers(second.y, model.predict(prepare(second.X))), np.arange(len(second.y))  # of the split
    certificate = certify_judged(found, Terms(delta=delta, n_candidates=n_candidates), places, groups=second.groups)
    seconds = perf_counter() - start
    return Contender(
        name, certificate.vote_error_bound, "test set", size=len(pickle.dumps((parts.preparation, model))),
        seconds=seconds, certificate=certificate, **_measured(model, prepare(test.X), test.y),
    )  # fmt: skip


def _fit(model: Any, X: Any, y: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its doubts about convergence and classes: it is judged by what it says
        model.fit(X, y)


def usual_models(seed: int) -> dict[str, Any]:
    """Common models for tables."""
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

    from abnet.estimators.logistic_rival import logistic_regression

    return {
        "random forest": RandomForestClassifier(300, n_jobs=-1, random_state=seed),
        "gradient boosting": HistGradientBoostingClassifier(random_state=seed),
        "logistic regression": logistic_regression(),
    }


LEAST_ROWS = 20
"""Minimum number of rows for a split into three parts."""


@dataclass(frozen=True)
class Comparison:
    """Result of `compare`.

    Attributes
    ----------
    n_learn, n_test : int
        Number of rows for training and certificates, and number of test rows.
    delta : float
    contenders : tuple of Contender
    threads : int
        Number of threads of every model.
    base_rate : float
        Majority-class error on the test rows.
    n_candidates : int
        Number of models that every certificate accounts for.
    notes : tuple of Note
    """

    n_learn: int
    n_test: int
    delta: float
    contenders: tuple[Contender, ...]
    threads: int
    base_rate: float
    n_candidates: int = 1
    notes: tuple[Note, ...] = ()

    @property
    def winner(self) -> Contender | None:
        """The contender with the tightest certificate (the first in a tie); None if none has a certificate."""
        certified = [contender for contender in self.contenders if contender.bound is not None]
        return min(certified, key=lambda contender: contender.bound or 0.0, default=None)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        names = ("n_learn", "n_test", "delta", "n_candidates", "threads", "base_rate")
        contenders = [contender.to_dict() for contender in self.contenders]
        return {**{name: getattr(self, name) for name in names}, "contenders": contenders}


def _notes(preparation: Any, X: Any) -> tuple[Note, ...]:
    """Notes of a fitted preparation, and notes about cells of all rows that it cannot read."""
    reports = preparation.map_.read(X).unseen
    return (*preparation.notes_, *(report.note for report in reports))


@dataclass
class _Contest:
    """Data and settings that all contenders share; `parts` are those of the network, once it is fitted."""

    learn: Labelled
    test: Labelled
    estimator: CertificateMixin
    parts: Parts | None = None

    def network(self, name: str) -> Contender:
        network = clone(self.estimator)
        contender = replace(certified(name, network, self.learn, self.test), is_fit=True)
        self.parts = Parts(network.other_rows_, network.bound_rows_, network.preprocessor_)
        return contender

    def sklearn_model(self, model: Any) -> Callable[[str], Contender]:
        def run(name: str) -> Contender:
            parts, terms = self.parts or self.own_parts(), (self.estimator.delta, self.estimator.n_candidates)
            return judged(name, model, self.learn, self.test, parts, *terms)

        return run

    def own_parts(self) -> Parts:
        """Two parts for the scikit-learn models if the network could not be fitted."""
        first, second = two_random_parts(self.learn, self.estimator.settings().share, self.estimator.random_state)
        return Parts(first, second, clone(self.estimator.preprocessor).fit(take(self.learn, first).X))

    def entries(self) -> dict[str, Callable[[str], Contender]]:
        from sklearn.dummy import DummyClassifier

        peers = usual_models(self.estimator.random_state) | {"majority rule": DummyClassifier()}
        return {"ABNet": self.network} | {name: self.sklearn_model(model) for name, model in peers.items()}


def compare(
    table: Any,
    target: str,
    *,
    estimator: CertificateMixin | None = None,
    drop: Sequence[str] = (),
    group: str | None = None,
    test_fraction: float = 0.2,
    choose: bool = False,
    missing_label: str = "drop",
    bins: int | Sequence[float] | None = None,
) -> Comparison:
    """Compare the model of `fit_table` with forest, boosting and logistic regression on the same rows.

    A fraction of the rows is kept as a test set. All models are trained on one part of the other rows, and certified by
    their errors on the rest (test-set bound, Clopper-Pearson).

    Parameters
    ----------
    table : path, frame, or frames
    target : str
        Column to predict.
    estimator : CertifiedClassifier, optional
        Unfitted. Without a preprocessor it gets a `TablePreparation`.
    drop : sequence of str
        Columns to leave out.
    group : str, optional
        Column with the group of each row; it is not used as a feature.
    test_fraction : float
        Fraction of the rows to keep as a test set.
    choose : bool
        Whether you will choose a model by its certificate; all certificates then account for the choice among the
        models.
    missing_label, bins
        As for `fit_table`.
    """
    check_fraction("test_fraction", test_fraction)
    made = for_tables(estimator)
    with temporary_folder() as folder:
        source = TableSource(table, folder, lambda share: report_progress("Reading the table", share))
        part, groups = read_rows(
            made, source, target, drop=drop, group=group, missing_label=missing_label, bins=bins, at_least=LEAST_ROWS
        )
    data = Labelled(part.X, part.y, groups)
    learn, test = two_random_parts(data, 1 - test_fraction, made.random_state)
    contest = _Contest(take(data, np.sort(learn)), take(data, np.sort(test)), made)
    entries = contest.entries()
    if choose:
        made.set_params(n_candidates=len(entries))
    threads, contenders = cores(), list[Contender]()
    with threadpool_limits(threads):  # no more than OMP_NUM_THREADS: boosting waits for threads that have no core
        for name, run in entries.items():
            report_progress(name[:1].upper() + name[1:])
            contenders.append(attempt(name, run))
    read = () if contest.parts is None else _notes(contest.parts.preparation, data.X)
    commonest = np.unique(contest.test.y, return_counts=True)[1].max()
    return Comparison(
        len(learn), len(test), made.delta, tuple(contenders), threads, 1.0 - float(commonest / len(test)),
        made.n_candidates, (*part.notes, *read),
    )  # fmt: skip
