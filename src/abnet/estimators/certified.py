"""`CertifiedClassifier`: a table in, a classifier with a certified error rate out, and nothing to set."""

from typing import Any

from abnet.certificates.goals import Costs, Goal, TargetError, TargetPrecision, TargetRecall
from abnet.errors import Parameter, ParameterError
from abnet.estimators.mixture_classifier import MixtureClassifier
from abnet.estimators.recipe import AGGREGATIONS
from abnet.parameters import check_fraction

__all__ = ["CertifiedClassifier"]


class CertifiedClassifier(MixtureClassifier):
    """Classifier for tables whose error rate on new data is certified on held-out rows.

    It takes arrays, sparse matrices and frames (pandas, Polars) with mixed columns and missing values, and two classes
    or several. A mixture of small binary activated networks is distilled from stronger learners on one part of the
    rows; the other part is held out and only counted.

    Parameters
    ----------
    hidden_layer_sizes : tuple of int or "auto"
        Widths of the hidden layers. "auto" follows fixed rules (`abnet.estimators.recipe`): with two classes 8 exact
        networks of 8 neurons, with several, or above 400 features, 4 sampled ones of 100, and of 300 from six classes
        on. With explicit widths there is one network, without teachers and codes unless they are set, and its inputs
        are left unscaled.
    n_estimators : int or "auto"
        Number of networks in the mixture.
    teacher : None, "auto", "all", "forest", "boosting", "linear", "kernel" or a classifier
        What the networks are distilled from: a scikit-learn classifier, which is cloned and fitted on the training
        rows only, or one by name. "all" weighs a forest, boosting, a linear model and, with several classes, a kernel
        machine by their out-of-fold predictions.
    codes : {"auto", "thermometer", "none"}
        Whether numeric columns come with thermometer codes, the answers to "is it above?".
    preprocessor : transformer, "auto", "table", "standardise" or None
        Fitted on the training rows only, so that the certificate stays valid. "auto": frames by
        `abnet.preparation.TablePreparation` ("table"), arrays are scaled ("standardise").
    classes : array, optional
        All labels there may be. By default those of the training rows; another label among the held-out rows counts as
        an error.
    class_weight : None, "balanced" or dict
        Affects training only; the certificate is for the unweighted error rate.
    learn_fraction : float or "auto"
        Share of the rows that train the model; the rest is held out. "auto" is 0.6, and 0.5 with explicit widths.
    delta : float
        The certificate may fail with at most this probability.
    n_candidates : int
        Number of models among which this one is chosen by looking at its held-out rows; fixed in advance.
    decision : goal, optional
        What the answers have to achieve: ``TargetError(0.02)`` (answer only where sure enough),
        ``TargetRecall(0.95, positive="ill")``, ``TargetPrecision(0.9, positive="ill")`` or
        ``Costs({("ill", "well"): 10, ("well", "ill"): 1})``.
    max_iter : int
        Maximum epochs of a training stage.
    random_state : int, RandomState or None
        Seed of everything that is drawn. The same rows, in any order, and the same seed give the same model. By
        default a seed is drawn afresh: ``seed_``.
    verbose : int
        1 draws a progress bar on a terminal.

    Attributes
    ----------
    certificate_ : Certificate or None
        What is promised for new data; None where no theorem covers what was done.
    bound_rows_, other_rows_ : int arrays
        Row numbers of the held-out rows and of the training rows.
    seed_ : int
        The seed of this fit: as `random_state` it repeats it.
    recipe_ : dict
        What "auto" stood for.
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

    _by_name = AGGREGATIONS
    # What the paper's classifiers let one choose is settled here: a prior learned on the training rows and kept.
    objective, prior, posterior, aggregation = "bound", "split", "frozen", "auto"
    n_samples, batch_size, learning_rate_init, code_length = 100, "auto", "auto", "auto"
    validation_fraction = 0.2

    def __init__(
        self,
        hidden_layer_sizes: Any = "auto",
        *,
        n_estimators: Any = "auto",
        teacher: Any = "auto",
        codes: str = "auto",
        preprocessor: Any = "auto",
        classes: Any = None,
        class_weight: Any = None,
        learn_fraction: Any = "auto",
        delta: float = 0.05,
        n_candidates: int = 1,
        decision: Goal | None = None,
        max_iter: int = 100,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.n_estimators = n_estimators
        self.teacher = teacher
        self.codes = codes
        self.preprocessor = preprocessor
        self.classes = classes
        self.class_weight = class_weight
        self.learn_fraction = learn_fraction
        self.delta = delta
        self.n_candidates = n_candidates
        self.decision = decision
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    @property
    def prior_fraction(self) -> Any:
        """`learn_fraction`, by the paper's name."""
        return self.learn_fraction

    def _limits(self) -> Any:
        from abnet.training.loop import Limits

        return Limits(1e-4, 20, max_epochs=self.max_iter)

    def _check_parameters(self) -> tuple[int, ...]:
        if self.decision is not None and not isinstance(
            self.decision, (TargetError, TargetRecall, TargetPrecision, Costs)
        ):
            raise ParameterError(
                "{} must be TargetError, TargetRecall, TargetPrecision or Costs; got {!r}.",
                Parameter("decision"), self.decision,
            )  # fmt: skip
        if not self._is_auto("learn_fraction"):
            check_fraction("learn_fraction", self.learn_fraction)
        return super()._check_parameters()
