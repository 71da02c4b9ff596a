"""`CertificateMixin`: the fitted attributes of certified classifiers, and certificates from further rows."""

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Literal, Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from abnet.certificates.certificate import Certificate
from abnet.certificates.estimate import Estimate
from abnet.certificates.evidence import observe
from abnet.certificates.from_evidence import certify
from abnet.certificates.grouped_rows import check_groups
from abnet.certificates.held import Held
from abnet.certificates.keyed_order import bet_keys, row_order
from abnet.certificates.random_seed import RandomState, drawn_seed
from abnet.certificates.row_hashing import fingerprint, row_hashes
from abnet.certificates.terms import Terms
from abnet.certificates.trade_off import TradeOff, trade_off
from abnet.certificates.training_rows import estimate_error, filter_of, refuse_fitted
from abnet.estimators.fit import Fitted, fit
from abnet.estimators.posterior_losses import losses_on_test_set
from abnet.estimators.prediction import PredictionMixin
from abnet.estimators.refit import fitting_anew
from abnet.model.digest import belonging
from abnet.model.model import Model
from abnet.networks.bam import BAM
from abnet.networks.posterior import Posterior
from abnet.tables.labels import Labels, with_unknown
from abnet.tables.notes import warn_of
from abnet.training.labelled_rows import checked_rows, marks_of, without_groups
from abnet.training.seeds import Generators
from abnet.training.settings import Settings
from abnet.utils.coded_rows import dense
from abnet.utils.errors import Parameter, ParameterError
from abnet.utils.threads import one_blas_thread

if TYPE_CHECKING:
    from abnet.estimators.fitted_table import FittedTable

__all__ = ["CertificateMixin", "certify_test_set"]


