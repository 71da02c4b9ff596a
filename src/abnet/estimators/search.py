"""`ABNetSearch`: choose among settings by their certificates, on the same data, and account for the choice."""

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

from abnet.bam import BAM
from abnet.certificates.certificate import Certificate
from abnet.certificates.certify import for_candidates
from abnet.certificates.split import drawn_seed
from abnet.estimators.certificate_mixin import CertificateMixin
from abnet.estimators.labelled_rows import without_groups
from abnet.estimators.refit import fitting_anew
from abnet.labels import Labels
from abnet.model.model import Model
from abnet.parameters import check_choice

if TYPE_CHECKING:
    from abnet.export import CSource

__all__ = ["ABNetSearch", "chooses_apart", "count_events", "event_of", "free_parameters", "validation_figures"]


_STAGE = frozenset({"learning_rate_init", "batch_size", "max_iter", "n_iter_no_change", "tol"})

_UNUSED = frozenset({"prior_fraction", "n_samples"})


def free_parameters(classifier: CertificateMixin, n_classes: int = 2) -> frozenset[str]:
    """Names of the parameters that change neither the prior, nor the bound rows, nor anything sampled.

    - A frozen posterior has no union over posteriors: nothing is free. The same for a sampled aggregation, whose
      paths are drawn after the posterior.
    - A mixture, and so any network with several classes, is sampled above 10 neurons (`recipe_for`).
    - With ``prior="split"`` the two stages of the prior share all limits with the posterior's: only the learning rate
      is the posterior's own (the prior then has a rate that is fixed).
    - With ``prior="init"`` the prior is the random start, which only the sizes and the seed decide. With
      ``objective="loss"`` the validation part is no part of the bound rows, so that its size is not free.

    Examples
    --------
    >>> from abnet.estimators.abnet import ABNetClassifier
    >>> sorted(free_parameters(ABNetClassifier((4, 4), posterior="train")))
    ['learning_rate_init']
    >>> "max_iter" in free_parameters(ABNetClassifier((4, 4), prior="init"))
    True
    """
    # As one of two classes too: the first part may have fewer labels than all rows, and it alone decides. As one of
    # those that are declared: y may have fewer.
    settings = classifier.settings()
    sizes = {2, n_classes, 2 if settings.classes is None else len(settings.classes)}
    if settings.frozen or not all(map(settings.computes_risk, sizes)):
        return frozenset()
    if settings.objective == "loss":
        return _STAGE | _UNUSED
    if settings.split:
        return frozenset({"learning_rate_init"})
    return _STAGE | _UNUSED | {"validation_fraction", "warm_up", "deviations", "init"}


def event_of(classifier: CertificateMixin, params: Mapping[str, Any], n_classes: int = 2) -> str:
    """A mark of the prior and the bound rows of a candidate: `params` of the grid without those that are free."""
    free = free_parameters(classifier, n_classes)
    return " ".join(f"{name}={_mark(params[name])}" for name in sorted(params) if name not in free)


def _mark(value: Any) -> str:
    """Equal only for equal values; where that cannot be told, values that look equal count apart."""
    import joblib

    try:
        return str(joblib.hash(value))
    except (PicklingError, AttributeError, TypeError):  # a function without a name, an open file
        return str(id(value))


def count_events(events: Sequence[str]) -> int:
    """Number K of events that must hold at once, so that the best candidate's certificate holds."""
    return len(set(events))


def chooses_apart(candidates: Sequence[CertificateMixin]) -> bool:
    """Whether a choice needs no bound row: all posteriors frozen, one bound part and one set of validation rows.

    Then the settings are compared on validation rows of the first part, and the winner alone is certified: K = 1.

    Examples
    --------
    >>> from abnet.estimators.abnet import ABNetClassifier
    >>> chooses_apart([ABNetClassifier((2,), random_state=0), ABNetClassifier((3,), random_state=0)])
    True
    >>> chooses_apart([ABNetClassifier((2,), random_state=0), ABNetClassifier((2,), random_state=1)])
    False
    """
    each = [one.settings() for one in candidates]
    shared = {(one.share, one.training.validation_fraction) for one in each}
    seeds = {one.random_state for one in candidates}
    return len(shared) == len(seeds) == 1 and all(one.frozen and one.split for one in each)


