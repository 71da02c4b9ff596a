"""`ABNetClassifier`, and `PBGNetClassifier`, its predecessor by Letarte et al. (2019)."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from abnet.estimators.certificate_mixin import CertificateMixin
from abnet.estimators.fit_card import given_parameters
from abnet.networks import Aggregation, Exact, FanInUniform, GlorotNormal, Initialisation
from abnet.networks.bam import BAM
from abnet.networks.initialisation import INITIALISATIONS
from abnet.networks.posterior import Posterior
from abnet.tables.preparation.array_checks import check_preprocessor
from abnet.training.resolve import share_of_first_part
from abnet.training.settings import (
    AGGREGATIONS,
    PBGNET,
    Aggregations,
    Settings,
    TrainingSettings,
    is_auto,
    whole_or_none,
)
from abnet.utils.errors import Parameter, ParameterError
from abnet.utils.parameters import check_choice, check_fraction, check_hidden, check_positive

__all__ = ["ABNetClassifier", "PBGNetClassifier"]


@dataclass(eq=False, repr=False)
class _PaperNetwork(CertificateMixin):
    """The parameters that the paper's networks share; `ABNetClassifier` documents them."""

    hidden_layer_sizes: Any = (4, 4)
    _: KW_ONLY
    objective: str = "bound"
    prior: Any = "auto"
    init: Any = "auto"
    posterior: str = "auto"
    prior_fraction: Any = "auto"
    aggregation: Any = "auto"
    n_samples: int = 100
    preprocessor: Any = "auto"
    delta: float = 0.05
    n_candidates: int = 1
    batch_size: Any = "auto"
    learning_rate_init: Any = "auto"
    warm_up: int = 0
    deviations: bool = False
    max_iter: int = 100
    n_iter_no_change: int = 20
    tol: float = 1e-4
    validation_fraction: float = 0.2
    random_state: Any = None
    verbose: int = 0


