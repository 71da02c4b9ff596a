"""Tables larger than memory: some rows learn, all others are streamed through what they taught, and only counted."""

import math
import tempfile
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from abnet.bounds.certificate import Certificate
from abnet.bounds.certify import assemble
from abnet.bounds.rules import ExactRisk, Terms, VoteErrors
from abnet.certificates.fingerprint import CopiesInStream
from abnet.certificates.split import drawn_seed
from abnet.errors import Parameter, ParameterError
from abnet.estimators.classifier import is_our_own
from abnet.estimators.mixture_classifier import fit_and_hold
from abnet.estimators.mixture_fit import warn_of_unknown
from abnet.estimators.recipe import DECISIONS, learning_share, prior_share, settings_of
from abnet.features import CodedRows
from abnet.labels import losses_of, winners
from abnet.model.model import Model
from abnet.preparation import Unseen
from abnet.preparation.unseen import UnseenWarning, merge
from abnet.tables.cells import CellError
from abnet.tables.frames import as_table, label_codes
from abnet.tables.reading import Learning, TableSource, learning_part, without
from abnet.threads import cores

if TYPE_CHECKING:
    import polars

__all__ = ["Tally", "certify_counted", "check_streamable", "count_rows", "fit_table"]

ALL_LEARN = 0.999
"""`prior_fraction` of a fit whose certificate comes from other rows: nearly all of the rows it gets learn."""

OUTWARD = 1.0 + 1e-12
"""A sum of n numbers of one sign, in pairs, is off by less than this factor, whatever n a machine can count to."""


@dataclass
class Tally:
    """What the counted rows showed, added up batch by batch.

    Attributes
    ----------
    classes : list
        The labels.
    rows, errors : int array (K + 1,)
        Rows of each class, and those of them that the vote gets wrong. The last place is for labels that no row of the
        learning part has: every answer to them is an error.
    other_errors : dict of str to int
        Errors of other models on the same rows.
    unseen : list of Unseen
        Values that the learning rows did not have.
    copies : str
        What is to be said of rows that occur several times; often empty.
    """

    classes: list[Any]
    rows: NDArray[np.int64] = field(init=False)
    errors: NDArray[np.int64] = field(init=False)
    other_errors: dict[str, int] = field(default_factory=dict)
    unseen: list[Unseen] = field(default_factory=list)
    copies: str = ""

    def __post_init__(self) -> None:
        self.rows, self.errors = (np.zeros(len(self.classes) + 1, np.int64) for _ in range(2))
        self._sums: list[list[float]] = [[] for _ in self.rows]
        self._squares: list[list[float]] = [[] for _ in self.rows]

    def add(self, codes: NDArray[np.intp], votes: NDArray[np.intp], risks: NDArray[np.float64]) -> None:
        """Count some rows: their classes, the vote's answers, and the losses of the posterior."""
        places = len(self.rows)
        self.rows += np.bincount(codes, minlength=places)
        self.errors += np.bincount(codes[votes != codes], minlength=places)
        for place in range(places):
            mine = np.clip(risks[codes == place], 0.0, 1.0)
            self._sums[place].append(float(mine.sum()))
            self._squares[place].append(float((mine * mine).sum()))

    @property
    def n_rows(self) -> int:
        """Rows counted."""
        return int(self.rows.sum())

    @property
    def n_unknown(self) -> int:
        """Rows whose label no row of the learning part has."""
        return int(self.rows[-1])

    @property
    def names(self) -> tuple[str, ...]:
        """The labels, and a name for the unknown ones if there are any."""
        return (*map(str, self.classes), *["labels not known"] * (self.n_unknown > 0))

    def risk(self) -> ExactRisk:
        """Mean losses of all rows and of each class, rounded up."""
        parts = tuple(
            _mean_risk(sums, squares, int(n)) if n else None
            for sums, squares, n in zip(self._sums, self._squares, self.rows, strict=True)
        )[: len(self.names)]
        everything = chain.from_iterable(self._sums), chain.from_iterable(self._squares)
        return replace(_mean_risk(*everything, self.n_rows), by_class=parts)

    def vote_errors(self) -> VoteErrors:
        """The errors of the vote, in all and by class."""
        return VoteErrors(int(self.errors.sum()), tuple(self.errors[: len(self.names)].tolist()))


def _mean_risk(sums: Iterable[float], squares: Iterable[float], n: int) -> ExactRisk:
    mean, pair_mean = (min(1.0, math.fsum(values) / n * OUTWARD) for values in (sums, squares))
    return ExactRisk(mean, pair_mean, n)


