"""What every classifier of the library shares: checks of parameters and rows, labels, prediction by one model."""

import sys
import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from abnet.decisions.row_by_row import check_row_by_row, fits_anew
from abnet.decisions.training_rows import find_fitted, refuse_fitted
from abnet.estimators.recipe import warn_of_unsaved
from abnet.estimators.refit import fitting_anew
from abnet.labels import Labels, check_labelled
from abnet.model.model import Model
from abnet.order import ordered, places_in
from abnet.preparation.transformers import (
    PlainNumbers,
    TablePreparation,
    ThermometerCodes,
    as_frame,
    check_preprocessor,
    check_size,
    hint_at_scales,
    with_advice,
)
from abnet.tables.cells import CellError
from abnet.tables.frames import Table, as_table

if TYPE_CHECKING:
    from abnet.explanation.row_explanation import Explanation

__all__ = [
    "BinaryClassifier",
    "allows_certificate",
    "seeds",
    "take_rows",
    "training_bar",
]


def _gives_shares(classifier: Any) -> bool:
    return bool(classifier._shares)


class BinaryClassifier(ClassifierMixin, BaseEstimator):
    """An estimator whose predictions all come from ``self.model_``."""

    preprocessor: Any
    random_state: Any

    _shares: ClassVar[bool] = True
    """Whether a score is a share of votes, and so a probability."""

    _several: ClassVar[bool] = False
    """Whether it tells more than two classes apart."""

    @abstractmethod
    def _learn(self, X: Any, y: NDArray[np.float64], weights: NDArray[np.float64] | None) -> Model:
        """Learn from raw rows and their targets; set the fitted attributes and return the model."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "BinaryClassifier":
        """Learn from labelled rows.

        Parameters
        ----------
        X : array, sparse matrix or frame (n, d)
        y : array (n,)
            Labels of any type.
        sample_weight : array (n,), optional
            Shapes training; a certificate stays one for the unweighted risk.

        Returns
        -------
        self
        """
        with fitting_anew(self):
            X, labels = self._check_training(X, y)
            weights = None if sample_weight is None else self._check_weights(sample_weight, X)
            known = Labels.of(labels)
            self.classes_ = known.classes
            self.model_ = self._learn(X, self._targets(known, labels), weights)
        return self

    def _targets(self, known: Labels, labels: NDArray[Any]) -> NDArray[np.float64]:
        """Labels as ±1, which refuses more than two classes, or as codes of several."""
        several = self._several and known.n_classes > 2
        return known.encode(labels).astype(np.float64) if several else known.signs(labels)

    def _preprocessor_for(self, X: Any) -> Any:
        """The preprocessor that rows like X ask for."""
        return self.preprocessor

    @property
    def _labels(self) -> Labels:
        return Labels(self.classes_)

    def _takes_tables(self) -> bool:
        """Whether a transformer of the caller's reads the rows first; otherwise they must be numbers."""
        return not (self.preprocessor is None or isinstance(self.preprocessor, str))

    def _check_training(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        X = as_frame(X)
        check_labelled(y)
        if not self._takes_tables():
            given: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "ensure_min_samples": 2}
            try:
                X, y = validate_data(self, X, y, **given)
            except ValueError as error:
                raise with_advice(error, self.preprocessor) from None
        else:
            X, y = validate_data(self, X, y, skip_check_array=True)
            y = column_or_1d(np.asarray(y), warn=True)
            check_consistent_length(X, y)
        if y.ndim == 1 and y.dtype.kind == "U":  # text is never a quantity
            return X, y
        try:
            check_classification_targets(y)
        except TypeError as error:
            raise ValueError("y mixes labels that cannot be sorted, such as numbers and text: use one type.") from error
        return X, np.asarray(y)

    def _check_weights(self, sample_weight: Any, X: Any) -> NDArray[np.float64]:
        numbers = np.empty((X.shape[0], 1))
        weights = _check_sample_weight(sample_weight, numbers, dtype=np.float64, ensure_non_negative=True)
        return np.asarray(weights)

    def _check_rows(self, X: Any) -> Any:
        check_is_fitted(self, "model_")
        X = as_frame(X)
        if self._takes_tables():
            return validate_data(self, X, reset=False, skip_check_array=True)
        # The predictor refuses what is not finite: a pass over all rows beforehand would take half its time.
        given: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "ensure_all_finite": False}
        rows = validate_data(self, X, reset=False, **given)
        return rows if self.preprocessor_ is None else _full(rows)

    def _prepare(
        self, X: Any, y: NDArray[np.float64], fit_rows: NDArray[np.intp] | None, order: NDArray[np.intp] | None = None
    ) -> tuple[Any, Any]:
        """Fit ``preprocessor_`` on the given rows and their targets only; its stored form, and dense float32 rows.

        All rows as they come, or in an order in which each is named once.
        """
        self.preprocessor_: Any = None
        wanted = self._preprocessor_for(X)
        if wanted is None:
            rows = _dense(X)
            hint_at_scales(rows)
            return None, ordered(rows, order)
        # In the caller's precision, as at prediction: what is rounded before scaling is another map.
        X = X if self._takes_tables() else check_size(_full(X))
        fresh = _transformer(wanted)
        if type(fresh) in (TablePreparation, PlainNumbers):  # a subclass may want the frame
            X = as_table(X).shared()
        try:
            self.preprocessor_ = fresh.fit(take_rows(X, fit_rows), take_rows(y, fit_rows))
        except CellError as error:  # it counts the rows of the part
            raise error if fit_rows is None else error.taken_from(fit_rows) from None
        stored = _stored(self.preprocessor_)
        if isinstance(X, Table):
            return stored, stored.transform(X, places=None if order is None else places_in(order))
        return stored, ordered(_dense(stored.transform(X)), order)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The aggregated output ``F(x)`` in [-1, 1]; positive for ``classes_[1]``. Several classes: their shares."""
        rows = self._check_rows(X)
        return self.model_.decision_function(rows)

    def _feature_names(self) -> tuple[str, ...] | None:
        return tuple(map(str, self.feature_names_in_)) if hasattr(self, "feature_names_in_") else None

    def predict(self, X: Any) -> NDArray[Any]:
        """The label with the largest share of the vote."""
        rows = self._check_rows(X)
        return self.model_.predict(rows)

    @available_if(_gives_shares)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the classes, shape (n, K): shares of the vote, calibrated where the model knows how."""
        scores = self.decision_function(X)
        return self.model_.probabilities_from_scores(scores)

    def confusion(self, X: Any, y: Any, *, delta: float = 0.05, n_candidates: int = 1, fitted: bool = False) -> Any:
        """How often each class is taken for which, with limits on every rate that hold all at once.

        Parameters
        ----------
        X : array, sparse matrix or frame (n, d)
            Rows that had no part in training nor in choosing this model.
        y : array (n,)
            Their labels; one that the model does not know has a row of its own.
        delta : float
            Any of the limits may fail with at most this probability.
        n_candidates : int
            Number of models among which you choose by means of these rows.
        fitted : bool
            X and y are those given to `fit`: the bound rows among them are counted, which a frozen posterior never saw.

        Returns
        -------
        Certificate
            Its statements are limits of rates; ``describe()`` puts them in a table.
        """
        from abnet.certificates.certify import Terms
        from abnet.decisions.certify_model import confusion_of
        from abnet.decisions.outside import judge_answers
        from abnet.estimators.certification import check_rows_of_fit

        check_is_fitted(self, "model_")
        labels = np.asarray(y)
        if fitted:
            rows, n_candidates = self._unseen_rows(len(labels)), max(n_candidates, getattr(self, "n_candidates", 1))
            check_rows_of_fit(self, X, labels)
            X, labels = take_rows(X, rows), labels[rows]
        else:
            refuse_fitted(find_fitted(self, X, labels), instead="With fitted=True its bound rows are counted.")
        judged = judge_answers(labels.tolist(), self.predict(X).tolist(), known=self.classes_.tolist())
        terms = Terms(delta=delta, n_candidates=n_candidates, source="split" if fitted else "test set")
        return confusion_of(judged, terms, others=False)

    def _unseen_rows(self, n: int) -> NDArray[np.intp]:
        """Rows given to `fit` that nothing learned from; ValueError if there are none, or others were given."""
        card = self.model_.card
        if card.posterior != "frozen" or not hasattr(self, "bound_rows_"):
            raise ValueError("this model learned from all rows that it was fitted on: a confusion matrix needs others.")
        if card.n_training_rows != n:
            raise ValueError(f"fitted=True asks for the {card.n_training_rows} rows given to fit; got {n}.")
        if card.n_training_groups is not None or getattr(self, "certificate_", None) is None:
            raise ValueError("the bound rows come in groups, or have no certificate: a confusion matrix needs others.")
        return np.asarray(self.bound_rows_)

    def explain(self, X: Any, *, background: Any = None, seed: int = 0) -> "Explanation":
        """The columns that moved what is said of each row, and the regions that it falls in.

        Parameters
        ----------
        X : array or frame (n, d)
        background : array or frame, optional
            Usual rows to compare with; by default some of the first part of the rows.
        seed : int
            Of the draws.

        Returns
        -------
        Explanation
            As of `abnet.explain`; ``clf.explain(X)[0].describe()`` is the first row's in words.
        """
        from abnet.explanation.row_explanation import explain

        rows = self._check_rows(X)
        usual = None if background is None else self._check_rows(background)
        return explain(self.model_, rows, background=usual, seed=seed)

    def save(self, path: str | Path, *, background: bool = True) -> None:
        """Write the fitted predictor with its certificate to one safetensors file; `abnet.load` reads it back.

        Parameters
        ----------
        path : path
        background : bool
            Whether up to 25 rows of the first part go into the file, for `abnet.explain` to compare with.
        """
        check_is_fitted(self, "model_")
        model = self.model_
        if not background:
            from abnet.explanation.row_explanation import without_background

            model = without_background(model)
        model.save(path)

    def to_c(self, path: str | Path, *, prefix: str = "abnet", example: bool = False, single: bool = False) -> Any:
        """Write the fitted predictor, with its preparation, as C99 with a header: see `abnet.export.to_c`."""
        check_is_fitted(self, "model_")
        return self.model_.to_c(path, prefix=prefix, example=example, single=single)

    def to_onnx(self, path: str | Path) -> Any:
        """Write the fitted predictor, with its preparation, as an ONNX model: see `abnet.export.to_onnx`."""
        check_is_fitted(self, "model_")
        return self.model_.to_onnx(path)

    def _fitted_html(self, parameters: str) -> str:
        """What scikit-learn shows of the estimator and, where it is fitted, recipe and certificate below it."""
        from abnet.certificates.sentences import fitted_html

        return fitted_html(parameters, getattr(self, "certificate_", None), getattr(self, "recipe_text_", ""))

    def _repr_html_inner(self) -> str:
        return self._fitted_html(super()._repr_html_inner())

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        shown = {"text/html": self._fitted_html(bundle["text/html"])} if "text/html" in bundle else {}
        return bundle | shown

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._several
        tags.input_tags.sparse = not self._takes_tables()
        tags.non_deterministic = False
        return tags


