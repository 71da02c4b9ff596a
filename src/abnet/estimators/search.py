"""`ABNetSearch`: choose among settings by certificates that account for the choice."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from pickle import PicklingError
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from abnet.certificates.certificate import Certificate
from abnet.certificates.from_evidence import for_candidates
from abnet.certificates.random_seed import drawn_seed
from abnet.estimators.certificate_mixin import CertificateMixin
from abnet.estimators.refit import fresh_fit
from abnet.model.model import Model
from abnet.networks.bam import BAM
from abnet.tables.labels import Labels
from abnet.training.labelled_rows import without_groups
from abnet.training.resolve import computes_risk
from abnet.utils.parameters import check_choice

if TYPE_CHECKING:
    from abnet.export import CSource

__all__ = ["ABNetSearch", "chooses_apart", "count_events", "event_of", "free_parameters", "validation_figures"]


_STAGE = frozenset({"learning_rate_init", "batch_size", "max_iter", "n_iter_no_change", "tol"})

_UNUSED = frozenset({"prior_fraction", "n_samples"})


def free_parameters(classifier: CertificateMixin, n_classes: int = 2) -> frozenset[str]:
    """Names of the parameters that change neither the prior, nor the bound rows, nor anything sampled.

    - A frozen posterior has no union over posteriors, so nothing is free. The same holds for a sampled aggregation,
      whose paths are drawn after the posterior is fixed.
    - A mixture, and so any network with several classes, is sampled above 10 neurons (`abnet.training.resolve`).
    - With ``prior="split"`` the stages of the prior use the same limits as that of the posterior. Only the learning
      rate belongs to the posterior alone (the prior then has a fixed rate).
    - With ``prior="init"`` the prior is the random initialisation, which depends only on the sizes and the seed. With
      ``objective="loss"`` the validation rows are not bound rows, so their fraction is not free.

    Examples
    --------
    >>> from abnet.estimators.abnet import ABNetClassifier
    >>> sorted(free_parameters(ABNetClassifier((4, 4), posterior="train")))
    ['learning_rate_init']
    >>> "max_iter" in free_parameters(ABNetClassifier((4, 4), prior="init"))
    True
    """
    # Check two classes too, because the first part may have fewer labels than all rows, and it determines the classes.
    # Check the declared number of classes too, because y may have fewer.
    settings = classifier.settings()
    sizes = {2, n_classes}
    if settings.classes is not None:
        sizes.add(len(settings.classes))
    if settings.frozen or not all(computes_risk(settings, size) for size in sizes):
        return frozenset()
    if settings.objective == "loss":
        return _STAGE | _UNUSED
    if settings.split:
        return frozenset({"learning_rate_init"})
    return _STAGE | _UNUSED | {"validation_fraction", "warm_up", "deviations", "init"}


def event_of(classifier: CertificateMixin, params: Mapping[str, Any], n_classes: int = 2) -> str:
    """A key for the prior and the bound rows of a candidate: its `params` without the free ones."""
    free = free_parameters(classifier, n_classes)
    return " ".join(f"{name}={_value_key(params[name])}" for name in sorted(params) if name not in free)


def _value_key(value: Any) -> str:
    """A key that is equal only for equal values; values that cannot be hashed count as different."""
    import joblib

    try:
        return str(joblib.hash(value))
    except (PicklingError, AttributeError, TypeError):  # a function without a name, an open file
        return str(id(value))


def count_events(events: Sequence[str]) -> int:
    """Number K of events that must hold jointly for the best candidate's certificate to hold."""
    return len(set(events))


def chooses_apart(candidates: Sequence[CertificateMixin]) -> bool:
    """Whether to choose without the bound rows: all posteriors are frozen, with the same bound and validation rows.

    Then the settings are compared on validation rows of the first part, and only the winner is certified: K = 1.

    Examples
    --------
    >>> from abnet.estimators.abnet import ABNetClassifier
    >>> chooses_apart([ABNetClassifier((2,), random_state=0), ABNetClassifier((3,), random_state=0)])
    True
    >>> chooses_apart([ABNetClassifier((2,), random_state=0), ABNetClassifier((2,), random_state=1)])
    False
    """
    splits = set()
    for candidate in candidates:
        settings = candidate.settings()
        if not (settings.frozen and settings.split):
            return False
        splits.add((settings.share, settings.training.validation_fraction, candidate.random_state))
    return len(splits) == 1


