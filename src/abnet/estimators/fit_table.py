"""`fit_table`: train a classifier on a table of any size, certify it, and write it to a model file."""

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from abnet.atomic import temporary_folder
from abnet.bounds import clopper_pearson_bound
from abnet.bounds.counted import group_error_bound
from abnet.certificates.certificate import Certificate
from abnet.certificates.split import drawn_seed
from abnet.certificates.statement import Estimate
from abnet.estimators.certified import CertifiedClassifier
from abnet.estimators.labelled_rows import take_rows
from abnet.estimators.large_tables import count_rows, fit_and_hold, learn_all, scores_are_expected, settle
from abnet.estimators.table_parts import Labelled, check_bins, declare_bins, read_labelled, take_groups
from abnet.groups import number_groups
from abnet.labels import counted
from abnet.model.card import Card, Rival
from abnet.model.file import save
from abnet.model.model import Model
from abnet.parameters import check_positive
from abnet.preparation import TablePreparation, UnseenWarning
from abnet.progress import tell
from abnet.tables.notes import Note, NoteWarning
from abnet.tables.reading import Learning, TableSource
from abnet.words import percent

__all__ = ["FittedTable", "LEAST_ROWS", "Rival", "fit_table", "rivals_of"]


LEAST_ROWS = 10
"""Fewer rows could not be split into two parts that say anything."""


LOGISTIC_ROWS = 100_000
"""Rows that logistic regression learns from, at the most: more would take longer and change little."""


@dataclass(frozen=True)
class FittedTable:
    """What `abnet fit` prints.

    Attributes
    ----------
    target : str
    classes : tuple of str
    n_rows, n_columns : int
        Rows of the table, and columns that the model uses.
    certificate : Certificate or None
    bound_estimate : Estimate or None
        The bound where it is only an estimate.
    rivals : tuple of Rival
        Logistic regression on the same rows.
    notes : tuple of Note
        What a user should know about the table.
    card : Card
        How the model was made.
    output : Path
    size : int
        Bytes of the model file.
    replaced : bool
        Whether it replaced an older one.
    """

    target: str
    classes: tuple[str, ...]
    n_rows: int
    n_columns: int
    certificate: Certificate | None
    bound_estimate: Estimate | None
    rivals: tuple[Rival, ...]
    notes: tuple[Note, ...]
    card: Card
    output: Path
    size: int
    replaced: bool

    @property
    def n_background(self) -> int:
        """Rows of the table that the model keeps for explanations."""
        return len(self.card.background)

    @property
    def vote_bound(self) -> float | None:
        """The certified bound on the error of `predict`, if there is one."""
        return None if self.certificate is None else self.certificate.vote_error_bound

    @property
    def headline(self) -> str:
        """What has to be said first of all, if anything: that the model is of no use."""
        c = self.certificate
        if c is None:
            return ""
        errors, n = sum(c.facts.class_errors), c.facts.n_rows
        parts = list(zip(c.facts.class_rows, c.facts.class_errors, strict=True))
        wrong, right = [k == n for n, k in parts], [k == 0 and n > 0 for n, k in parts]
        if sum(right) == 1 and all(a or b for a, b in zip(wrong, right, strict=True)):
            only = self.classes[right.index(True)]
            return f"This model is of no use: it predicts {only} on every held-out row ({n:,})."
        known = c.facts.class_rows[: len(self.classes)]  # no answer is right for other labels
        base = 1 - max(known) / n
        if errors < base * n:
            return ""
        commonest = self.classes[known.index(max(known))]
        return (
            f"This model is of no use: it errs on {percent(errors / n)} of the held-out rows, and "
            f"always answering {commonest} on {percent(base)}."
        )

    def promise(self, *, details: bool = False) -> str:
        """The certificate in words, or why there is none."""
        if self.certificate is None:
            return "There is no certificate: no theorem covers what was done.\n"
        return self.certificate.describe(details=details)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        certificate = None if self.certificate is None else self.certificate.to_dict()
        return {
            **{name: getattr(self, name) for name in ("target", "classes", "n_rows", "n_columns")},
            "bound_estimate": None if self.bound_estimate is None else self.bound_estimate.value,
            "certificate": certificate,
            "test_set_bounds": [msgspec.structs.asdict(rival) for rival in self.rivals],
            "headline": self.headline,
            "card": self.card.to_dict(),
            "n_background": self.n_background,
            "model": {"path": str(self.output), "bytes": self.size, "replaced": self.replaced},
        }