def take_rows(X: Any, rows: NDArray[np.intp] | None) -> Any:
    """Rows of an array, a sparse matrix, a frame or a table."""
    from sklearn.utils import _safe_indexing

    if rows is None or isinstance(X, Table):
        return X if rows is None else X.part(rows)
    # A frame of Polars in one piece: out of many, rows are taken several times as slowly.
    return _safe_indexing(X.rechunk() if hasattr(X, "rechunk") else X, rows)


def _transformer(preprocessor: Any) -> Any:
    """A fresh transformer to fit; "standardise" names the usual one."""
    check_preprocessor(preprocessor)
    if not isinstance(preprocessor, str):
        return clone(preprocessor)
    from sklearn.preprocessing import StandardScaler

    return StandardScaler()


def _stored(fitted: Any) -> Any:
    """The form in which a model file keeps the transformer, so that a loaded model computes with the same bits."""
    from abnet.preparation import stored_form

    try:
        return stored_form(fitted)
    except ValueError as error:  # a transformer that cannot be stored: predictions work, `save` refuses it
        warn_of_unsaved(error)
        return fitted


def _full(X: Any) -> Any:
    """A sparse matrix as an array; anything else as it is."""
    return X.toarray() if hasattr(X, "toarray") else X


def _dense(X: Any) -> NDArray[np.float32]:
    """Rows as a finite dense float32 matrix."""
    from sklearn.utils import check_array

    matrix = check_array(X, accept_sparse="csr", dtype=np.float32, ensure_min_features=1)
    return np.asarray(_full(matrix))