@dataclass(eq=False, repr=False)
class ABNetClassifier(_PaperNetwork):
    """Aggregated binary activated network with a certified bound on its error on new data.

    The neurons output ±1, and the weights are Gaussian. The classifier predicts by the vote of all networks of this
    distribution, and PAC-Bayes theory bounds its error on new data from the training data.

    This is the paper's network, with the paper's terms, for two or more classes. For tables, and without parameters to
    set, use `CertifiedClassifier`.

    Parameters
    ----------
    hidden_layer_sizes : tuple of int
        Widths of the hidden layers, at least one.
    code_length : int or "auto"
        Number of output neurons for several classes (`abnet.networks.codebook`); two classes need one.
    classes : array, optional
        All possible labels. By default the classes are those of the first part, and a label that occurs only in the
        bound rows counts as an error.
    objective : {"bound", "loss"}
        Minimise the PAC-Bayes bound, or the linear loss with early stopping on a validation part (then there is no
        first part).
    prior : {"auto", "split", "init"}, BAM or Posterior
        "split": learn the prior on a first part of the data. "init": use the random initialisation, as the paper does.
        "auto" is "split" with ``objective="bound"`` and "init" with ``objective="loss"``. A network of your own becomes
        the centre of the prior. All rows are then bound rows, and the network must have been fixed before any of them
        was seen. The library cannot check this: if the network was trained on some of these rows, the certificate is
        false.
    init : {"auto", "glorot_normal", "fan_in_uniform"}, Initialisation, BAM or Posterior
        Initial weights. A name or an `abnet.networks.Initialisation` says how they are drawn: "glorot_normal" has zero
        biases, "fan_in_uniform" is PyTorch's default for a linear layer. "auto" is "fan_in_uniform" where the random
        network is the prior of the bound, and "glorot_normal" otherwise; with a prior of your own, training starts
        from that prior. A network of your own is the start of the posterior and leaves the prior as it is. It may
        depend on the rows, because the bound holds for every posterior trained through it. Therefore it cannot be
        combined with a prior learned on a first part, which would start from it too, nor with a frozen posterior.
    posterior : {"auto", "train", "frozen"}
        "train": train the posterior through the bound on the second part. "frozen": keep the learned prior, and use the
        second part only for the certificate. "auto" is "frozen" with a learned prior, which was tighter on every data
        set measured (docs/measurements.md), and "train" otherwise.
    prior_fraction : float or "auto"
        Fraction of the rows in the first part. "auto" is 0.5.
    aggregation : {"exact", "uniform", "ancestral", "auto"} or Aggregation
        How the output is computed. "exact": the expected output, for a last hidden layer of any width above layers of
        at most 20 units (with several classes, at most 20 units everywhere). "uniform": the paper's sampling, whose
        bound is an estimate. "ancestral": unbiased paths, any width, certified. "auto": exact while a training step
        takes at most 2^26 products (in a mixture: up to 10 neurons), ancestral above; ``aggregation_``
        is the one used. `abnet.networks.Aggregation` explains how to write your own.
    n_samples : int
        Draws per layer of the sampled aggregations. With "ancestral", the number of paths that vote in `predict`. They
        are drawn once and kept. For a trained posterior, more paths tighten the bound on the vote
        (`abnet.bounds.sampled`).
    preprocessor : transformer, "auto", "table", "standardise" or None
        Fitted on the first part only (rows, and labels as ±1), so that the certificate stays valid. "auto":
        arrays, and frames whose columns are all numeric, are left unscaled, but missing values in a frame are replaced
        by medians; other frames are prepared by `abnet.tables.preparation.TablePreparation` ("table"). None: no
        preprocessing.
    delta : float
        Maximum probability that the certificate is false.
    n_candidates : int
        Number of models among which this one is chosen with the rows passed to `fit`; fixed in advance.
    batch_size : int or "auto"
        "auto" is 32, and 64 from 20,000 rows on; for a mixture, and with several classes, it is 128, and 32 with fewer
        than 2,000 training rows.
    learning_rate_init : float or "auto"
        Learning rate of the last stage: training on the bound or the linear loss, or, with a frozen posterior, learning
        the prior. "auto" is 0.05 for a prior, 0.1 for the prior of a mixture, and 0.01 otherwise. A prior uses a fifth
        of its rate in the second half, on the linear loss. If the posterior is trained further, the prior is learned at
        the rate of "auto".
    warm_up : int
        Number of epochs on the linear loss before training on the bound; the prior stays the initialisation. 2 help
        networks with three layers.
    deviations : bool
        Whether to learn one standard deviation per layer through the bound; in the paper it is 1.
    max_iter : int
        Maximum epochs per stage. Learning the prior is one stage, half of it on the log loss and half on the linear
        loss; training through the bound, or on the linear loss with ``objective="loss"``, is another.
    n_iter_no_change : int
        A stage ends after this many epochs without an improvement by `tol`.
    tol : float
    validation_fraction : float
        Fraction of the rows for early stopping: of all rows with ``objective="loss"``, otherwise of the first part.
    random_state : int, RandomState or None
        Seed of all random numbers. The same rows, in any order, and the same seed give the same split and the same
        model. By default a new seed is drawn; ``seed_`` and `abnet inspect` show it.
    verbose : int
        1 shows a progress bar on a terminal, and prints how "auto" was resolved.

    Attributes
    ----------
    certificate_ : Certificate or None
        The certificate; None if no theorem covers the model (see ``bound_estimate_``).
    bound_estimate_ : Estimate or None
        The Gibbs bound if it is only an estimate.
    seed_ : int
        The seed of this fit; pass it as `random_state` to repeat the fit.
    bound_rows_ : int array
        Indices, into the X passed to `fit`, of the rows that certify the model, in random order.
    other_rows_ : int array
        Indices of the other rows: the training rows of the prior and the preprocessor or, with ``objective="loss"``,
        the validation rows of early stopping. Empty with ``prior="init"``.
    preprocessor_ : transformer or None
        The fitted preprocessor.
    drawn_network_ : Model
        One network drawn from the posterior with its own certificate, as returned by `draw_network`.
    network_, prior_ : BAM
        Centres of the posterior (the MAP network; divided by the `deviations` if these are learned) and of the prior.
    posterior_ : Posterior
        Centres, prior, deviations and aggregation.
    kl_ : float
        Divergence of the posterior from the prior, in nats.
    C_ : float
        The learned C of Catoni's bound; only if a posterior was trained through the bound.
    aggregation_ : str
        The aggregation used.
    model_ : Model
        The fitted model that `predict` uses; it needs only NumPy.
    classes_, n_features_in_, feature_names_in_, n_iter_, loss_curve_, bound_curve_
        As in scikit-learn; curves have the monitored value at the start and after each epoch.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = ABNetClassifier((4,), preprocessor=StandardScaler(), max_iter=20, random_state=0).fit(X, y)
    >>> clf.certificate_.gibbs_risk_bound < 0.25
    True
    """

    _: KW_ONLY
    code_length: Any = "auto"
    classes: Any = None

    def settings(self) -> Settings:
        """The parameters, checked, with every "auto" resolved that needs no rows."""
        length = whole_or_none("code_length", self.code_length)
        return _settings(self, AGGREGATIONS, code_length=length, classes=self.classes)


