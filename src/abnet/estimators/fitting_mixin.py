"""`FittingMixin`: the fitted attributes of certified classifiers, and certificates from further rows."""

from abc import abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from abnet.certificates.certificate import Certificate
from abnet.certificates.estimate import Estimate
from abnet.certificates.evidence import observe
from abnet.certificates.from_evidence import certify
from abnet.certificates.grouped_rows import check_groups
from abnet.certificates.joint_shares import JointNames, Makes, hold_jointly
from abnet.certificates.keyed_order import bet_keys, row_order
from abnet.certificates.random_seed import RandomState, drawn_seed
from abnet.certificates.requests import Gaps, Requests, split_populations
from abnet.certificates.row_hashing import fingerprint, row_hashes
from abnet.certificates.terms import Terms
from abnet.certificates.trade_off import TradeOff, trade_off
from abnet.certificates.training_rows import estimate_error, filter_of, refuse_fitted
from abnet.certificates.validation_scores import ValidationScores
from abnet.estimators.fit import Fitted, fit
from abnet.estimators.posterior_losses import losses_on_test_set
from abnet.estimators.refit import fresh_fit
from abnet.estimators.sklearn_methods import PredictionMixin
from abnet.model.digest import belonging
from abnet.model.model import Model
from abnet.networks.bam import BAM
from abnet.networks.posterior import Posterior
from abnet.tables.held_out_rows import HeldOutRows
from abnet.tables.labels import Labels, with_unknown
from abnet.tables.notes import warn_of
from abnet.training.labelled_rows import checked_rows, without_groups
from abnet.training.seeds import Generators
from abnet.training.settings import Settings
from abnet.utils.coded_rows import dense
from abnet.utils.errors import Parameter, ParameterError
from abnet.utils.label_values import label_values
from abnet.utils.threads import one_blas_thread

if TYPE_CHECKING:
    from abnet.estimators.fitted_table import FittedTable

__all__ = ["FittingMixin", "certify_test_set"]


