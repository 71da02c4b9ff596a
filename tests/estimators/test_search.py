"""A choice by certificates: free among posteriors of one prior, accounted for everywhere else."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import abnet
from abnet.bounds.catoni import choose_C
from abnet.certificates.statements.trained_gibbs_bound import TrainedGibbsBound
from abnet.estimators.search import ABNetSearch, free_parameters
from estimators.worlds import SIGNAL, classifier

X, Y = SIGNAL.draw(np.random.default_rng(0))
SCALES = np.random.default_rng(0)
RATE3 = [1.0, 0.1, 0.01]
RATES = {"learning_rate_init": [0.3, 0.03, 0.003]}


class RandomScale(TransformerMixin, BaseEstimator):
    """Multiplies by a number that is drawn anew in every fit."""

    def fit(self, X: Any, y: Any = None) -> "RandomScale":
        self.factor_ = SCALES.random()
        return self

    def transform(self, X: Any) -> Any:
        return self.factor_ * np.asarray(X)


def same(one: Any, other: Any) -> bool:
    leaves = zip((*one.weights, *one.biases), (*other.weights, *other.biases), strict=True)
    return all(np.array_equal(a, b) for a, b in leaves)


def test_settings_of_one_prior_cost_nothing_and_train_the_same_prior() -> None:
    search = ABNetSearch(classifier(0), RATES).fit(X, Y)
    alone = classifier(0, **search.best_params_).fit(X, Y)
    assert search.certificate_ == alone.certificate_
    assert search.certificate_ is not None
    assert search.certificate_.facts.n_candidates == 1
    assert search.cv_results_["prior"] == [0, 0, 0]
    priors = [classifier(0, learning_rate_init=rate).fit(X, Y).prior_ for rate in RATES["learning_rate_init"]]
    assert same(priors[0], priors[1])
    assert same(priors[0], priors[2])
    assert len(set(search.cv_results_["kl"])) == 3


def test_settings_of_several_priors_pay_for_their_number() -> None:
    search = ABNetSearch(classifier(0), {"prior_fraction": [0.3, 0.5, 0.7], **RATES}).fit(X, Y)
    c = search.certificate_
    assert c is not None
    assert c.facts.n_candidates == 3
    assert search.cv_results_["prior"] == [0, 1, 2] * 3
    alone = classifier(0, **search.best_params_).fit(X, Y).certificate_
    assert c.gibbs_risk_bound > alone.gibbs_risk_bound
    seen: Any = c.find(TrainedGibbsBound)
    facts = c.facts
    assert c.gibbs_risk_bound == seen.value is not None
    assert c.empirical_gibbs_risk is not None
    C = choose_C(seen.expected_risk, seen.expected_kl, facts.n_rows, facts.delta, n_candidates=3)
    paid = 1 - np.exp(-C * c.empirical_gibbs_risk - (facts.kl + np.log(3 / facts.delta)) / facts.n_rows)
    assert c.gibbs_risk_bound == pytest.approx(paid / (1 - np.exp(-C)), abs=1e-10)


DOUBLE = FunctionTransformer(lambda rows: 2 * rows)
TRIPLE = FunctionTransformer(lambda rows: 3 * rows)
CASES: dict[str, tuple[dict[str, Any], dict[str, list[Any]], int]] = {
    "start: training is free": ({"prior": "init"}, {"max_iter": [2, 4], "tol": [0.0, 0.1], **RATES}, 1),
    "start: sizes cost": ({"prior": "init"}, {"hidden_layer_sizes": [(2,), (3,)]}, 2),
    "split: epochs cost": ({}, {"max_iter": [2, 4], **RATES}, 2),
    "split: seeds cost": ({}, {"random_state": [1, 2, 3]}, 3),
    "split: preparation costs": ({}, {"preprocessor": [None, StandardScaler()], **RATES}, 2),
    "split: inside a preparation": ({"preprocessor": StandardScaler()}, {"preprocessor__with_mean": [True, False]}, 2),
    "split: nameless functions": ({}, {"preprocessor": [DOUBLE, TRIPLE], **RATES}, 2),
    "frozen: validation rows choose": ({"posterior": "frozen"}, RATES, 1),
    "frozen: other bound rows cost": ({"posterior": "frozen"}, {"prior_fraction": [0.4, 0.5], **RATES}, 6),
    "frozen: seeds cost": ({"posterior": "frozen"}, {"random_state": [1, 2]}, 2),
    "train or frozen": ({}, {"posterior": ["train", "frozen"], **RATES}, 4),
    "loss: rate is free": ({"objective": "loss"}, RATES, 1),
    "loss: other bound rows cost": ({"objective": "loss"}, {"validation_fraction": [0.1, 0.2]}, 2),
    "sampled: everything costs": ({"aggregation": "ancestral"}, RATES, 3),
    "twice the same": ({}, {"prior_fraction": [0.5, 0.5]}, 1),
}


@pytest.mark.parametrize(("settings", "grid", "paid"), CASES.values(), ids=CASES.keys())
def test_what_is_paid_for(settings: dict[str, Any], grid: dict[str, list[Any]], paid: int) -> None:
    search = ABNetSearch(classifier(0, **{"max_iter": 2, **settings}), grid).fit(X, Y)
    assert search.certificate_ is not None
    assert search.certificate_.facts.n_candidates == paid
    drawn = search.draw_network().certificate
    assert drawn is not None
    apart = "validation_error" in search.cv_results_
    assert drawn.facts.n_candidates == (1 if apart else len(search.cv_results_["params"]))


def test_an_outer_choice_is_paid_for_too() -> None:
    search = ABNetSearch(classifier(0, n_candidates=5), {"random_state": [1, 2]}).fit(X, Y)
    assert search.certificate_ is not None
    assert search.certificate_.facts.n_candidates == 10


@pytest.mark.parametrize("by", ["vote", "gibbs"])
def test_the_smallest_bound_is_chosen(by: str) -> None:
    search = ABNetSearch(classifier(0, posterior="frozen"), {"random_state": [1, 2, 3, 4]}, choose_by=by).fit(X, Y)
    bounds = search.cv_results_["vote_error_bound" if by == "vote" else "gibbs_risk_bound"]
    assert bounds[search.best_index_] == min(bounds)
    assert search.best_params_ == search.cv_results_["params"][search.best_index_]
    assert len(set(bounds)) > 1


def test_all_settings_share_one_seed_without_a_random_state() -> None:
    search = ABNetSearch(classifier(0, random_state=None), RATES).fit(X, Y)
    assert isinstance(search.best_estimator_.random_state, int)
    assert len(set(search.cv_results_["empirical_gibbs_risk"])) > 1


@pytest.mark.filterwarnings("ignore:.*rows have the same values and label")  # a world of few distinct rows
def test_predicts_like_the_chosen_one_and_is_saved_like_it(tmp_path: Any) -> None:
    search = ABNetSearch(classifier(0), RATES).fit(X, Y)
    best = search.best_estimator_
    np.testing.assert_array_equal(search.predict(X), best.predict(X))
    np.testing.assert_array_equal(search.predict_proba(X), best.predict_proba(X))
    search.save(tmp_path / "model.abnet")
    assert abnet.load(tmp_path / "model.abnet").certificate_ == search.certificate_
    assert search.certify(*SIGNAL.draw(np.random.default_rng(1))).facts.source == "test set"
    assert search.model_ is best.model_
    assert cross_val_score(ABNetSearch(classifier(0), RATES), X, Y, cv=2).mean() > 0.5


def test_a_prior_that_is_not_shared_after_all_is_refused() -> None:
    with pytest.raises(RuntimeError, match="prior"):
        ABNetSearch(classifier(0, preprocessor=RandomScale()), RATES).fit(X, Y)


@pytest.mark.parametrize(
    ("search", "message"),
    [
        (ABNetSearch(LogisticRegression()), "ABNetClassifier"),
        (ABNetSearch(classifier(0), {"delta": [0.1, 0.05]}), r"\bdelta\b"),
        (ABNetSearch(classifier(0), {"n_candidates": [1, 2]}), "n_candidates"),
        (ABNetSearch(classifier(0), RATES, choose_by="luck"), "choose_by.*'luck'"),
        (ABNetSearch(classifier(0, aggregation="uniform")), "certificate"),
        (ABNetSearch(classifier(0, prior="init", preprocessor=StandardScaler())), "certificate"),
    ],
)
def test_senseless_searches_are_refused(search: ABNetSearch, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        search.fit(X, Y)


def test_frozen_settings_are_chosen_without_a_bound_row(split_as: Any) -> None:
    """Turning the labels of all bound rows around changes the certificate, and neither the choice nor its figures."""
    split_as(X, Y)
    frozen = classifier(0, posterior="frozen")
    search = ABNetSearch(frozen, RATES).fit(X, Y)
    bound = search.best_estimator_.bound_rows_
    turned = Y.copy()
    turned[bound] = 1 - turned[bound]
    again = ABNetSearch(frozen, RATES).fit(X, turned)
    for name in ("validation_error", "validation_loss"):
        assert again.cv_results_[name] == search.cv_results_[name]
    assert again.best_index_ == search.best_index_
    assert again.certificate_ != search.certificate_
    shown = [bound is not None for bound in search.cv_results_["vote_error_bound"]]
    assert shown == [i == search.best_index_ for i in range(3)]
    drawn = search.draw_network().certificate
    assert drawn is not None
    assert drawn.facts.n_candidates == 1


THREE = {"hidden_layer_sizes": [(1,), (4,)]}


def corners(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Three classes that one neuron cannot tell apart."""
    rng = np.random.default_rng(4)
    y = rng.integers(0, 3, n)
    return rng.normal(size=(n, 3)) + 5 * np.eye(3)[y], np.array(["ant", "bee", "cat"])[y]


