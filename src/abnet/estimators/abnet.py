"""`ABNetClassifier`: the aggregation that shares each draw among all neurons of a layer."""

from typing import ClassVar

from abnet.aggregation import ancestral, exact
from abnet.estimators.aggregated import AggregatedClassifier, Family, Way
from abnet.predictors.compact import CompactABNet
from abnet.predictors.paths import PathPredictor
from abnet.predictors.uniform_draws import CompactUniform

__all__ = ["ABNetClassifier"]


class ABNetClassifier(AggregatedClassifier):
    """Aggregated binary activated network, trained for and delivered with a certificate on its error.

    The network's neurons output ±1 and its weights are Gaussian; the classifier predicts by the vote of all networks,
    and PAC-Bayes theory bounds its error on new data from the training data alone.

    Parameters
    ----------
    hidden_layer_sizes : tuple of int
        Widths of the hidden layers, at least one.
    objective : {"bound", "loss"}
        Minimise the PAC-Bayes bound, or the linear loss with a validation part (no prior part then).
    prior : {"auto", "split", "init"}
        Learn the prior on a first part of the data, or use the random initialisation (the paper's). "auto" is "split"
        with ``objective="bound"`` and "init" with ``objective="loss"``.
    posterior : {"auto", "train", "frozen"}
        Train the posterior through the bound on the second part, or keep the learned prior and use the second part for
        the certificate alone. "auto" is "frozen" with a learned prior, which was tighter on every data set measured
        (docs/certificates.md), and "train" without one.
    prior_fraction : float
        Share of the rows in the first part.
    aggregation : {"exact", "uniform", "ancestral", "auto"}
        How the output is computed. "exact": all representations, up to 20 units a layer. "uniform": the paper's
        sampling, whose bound is an estimate. "ancestral": unbiased paths, any width, certified. "auto": exact while a
        training step takes at most 2^26 products, ancestral above; ``aggregation_`` says which.
    n_samples : int
        Draws per layer of the sampled aggregations. With "ancestral", the number of paths that vote in `predict`:
        they are drawn once and kept, and the certificate of the vote gains from more of them
        (`abnet.bounds.fixed_paths`); a frozen posterior needs no such allowance.
    preprocessor : transformer, optional
        Fitted on the first part only (rows, and labels as ±1), so that the certificate stays valid.
    delta : float
        The certificate may fail with at most this probability.
    n_candidates : int
        Number of models among which this one was or will be chosen by looking at its training data; fixed in advance.
    batch_size : int or "auto"
        "auto" is 32, and 64 from 20,000 rows.
    learning_rate_init : float or "auto"
        Learning rate of the last stage: of the bound or the linear loss, or, with a frozen posterior, of the prior.
        "auto" is 0.05 for a prior and 0.01 otherwise. A prior learns from the linear loss, its second half, at a fifth
        of its rate; a prior that is trained further is learned at the rate of "auto".
    max_iter : int
        Maximum epochs per stage. Learning the prior is one stage, half of it on the log loss and half on the linear
        loss; training through the bound, or on the linear loss with ``objective="loss"``, is another.
    n_iter_no_change : int
        Epochs without improvement by `tol` after which a stage ends.
    tol : float
    validation_fraction : float
        Share kept for early stopping: of all rows with ``objective="loss"``, of the first part while the prior is
        learned.
    random_state : int, RandomState or None
    verbose : int
        1 draws a progress bar on a terminal, and says what "auto" chose.

    Attributes
    ----------
    certificate_ : Certificate or None
        What is promised for new data; None where no theorem covers what was done (see ``bound_estimate_``).
    bound_estimate_ : float or None
        The Gibbs bound where it is only an estimate.
    bound_rows_ : int array
        Row numbers, into the X given to `fit`, of the rows that the certificate was computed on, in random order.
    other_rows_ : int array
        Those of the other rows: what the prior and the preprocessor were learned from, or, with ``objective="loss"``,
        what early stopping watched. Empty with ``prior="init"``.
    preprocessor_ : transformer or None
        The fitted preprocessor.
    drawn_network_ : DrawnNetwork
        One network of the posterior with its own certificate, as `draw_network` returns it.
    network_, prior_ : BAM
        Centres of the posterior (the MAP network) and of the prior.
    aggregation_ : str
        The aggregation that was used.
    predictor_ : Predictor
        What `predict` uses, in NumPy alone.
    classes_, n_features_in_, feature_names_in_, n_iter_, loss_curve_, bound_curve_
        As in scikit-learn; curves hold the monitored value after each epoch, the start first.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = ABNetClassifier((4,), preprocessor=StandardScaler(), max_iter=20, random_state=0).fit(X, y)
    >>> clf.certificate_.gibbs_risk_bound < 0.25
    True
    """

    _family: ClassVar[Family] = Family(
        ways={
            "exact": Way("exact", lambda network, rng, n: CompactABNet.from_network(network)),
            "ancestral": Way(
                "ancestral surrogate",
                lambda network, rng, n: PathPredictor.from_network(network, rng, n_paths=n),
                fresh_paths=True,
                training_samples=ancestral.TRAINING_PATHS,
            ),
            "uniform": Way(
                "uniform",
                lambda network, rng, n: CompactUniform.from_network(network, rng, n_samples=n),
                certified=False,
                fresh_paths=True,
            ),
        },
        kl=exact.kl,
    )
