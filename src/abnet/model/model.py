"""`Model`: a fitted classifier, as made by `fit`, written by `save` and read by `load`."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.certificates.certificate import Certificate
from abnet.certificates.decision import ARGMAX, Decision
from abnet.certificates.joint_shares import JointNames
from abnet.certificates.region_counts import LocatedRows
from abnet.model.calibration import Calibration
from abnet.model.card import Card
from abnet.model.digest import belonging, model_digest
from abnet.model.leading_signs import located_rows
from abnet.model.predictors.predictor import Predictor, shares_of
from abnet.model.rows_as_dicts import as_columns
from abnet.tables.labels import Labels
from abnet.tables.preparation import Preparation, as_preparation
from abnet.utils.coded_rows import CodedRows, Inputs
from abnet.utils.html_text import fitted_html
from abnet.utils.wording import confidence, number_of, percent_up

if TYPE_CHECKING:
    from abnet.certificates.prediction_sets import PredictionSets
    from abnet.explanation.certified_region import CertifiedRegions
    from abnet.explanation.row_explanation import Explanation
    from abnet.export import CSource
    from abnet.robustness.certified_rows import Robustness

__all__ = ["FittedClassifier", "Model", "model_of"]


LEAST_CHECKED = 30
"""Fewer rows may differ from the training rows by chance, and should be answered fast."""


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """A fitted classifier that predicts without JAX.

    Parameters
    ----------
    predictor : Predictor
        Computes the scores of prepared rows.
    labels : Labels or array of labels
        With two labels, the first stands for -1 and the second for +1.
    preparation : Preparation, or fitted transformer, optional
        Maps input rows to the network's inputs; by default rows are used unchanged.
    feature_names : tuple of str, optional
        Columns in the order of training.
    calibration : Calibration, optional
        Maps shares of the vote to probabilities; by default they are the same.
    certificate : Certificate, optional
        Gets the digest of this model, unless it names a model already. A model is not saved with the certificate of
        another one.
    decision : Decision
        Maps scores to answers; the plain vote by default.
    card : Card
        How the model was made.

    Examples
    --------
    >>> from abnet.model.predictors.compact import Compact
    >>> table = Compact(np.array([[[2.0, 1.0]]]), np.zeros((1, 1)), np.array([[-1.0, 1.0]]))
    >>> model = Model(table, labels=["no", "yes"])
    >>> model.predict([[1.0, 2.0], [-1.0, 0.5]])
    array(['yes', 'no'], dtype='<U3')
    """

    predictor: Predictor
    labels: Labels = field(default_factory=lambda: Labels(np.array([-1, 1])))
    preparation: Preparation = None  # type: ignore[assignment]  # then `Unprepared`
    feature_names: tuple[str, ...] | None = None
    calibration: Calibration | None = None
    certificate: Certificate | None = None
    decision: Decision = ARGMAX
    card: Card = field(default_factory=Card)

    def __post_init__(self) -> None:
        if not isinstance(self.labels, Labels):
            object.__setattr__(self, "labels", Labels(self.labels))
        object.__setattr__(self, "preparation", as_preparation(self.preparation, self.n_inputs))
        if self.labels.n_classes != self.predictor.n_classes:
            raise ValueError(
                f"the predictor has {self.predictor.n_classes} classes, but there are {self.labels.n_classes} labels."
            )
        if self.certificate is not None and self.certificate.model is None:
            object.__setattr__(self, "certificate", belonging(self.certificate, self))

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.labels.n_classes

    @property
    def n_inputs(self) -> int:
        """Number of inputs of the network, after preparation."""
        return self.predictor.n_inputs

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels; with two labels, the one of -1 first."""
        return self.labels.classes

    @property
    def certificate_(self) -> Certificate | None:
        """The certificate of the fit, if any."""
        return self.certificate

    @property
    def digest(self) -> str | None:
        """SHA-256 of everything that predicts; a certificate names its model by it. None if it cannot be saved."""
        return model_digest(self)

    @property
    def feature_names_in_(self) -> tuple[str, ...] | None:
        """Names of the columns, if they were known in training."""
        return self.feature_names

    def features(self, X: Any) -> Inputs:
        """The network's inputs for input rows; codes are not written out.

        Rows may be an array, a frame, a dict of columns, a dict (one row) or a list of dicts. Columns that
        clearly differ from the training rows raise an `InputShiftWarning` if there are at least 30 rows.
        """
        rows = self.in_order(self.from_dicts(X))
        training = self.card.training_inputs
        if hasattr(rows, "shape"):
            n_rows = rows.shape[0]  # sparse matrices have no length
        else:
            n_rows = len(rows)
        if training is None or n_rows < LEAST_CHECKED:
            return self.preparation.inputs(rows)
        from abnet.tables.preparation.input_shift import warn_of_array_shift, warn_of_shift

        if isinstance(rows, np.ndarray) and not self.preparation.columns:
            warn_of_array_shift(training, rows)
            return self.preparation.inputs(rows)
        inputs, columns = self.preparation.observed(rows)
        warn_of_shift(training, self.preparation.columns, columns)
        return inputs

    def from_dicts(self, X: Any) -> Any:
        """Convert rows that are dicts to columns by name, or to an array; anything else is unchanged."""
        names = [column.name for column in self.preparation.columns] or self.feature_names or ()
        return as_columns(X, names, by_name=self.preparation.by_name)

    def prepare(self, X: Any) -> Any:
        """`features` with codes written out."""
        features = self.features(X)
        if isinstance(features, CodedRows):
            return np.asarray(features)
        return features

    def in_order(self, X: Any) -> Any:
        """The columns of a frame in the order of training, unless they are found by name; raises if one is missing."""
        names = self.feature_names
        if names is None or isinstance(X, np.ndarray) or self.preparation.by_name:
            return X
        # Imported here, because arrays are predicted without the code of tables.
        from abnet.utils.caller_rows import is_frame

        if not is_frame(X):
            return X
        columns = [str(column) for column in X.columns]
        if columns == list(names):
            return X
        missing = [name for name in names if name not in columns]
        if missing:
            raise ValueError(f"X lacks the column {missing[0]!r} that the model was trained on.")
        return X[[X.columns[columns.index(name)] for name in names]]

    def scores(self, X: Any) -> NDArray[np.float64]:
        """The score ``F(x)`` of every row, positive for ``classes_[1]``; for several classes their shares of the
        vote."""
        return self.predictor.scores(self.features(X))

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """`scores`, as scikit-learn names them."""
        return self.scores(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict labels by the model's decision: by default the vote, ``sgn(F(x))`` or the largest share.

        None for a row on which the decision abstains.
        """
        if self.decision == ARGMAX:
            return self.vote(X)
        return self.answers_from_scores(self.scores(X))

    def answers_from_scores(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        """`predict` of rows with these scores."""
        codes = self.decision(scores)
        if self.decision.kind != "abstain":
            return self.labels.decode(codes)
        return np.array([*self.classes_.tolist(), None], object)[codes]

    def vote(self, X: Any) -> NDArray[Any]:
        """The label with the largest share of the vote, without the decision."""
        return self.labels.decode(self.predictor.votes(self.features(X)))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the classes, shape (n, K): shares of the vote, calibrated if the model has a calibration."""
        self.check_shares()
        return self.probabilities_from_scores(self.scores(X))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Logarithms of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def vote_share(self, X: Any) -> NDArray[np.float64]:
        """The scores as shares of the vote for each class, (n, K); two classes: ``(1 ∓ F(x))/2``.

        With exact or sampled networks it is the expected share of the posterior's networks (or of its kept paths) that
        vote for the class. `MomentsPredictor`, the wide networks of a `CertifiedClassifier`, compute it from means and
        variances, as if the units of a layer were independent: no networks vote, and the number only approximates such
        a share.
        """
        self.check_shares()
        return self.shares_from_scores(self.scores(X))

    def probabilities_from_scores(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """`predict_proba` of rows with these scores."""
        shares = self.shares_from_scores(scores)
        if self.calibration is None:
            return shares
        return self.calibration.apply(shares)

    def shares_from_scores(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """`vote_share` of rows with these scores; raises a ValueError for a model without probabilities."""
        self.check_shares()
        return shares_of(scores)

    def check_shares(self) -> None:
        """Raise a ValueError if this model has no probabilities."""
        if not self.predictor.shares:
            raise ValueError(
                f"a model of kind {type(self.predictor).__name__} gives no probabilities, because its scores are not "
                "shares of a vote: use predict for labels or decision_function for scores."
            )

    def located(self, X: Any) -> LocatedRows | None:
        """The region of a narrow network that each row is in; None for a model whose rows are not in one region each.

        A region is the most probable output of every neuron of the first layer. `regions` has the certified error rate
        in each.
        """
        return self.located_inputs(self.features(X))

    def located_inputs(self, inputs: Inputs) -> LocatedRows | None:
        """`located` for prepared rows."""
        return located_rows(self.predictor, inputs, self.card.region_words)

    def column_values(self, column: Any) -> tuple[Any, ...] | None:
        """The values of a column of categories, or of yes and no, in training; None if they are not known."""
        for fitted in self.preparation.columns:
            if fitted.name == column:
                return fitted.values
        return None

    def regions(self) -> "CertifiedRegions":
        """The regions of a narrow network, each with an upper bound on its error rate; a ValueError says why not."""
        from abnet.explanation.certified_region import regions_of

        return regions_of(self)

    def prediction_sets(
        self,
        X: Any,
        y: ArrayLike,
        *,
        alpha: float = 0.1,
        by_class: bool = False,
        delta: float = 0.05,
        n_candidates: int = 1,
        joint: JointNames | None = None,
    ) -> "PredictionSets":
        """Find prediction sets from fresh rows, and certify how often they miss: see `abnet.prediction_sets`."""
        from abnet.certificates.prediction_sets import prediction_sets

        return prediction_sets(
            self, X, y, alpha=alpha, by_class=by_class, delta=delta, n_candidates=n_candidates, joint=joint
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one safetensors file, atomically; `abnet.load` reads it back."""
        from abnet.model.file import save

        save(self, path)

    def explain(self, X: Any, *, background: Any = None, seed: int = 0) -> "Explanation":
        """Explain predictions: the contribution of each column, and the regions of each row. See `abnet.explain`."""
        from abnet.explanation.row_explanation import explain

        return explain(self, X, background=background, seed=seed)

    def robustness(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        tolerance: str | float | Mapping[str, str | float] = "",
        free: Sequence[str] = (),
        nodes: int = 100,
        delta: float = 0.05,
        n_candidates: int = 1,
    ) -> "Robustness":
        """Which answers cannot change while cells are off by a tolerance: see `abnet.robustness.certified_rows`."""
        from abnet.robustness.certified_rows import robustness

        return robustness(
            self, X, y, tolerance=tolerance, free=free, nodes=nodes, delta=delta, n_candidates=n_candidates
        )

    def to_c(
        self, path: str | os.PathLike[str], *, prefix: str = "abnet", example: bool = False, single: bool = False
    ) -> "CSource":
        """Write this model, with its preparation, as C99 with a header: see `abnet.export.to_c`."""
        from abnet.export import to_c

        return to_c(self, path, prefix=prefix, example=example, single=single)

    def to_onnx(self, path: str | os.PathLike[str]) -> Any:
        """Write this model, with its preparation, as an ONNX model: see `abnet.export.to_onnx`."""
        from abnet.export import to_onnx

        return to_onnx(self, path)

    def _summary(self) -> str:
        """Kind, number of inputs and classes."""
        names = ", ".join(self.labels.names[:8])
        if self.n_classes > 8:
            names += ", …"
        return f"{type(self.predictor).__name__} of {self.n_inputs:,} inputs; classes: {names}"

    def __repr__(self) -> str:
        """A few lines: kind, certificate, decision, and how it was made."""
        lines = [self._summary()]
        if self.certificate is not None and self.certificate.vote_error_bound is not None:
            facts = self.certificate.facts
            error_rate = "error rate"
            if self.decision != ARGMAX:
                error_rate = "error rate of the plain vote"
            lines.append(
                f"{error_rate} at most {percent_up(self.certificate.vote_error_bound)} with "
                f"{confidence(facts.delta)} confidence, from {number_of(facts.n_rows, 'counted row')}"
            )
        if self.decision.threshold is not None:
            lines.append(f"decision: {self.decision.kind} at {self.decision.threshold!r}")
        if self.decision.costs is not None:
            lines.append("decision: the least expected cost")
        if self.card.recipe is not None:
            lines.append(self.card.recipe)
        body = ";\n  ".join(lines)
        return f"Model({body})"

    def _repr_html_(self) -> str:
        """For notebooks: kind and certificate, without the arrays."""
        return fitted_html(f"<p>{escape(self._summary())}.</p>", self.certificate, self.card.recipe or "")


@runtime_checkable
class FittedClassifier(Protocol):
    """An object with a model: a fitted classifier of this library, or a search."""

    @property
    def model_(self) -> Model:
        """The model."""


def model_of(given: Model | FittedClassifier) -> Model:
    """Return a model unchanged, or the model of a fitted classifier.

    Examples
    --------
    >>> model_of(3)
    Traceback (most recent call last):
    TypeError: expected a fitted classifier of abnet, or a model that was loaded; got int.
    """
    if isinstance(given, FittedClassifier):
        given = given.model_
    if not isinstance(given, Model):
        raise TypeError(
            f"expected a fitted classifier of abnet, or a model that was loaded; got {type(given).__name__}."
        )
    return given