@dataclass(eq=False, repr=False)
class PBGNetClassifier(_PaperNetwork):
    """PBGNet: like `ABNetClassifier`, but every neuron reads its own draw of the layer below.

    With one hidden layer it is the same model. With more, the KL counts each layer once for every path from it to the
    output. It supports two classes only, so it has no `code_length` and no `classes`. The other parameters, attributes
    and methods are those of `ABNetClassifier`, except for:

    Parameters
    ----------
    aggregation : {"exact", "sampled"}
        How the output is computed. "exact": the expected output, at any width and depth. "sampled": from `n_samples`
        draws of every layer; its bound is an estimate.
    preprocessor : transformer, "standardise" or None
        None, the default, means no preprocessing.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = PBGNetClassifier((4,), preprocessor=StandardScaler(), max_iter=20, random_state=0).fit(X, y)
    >>> clf.certificate_.gibbs_risk_bound < 0.25
    True
    """

    _several: ClassVar[bool] = False

    aggregation: Any = "exact"
    preprocessor: Any = None

    def settings(self) -> Settings:
        """The parameters, checked, with every "auto" resolved that needs no rows."""
        if self.preprocessor is not None:
            check_preprocessor(self.preprocessor)
        return _settings(self, PBGNET, several=False)


def _settings(estimator: "ABNetClassifier | PBGNetClassifier", aggregations: Aggregations, **further: Any) -> Settings:
    """The settings of either classifier, from the parameters that both have."""
    given_prior = _as_posterior("prior", estimator.prior)
    first = None
    if not isinstance(estimator.init, (str, Initialisation)):
        first = _as_posterior("init", estimator.init)
    has_split = given_prior is None and estimator.objective == "bound" and estimator.prior != "init"
    _check_protocol(estimator, given_prior, first, has_split=has_split)
    hidden = check_hidden(estimator.hidden_layer_sizes)
    share = estimator.validation_fraction
    if estimator.objective == "bound":
        share = share_of_first_part(estimator.prior_fraction, hidden)
    aggregation, aggregations = _named(estimator.aggregation, aggregations)
    return Settings(
        estimator=type(estimator).__name__,
        given=given_parameters(estimator),
        hidden=hidden,
        aggregation=aggregation,
        aggregations=aggregations,
        n_samples=estimator.n_samples,
        share=share,
        objective=estimator.objective,
        split=has_split,
        frozen=estimator.posterior == "frozen" or (estimator.posterior == "auto" and has_split),
        preprocessor=estimator.preprocessor,
        delta=estimator.delta,
        n_candidates=estimator.n_candidates,
        training=_training_settings(estimator),
        given_prior=given_prior,
        first=first,
        initialisation=_initialisation(estimator.init, given_prior, has_split=has_split),
        verbose=estimator.verbose,
        **further,
    )