def count_rows(
    model: Model,
    frames: "Iterable[polars.DataFrame]",
    target: str,
    learns: NDArray[np.bool_],
    *,
    exact: bool = True,
    others: Mapping[str, Callable[[NDArray[np.float32]], NDArray[np.intp]]] | None = None,
) -> Tally:
    """Stream the rows that did not learn through a finished model, and count.

    Parameters
    ----------
    model : Model
        With a `TableMap` as preparation.
    frames : iterable of polars.DataFrame
        The whole table, its rows in their places.
    target : str
    learns : array of bool (n,)
        Which rows learned, as `learning_part` says.
    exact : bool
        Whether the scores are the expected output; if not, nothing is claimed about the Gibbs risk (a loss of 1).
    others : mapping, optional
        Further models, as functions from prepared rows to codes of classes.
    """
    preparation: Any = model.preparation
    # Codes are not written out: the network need not read them so, and other models have the features alone.
    read = getattr(preparation, "rows_reporting", None) or preparation.transform_reporting
    tally, stream, start = Tally(model.classes_.tolist()), CopiesInStream(), 0
    for frame in frames:
        counted = ~learns[start : start + frame.height]
        table = as_table(frame, before=start)
        start += frame.height
        labels = label_codes(table, target, tally.classes)
        prepared, reports = read(table)
        stream.add(prepared.features if isinstance(prepared, CodedRows) else prepared, labels)
        rows, codes = prepared[counted], labels[counted]
        tally.unseen = merge([*tally.unseen, *reports])
        if not len(codes):
            continue
        scores = model.predictor.scores(rows, threads=cores())
        risks = losses_of(scores, codes) if exact else np.ones(len(codes))
        tally.add(codes, winners(scores), risks)
        for name, other in (others or {}).items():
            answers = other(rows.features if isinstance(rows, CodedRows) else rows)
            tally.other_errors[name] = tally.other_errors.get(name, 0) + int(np.count_nonzero(answers != codes))
    tally.copies = stream.told(tally.classes)
    return tally


def certify_counted(tally: Tally, *, delta: float, n_candidates: int = 1) -> Certificate:
    """The certificate of a predictor that never learned from the rows that were counted.

    The vote by the test-set bound (Clopper-Pearson) on its errors; the Gibbs risk by the mean loss.

    Examples
    --------
    >>> tally = Tally(["no", "yes"])
    >>> tally.add(np.array([0, 1, 1, 1]), np.array([0, 1, 1, 0]), np.array([0.1, 0.2, 0.1, 0.7]))
    >>> certificate = certify_counted(tally, delta=0.05)
    >>> certificate.vote_errors, certificate.n_examples, certificate.class_names
    (1, 4, ('no', 'yes'))
    """
    terms = Terms(0.0, delta, "split", n_candidates, "frozen", "expectation")
    certificate = assemble(tally.risk(), tally.vote_errors(), terms)
    return replace(certificate, class_names=tally.names)


def check_streamable(estimator: Any) -> None:
    """Refuse settings under which the bound rows would have to be in memory, or the count would prove nothing."""
    if not is_our_own(estimator.preprocessor):
        raise ParameterError(
            "{} must be 'auto', 'table' or a TablePreparation where a table has more than {} rows: another may not map "
            "each row by itself, and the rows that are counted come in blocks.",
            Parameter("preprocessor"), Parameter("max_learn_rows"),
        )  # fmt: skip
    wrong = {
        "objective": ("loss", "bound"), "prior": ("init", "split"), "posterior": ("train", "frozen"),
    }  # fmt: skip
    for name, (value, instead) in wrong.items():
        if getattr(estimator, name) == value:
            raise ParameterError(
                "{} takes all rows into memory, and the table has more than {}: use {}, or a larger number.",
                Parameter(name, value), Parameter("max_learn_rows"), Parameter(name, instead),
            )  # fmt: skip
    for name in DECISIONS:
        if getattr(estimator, name, None) is not None:
            raise ParameterError(
                "{} takes all rows into memory, and the table has more than {}: use a larger number, or "
                "certify the threshold afterwards on rows of its own (`abnet certify`).",
                Parameter(name), Parameter("max_learn_rows"),
            )  # fmt: skip


