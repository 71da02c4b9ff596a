"""`compare`: compare the model of `abnet.fit_table` with common models, trained and certified on the same rows."""

import os
import pickle
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from abnet.certificates.certificate import Certificate
from abnet.certificates.certify_model import certify_judged
from abnet.certificates.judged_answers import judge_answers
from abnet.certificates.terms import Terms
from abnet.estimators.compilation_times import compilation_times
from abnet.estimators.fitting_mixin import FittingMixin
from abnet.estimators.installed_boosting import installed_boosting
from abnet.estimators.labelled_parts import Labelled, split_at_random, take
from abnet.estimators.read_rows import for_tables, read_rows
from abnet.model.file import file_size
from abnet.model.performance_measures import auc, balanced_error, calibration_error, interval, log_loss
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
    test_limits : pair of float or None
        Exact 95% limits of the error rate, from the test rows; None if rows of a group depend on each other.
    fitted : classifier or None
        The fitted model. Models of other libraries take the features of `preparation`.
    preparation : Any
        Makes features of rows; None if the model takes the rows.
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
    test_limits: tuple[float, float] | None = None
    fitted: Any = None
    preparation: Any = None

    @property
    def test_error(self) -> float | None:
        """Error rate on the test rows."""
        if self.test_errors is None:
            return None
        return self.test_errors / self.n_test

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, including the error rate."""
        record = asdict(replace(self, certificate=None, fitted=None, preparation=None))
        for name in ("certificate", "fitted", "preparation"):
            del record[name]
        record["test_error"] = self.test_error
        return record


def attempt(name: str, run: Callable[[str], Contender]) -> Contender:
    """Train a contender; if training fails, return one with the reason as its note."""
    from abnet.tables.preparation import UnseenWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenWarning)  # every contender meets the same ones
        try:
            return run(name)
        except DecimalMarkError:
            raise  # it concerns every contender
        except ValueError as error:
            return Contender(name, note=f"{name} could not be trained: {error}")


def certified(name: str, classifier: FittingMixin, learn: Labelled, test: Labelled) -> Contender:
    """A certified classifier, with the certificate from its own bound rows."""
    with compilation_times() as compile_seconds:
        start = perf_counter()
        classifier._fit(learn.X, learn.y, groups=learn.groups, written=True)
        seconds = perf_counter() - start
    contender = Contender(
        name,
        size=file_size(classifier.model_),
        seconds=seconds - sum(compile_seconds),
        compile_seconds=sum(compile_seconds),
        fitted=classifier,
        **_test_measures(classifier, test.X, test),
    )
    certificate = classifier.certificate_
    if certificate is None:
        return contender
    method = "test set"
    if certificate.facts.trained:
        method = "PAC-Bayes"
    return replace(
        contender,
        bound=certificate.vote_error_bound,
        method=method,
        gibbs_bound=certificate.gibbs_risk_bound,
        certificate=certificate,
    )


def _test_measures(model: Any, X: Any, test: Labelled) -> dict[str, Any]:
    """Measures of a fitted classifier on the test rows, by the names of `Contender`; X is what the model takes."""
    y = test.y
    labels = Labels(model.classes_)
    probabilities = model.predict_proba(X)
    scores = probabilities
    if isinstance(model, FittingMixin):
        scores = model.decision_function(X)
    answers = labels.encode(np.ravel(model.predict(X)))
    # The labels are text here, and those of the model may be numbers.
    texts, text_of_row = np.unique(y, return_inverse=True)
    codes = label_places(texts.tolist(), model.classes_.tolist())[text_of_row]
    classes = np.arange(labels.n_classes)
    errors = int(np.count_nonzero(answers != codes))
    limits = None
    if test.groups is None:
        limits = interval(errors, len(y))
    return {
        "test_errors": errors,
        "n_test": len(y),
        "test_limits": limits,
        "balanced_error": balanced_error(answers, codes),
        "auc": auc(scores, classes, codes),
        "log_loss": log_loss(probabilities, classes, codes),
        "calibration_error": calibration_error(probabilities, answers == codes),
    }


class Parts(NamedTuple):
    """Training rows, held-out rows, and a preparation fitted on the training rows, if any."""

    training: NDArray[np.intp]
    held_out: NDArray[np.intp]
    preparation: Any = None

    def prepare(self, X: Any) -> Any:
        """Features of rows."""
        if self.preparation is None:
            return X
        return self.preparation.transform(X)


def judged(
    name: str, model: Any, learn: Labelled, test: Labelled, parts: Parts, delta: float, n_candidates: int = 1
) -> Contender:
    """A scikit-learn model fitted to the training rows, with the test-set bound from its errors on the held-out rows.

    Parameters
    ----------
    name : str
    model : classifier
        Unfitted.
    learn : Labelled
        Training rows and held-out rows.
    test : Labelled
    parts : Parts
        Of `learn`.
    delta : float
    n_candidates : int
    """
    start = perf_counter()
    training = take(learn, parts.training)
    held_out = take(learn, parts.held_out)
    _fit_quietly(model, parts.prepare(training.X), training.y)
    answers = judge_answers(held_out.y, np.ravel(model.predict(parts.prepare(held_out.X))))
    order = np.arange(len(held_out.y))  # they are in the order of the split
    terms = Terms(delta=delta, n_candidates=n_candidates)
    certificate = certify_judged(answers, terms, order, groups=held_out.groups)
    seconds = perf_counter() - start
    return Contender(
        name,
        bound=certificate.vote_error_bound,
        method="test set",
        size=len(pickle.dumps((parts.preparation, model))),
        seconds=seconds,
        certificate=certificate,
        fitted=model,
        preparation=parts.preparation,
        **_test_measures(model, parts.prepare(test.X), test),
    )


def _fit_quietly(model: Any, X: Any, y: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of convergence and rare classes: it is judged by its answers
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
        winner = None
        lowest = np.inf
        for contender in self.contenders:
            if contender.bound is not None and contender.bound < lowest:
                winner = contender
                lowest = contender.bound
        return winner

    def save(self, path: str | os.PathLike[str]) -> tuple[Path, ...]:
        """Write the winner and its certificate; see `abnet.estimators.winner_files.save_winner`."""
        from abnet.estimators.winner_files import save_winner  # it takes a comparison

        return save_winner(self, path)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "n_learn": self.n_learn,
            "n_test": self.n_test,
            "delta": self.delta,
            "n_candidates": self.n_candidates,
            "threads": self.threads,
            "base_rate": self.base_rate,
            "contenders": [contender.to_dict() for contender in self.contenders],
        }


@dataclass
class _Contest:
    """Rows and settings that all contenders share.

    Attributes
    ----------
    learn, test : Labelled
    estimator : classifier
        Unfitted.
    table_facts : mapping
        What the card of the network says about the table, as that of `fit_table`.
    parts : Parts or None
        Those of the network, once it is fitted.
    """

    learn: Labelled
    test: Labelled
    estimator: FittingMixin
    table_facts: Mapping[str, Any]
    parts: Parts | None = None

    def entries(self) -> dict[str, Callable[[str], Contender]]:
        """Functions that fit the contenders, by name."""
        from sklearn.dummy import DummyClassifier

        models = usual_models(self.estimator.random_state)
        models.update(installed_boosting(self.estimator.random_state, cores()))
        models["majority rule"] = DummyClassifier()
        entries: dict[str, Callable[[str], Contender]] = {"ABNet": self.network}
        for name, model in models.items():
            entries[name] = partial(self.sklearn_model, model)
        return entries

    def network(self, name: str) -> Contender:
        """The model of `fit_table`."""
        network = clone(self.estimator)
        contender = certified(name, network, self.learn, self.test)
        self.parts = Parts(network.other_rows_, network.bound_rows_, network.preprocessor_)
        card = msgspec.structs.replace(network.model_.card, **self.table_facts)
        network.model_ = replace(network.model_, card=card)
        return replace(contender, is_fit=True)

    def sklearn_model(self, model: Any, name: str) -> Contender:
        """A scikit-learn model, on the parts of the network."""
        parts = self.parts
        if parts is None:
            parts = self._parts_without_network()
        return judged(name, model, self.learn, self.test, parts, self.estimator.delta, self.estimator.n_candidates)

    def _parts_without_network(self) -> Parts:
        """Two parts for the scikit-learn models if the network could not be fitted."""
        split = split_at_random(self.learn, self.estimator.settings().share, self.estimator.random_state)
        preparation = clone(self.estimator.preprocessor).fit(take(self.learn, split.first).X)
        return Parts(split.first, split.counted, preparation)

    def notes(self, X: Any) -> tuple[Note, ...]:
        """Notes of the network's preparation, and notes about cells of all rows that it cannot read."""
        if self.parts is None:
            return ()
        preparation = self.parts.preparation
        reports = preparation.map_.read(X).unseen
        return (*preparation.notes_, *(report.note for report in reports))