def validation_figures(
    fitted: CertificateMixin, X: Any, y: Any, weights: Any = None, groups: Any = None
) -> tuple[float, float]:
    """Error and mean linear loss of a frozen classifier on rows of its first part that were not used in training.

    For one network these are its held rows. The held scores of a mixture may be those of its teachers, which are the
    same in all settings. So a mixture is refitted on the first part only, and its errors are counted on the rows which
    that fit holds out.
    """
    from sklearn.utils import _safe_indexing

    is_mixture = fitted.model_.card.parameters is not None
    if not is_mixture:
        return fitted.held_.error, fitted.held_.loss
    first = fitted.other_rows_
    if weights is not None:
        weights = np.asarray(weights)[first]
    if groups is not None:
        groups = np.asarray(groups)[first]
    refitted = clone(fitted).set_params(classes=fitted.classes_, n_candidates=1)
    refitted.fit(_safe_indexing(X, first), np.asarray(y)[first], sample_weight=weights, groups=groups)
    certificate = _certificate(refitted, {})
    return certificate.empirical_error, certificate.empirical_gibbs_risk or 0.0


class ABNetSearch(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Fit every setting of a grid and keep the one with the best certificate, which accounts for the choice.

    No data are set aside for the choice: the certificates themselves are compared. With K different priors among the
    settings, every certificate is computed at δ/K (``ln K`` nats more), so all of them hold jointly and any may be
    chosen. Settings that differ only in the training of the posterior share a prior and cost nothing; with a trained
    posterior and a sampled aggregation every setting counts. K is computed from the grid before any row is used.

    Frozen posteriors that share their bound rows (same ``prior_fraction``, ``validation_fraction`` and seed) are
    compared on validation rows of the first part instead, without using the bound rows, and only the winner is
    certified, with K = 1. (A mixture is fitted twice for this: on all rows, and on the first part only.) The
    certificates of the other settings are then not shown, because the bound would not account for a choice by them.

    Parameters
    ----------
    estimator : ABNetClassifier or PBGNetClassifier
        If its ``n_candidates`` is above 1, K is multiplied by it, for a further choice on top of this search.
    param_grid : dict or list of dict, optional
        Maps parameter names to the values to try, as in scikit-learn's `GridSearchCV`.
    choose_by : {"vote", "gibbs"}
        The bound to compare first; the other one breaks ties.

    Attributes
    ----------
    best_estimator_ : estimator
        The chosen classifier. It is not refitted, because its certificate is about this fit.
    best_params_ : dict
    best_index_ : int
    certificate_ : Certificate
        Certificate of the chosen classifier; its ``n_candidates`` is K.
    cv_results_ : dict of lists
        One entry per setting: ``params``, ``prior`` (settings with the same number share a prior),
        ``vote_error_bound``, ``gibbs_risk_bound``, ``empirical_gibbs_risk``, ``kl`` and ``fit_time`` in seconds. If
        validation rows decide, also ``validation_error`` and ``validation_loss``; bounds are then given for the chosen
        setting only.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from abnet import ABNetClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> small = ABNetClassifier((2,), posterior="train", preprocessor="standardise", max_iter=5, random_state=0)
    >>> search = ABNetSearch(small, {"learning_rate_init": [0.01, 0.001]}).fit(X, y)
    >>> search.certificate_.facts.n_candidates  # one prior: the choice is free
    1
    >>> search = ABNetSearch(small, {"prior_fraction": [0.4, 0.6]}).fit(X, y)
    >>> search.certificate_.facts.n_candidates
    2
    """

    def __init__(self, estimator: Any, param_grid: Any = None, *, choose_by: str = "vote") -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.choose_by = choose_by

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> "ABNetSearch":
        """Fit every setting on the same rows and keep the one with the smallest bound.

        Parameters
        ----------
        X, y, sample_weight, groups
            As for the estimator; whole groups are on one side of every split of every setting.
        """
        with fresh_fit(self):
            self._search(X, y, sample_weight, groups)
        return self

    def _search(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> None:
        check_choice("choose_by", self.choose_by, ("vote", "gibbs"))
        X, groups = without_groups(X, groups)
        validate_data(self, X, y, skip_check_array=True)
        if np.asarray(y).dtype.kind != "f":  # numbers that are no labels are the estimator's to refuse
            Labels.of(y)
        settings, candidates = self._candidates()
        n_classes = len(np.unique(np.asarray(y)))
        events = []
        for candidate, params in zip(candidates, settings, strict=True):
            events.append(event_of(candidate, params, n_classes))
        apart = chooses_apart(candidates)
        n_events = 1
        if not apart:
            n_events = count_events(events)
        fits = []
        seconds = []
        for candidate in candidates:
            candidate.set_params(n_candidates=n_events * self.estimator.n_candidates)
            begin = time.perf_counter()
            fits.append(candidate.fit(X, y, sample_weight=sample_weight, groups=groups))
            seconds.append(time.perf_counter() - begin)
        certificates = [_certificate(fitted, params) for fitted, params in zip(fits, settings, strict=True)]
        _check_priors([fitted.priors_ for fitted in fits], events)
        self.cv_results_ = _table(settings, events, certificates, seconds)
        if apart:
            figures = [validation_figures(fitted, X, y, sample_weight, groups) for fitted in fits]
            self._choose_apart(fits, figures)
        else:
            figures = [(_bound(made.vote_error_bound), _bound(made.gibbs_risk_bound)) for made in certificates]
            self.best_index_ = self._smallest(figures)
        n_settings = len(fits)
        if apart:
            n_settings = 1
        self._keep(fits[self.best_index_], settings[self.best_index_], n_settings)

    def _choose_apart(self, fits: Sequence[CertificateMixin], figures: Sequence[tuple[float, float]]) -> None:
        """Choose by figures of validation rows of the first part; the other settings' certificates are not shown."""
        first = fits[0].bound_rows_
        for fitted in fits:
            if not np.array_equal(first, fitted.bound_rows_):
                raise RuntimeError("settings that should share their bound rows have different ones; fit again.")
        self.best_index_ = self._smallest(figures)
        self.cv_results_["validation_error"] = [error for error, _ in figures]
        self.cv_results_["validation_loss"] = [loss for _, loss in figures]
        for name in ("vote_error_bound", "gibbs_risk_bound", "empirical_gibbs_risk"):
            of_best = self.cv_results_[name][self.best_index_]
            self.cv_results_[name] = [None] * len(fits)
            self.cv_results_[name][self.best_index_] = of_best

    def _smallest(self, figures: Sequence[tuple[float, float]]) -> int:
        """Index of the smallest pair; `choose_by` says which of the two is compared first."""
        if self.choose_by == "gibbs":
            figures = [(second, first) for first, second in figures]
        return min(range(len(figures)), key=lambda index: figures[index])

    def _candidates(self) -> tuple[list[dict[str, Any]], list[Any]]:
        """The settings of the grid and their classifiers, all with the same seed unless the grid varies it."""
        from sklearn.model_selection import ParameterGrid

        if not isinstance(self.estimator, CertificateMixin):
            raise ValueError(
                f"estimator must be an ABNetClassifier or a PBGNetClassifier, which have certificates; got "
                f"{self.estimator!r}."
            )
        settings = list(ParameterGrid(self.param_grid or {}))
        _check_grid(settings)
        seed = self.estimator.random_state
        if not isinstance(seed, (int, np.integer)):
            # One seed for all: the parts and the initialisation are then the same, so a shared prior is the same.
            seed = drawn_seed(seed)
        base = clone(self.estimator).set_params(random_state=seed)
        return settings, [clone(base).set_params(**clone_values(params)) for params in settings]

    def _keep(self, best: CertificateMixin, params: dict[str, Any], n_settings: int) -> None:
        drawn = best.drawn_network_
        if drawn.certificate is not None:
            # The bound of a drawn network does not hold for all posteriors at once, so every setting counts.
            certificate = for_candidates(drawn.certificate, n_settings * self.estimator.n_candidates)
            best.drawn_network_ = replace(drawn, certificate=certificate)
        self.best_estimator_ = best
        self.best_params_ = params
        self.certificate_ = best.certificate_
        self.classes_ = best.classes_

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The output of the chosen classifier, as for `ABNetClassifier`."""
        return self._best().decision_function(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """The chosen classifier's label for every row."""
        return self._best().predict(X)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The chosen classifier's probabilities, shape (n, K)."""
        return np.asarray(self._best().predict_proba(X))

    def draw_network(self) -> Model:
        """The chosen classifier's drawn network; its certificate accounts for every setting of the grid."""
        return self._best().draw_network()

    def certify(self, X: Any, y: ArrayLike, **options: Any) -> Certificate:
        """Certify the chosen classifier on rows held out from the search; options as for its own `certify`."""
        return self._best().certify(X, y, **options)

    @property
    def model_(self) -> Model:
        """The chosen model with its certificate; it needs only NumPy."""
        return self._best().model_

    def save(self, path: str | Path) -> None:
        """Write the chosen model with its certificate to one file; `abnet.load` reads it back."""
        self._best().save(path)

    def to_c(
        self, path: str | Path, *, prefix: str = "abnet", example: bool = False, single: bool = False
    ) -> "CSource":
        """Write the chosen model, with its preparation, as C99 with a header: see `abnet.export.to_c`."""
        return self._best().to_c(path, prefix=prefix, example=example, single=single)

    def to_onnx(self, path: str | Path) -> Any:
        """Write the chosen model, with its preparation, as an ONNX model: see `abnet.export.to_onnx`."""
        return self._best().to_onnx(path)

    def _best(self) -> CertificateMixin:
        check_is_fitted(self, "best_estimator_")
        best: CertificateMixin = self.best_estimator_
        return best

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
        tags.input_tags.sparse = inner.input_tags.sparse
        return tags


def clone_values(params: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a setting with cloned transformers, so that candidates do not share them."""
    return {name: clone(value, safe=False) for name, value in params.items()}


def _check_grid(settings: Sequence[Mapping[str, Any]]) -> None:
    varied = {name for params in settings for name in params}
    fixed = sorted(varied & {"delta", "n_candidates"})
    if fixed:
        raise ValueError(
            f"param_grid must not vary {' or '.join(fixed)}: the confidence is fixed before the data are seen; set it "
            "on the estimator."
        )


def _bound(bound: float | None) -> float:
    """A bound; 1 if there is none."""
    if bound is None:
        return 1.0
    return bound


def _certificate(fitted: CertificateMixin, params: Mapping[str, Any]) -> Certificate:
    if fitted.certificate_ is None:
        raise ValueError(
            f"the setting {dict(params)} has no certificate to choose by, only an estimate: use aggregation='exact' or "
            "'ancestral', and no preprocessor with prior='init' or objective='loss'."
        )
    return fitted.certificate_


def _check_priors(priors: Sequence[tuple[BAM, ...]], events: Sequence[str]) -> None:
    """Raise an error if settings that were counted as one prior did not train the same prior."""
    first: dict[str, tuple[BAM, ...]] = {}
    for prior, event in zip(priors, events, strict=True):
        shared = first.setdefault(event, prior)
        if not _are_equal(shared, prior):
            raise RuntimeError(
                "settings that should share a prior trained different ones, so their certificates do not hold jointly: "
                "was training interrupted, or is the preprocessor random? Give it a fixed seed and fit again."
            )


def _are_equal(networks: Sequence[BAM], others: Sequence[BAM]) -> bool:
    """Whether networks have the same weights and biases."""
    arrays = _arrays(networks)
    other_arrays = _arrays(others)
    return len(arrays) == len(other_arrays) and all(map(np.array_equal, arrays, other_arrays))


def _arrays(networks: Sequence[BAM]) -> list[NDArray[Any]]:
    """All weights and biases."""
    return [array for network in networks for array in (*network.weights, *network.biases)]


def _table(
    settings: list[dict[str, Any]], events: list[str], certificates: list[Certificate], seconds: list[float]
) -> dict[str, list[Any]]:
    numbers = {event: number for number, event in enumerate(dict.fromkeys(events))}
    return {
        "params": settings,
        "prior": [numbers[event] for event in events],
        "vote_error_bound": [c.vote_error_bound for c in certificates],
        "gibbs_risk_bound": [c.gibbs_risk_bound for c in certificates],
        "empirical_gibbs_risk": [c.empirical_gibbs_risk for c in certificates],
        "kl": [c.facts.kl for c in certificates],
        "fit_time": seconds,
    }