class FittingMixin(PredictionMixin):
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
    held_: ValidationScores
    drawn_network_: Model
    posterior_: Posterior
    kl_: float
    C_: float
    left_out_: tuple[str, ...]
    """Columns that the model does not use; notes on the preparation say why."""
    seed_: int
    table_: "FittedTable"
    """Result of `abnet.fit_table` with an output file."""

    @abstractmethod
    def settings(self) -> Settings:
        """The parameters, checked, with every "auto" resolved that needs no rows."""

    def _keep(self, fitted: Fitted) -> None:
        """Set the fitted attributes."""
        learned = fitted.learned
        self.model_ = fitted.model
        self.seed_ = fitted.seed
        self.classes_ = fitted.model.classes_
        self.certificate_ = fitted.model.certificate
        self.bound_estimate_ = fitted.estimate
        self.preprocessor_ = fitted.rows.features.transformer
        self.left_out_ = fitted.model.preparation.left_out
        self.posterior_ = learned.posterior
        self.aggregation_ = learned.recipe.aggregation
        self.networks_ = fitted.networks
        self.priors_ = fitted.priors
        self.network_ = self.networks_[0]
        self.prior_ = self.priors_[0]
        self.kl_ = float(learned.posterior.astype(np.float64).kl())
        self.drawn_network_ = fitted.drawn
        if learned.C is not None:
            self.C_ = learned.C
        if fitted.split is not None:
            self.other_rows_ = fitted.split.first
            self.bound_rows_ = fitted.split.counted
        if learned.held is not None:
            self.held_ = learned.held
        card = fitted.model.card
        if card.parameters is not None:
            self.recipe_ = card.parameters
            self.recipe_text_ = card.recipe or ""
        self.bound_curve_ = list(learned.curves.get("bound", ()))
        self.loss_curve_: list[float] = []
        self.n_iter_ = 0
        for name, curve in learned.curves.items():
            self.n_iter_ += max(len(curve) - 1, 0)
            if name != "bound":
                self.loss_curve_.extend(curve)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, time: Any = None) -> Self:
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
        time : array (n,) or str, optional
            When each row was recorded (dates, time stamps or numbers), or the column of a frame with the times, which
            is then not used as a feature. The earliest rows train, the latest rows are held out, and the certificate is
            about a future like their period. With groups, the past ends where no group has rows on both sides.

        Returns
        -------
        self
        """
        fitted = self._fit(X, y, sample_weight, groups, time)
        warn_of((*self.model_.preparation.notes, *fitted.notes), stacklevel=2)
        return self

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        time: Any = None,
        *,
        emptied: bool = False,
        written: bool = False,
        held_out: HeldOutRows | None = None,
        compare: bool = False,
    ) -> Fitted:
        """Check the input, resolve the settings, call `abnet.estimators.fit.fit`, and store the results.

        Parameters
        ----------
        X, y, sample_weight, groups, time
            As for `fit`.
        emptied, written, held_out
            As in `LabelledRows`.
        compare : bool
            Whether to fit logistic regression too, for comparison.
        """
        with fresh_fit(self):
            settings = self.settings()
            if groups is not None and settings.goal is not None:
                raise ParameterError("{} counts single rows and cannot be combined with groups.", Parameter("decision"))
            if groups is not None and settings.sets is not None:
                raise ParameterError("{} counts single rows and cannot be combined with groups.", Parameter("sets"))
            if time is not None and not settings.split:
                raise ParameterError("{} needs a first part of the rows to train on; there is none.", Parameter("time"))
            rows = checked_rows(
                self,
                X,
                y,
                sample_weight,
                groups,
                time,
                preprocessor=self.preprocessor,
                gaps=settings.gaps,
                emptied=emptied,
                written=written,
                held_out=held_out,
            )
            fitted = fit(rows, settings, drawn_seed(self.random_state), compare=compare)
            self._keep(fitted)
        return fitted

    @overload
    def certify(
        self,
        X: Any,
        y: ArrayLike,
        *,
        n_candidates: int = ...,
        groups: ArrayLike | str | None = ...,
        by: ArrayLike | str | Gaps | None = ...,
        joint: JointNames | None = ...,
        allow_training_rows: Literal[False] = ...,
        random_state: RandomState = ...,
    ) -> Certificate: ...

    @overload
    def certify(
        self,
        X: Any,
        y: ArrayLike,
        *,
        n_candidates: int = ...,
        groups: None = ...,
        by: None = ...,
        joint: None = ...,
        allow_training_rows: bool,
        random_state: RandomState = ...,
    ) -> Certificate | Estimate: ...

    def certify(
        self,
        X: Any,
        y: ArrayLike,
        *,
        n_candidates: int = 1,
        groups: ArrayLike | str | None = None,
        by: ArrayLike | str | Gaps | None = None,
        joint: JointNames | None = None,
        allow_training_rows: bool = False,
        random_state: RandomState = None,
    ) -> Certificate | Estimate:
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
        by : array (n,), str or Gaps, optional
            Population of each row, or the frame's column with the populations. Each gets a bound, and they hold
            jointly. With `abnet.Gaps`, limits on both sides and a bound on the largest gap between two of them.
        joint : sequence of str or dict, optional
            Names of statements that are to hold jointly, as for `abnet.certify`.
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
        if allow_training_rows and (groups is not None or by is not None):
            raise ValueError("an estimate is about all rows: leave out groups and by.")
        if groups is None and not allow_training_rows:
            check_groups(self, X, "groups")
        X, groups = without_groups(X, groups)
        populations, gaps = split_populations(by)
        X, populations = self._without_populations(X, populations)
        terms_of_fit = self.settings().terms(len(self.posterior_.sizes) - 1)
        terms = Terms(delta=self.delta, n_candidates=n_candidates, source="test set", drawn=terms_of_fit.drawn)
        return certify_test_set(
            self.model_,
            self.posterior_,
            self._checked(X),
            y,
            terms,
            groups=groups,
            by=populations,
            requests=Requests(gaps=gaps),
            joint=joint,
            allow_training_rows=allow_training_rows,
            order_seed=drawn_seed(random_state),
            paths=Generators.of(self.seed_).certify,
        )

    def _without_populations(self, X: Any, by: Any) -> tuple[Any, NDArray[Any] | None]:
        """Take the column of the populations out of a frame, unless it is a feature as well."""
        others, populations = without_groups(X, by)
        if isinstance(by, str) and by in (self.model_.feature_names or ()):
            return X, populations
        return others, populations

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

    def _held_out_rows(self, X: Any, y: NDArray[Any], n_candidates: int) -> tuple[NDArray[np.intp], int]:
        """The bound rows of the fit, if it held them out from training and X and y are its rows."""
        card = self.model_.card
        if card.posterior != "frozen" or not hasattr(self, "bound_rows_"):
            return super()._held_out_rows(X, y, n_candidates)
        if card.n_training_rows != len(y):
            raise ValueError(f"fitted=True needs the {card.n_training_rows} rows passed to fit; got {len(y)}.")
        if card.n_training_groups is not None or self.certificate_ is None:
            raise ValueError("the bound rows are in groups, or have no certificate: pass other rows.")
        features = np.asarray(dense(self.model_.preparation.base.transform(self._checked(X))), np.float32)
        labels = Labels(self.classes_)
        codes, _ = with_unknown(labels.encode(y), labels.n_classes)
        order = np.concatenate([self.other_rows_, self.bound_rows_])
        given = fingerprint(features[order], label_values(codes[order], labels.n_classes))
        if given != card.data_fingerprint:
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
    requests: Requests,
    joint: JointNames | None = None,
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
    joint : sequence of str or dict, optional
        Names of statements that are to hold jointly.
    requests : Requests
        What to state besides error rates.
    allow_training_rows : bool
        Whether to accept training rows, and return an estimate.
    order_seed : int
        Seed for the order in which betting bounds read the rows.
    paths : numpy.random.Generator
        Generator of the fresh paths.
    """
    n_classes = model.n_classes
    inputs = model.prepare(X)
    codes, _ = with_unknown(model.labels.encode(y), n_classes)
    fitted_rows = filter_of(model)
    if fitted_rows is not None:
        fitted_rows.add(inputs, label_values(codes, n_classes))
    if not allow_training_rows:
        refuse_fitted(fitted_rows)
    scores = model.predictor.scores(inputs)
    answers = model.decision(scores)
    if allow_training_rows:
        return estimate_error(answers != codes, fitted_rows)
    rng = np.random.default_rng(int(paths.integers(2**63)))
    losses = losses_on_test_set(posterior, model.predictor, inputs, scores, codes, rng)
    given: dict[str, Any] = {}
    if losses is not None:
        given = losses._asdict()
    given["regions"] = model.located_inputs(inputs)
    keys = bet_keys(row_order(row_hashes(X, y), order_seed, groups))
    evidence = observe(answers, codes, model.labels.names, groups=groups, populations=by, keys=keys, **given)

    def made(makes: Makes) -> Certificate:
        return certify(evidence, replace(terms, delta=makes.delta), requests)

    return belonging(hold_jointly(made, terms.delta, joint), model)
