"""`PredictionMixin`: the methods of fitted classifiers that use ``model_``."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from abnet.certificates.certificate import Certificate
from abnet.certificates.certify_model import confusion_of
from abnet.certificates.decision import ARGMAX
from abnet.certificates.grouped_rows import check_groups
from abnet.certificates.joint_shares import JointNames
from abnet.certificates.judged_answers import judge_answers
from abnet.certificates.prediction_sets import PredictionSets, certify_sets, judge_sets, prediction_sets
from abnet.certificates.set_rule import Sets
from abnet.certificates.terms import Terms
from abnet.certificates.training_rows import find_fitted, refuse_fitted
from abnet.model.digest import belonging
from abnet.model.model import Model
from abnet.tables.table import as_frame
from abnet.utils.caller_rows import is_frame, take_rows
from abnet.utils.html_text import fitted_html

if TYPE_CHECKING:
    from abnet.explanation.row_explanation import Explanation
    from abnet.export import CSource

__all__ = ["PredictionMixin"]


def _gives_shares(classifier: "PredictionMixin") -> bool:
    return classifier._shares


class PredictionMixin(ClassifierMixin, BaseEstimator):
    """Predictions, explanations and exports of ``model_``."""

    preprocessor: Any
    model_: Model
    classes_: NDArray[Any]

    _shares: ClassVar[bool] = True
    """Whether scores are shares of the vote, and so probabilities."""
    _several: ClassVar[bool] = True
    """Whether it supports more than two classes."""

    def _checked(self, X: Any) -> Any:
        """Checked rows in the form that the model takes."""
        check_is_fitted(self, "model_")
        preparation = self.model_.preparation
        columns = self.model_.from_dicts(X)
        if columns is not X:
            if preparation.columns:
                return columns
            return as_frame(columns)
        X = self.model_.in_order(as_frame(X))
        if preparation.by_name and self.model_.feature_names is not None and is_frame(X):
            return X  # it finds its columns by name
        if preparation.by_name or not self._has_named_preprocessor:
            return validate_data(self, X, reset=False, skip_check_array=True)
        return validate_data(
            self,
            X,
            reset=False,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            # The predictor itself rejects values that are not finite; a separate pass would take half of its time.
            ensure_all_finite=False,
        )

    @property
    def _has_named_preprocessor(self) -> bool:
        """Whether the preprocessor is none, or one of this library by its name."""
        return self.preprocessor is None or isinstance(self.preprocessor, str)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The output ``F(x)`` in [-1, 1], positive for ``classes_[1]``; for several classes their vote shares."""
        rows = self._checked(X)
        return self.model_.decision_function(rows)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict labels: the label with the largest share of the vote, unless another decision was certified.

        None for a row on which the decision abstains.
        """
        rows = self._checked(X)
        return self.model_.predict(rows)

    def vote(self, X: Any) -> NDArray[Any]:
        """The label with the largest share of the vote, without the certified decision."""
        rows = self._checked(X)
        return self.model_.vote(rows)

    @available_if(_gives_shares)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the classes, shape (n, K): shares of the vote, calibrated if the model has a calibration."""
        rows = self._checked(X)
        return self.model_.predict_proba(rows)

    @available_if(_gives_shares)
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Logarithms of `predict_proba`."""
        rows = self._checked(X)
        return self.model_.predict_log_proba(rows)

    @available_if(_gives_shares)
    def vote_share(self, X: Any) -> NDArray[np.float64]:
        """Share of the vote for each class, (n, K): `predict_proba` before calibration; see `Model.vote_share`."""
        rows = self._checked(X)
        return self.model_.vote_share(rows)

    def confusion(
        self, X: Any, y: Any, *, delta: float = 0.05, n_candidates: int = 1, fitted: bool = False
    ) -> Certificate:
        """Confusion matrix, with limits on every rate that hold jointly.

        Parameters
        ----------
        X : array, sparse matrix or frame (n, d)
            Rows held out from training and selection.
        y : array (n,)
            Their labels; labels that the model does not know have a row of their own.
        delta : float
            Maximum probability that any of the limits is false.
        n_candidates : int
            Number of models among which you choose with these rows.
        fitted : bool
            Whether X and y are those passed to `fit`. The bound rows among them are then counted; this needs a frozen
            posterior, which was not trained on them.

        Returns
        -------
        Certificate
            Its statements are limits of rates; ``describe()`` shows them as a table.
        """
        check_is_fitted(self, "model_")
        labels = np.asarray(y)
        known = self.classes_.tolist()
        if fitted:
            rows, n_candidates = self._held_out_rows(X, labels, n_candidates)
            answers = self.vote(take_rows(X, rows))  # the decision may have been chosen with these rows
            judged = judge_answers(labels[rows].tolist(), answers.tolist(), known=known)
            terms = Terms(delta=delta, n_candidates=n_candidates, source="split", period=self.model_.card.period)
            certificate = confusion_of(judged, terms, others=False)
            if self.model_.decision != ARGMAX:
                return certificate  # about the vote, and not about the model's answers
            return belonging(certificate, self.model_)
        refuse_fitted(find_fitted(self, X, y), instead="With fitted=True its bound rows are counted.")
        check_groups(self, X, None)
        judged = judge_answers(labels.tolist(), self.predict(X).tolist(), known=known)
        terms = Terms(delta=delta, n_candidates=n_candidates, source="test set")
        certificate = confusion_of(judged, terms, others=self.model_.decision.kind == "abstain")
        return belonging(certificate, self.model_)

    def prediction_sets(
        self,
        X: Any,
        y: Any,
        *,
        alpha: float = 0.1,
        by_class: bool = False,
        delta: float = 0.05,
        n_candidates: int = 1,
        joint: JointNames | None = None,
        fitted: bool = False,
    ) -> PredictionSets:
        """Find prediction sets, and certify how often they miss the true class: see `abnet.prediction_sets`.

        Parameters
        ----------
        X : array, sparse matrix or frame (n, d)
            Rows held out from training and selection.
        y : array (n,)
        alpha, by_class, delta, n_candidates, joint
            As for `abnet.prediction_sets`.
        fitted : bool
            Whether X and y are those passed to `fit`. The bound rows among them then give the thresholds; this needs a
            frozen posterior, which was not trained on them.
        """
        check_is_fitted(self, "model_")
        if not fitted:
            return prediction_sets(
                self, X, y, alpha=alpha, by_class=by_class, delta=delta, n_candidates=n_candidates, joint=joint
            )
        labels = np.asarray(y)
        rows, n_candidates = self._held_out_rows(X, labels, n_candidates)
        probabilities, judged = judge_sets(self, take_rows(X, rows), labels[rows].tolist())
        terms = Terms(delta=delta, n_candidates=n_candidates, source="split")
        made = certify_sets(probabilities, judged, Sets(alpha, by_class), terms, joint=joint)
        return PredictionSets(self, belonging(made, self.model_))

    def _held_out_rows(self, X: Any, y: NDArray[Any], n_candidates: int) -> tuple[NDArray[np.intp], int]:
        """Rows passed to `fit` that were held out from training, and the number of candidates."""
        raise ValueError("this model was trained on all rows passed to fit: a confusion matrix needs other rows.")

    def explain(self, X: Any, *, background: Any = None, seed: int = 0) -> "Explanation":
        """Explain predictions: the contribution of each column, and the regions that each row falls in.

        Parameters
        ----------
        X : array or frame (n, d)
        background : array or frame, optional
            Typical rows to compare with; by default some rows of the first part, or of all rows if there is none.
        seed : int
            Seed of the sampling.

        Returns
        -------
        Explanation
            As from `abnet.explain`; ``clf.explain(X)[0].describe()`` explains the first row as text.
        """
        from abnet.explanation.row_explanation import explain

        rows = self._checked(X)
        if background is not None:
            background = self._checked(background)
        return explain(self.model_, rows, background=background, seed=seed)

    def compact(self) -> Model:
        """The fitted model with its certificate, which needs only NumPy; `predict` uses it and `save` writes it."""
        check_is_fitted(self, "model_")
        return self.model_

    def save(self, path: str | Path, *, background: bool = True) -> None:
        """Write the fitted predictor with its certificate to one safetensors file; `abnet.load` reads it back.

        Parameters
        ----------
        path : path
        background : bool
            Whether to store up to 25 training rows in the file, as background for `abnet.explain`.
        """
        check_is_fitted(self, "model_")
        model = self.model_
        if not background:
            from abnet.explanation.row_explanation import without_background

            model = without_background(model)
        model.save(path)

    def to_c(
        self, path: str | Path, *, prefix: str = "abnet", example: bool = False, single: bool = False
    ) -> "CSource":
        """Write the fitted predictor, with its preparation, as C99 with a header: see `abnet.export.to_c`."""
        check_is_fitted(self, "model_")
        return self.model_.to_c(path, prefix=prefix, example=example, single=single)

    def to_onnx(self, path: str | Path) -> Any:
        """Write the fitted predictor, with its preparation, as an ONNX model: see `abnet.export.to_onnx`."""
        check_is_fitted(self, "model_")
        return self.model_.to_onnx(path)

    def _fitted_html(self, parameters: str) -> str:
        """scikit-learn's display of the estimator, followed by recipe and certificate if it is fitted."""
        model = vars(self).get("model_")
        if model is None:
            return parameters
        return fitted_html(parameters, model.certificate, model.card.recipe or "")

    def _repr_html_inner(self) -> str:
        return self._fitted_html(super()._repr_html_inner())

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] = self._fitted_html(bundle["text/html"])
        return bundle

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._several
        tags.input_tags.sparse = self._has_named_preprocessor and self.preprocessor != "table"
        tags.non_deterministic = False
        return tags