def fit_table(
    table: Any,
    target: str,
    *,
    estimator: Any = None,
    max_learn_rows: int = 1_000_000,
    drop: Sequence[str] = (),
    group: str | None = None,
    missing_label: str = "drop",
    bins: int | Sequence[float] | None = None,
    output: str | os.PathLike[str] | None = None,
    background: bool = True,
    command: str | None = None,
) -> Any:
    """Train a classifier on a table of any size, certify it, and write it to a model file if one is named.

    A table of at most `max_learn_rows` rows is fitted in memory. The rows of a larger one are split in the same way, by
    a hash of what they hold (`abnet.certificates.Split`), except that at most `max_learn_rows` rows learn. All others
    are streamed through the finished predictor and counted, so they are never in memory together: the posterior is
    frozen, its vote has the test-set bound, and the certificate says how many rows were counted. The fitted copy's
    `random_state` is the seed that was used.

    Parameters
    ----------
    table : path, frame, sequence of frames, or iterator of frames
        A CSV, TSV or Parquet file (``-`` is standard input), or frames of Polars or pandas. A large one is read
        three times; what an iterator gives is kept in temporary files meanwhile.
    target : str
        Column with the labels.
    estimator : classifier, optional
        Unfitted; by default ``CertifiedClassifier()``. Without a preprocessor it gets a `TablePreparation`.
    max_learn_rows : int
    drop : sequence of str
        Columns to leave out.
    group : str, optional
        Column that says which rows belong together; it is not a feature.
    missing_label : {"drop", "error"}
        Rows without a label: leave them out, with a note that counts them, or stop.
    bins : int or sequence of float, optional
        Cut a numeric target into classes: so many quantiles, of rows that are set aside for it, or at these points.
    output : path, optional
        Model file to write. It also holds the bound of logistic regression on the same rows, for comparison.
    background : bool
        Whether the model file keeps some training rows for explanations.
    command : str, optional
        What was typed, to be kept in the model file.

    Returns
    -------
    classifier
        A fitted copy of `estimator`. If rows were counted, ``certificate_`` is theirs, and ``bound_rows_`` and
        ``other_rows_`` are absent. With an output, ``table_`` is the `FittedTable` that `abnet fit` prints.

    Examples
    --------
    >>> import polars as pl
    >>> from abnet import CertifiedClassifier
    >>> def frames():
    ...     rng = np.random.default_rng(0)
    ...     for _ in range(20):
    ...         x = rng.normal(size=(100, 2)).round(3)
    ...         yield pl.DataFrame({"x0": x[:, 0], "x1": x[:, 1], "y": x.sum(axis=1) > 0})
    >>> small = CertifiedClassifier((2,), max_iter=5, random_state=0)
    >>> clf = fit_table(frames(), "y", estimator=small, max_learn_rows=500)
    >>> clf.certificate_.facts.n_rows, clf.certificate_.vote_error_bound < 0.2
    (1500, True)
    """
    classifier = _copied(estimator)
    check_positive("max_learn_rows", max_learn_rows, whole=True)
    check_bins(bins, group)
    limits = {"max_learn_rows": max_learn_rows, "share": classifier.settings().share, "seed": classifier.random_state}
    limits |= {"missing_label": missing_label, "bins": bins}
    rivals: tuple[Rival, ...] = ()
    with temporary_folder() as folder:
        source = TableSource(table, folder, lambda share: tell("Reading the table", share))
        use = getattr(classifier.preprocessor, "use", ())
        part = read_labelled(source, target, drop=drop, use=use, at_least=LEAST_ROWS, **limits)
        part, groups = take_groups(part, group)
        declare_bins(classifier, part)
        if part.learns is None:
            features = fit_and_hold(classifier, part, groups)
            if output is not None:
                tell("Logistic regression, for comparison")
                rivals = rivals_of(classifier, Labelled(part.X, part.y, groups), (features.first, features.bound))
        else:
            assert part.frames is not None
            rivals = _counted(classifier, part, part.frames(), target, compare=output is not None)
    made = classifier.model_
    card = msgspec.structs.replace(
        made.card, target=target, rivals=rivals, command=command, group=group, cuts=part.cuts,
        background=made.card.background if background else (),
    )  # fmt: skip
    classifier.model_ = made = replace(made, card=card)
    if output is None:
        for note in part.notes:
            warnings.warn(NoteWarning(note), stacklevel=2)
        return classifier
    notes = (*part.notes, *getattr(classifier.preprocessor_, "notes_", ()))
    replaced = Path(output).exists()
    save(made, output)
    classifier.table_ = FittedTable(
        target, made.labels.names, part.n_rows, _n_used(made), classifier.certificate_, classifier.bound_estimate_,
        rivals, notes, made.card, Path(output), Path(output).stat().st_size, replaced,
    )  # fmt: skip
    return classifier