def compare(
    table: Any,
    target: str,
    *,
    estimator: FittingMixin | None = None,
    drop: Sequence[str] = (),
    group: str | None = None,
    test_fraction: float = 0.2,
    choose: bool = False,
    missing_label: str = "drop",
    bins: int | Sequence[float] | None = None,
) -> Comparison:
    """Compare the model of `fit_table` with forest, boosting and logistic regression on the same rows.

    CatBoost and LightGBM take part if they are installed (``pip install abnet[compare]``). A fraction of the rows is
    kept as a test set. All models are trained on one part of the other rows, and certified by their errors on the rest
    (test-set bound, Clopper-Pearson).

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
    classifier = for_tables(estimator)
    with temporary_folder() as folder:
        source = TableSource(table, folder, lambda share: report_progress("Reading the table", share))
        rows, groups = read_rows(
            classifier,
            source,
            target,
            drop=drop,
            group=group,
            missing_label=missing_label,
            bins=bins,
            at_least=LEAST_ROWS,
        )
    data = Labelled(rows.X, rows.y, groups)
    split = split_at_random(data, 1 - test_fraction, classifier.random_state)
    learn = take(data, np.sort(split.first))
    test = take(data, np.sort(split.counted))
    table_facts = {
        "target": target,
        "group": group,
        "cuts": rows.cuts,
        "n_unlabelled_rows": rows.n_unlabelled or None,
    }
    contest = _Contest(learn, test, classifier, table_facts)
    entries = contest.entries()
    if choose:
        classifier.set_params(n_candidates=len(entries))
    n_threads = cores()
    contenders = []
    with threadpool_limits(n_threads):  # no more than OMP_NUM_THREADS: boosting waits for threads that have no core
        for name, run in entries.items():
            report_progress(name[:1].upper() + name[1:])
            contenders.append(attempt(name, run))
    n_most_common = np.unique(test.y, return_counts=True)[1].max()
    return Comparison(
        n_learn=len(learn.y),
        n_test=len(test.y),
        delta=classifier.delta,
        contenders=tuple(contenders),
        threads=n_threads,
        base_rate=1.0 - float(n_most_common / len(test.y)),
        n_candidates=classifier.n_candidates,
        notes=(*rows.notes, *contest.notes(data.X)),
    )