class CertificateMixin(PredictionMixin):
    """The fitted attributes of a certified classifier, and certificates from further rows."""

    delta: float
    n_candidates: int
    random_state: Any
    certificate_: Certificate | None
    bound_estimate_: Estimate | None
    recipe_: dict[str, Any]
    recipe_text_: str
    bound_rows_: NDArray[np.intp]
    other_rows_: NDArray[np.intp]
    network_: BAM
    prior_: BAM
    networks_: tuple[BAM, ...]
    priors_: tuple[BAM, ...]
    held_: Held
    drawn_network_: Model
    posterior_: Posterior
    kl_: float
    C_: float
    seed_: int
    table_: "FittedTable"
    """Result of `abnet.fit_table` with an output file."""

    @abstractmethod
    def settings(self) -> Settings:
        """The parameters, checked, with every "auto" resolved that needs no rows."""

    def _keep(self, fitted: Fitted) -> None:
        """Set the fitted attributes."""
        learned, curves = fitted.learned, fitted.learned.curves
        self.model_, self.seed_ = fitted.model, fitted.seed
        self.classes_ = fitted.model.classes_
        self.certificate_, self.bound_estimate_ = fitted.model.certificate, fitted.estimate
        self.preprocessor_ = fitted.rows.features.transformer
        self.posterior_, self.aggregation_ = learned.posterior, learned.recipe.aggregation
        self.networks_, self.priors_ = fitted.networks, fitted.priors
        self.network_, self.prior_ = self.networks_[0], self.priors_[0]
        self.kl_ = float(learned.posterior.astype(np.float64).kl())
        if learned.C is not None:
            self.C_ = learned.C
        self.drawn_network_ = fitted.drawn
        if fitted.split is not None:
            self.other_rows_, self.bound_rows_ = fitted.split.first, fitted.split.counted
        if learned.held is not None:
            self.held_ = learned.held
        if fitted.model.card.parameters is not None:
            self.recipe_, self.recipe_text_ = fitted.model.card.parameters, fitted.model.card.recipe or ""
        self.bound_curve_ = list(curves.get("bound", ()))
        self.loss_curve_ = [value for name, curve in curves.items() if name != "bound" for value in curve]
        self.n_iter_ = sum(max(len(curve) - 1, 0) for curve in curves.values())

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Train and certify the classifier on labelled rows.

        Parameters
        ----------
        X : array, sparse matrix or frame (n, d)
        y : array (n,)
            Labels of any type, two classes or more (`PBGNetClassifier`: exactly two).
        sample_weight : array (n,), optional
            Affects training only; the certificate is about the unweighted risk. A weight must depend on its own row
            only.
        groups : array (n,) or str, optional
            Group of each row, such as a patient, or the column of a frame with the groups, which is then not used as a
            feature. Whole groups are used for training or held out, and the certificate is about a new group.

        Returns
        -------
        self
        """
        self._fit(X, y, sample_weight, groups)
        warn_of(self.model_.preparation.notes, stacklevel=2)
        return self

    def _fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, *, settings: Settings | None = None,
        emptied: bool = False, written: bool = False,
    ) -> Fitted:  # fmt: skip
        """Check the input, resolve the settings, call `abnet.estimators.fit.fit`, and store the results.

        Parameters
        ----------
        X, y, sample_weight, groups
            As for `fit`.
        settings : Settings, optional
            Settings to use instead of those of the parameters.
        emptied, written : bool
            As in `LabelledRows`.
        """
        with fitting_anew(self):
            settings = self.settings() if settings is None else settings
            if groups is not None and settings.goal is not None:
                raise ParameterError("{} counts single rows and cannot be combined with groups.", Parameter("decision"))
            rows = checked_rows(
                self, X, y, sample_weight, groups, preprocessor=self.preprocessor, gaps=settings.gaps, emptied=emptied,
                written=written,
            )  # fmt: skip
            fitted = fit(rows, settings, drawn_seed(self.random_state))
            self._keep(fitted)
        return fitted

    @overload
    def certify(
        self, X: Any, y: ArrayLike, *, n_candidates: int = ..., groups: ArrayLike | str | None = ...,
        by: ArrayLike | str | None = ..., allow_training_rows: Literal[False] = ..., random_state: RandomState = ...,
    ) -> Certificate: ...  # fmt: skip

    @overload
    def certify(
        self, X: Any, y: ArrayLike, *, n_candidates: int = ..., groups: None = ..., by: None = ...,
        allow_training_rows: bool, random_state: RandomState = ...,
    ) -> Certificate | Estimate: ...  # fmt: skip

    def certify(
        self, X: Any, y: ArrayLike, *, n_candidates: int = 1, groups: ArrayLike | str | None = None,
        by: ArrayLike | str | None = None, allow_training_rows: bool = False, random_state: RandomState = None,
    ) -> Certificate | Estimate:  # fmt: skip
        """Certify the model on a test set: rows held out from training and selection.

        Counts the errors of `predict`; a row without an answer counts as an error.

        Parameters
        ----------
        X : array, sparse matrix or frame (n, d)
            Rows held out from training and selection.
        y : array (n,)
            Their labels; a label that the model does not know counts as an error.
        n_candidates : int
            Number of models among which you choose with these rows.
        groups : array (n,) or str, optional
            Group of each row, such as a patient, or the frame's column with the groups. The bound is then about the
            error rate on a new group, averaged over its rows. No row of these groups may have been used in training.
        by : array (n,) or str, optional
            Population of each row, or the frame's column with the populations. Each gets a bound, and they hold
            jointly.
        allow_training_rows : bool
            Whether to accept training rows; the result is then an estimate without a guarantee. By default they raise
            an error.
        random_state : int, optional
            Seed for the order in which betting bounds read the rows; drawn anew by default. Trying several seeds is
            choosing among candidates.

        Returns
        -------
        Certificate
            `Estimate` with `allow_training_rows`.
        """
        check_is_fitted(self, "model_")
        if groups is not None and by is not None:
            raise ValueError("pass groups or by, not both: there is no bound for populations of groups.")
        if groups is None and not allow_training_rows:
            check_groups(self, X, "groups")
        X, groups = without_groups(X, groups)
        if isinstance(by, str):
            without, column = without_groups(X, by)
            # A population may be a feature as well.
            X, by = (X if by in (self.model_.feature_names or ()) else without), column
        if allow_training_rows and (groups is not None or by is not None):
            raise ValueError("an estimate is about all rows: leave out groups and by.")
        of_fit = self.settings().terms(len(self.posterior_.sizes) - 1)
        terms = Terms(delta=self.delta, n_candidates=n_candidates, source="test set", drawn=of_fit.drawn)
        return certify_test_set(
            self.model_, self.posterior_, self._checked(X), y, terms, groups=groups,
            by=None if by is None else np.asarray(by), allow_training_rows=allow_training_rows,
            order_seed=drawn_seed(random_state), paths=Generators.of(self.seed_).certify,
        )  # fmt: skip

    def gibbs_losses(self, X: Any, y: Any) -> NDArray[np.float64]:
        """Loss of the posterior on each row: the probability that a draw from it errs.

        Exact where it can be computed, otherwise the mean over fresh draws. For bounds of your own: the mean over the
        bound rows (`bound_rows_`) is what the bound on the Gibbs risk starts from.

        Parameters
        ----------
        X : array, sparse matrix or frame (n, d)
        y : array (n,)

        Returns
        -------
        array (n,)
            In [0, 1].

        Examples
        --------
        >>> from abnet import ABNetClassifier, bounds
        >>> X = np.random.default_rng(0).normal(size=(80, 2))
        >>> y = X[:, 0] > 0
        >>> clf = ABNetClassifier((2,), max_iter=2, preprocessor=None, random_state=0).fit(X, y)
        >>> losses = clf.gibbs_losses(X, y)[clf.bound_rows_]
        >>> round(bounds.loss_bound(losses) - clf.certificate_.gibbs_risk_bound, 6)
        0.0
        """
        check_is_fitted(self, "model_")
        prepared = self.model_.prepare(self._checked(X))
        codes, _ = with_unknown(self.model_.labels.encode(y), self.model_.n_classes)
        predictor = self.model_.predictor
        rng = Generators.of(self.seed_).certify
        found = losses_on_test_set(self.posterior_, predictor, prepared, predictor.scores(prepared), codes, rng)
        if found is None:
            raise ValueError("this model predicts in closed form: there are no losses of draws.")
        return found.losses

    def trade_off(self, positive: Any = None) -> TradeOff:
        """What thresholds reach, estimated on training rows (`held_`).

        The held-out rows are not used, so a target may be chosen from this table alone, and then certified by a fit
        with `decision`.

        Parameters
        ----------
        positive : label, optional
            One of two classes: the recall, the precision and the share of rows predicted as this class, for thresholds
            on its score. By default, the share of rows answered and the error among them, for abstaining.
        """
        check_is_fitted(self, "model_")
        if not hasattr(self, "held_"):
            raise ValueError("there are no validation rows from which thresholds could be estimated.")
        return trade_off(self.held_, self.model_.labels.names, positive)

    def draw_network(self) -> Model:
        """One deterministic network drawn from the posterior, with its own certificate.

        The network is drawn once, during `fit`, with its own random numbers. Every call returns the same network,
        because a choice among several draws would weaken the certificate.
        """
        check_is_fitted(self, "drawn_network_")
        return self.drawn_network_

    def _rows_that_taught_nothing(self, X: Any, y: NDArray[Any], n_candidates: int) -> tuple[NDArray[np.intp], int]:
        card, split = self.model_.card, hasattr(self, "bound_rows_")
        if card.posterior != "frozen" or not split:
            return super()._rows_that_taught_nothing(X, y, n_candidates)
        if card.n_training_rows != len(y):
            raise ValueError(f"fitted=True needs the {card.n_training_rows} rows passed to fit; got {len(y)}.")
        if card.n_training_groups is not None or self.certificate_ is None:
            raise ValueError("the bound rows are in groups, or have no certificate: pass other rows.")
        prepared = np.asarray(dense(self.model_.preparation.base.transform(self._checked(X))), np.float32)
        order, labels = np.concatenate([self.other_rows_, self.bound_rows_]), Labels(self.classes_)
        codes = with_unknown(labels.encode(y), labels.n_classes)[0][order]
        if card.data_fingerprint != fingerprint(prepared[order], marks_of(codes, labels.n_classes)):
            raise ValueError("fitted=True needs the rows passed to fit, in the same order; X or y differ from them.")
        return np.asarray(self.bound_rows_), max(n_candidates, self.n_candidates)


@one_blas_thread()
def certify_test_set(
    model: Model,
    posterior: Posterior,
    X: Any,
    y: Any,
    terms: Terms,
    *,
    groups: NDArray[Any] | None,
    by: NDArray[Any] | None,
    allow_training_rows: bool,
    order_seed: int,
    paths: np.random.Generator,
) -> Certificate | Estimate:
    """Certify a fitted model on a test set.

    Uses the test-set bound for the answers, and `abnet.bounds.gibbs_bound_frozen` or betting for the Gibbs risk, which
    is sampled with fresh paths if it cannot be computed.

    Parameters
    ----------
    model : Model
    posterior : Posterior
        The posterior that networks are drawn from.
    X : array or frame (n, d)
    y : array (n,)
    terms : Terms
    groups, by : arrays (n,) or None
        Group and population of each row.
    allow_training_rows : bool
        Whether to accept training rows, and return an estimate.
    order_seed : int
        Seed for the order in which betting bounds read the rows.
    paths : numpy.random.Generator
        Generator of the fresh paths.
    """
    prepared, K = model.prepare(X), model.n_classes
    codes, _ = with_unknown(model.labels.encode(y), K)
    seen = filter_of(model)
    if seen is not None:
        seen.add(prepared, marks_of(codes, K))
    if not allow_training_rows:
        refuse_fitted(seen)
    scores = model.predictor.scores(prepared)
    answers = model.decision(scores)
    if allow_training_rows:
        return estimate_error(answers != codes, seen)
    rng = np.random.default_rng(int(paths.integers(2**63)))
    losses = losses_on_test_set(posterior, model.predictor, prepared, scores, codes, rng)
    found = observe(
        answers, codes, model.labels.names, **({} if losses is None else losses._asdict()), groups=groups,
        populations=by, keys=bet_keys(row_order(row_hashes(X, y), order_seed, groups)),
    )  # fmt: skip
    return belonging(certify(found, terms), model)