def _copied(estimator: Any) -> Any:
    """An unfitted copy with a seed and a preparation of tables; settings that it would refuse are found at once."""
    classifier = CertifiedClassifier() if estimator is None else clone(estimator)
    classifier.set_params(random_state=drawn_seed(classifier.random_state))
    if classifier.preprocessor is None or isinstance(classifier.preprocessor, str):
        classifier.set_params(preprocessor=TablePreparation())
    if isinstance(classifier.preprocessor, TablePreparation):
        classifier.preprocessor._rules()
    classifier.settings()
    return classifier


def _n_used(model: Model) -> int:
    """Number of columns of the table that the model uses."""
    preparation: Any = getattr(model.preparation, "base", model.preparation)
    return len(preparation.columns) if hasattr(preparation, "columns") else model.n_inputs


def _counted(classifier: Any, part: Learning, frames: Any, target: str, *, compare: bool) -> tuple[Rival, ...]:
    """Learn from the rows that are here and count all others; to compare, judge logistic regression on them as well."""
    assert part.learns is not None
    if not compare:
        fitted = learn_all(classifier, part)
        expected = scores_are_expected(fitted)
        settle(classifier, fitted, count_rows(fitted.model, frames, target, part.learns, losses=expected))
        return ()
    first = np.random.default_rng([classifier.random_state, 2]).permutation(len(part.y))[:LOGISTIC_ROWS]
    few = part.X[np.sort(first)]
    fitted = learn_all(classifier, part)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenWarning)
        prepared = classifier.preprocessor_.transform(few)
    logistic = _learned_logistic(prepared, fitted.model.labels.encode(part.y[np.sort(first)]))
    name = _logistic_name(len(first), len(part.y))
    counted_rows = count_rows(
        fitted.model, frames, target, part.learns, losses=scores_are_expected(fitted),
        others={name: logistic.predict},
    )  # fmt: skip
    settle(classifier, fitted, counted_rows)
    errors, seen, K = counted_rows.other_errors[name], counted_rows.seen, classifier.n_candidates
    base = 1 - float(seen.class_rows[:-1].max() / seen.n_rows)
    bound = clopper_pearson_bound(errors, seen.n_rows, classifier.delta, n_candidates=K)
    rival = Rival(name=name, bound=bound, errors=errors, n_examples=seen.n_rows, base_rate=base, n_candidates=K)
    return (rival,)


def rivals_of(
    classifier: Any, data: Labelled, prepared: tuple[NDArray[np.float32], NDArray[np.float32]] | None = None
) -> tuple[Rival, ...]:
    """Logistic regression, judged on the classifier's bound rows.

    `prepared` are the rows of both parts as the fit has prepared them, which spares doing so again.
    """
    first, second, preparation = classifier.other_rows_, classifier.bound_rows_, classifier.preprocessor_
    few = first[:LOGISTIC_ROWS]  # they are in random order
    groups = None if data.groups is None else data.groups[second]
    if prepared is not None:
        learn, judge = prepared[0][: len(few)], prepared[1]
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnseenWarning)  # reported by the fit
            learn, judge = (preparation.transform(take_rows(data.X, rows)) for rows in (few, second))
    labels = data.y[second]
    model = _learned_logistic(learn, data.y[few])
    wrong = model.predict(judge) != labels
    base = 1 - float(counted(labels)[1].max() / len(second))
    rival = _judged(_logistic_name(len(few), len(first)), wrong, classifier, groups)
    return (msgspec.structs.replace(rival, base_rate=base),)


def _logistic_name(learned: int, other: int) -> str:
    return f"logistic regression{f' ({learned:,} rows)' if learned < other else ''}"


def _judged(name: str, wrong: NDArray[Any], classifier: Any, groups: NDArray[Any] | None = None) -> Rival:
    """A rival at the price of the certificate that it stands beside."""
    errors, delta, K = int(np.count_nonzero(wrong)), classifier.delta, classifier.n_candidates
    if groups is None:
        bound = clopper_pearson_bound(errors, len(wrong), delta, n_candidates=K)
    else:
        numbers = number_groups(groups, len(wrong))  # in the order of the split
        rows, failed = np.bincount(numbers), np.bincount(numbers[wrong])
        failed = np.pad(failed, (0, len(rows) - len(failed)))
        bound = group_error_bound(rows.tolist(), failed.tolist(), delta, n_candidates=K)
    return Rival(name=name, bound=bound, errors=errors, n_examples=len(wrong), n_candidates=K)


def _learned_logistic(X: NDArray[Any], y: NDArray[Any]) -> Any:
    """Logistic regression, or the only class where there is one class."""
    from sklearn.dummy import DummyClassifier
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(max_iter=1000) if len(np.unique(y)) > 1 else DummyClassifier()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # still a legitimate rule to judge
        return model.fit(X, y)