def seeds(seed: int, count: int) -> list[np.random.Generator]:
    """Independent generators from one seed: what is drawn from one tells nothing about another."""
    return [np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(count)]


@contextmanager
def training_bar(verbose: int) -> Iterator[Any]:
    """A callback ``(stage, done, total, value)`` that draws one bar per stage on stderr, or None when nobody watches.

    Parameters
    ----------
    verbose : int
        0 is silent; so is any value when stderr is not a terminal.
    """
    if not verbose or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = [
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
        TextColumn("best {task.fields[value]}"), TimeElapsedColumn(),
    ]  # fmt: skip
    with Progress(*columns, console=Console(stderr=True)) as bar:
        tasks: dict[str, Any] = {}

        def report(stage: str, done: int, total: int, value: float) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, total=total, value="")
            bar.update(tasks[stage], completed=done, value=f"{value:.4f}")

        yield report


def is_our_own(preprocessor: Any) -> bool:
    """Whether rows are prepared by a map of our own: it works row by row, as tests show. A subclass may not.

    Examples
    --------
    >>> is_our_own("auto"), is_our_own(TablePreparation()), is_our_own(np.asarray)
    (True, True, False)
    """
    return type(preprocessor) in (type(None), str, TablePreparation, ThermometerCodes)


def allows_certificate(preprocessor: Any, transform: Callable[[Any], Any], X: Any) -> bool:
    """Whether a preprocessor leaves a certificate; a warning says why it does not.

    It must be fitted anew on the first part of the rows, and map each row by itself. Otherwise what was certified is
    not what `predict` does, and there is an estimate instead of a certificate.

    Parameters
    ----------
    preprocessor : transformer, str or None
        As it was given.
    transform : callable
        The fitted map from raw rows to inputs of the network.
    X : array, sparse matrix or frame
        Raw rows.

    Examples
    --------
    >>> allows_certificate(None, np.asarray, np.eye(3))
    True
    """
    if is_our_own(preprocessor):
        return True
    from abnet.preparation.unseen import UnseenWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenWarning)  # the fit has told of them
        reason = fits_anew(preprocessor) or check_row_by_row(transform, X)
    if reason:
        warnings.warn(
            f"There is no certificate, only an estimate: the preprocessor does not allow one, because {reason}. It has "
            "to be fitted anew on the first part of the rows, and to map each row by itself.",
            stacklevel=3,
        )
    return reason is None