def validation_figures(
    fitted: CertificateMixin, X: Any, y: Any, weights: Any = None, groups: Any = None
) -> tuple[float, float]:
    """Error and mean linear loss of a frozen classifier on rows of its first part that it did not learn from.

    Those of one network are its held rows. Of a mixture they may be scores of its teachers, which are the same in all
    settings: it is fitted once more on the first part alone, of which it then counts what it does not learn from.
    """
    from sklearn.utils import _safe_indexing

    if fitted.model_.card.parameters is not None:  # a mixture
        first = fitted.other_rows_
        again = clone(fitted).set_params(classes=fitted.classes_, n_candidates=1)
        own, mine = (None if part is None else np.asarray(part)[first] for part in (weights, groups))
        again.fit(_safe_indexing(X, first), np.asarray(y)[first], sample_weight=own, groups=mine)
        found = _certificate(again, {})
        return found.empirical_error, found.empirical_gibbs_risk or 0.0
    return fitted.held_.error, fitted.held_.loss


class ABNetSearch(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Fits every setting of a grid, keeps the one with the best certificate, and accounts for the choice.

    No data are set aside for choosing: the certificates themselves are compared. With K different priors among the
    settings every certificate is computed at δ/K (``ln K`` nats more), so that all of them hold at once and any may be
    chosen. Settings that differ in the posterior's training alone share a prior and cost nothing; a sampled aggregation
    that is trained counts every setting. K is counted from the grid before any row is looked at.

    Frozen posteriors that share their bound rows (one ``prior_fraction``, ``validation_fraction`` and seed) are chosen
    on validation rows of the first part instead, with no look at the bound rows, and the winner alone is certified:
    K = 1. (A mixture is fitted twice for it: on all rows, and on the first part alone.) The others' certificates are
    then not shown, since the bound would not account for a choice by them.

    Parameters
    ----------
    estimator : ABNetClassifier or PBGNetClassifier
        Its ``n_candidates``, if above 1, is multiplied: for a choice that is made on top of this one.
    param_grid : dict or list of dict, optional
        From parameter names to the values to try, as in scikit-learn's `GridSearchCV`.
    choose_by : {"vote", "gibbs"}
        The bound that is compared first; the other one decides between equals.

    Attributes
    ----------
    best_estimator_ : estimator
        The chosen one as it was fitted: there is no refit, because its certificate is about this fit.
    best_params_ : dict
    best_index_ : int
    certificate_ : Certificate
        Of the chosen one; ``n_candidates`` is the K that it accounts for.
    cv_results_ : dict of lists
        One entry per setting: ``params``, ``prior`` (settings with the same number share a prior),
        ``vote_error_bound``, ``gibbs_risk_bound``, ``empirical_gibbs_risk``, ``kl`` and ``fit_time`` in seconds; where
        validation rows decide, also ``validation_error`` and ``validation_loss``, and bounds of the chosen one only.
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
        with fitting_anew(self):
            self._search(X, y, sample_weight, groups)
        return self

    def _search(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> None:
        check_choice("choose_by", self.choose_by, ("vote", "gibbs"))
        X, groups = without_groups(X, groups)
        validate_data(self, X, y, skip_check_array=True)
        if np.asarray(y).dtype.kind != "f":  # numbers that are no labels are the estimator's to refuse
            Labels.of(y)
        settings, candidates = self._candidates()
        K = len(np.unique(np.asarray(y)))
        events = [event_of(candidate, params, K) for candidate, params in zip(candidates, settings, strict=True)]
        apart = chooses_apart(candidates)
        counted = (1 if apart else count_events(events)) * self.estimator.n_candidates
        given = {"sample_weight": sample_weight, "groups": groups}
        fits = [_fit(candidate.set_params(n_candidates=counted), X, y, given) for candidate in candidates]
        certificates = [_certificate(fitted, params) for (fitted, _), params in zip(fits, settings, strict=True)]
        _check_priors([fitted.priors_ for fitted, _ in fits], events)
        self.cv_results_ = _table(settings, events, certificates, [seconds for _, seconds in fits])
        if apart:
            self._choose_apart([fitted for fitted, _ in fits], X, y, given)
        else:
            self.best_index_ = min(range(len(fits)), key=lambda i: self._order(certificates[i]))
        self._keep(fits[self.best_index_][0], settings[self.best_index_], 1 if apart else len(fits))

    def _choose_apart(self, fits: Sequence[CertificateMixin], X: Any, y: Any, given: dict[str, Any]) -> None:
        """Choose on validation rows of the first part; the others' certificates are not shown, nor to be chosen by."""
        first = fits[0].bound_rows_
        if not all(np.array_equal(first, fitted.bound_rows_) for fitted in fits):
            raise RuntimeError("settings that were to share their bound rows drew different ones; fit again.")
        figures = [validation_figures(fitted, X, y, given["sample_weight"], given["groups"]) for fitted in fits]
        errors, losses = zip(*figures, strict=True)
        keys = figures if self.choose_by == "vote" else list(zip(losses, errors, strict=True))
        self.best_index_ = min(range(len(fits)), key=lambda i: keys[i])
        self.cv_results_ |= {"validation_error": list(errors), "validation_loss": list(losses)}
        for name in ("vote_error_bound", "gibbs_risk_bound", "empirical_gibbs_risk"):
            column = self.cv_results_[name]
            self.cv_results_[name] = [value if i == self.best_index_ else None for i, value in enumerate(column)]

    def _candidates(self) -> tuple[list[dict[str, Any]], list[Any]]:
        """Settings of the grid and their classifiers, all with the same seed unless the grid varies it."""
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
            # One seed for all: the parts and the random start are then the same, and a shared prior is trained alike.
            seed = drawn_seed(seed)
        base = clone(self.estimator).set_params(random_state=seed)
        return settings, [clone(base).set_params(**clone_values(params)) for params in settings]

    def _order(self, certificate: Certificate) -> tuple[float, float]:
        vote = 1.0 if certificate.vote_error_bound is None else certificate.vote_error_bound
        gibbs = 1.0 if certificate.gibbs_risk_bound is None else certificate.gibbs_risk_bound
        return (vote, gibbs) if self.choose_by == "vote" else (gibbs, vote)

    def _keep(self, best: CertificateMixin, params: dict[str, Any], n_settings: int) -> None:
        drawn = best.drawn_network_
        if drawn.certificate is not None:
            # A drawn network is not covered for all posteriors at once: every setting counts, shared prior or not.
            counted = for_candidates(drawn.certificate, n_settings * self.estimator.n_candidates)
            best.drawn_network_ = replace(drawn, certificate=counted)
        self.best_estimator_, self.best_params_ = best, params
        self.certificate_ = best.certificate_
        self.classes_ = best.classes_

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The chosen classifier's output in [-1, 1]; positive for ``classes_[1]``. Several classes: their shares."""
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
        """A certificate of the chosen classifier from rows that had no part in the search; options as of its own."""
        return self._best().certify(X, y, **options)

    @property
    def model_(self) -> Model:
        """The chosen model in NumPy alone, with its certificate."""
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
    """The values of a setting, transformers cloned, so that no candidate shares one with another."""
    return {name: clone(value, safe=False) for name, value in params.items()}


def _check_grid(settings: Sequence[Mapping[str, Any]]) -> None:
    fixed = sorted({name for params in settings for name in params} & {"delta", "n_candidates"})
    if fixed:
        raise ValueError(
            f"param_grid must not vary {' or '.join(fixed)}: the confidence is fixed before the data are seen; set it "
            "on the estimator."
        )


def _fit(candidate: Any, X: Any, y: Any, given: dict[str, Any]) -> tuple[CertificateMixin, float]:
    begin = time.perf_counter()
    return candidate.fit(X, y, **given), time.perf_counter() - begin


def _certificate(fitted: CertificateMixin, params: Mapping[str, Any]) -> Certificate:
    if fitted.certificate_ is None:
        raise ValueError(
            f"the setting {dict(params)} has no certificate to choose by, only an estimate: use aggregation='exact' or "
            "'ancestral', and no preprocessor with prior='init' or objective='loss'."
        )
    return fitted.certificate_


def _check_priors(priors: Sequence[tuple[BAM, ...]], events: Sequence[str]) -> None:
    """Refuse the result if settings that were counted as one prior did not train the same one."""
    first: dict[str, tuple[BAM, ...]] = {}
    for prior, event in zip(priors, events, strict=True):
        shared = first.setdefault(event, prior)
        arrays, others = ([a for net in nets for a in (*net.weights, *net.biases)] for nets in (shared, prior))
        if len(arrays) != len(others) or not all(map(np.array_equal, arrays, others)):
            raise RuntimeError(
                "settings that share a prior trained different ones, so that their certificates do not hold together: "
                "was training interrupted, or is the preprocessor random? Give it a fixed seed and fit again."
            )


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
