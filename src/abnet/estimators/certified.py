"""`CertifiedClassifier`: a classifier for tables with a certified error rate, without parameters to set."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

from sklearn.utils import Tags

from abnet.certificates.goals import Goal
from abnet.certificates.joint_shares import JointNames
from abnet.certificates.set_rule import Sets
from abnet.estimators.fit_card import given_parameters
from abnet.estimators.fitting_mixin import FittingMixin
from abnet.training.resolve import share_of_first_part
from abnet.training.settings import (
    CLOSED_FORM,
    Settings,
    TrainingSettings,
    checked_goal,
    checked_members,
    is_auto,
)
from abnet.utils.parameters import check_fraction, check_hidden

__all__ = ["CertifiedClassifier"]


@dataclass(eq=False, repr=False)
class CertifiedClassifier(FittingMixin):
    """Classifier for tables with a certified error rate on new data.

    It accepts arrays, sparse matrices and frames (pandas, Polars) with mixed columns and missing values, and two or
    more classes. A mixture of small binary activated networks is distilled from stronger models on one part of the
    rows; the other part is held out and certifies the result.

    Parameters
    ----------
    hidden_layer_sizes : tuple of int or "auto"
        Widths of the hidden layers. "auto" follows fixed rules (`abnet.training.resolve`): with two classes 8 exact
        networks of 8 neurons, or 4 wide ones of 100 above 400 features; with several classes 2 wide ones of 150, of
        300 from six classes on, and 4 of them from 1,500 training rows on. Wide ones are computed in closed form
        (`abnet.model.predictors.moments`). With explicit widths there is one network, without teachers and codes unless
        they are set, and its inputs are left unscaled.
    n_estimators : int or "auto"
        Number of networks in the mixture.
    teacher : None, "auto", str or a classifier
        The model that the networks are distilled from: a scikit-learn classifier, which is cloned and fitted on the
        training rows only, or the name of a built-in one: "forest", "boosting", "linear", "kernel" (Gaussian), and two
        kernels that learn how much each feature matters, "metric-kernel" (Gaussian) and "laplace-kernel". "all" pools
        them, the last two only with several classes and ten rows a feature, with weights chosen by their out-of-fold
        predictions.
    codes : {"auto", "thermometer", "none"}
        Whether to add thermometer codes of numeric columns: signs that say whether the value is above each of several
        thresholds. "auto" adds them for exact networks.
    preprocessor : transformer, "auto", "table", "standardise" or None
        Fitted on the training rows only, so that the certificate stays valid. "auto": frames by
        `abnet.tables.preparation.TablePreparation` ("table"), arrays are scaled ("standardise"); NaN is a missing
        value.
    classes : array, optional
        All possible labels, in the order of ``classes_`` (scikit-learn's metrics expect them sorted). By default those
        of the training rows; any other label among the held-out rows counts as an error.
    class_weight : None, "balanced" or dict
        Affects training only; the certificate is for the unweighted error rate.
    learn_fraction : float or "auto"
        Fraction of the rows to train on; the rest is held out. "auto" is 0.6, and 0.5 with explicit widths.
    delta : float
        Maximum probability that the certificate is false.
    n_candidates : int
        Number of models among which this one is chosen with its held-out rows; fixed in advance.
    decision : goal, optional
        A goal for the answers of `predict`: ``TargetError(0.02)`` (abstain on uncertain rows),
        ``TargetRecall(0.95, positive="ill")``, ``TargetSpecificity(0.95, positive="ill")``,
        ``TargetPrecision(0.9, positive="ill")`` or ``Costs({("ill", "well"): 10, ("well", "ill"): 1})``, which for
        several classes answers each row with the class of the least expected cost.
        If the held-out rows do not certify it, `predict` returns the plain vote, with a warning; `vote` always does.
    sets : Sets, optional
        Certify prediction sets with the held-out rows, such as ``Sets(0.1, by_class=True)``: see
        `abnet.prediction_sets`. The model keeps their thresholds; `predict` does not change.
    joint : sequence of str or dict, optional
        Names of statements of the certificate that are to hold jointly at `delta`, as for `abnet.certify`.
    max_iter : int
        Maximum epochs of a training stage.
    random_state : int, RandomState or None
        Seed of all random numbers. The same rows, in any order, and the same seed give the same model. By default a new
        seed is drawn; ``seed_`` shows it.
    verbose : int
        1 shows a progress bar on a terminal.

    Attributes
    ----------
    certificate_ : Certificate or None
        The certificate; None if no theorem covers the model.
    bound_rows_, other_rows_ : int arrays
        Indices of the held-out rows and of the training rows.
    seed_ : int
        The seed of this fit; pass it as `random_state` to repeat the fit.
    recipe_ : dict
        The values that "auto" was resolved to.
    left_out_ : tuple of str
        Columns that the model does not use; its notes say why.
    networks_, network_ : tuple of BAM, BAM
        The members, and the first of them.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = CertifiedClassifier((4,), preprocessor="standardise", max_iter=20, random_state=0).fit(X, y)
    >>> clf.certificate_.vote_error_bound < 0.15
    True
    """

    hidden_layer_sizes: Any = "auto"
    _: KW_ONLY
    n_estimators: Any = "auto"
    teacher: Any = "auto"
    codes: str = "auto"
    preprocessor: Any = "auto"
    classes: Any = None
    class_weight: Any = None
    learn_fraction: Any = "auto"
    delta: float = 0.05
    n_candidates: int = 1
    decision: Goal | None = None
    sets: Sets | None = None
    joint: JointNames | None = None
    max_iter: int = 100
    random_state: Any = None
    verbose: int = 0

    def settings(self) -> Settings:
        """The parameters, checked, with every "auto" resolved that needs no rows."""
        hidden = None
        if not is_auto(self.hidden_layer_sizes):
            hidden = check_hidden(self.hidden_layer_sizes)
        if not is_auto(self.learn_fraction):
            check_fraction("learn_fraction", self.learn_fraction)
        return Settings(
            estimator=type(self).__name__,
            given=given_parameters(self),
            hidden=hidden,
            aggregation="auto",
            aggregations=CLOSED_FORM,
            share=share_of_first_part(self.learn_fraction, hidden),
            preprocessor=self.preprocessor,
            delta=self.delta,
            n_candidates=self.n_candidates,
            classes=self.classes,
            training=TrainingSettings(self.max_iter),
            members=checked_members(self.n_estimators, self.teacher, self.codes, self.class_weight),
            goal=checked_goal(self.decision),
            sets=self.sets,
            joint=self.joint,
            gaps=is_auto(self.preprocessor),
            verbose=self.verbose,
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = is_auto(self.preprocessor)
        return tags