def _check_protocol(
    estimator: "ABNetClassifier | PBGNetClassifier",
    given_prior: Posterior | None,
    first: Posterior | None,
    *,
    has_split: bool,
) -> None:
    """Raise a ParameterError unless objective, prior, posterior and initial network go together."""
    check_choice("objective", estimator.objective, ("bound", "loss"))
    check_choice("posterior", estimator.posterior, ("auto", "train", "frozen"))
    if given_prior is None:
        check_choice("prior", estimator.prior, ("auto", "init", "split"))
    if not is_auto(estimator.prior_fraction):
        check_fraction("prior_fraction", estimator.prior_fraction)
    is_frozen = estimator.posterior == "frozen"
    loss = Parameter("objective", "loss")
    random_prior = Parameter("prior", "init")
    trained = Parameter("posterior", "train")
    if estimator.objective == "loss" and given_prior is None and estimator.prior == "split":
        raise ParameterError(
            "{} has no first part: use {}, or {}.", loss, random_prior, Parameter("objective", "bound")
        )
    if is_frozen and not has_split and given_prior is None:
        raise ParameterError(
            "{} needs a prior learned on the first part: use {}.",
            Parameter("posterior", "frozen"),
            Parameter("prior", "split"),
        )
    if is_frozen and estimator.objective == "loss":
        raise ParameterError("{} trains the posterior: use {} with it.", loss, trained)
    if first is not None and (has_split or is_frozen):
        # A frozen posterior would be `init` itself, and a prior learned from `init` would depend on it.
        raise ParameterError(
            "{} may depend on the rows, so it needs a prior that does not, and a trained posterior: use {} or a prior "
            "of your own, and {}.",
            Parameter("init"),
            random_prior,
            trained,
        )


def _training_settings(estimator: "ABNetClassifier | PBGNetClassifier") -> TrainingSettings:
    """The checked settings of the training."""
    rate = None
    if not is_auto(estimator.learning_rate_init):
        check_positive("learning_rate_init", estimator.learning_rate_init)
        rate = float(estimator.learning_rate_init)
    return TrainingSettings(
        max_iter=estimator.max_iter,
        n_iter_no_change=estimator.n_iter_no_change,
        tol=estimator.tol,
        validation_fraction=estimator.validation_fraction,
        batch_size=whole_or_none("batch_size", estimator.batch_size),
        rate=rate,
        warm_up=_warm_up(estimator),
        deviations=bool(estimator.deviations),
    )


def _as_posterior(name: str, given: Any) -> Posterior | None:
    """A given network as a posterior with one member; None for a string."""
    if isinstance(given, str):
        return None
    if isinstance(given, BAM):
        return Posterior.from_networks([given], [given], Exact())
    if isinstance(given, Posterior) and given.n_members == 1:
        return given
    kinds = "a word, a BAM or a Posterior of one member"
    if name == "init":
        kinds = "a word, an Initialisation, a BAM or a Posterior of one member"
    raise ParameterError("{} must be {}; got {!r}.", Parameter(name), kinds, given)


def _initialisation(init: Any, given_prior: Posterior | None, *, has_split: bool) -> Initialisation:
    """How a random prior is drawn; a network given as `init` is not the prior, so the rule of "auto" applies."""
    is_named = isinstance(init, Initialisation) or (isinstance(init, str) and not is_auto(init))
    if not is_named and has_split:
        return GlorotNormal()
    if not is_named:
        return FanInUniform()
    if given_prior is not None:
        raise ParameterError(
            "{} draws a random network, but training starts from the {} that you gave: leave it at {!r}.",
            Parameter("init", init),
            Parameter("prior"),
            "auto",
        )
    if isinstance(init, Initialisation):
        return init
    check_choice("init", init, ("auto", *INITIALISATIONS))
    return INITIALISATIONS[init]


def _warm_up(estimator: "ABNetClassifier | PBGNetClassifier") -> int:
    """Number of epochs on the linear loss before training on the bound."""
    warm_up = estimator.warm_up
    if isinstance(warm_up, bool) or not isinstance(warm_up, (int, np.integer)) or warm_up < 0:
        raise ParameterError("{} must be a whole number of epochs, 0 or more; got {!r}.", Parameter("warm_up"), warm_up)
    return int(warm_up)


def _named(aggregation: Any, known: Aggregations) -> tuple[str, Aggregations]:
    """The name of an aggregation, and the mapping of known names extended by it."""
    if isinstance(aggregation, str) or not isinstance(aggregation, Aggregation):
        return aggregation, known
    name = type(aggregation).__name__
    for known_name, make in known.items():
        if type(aggregation) is type(make(1)):
            name = known_name
    return name, {**known, name: lambda n_samples: aggregation}
