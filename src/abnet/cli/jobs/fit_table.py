"""Learn, certify, compare, save: the job of `abnet fit`."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from abnet.atomic import temporary_folder
from abnet.bounds import clopper_pearson_bound
from abnet.bounds.counted import group_error_bound
from abnet.certificates.certificate import Certificate
from abnet.certificates.statement import Estimate
from abnet.estimators.labelled_rows import take_rows
from abnet.estimators.large_tables import count_rows, fit_and_hold, learn_all, scores_are_expected, settle
from abnet.estimators.table_parts import Labelled, read_labelled, take_groups
from abnet.groups import number_groups
from abnet.labels import counted
from abnet.model.card import Card, Rival
from abnet.model.file import save
from abnet.model.model import Model
from abnet.preparation import UnseenWarning
from abnet.tables.cells import Note
from abnet.tables.reading import Learning, TableSource, without
from abnet.words import percent

__all__ = ["FitOutcome", "LEAST_ROWS", "Rival", "fit_table", "rivals_of"]


LEAST_ROWS = 10
"""Fewer rows could not be split into two parts that say anything."""


LOGISTIC_ROWS = 100_000
"""Rows that logistic regression learns from, at the most: more would take longer and change little."""


@dataclass(frozen=True)
class FitOutcome:
    """What came out of a fit."""

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
    table: Path,
    target: str,
    output: Path,
    *,
    classifier: Any,
    drop: Sequence[str] = (),
    group: str | None = None,
    max_learn_rows: int = 1_000_000,
    background: bool = True,
    command: str | None = None,
) -> FitOutcome:
    """Learn the target of a table, and write the model.

    Parameters
    ----------
    table, output : path
    target : str
    classifier : CertifiedClassifier
        Unfitted, with a `TablePreparation`.
    drop : sequence of str
        Columns to leave out.
    group : str, optional
        Column that says which rows belong together; it is no feature.
    max_learn_rows : int
        Rows that learn, at the most; the others of a larger table are streamed and counted.
    background : bool
        Whether the model keeps some rows for explanations.
    command : str, optional
        What was typed, to be kept in the model file.
    """
    preprocessor = classifier.preprocessor
    preprocessor._rules()
    limits = {"max_learn_rows": max_learn_rows, "share": classifier.settings().share, "seed": classifier.random_state}
    with temporary_folder() as folder:
        source = TableSource(table, folder)
        part = read_labelled(source, target, drop=drop, use=preprocessor.use, at_least=LEAST_ROWS, **limits)
        part, groups = take_groups(part, group)
        if part.learns is None:
            features = fit_and_hold(classifier, part, groups)
            rivals = rivals_of(classifier, Labelled(part.X, part.y, groups), (features.first, features.bound))
        else:
            rivals = _counted(classifier, part, without(source.frames(), drop), target)
    made = classifier.compact()
    card = msgspec.structs.replace(made.card, target=target, rivals=rivals, command=command, group=group)
    made = replace(made, card=card if background else msgspec.structs.replace(card, background=()))
    replaced = output.exists()
    save(made, output)
    notes = (*part.notes, *classifier.preprocessor_.notes_)
    return FitOutcome(
        target, tuple(map(str, classifier.classes_.tolist())), part.n_rows, _n_used(made),
        classifier.certificate_, classifier.bound_estimate_, rivals,
        notes, made.card, output, output.stat().st_size, replaced,
    )  # fmt: skip


def _n_used(model: Model) -> int:
    """Number of columns of the table that the model uses."""
    preparation: Any = model.preparation
    return len(getattr(preparation, "base", preparation).columns)


def _counted(classifier: Any, part: Learning, frames: Any, target: str) -> tuple[Rival, ...]:
    """Learn from the rows that are here, count all others, and judge logistic regression on them as well."""
    assert part.learns is not None
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