def fit_table(
    table: Any,
    target: str,
    *,
    estimator: Any = None,
    max_learn_rows: int = 1_000_000,
    drop: Sequence[str] = (),
) -> Any:
    """Learn the target of a table of any size, and certify it.

    A table of at most `max_learn_rows` rows is fitted as usual. The rows of a larger one are split as those of a small
    one, by a hash of what they hold (`abnet.certificates.Split`), but that at most `max_learn_rows` rows learn. All
    others are streamed through the finished predictor and counted, so that they are never in memory together: the
    posterior is frozen, its vote has the test-set bound, and the certificate says how many rows were counted. The
    fitted copy's `random_state` is the seed that was used.

    Parameters
    ----------
    table : path, frame, sequence of frames, or iterator of frames
        A CSV, TSV or Parquet file (``-`` is standard input), or frames of Polars or pandas. A large one is read
        three times; what an iterator gives is kept in temporary files meanwhile.
    target : str
        Column with the labels.
    estimator : classifier, optional
        Unfitted; by default ``ABNetClassifier()``. Without a preprocessor it gets a `TablePreparation`.
    max_learn_rows : int
    drop : sequence of str
        Columns to leave out.

    Returns
    -------
    classifier
        A fitted copy of `estimator`. If rows were counted, ``certificate_`` is theirs, `tally_` says what they showed,
        and ``bound_rows_`` and ``other_rows_`` are absent.

    Examples
    --------
    >>> import polars as pl
    >>> from abnet import ABNetClassifier
    >>> def frames():
    ...     rng = np.random.default_rng(0)
    ...     for _ in range(20):
    ...         x = rng.normal(size=(100, 2)).round(3)
    ...         yield pl.DataFrame({"x0": x[:, 0], "x1": x[:, 1], "y": x.sum(axis=1) > 0})
    >>> small = ABNetClassifier((2,), max_iter=5, random_state=0)
    >>> clf = fit_table(frames(), "y", estimator=small, max_learn_rows=500)
    >>> clf.certificate_.n_examples, clf.certificate_.vote_error_bound < 0.2
    (1500, True)
    """
    from abnet.estimators.abnet import ABNetClassifier
    from abnet.preparation import TablePreparation

    classifier = ABNetClassifier() if estimator is None else clone(estimator)
    classifier.set_params(random_state=drawn_seed(classifier.random_state))
    if classifier.preprocessor is None or isinstance(classifier.preprocessor, str):
        classifier.set_params(preprocessor=TablePreparation())
    if not isinstance(max_learn_rows, (int, np.integer)) or max_learn_rows < 1:
        name = Parameter("max_learn_rows")
        raise ParameterError("{} must be a whole number of 1 or more; got {!r}.", name, max_learn_rows)
    with tempfile.TemporaryDirectory(prefix="abnet-") as folder:
        source = TableSource(table, folder)
        part = learning_part(
            lambda: without(source.frames(), drop), target, max_learn_rows=max_learn_rows,
            share=prior_share(classifier), seed=classifier.random_state,
        )  # fmt: skip
        for note in part.notes:
            warnings.warn(str(note), stacklevel=2)
        if part.learns is None:
            return classifier.fit(part.X, part.y)
        learn_all(classifier, part)
        frames = without(source.frames(), drop)
        tally = count_rows(
            classifier.model_, frames, target, part.learns, exact=scores_are_exact(classifier)
        )  # fmt: skip
    settle(classifier, tally)
    return classifier


def learn_all(classifier: Any, part: Learning) -> None:
    """Fit a classifier to all rows of a learning part (but for one in a thousand), and keep it as it is.

    A mixture empties the frame of the part.
    """
    check_streamable(classifier)
    share = classifier.prior_fraction
    classifier.set_params(prior_fraction=ALL_LEARN)
    try:
        fit_and_hold(classifier, part)
    except CellError as error:  # it counts the rows that learn
        raise (error if part.learns is None else error.taken_from(np.flatnonzero(part.learns))) from None
    finally:
        classifier.set_params(prior_fraction=share)


def scores_are_exact(classifier: Any) -> bool:
    """Whether the classifier's scores are the expected output of its posterior."""
    return bool(getattr(classifier, "aggregation_", "") == "exact")


def settle(classifier: Any, tally: Tally) -> None:
    """Put the certificate of the counted rows in the place of that of the few rows which the fit kept back."""
    for report in tally.unseen:
        warnings.warn(str(report), UnseenWarning, stacklevel=3)
    if tally.copies:
        warnings.warn(tally.copies, stacklevel=3)
    warn_of_unknown(tally.n_unknown, classifier._labels)
    certificate = certify_counted(tally, delta=classifier.delta, n_candidates=classifier.n_candidates)
    drawn = getattr(classifier.certificate_, "drawn", "network")
    classifier.certificate_ = replace(certificate, drawn=drawn)
    model = classifier.model_
    card = msgspec.structs.replace(model.card, n_counted_rows=tally.n_rows, **_as_asked(classifier, tally.n_rows))
    classifier.model_ = replace(model, certificate=classifier.certificate_, card=card)
    classifier.tally_ = tally
    del classifier.bound_rows_, classifier.other_rows_


def _as_asked(classifier: Any, n_counted: int) -> dict[str, Any]:
    """Settings and recipe as they were asked for, with the share of the whole table that has learned.

    The fit was told `ALL_LEARN`, which is of the rows that it got.
    """
    record: dict[str, Any] = {"settings": settings_of(classifier)}
    card = classifier.model_.card
    if card.parameters is not None:
        share = card.n_training_rows / (card.n_training_rows + n_counted)
        classifier.recipe_ = {**classifier.recipe_, "prior_fraction": share}
        whole, _, _ = classifier.recipe_text_.rpartition("; ")
        classifier.recipe_text_ = f"{whole}; {learning_share(share)}"
        record |= {"parameters": classifier.recipe_, "recipe": classifier.recipe_text_}
    return record