def test_several_classes_are_chosen_among_without_a_bound_row(split_as: Any) -> None:
    """By fits to the first part alone: what the mixtures learned from could not tell them apart honestly."""
    rows, labels = corners(240)
    split_as(rows, labels)
    frozen = abnet.ABNetClassifier(max_iter=30, code_length=3, random_state=0)
    search = ABNetSearch(frozen, THREE).fit(rows, labels)
    assert search.best_params_ == {"hidden_layer_sizes": (4,)}
    assert search.certificate_ is not None
    assert search.certificate_.facts.n_candidates == 1
    assert search.predict_proba(rows).shape == (240, 3)
    assert np.mean(search.predict(rows) != labels) < 0.1
    best = search.best_estimator_
    nested = abnet.ABNetClassifier((4,), max_iter=30, code_length=3, random_state=0, classes=best.classes_)
    nested.fit(rows[best.other_rows_], labels[best.other_rows_])
    assert nested.certificate_ is not None
    error = (sum(nested.certificate_.facts.class_errors) or 0) / nested.certificate_.facts.n_rows
    assert search.cv_results_["validation_error"][1] == error
    turned = labels.copy()
    turned[best.bound_rows_] = np.roll(labels[best.bound_rows_], 1)
    again = ABNetSearch(frozen, THREE).fit(rows, turned)
    for name in ("validation_error", "validation_loss"):
        assert again.cv_results_[name] == search.cv_results_[name]


@pytest.mark.parametrize(("hidden", "free"), [((2,), True), ((11,), False)])
def test_rates_of_a_trained_mixture_are_paid_for_where_it_is_sampled(hidden: tuple[int, ...], free: bool) -> None:
    """Above ten neurons its risk is sampled, anew for every setting; below, the settings share one prior."""
    trained = abnet.ABNetClassifier(hidden, posterior="train", code_length=3)
    assert ("learning_rate_init" in free_parameters(trained, 3)) == free


def test_declared_classes_decide_what_is_sampled() -> None:
    """Three classes of which y has two: twelve neurons are then sampled, so that every rate counts."""
    declared = abnet.ABNetClassifier((12,), posterior="train", classes=["a", "b", "c"])
    assert free_parameters(declared, 2) == free_parameters(declared, 3) == frozenset()
