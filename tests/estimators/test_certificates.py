"""The certificates of fitted estimators: small and uneven samples, classes by name, copies, preparation."""

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta
from sklearn.base import BaseEstimator, TransformerMixin

import abnet
from abnet.certificates.copied_rows import regular_copies
from estimators.worlds import classifier

WAYS: dict[str, dict[str, Any]] = {
    "split, train": {},
    "split, frozen": {"posterior": "frozen"},
    "init": {"prior": "init"},
    "loss": {"objective": "loss"},
    "ancestral": {"aggregation": "ancestral"},
}


def sample(seed: int, n: int, share: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    """Two clouds; at least one row of either class."""
    rng = np.random.default_rng([seed, n])
    y = (rng.random(n) < share).astype(int)
    y[:2] = 0, 1
    return rng.normal(size=(n, 3)) + 1.5 * y[:, None], y


@pytest.mark.parametrize("settings", WAYS.values(), ids=WAYS.keys())
@pytest.mark.parametrize("share", [0.5, 0.0], ids=["even", "one row of a class"])
@pytest.mark.parametrize("n", [20, 33, 60])
def test_small_samples_are_certified(n: int, share: float, settings: dict[str, Any]) -> None:
    """The classes are declared: the only row of one of them may be held out."""
    for seed in range(3):
        fitted = classifier(seed, delta=0.05, max_iter=4, classes=[0, 1], **settings).fit(*sample(seed, n, share))
        c = fitted.certificate_
        drawn = fitted.draw_network().certificate
        c.check()
        numbers = (c.gibbs_risk_bound, c.vote_error_bound, drawn.vote_error_bound, c.balanced_error_bound)
        assert np.all((np.array(numbers) > 0) & (np.array(numbers) <= 1))
        assert sum(part.n_examples for part in c.per_class) == c.facts.n_rows
        if share == 0.0 and c.per_class[1].n_examples == 0:
            assert c.per_class[1].vote_error_bound == 1
            (line,) = [line for line in str(c).splitlines() if line.split()[:2] == ["class", "1"]]
            assert "100%" in line
            assert c.per_class[1].vote_error_bound == 1.0


def test_classes_are_certified_by_their_own_errors() -> None:
    fitted = classifier(0, delta=0.05).fit(*sample(0, 60))
    X, y = sample(1, 400, share=0.05)
    c = fitted.certify(X, y)
    for part, label in zip(c.per_class, (0, 1), strict=True):
        rows = y == label
        k = int(np.sum(fitted.predict(X)[rows] != label))
        m = int(rows.sum())
        assert (part.n_examples, part.vote_errors) == (m, k)
        share = 0.05 * (400 - m) / 400  # in proportion to 1/m
        assert part.vote_error_bound == pytest.approx(beta.ppf(1 - share, k + 1, m - k), rel=1e-6)
    bounds = [part.vote_error_bound for part in c.per_class]
    assert c.balanced_error_bound == pytest.approx(sum(bounds) / 2)


@pytest.mark.parametrize("labels", [("ham", "spam"), (False, True), (3, 7)])
def test_the_text_names_the_users_labels(labels: tuple[Any, Any], tmp_path: Any) -> None:
    X, y = sample(0, 60)
    fitted = classifier(0).fit(X, np.array(labels)[y])
    fresh, truth = sample(1, 60)
    for certificate in (fitted.certificate_, fitted.certify(fresh, np.array(labels)[truth])):
        text = " ".join(str(certificate).split())
        assert f"class {labels[0]} " in text
        assert f"class {labels[1]} " in text
    fitted.save(tmp_path / "model.abnet")
    assert str(abnet.load(tmp_path / "model.abnet").certificate_) == str(fitted.certificate_)


class Spy(TransformerMixin, BaseEstimator):
    """Leaves the rows as they are, and remembers those it was fitted on."""

    def fit(self, X: Any, y: Any = None) -> "Spy":
        self.seen_ = np.array(X)
        self.targets_ = np.array(y)
        return self

    def transform(self, X: Any) -> Any:
        return X


@pytest.mark.parametrize("posterior", ["train", "frozen"])
def test_preprocessor_is_fitted_on_the_first_part_only(posterior: str) -> None:
    X, y = sample(0, 60)
    fitted = classifier(0, preprocessor=Spy(), prior_fraction=0.4, posterior=posterior).fit(X, y)
    seen = {row.tobytes() for row in fitted.preprocessor_.seen_}
    assert len(seen) == 24
    assert fitted.preprocessor_.targets_.shape == (24,)
    bound = np.array([row.tobytes() not in seen for row in X])
    assert bound.sum() == fitted.certificate_.facts.n_rows == 36
    # What the certificate saw are the other rows, and no one else.
    risk = np.mean((1 - (2.0 * y[bound] - 1) * fitted.decision_function(X[bound])) / 2)
    assert fitted.certificate_.empirical_gibbs_risk == pytest.approx(risk, abs=1e-6)


def test_a_preprocessor_fitted_on_the_bound_rows_leaves_an_estimate() -> None:
    fitted = classifier(0, preprocessor=Spy(), prior="init").fit(*sample(0, 60))
    assert fitted.certificate_ is None
    assert 0 < fitted.bound_estimate_.value <= 1


@pytest.mark.parametrize("times", [2, 4])
def test_copied_rows_are_warned_of(times: int) -> None:
    X, y = sample(0, 60)
    with pytest.warns(UserWarning, match=f"class 0 .*{times} times"):
        classifier(0, max_iter=1).fit(np.repeat(X, times, axis=0), np.repeat(y, times))


def test_an_oversampled_class_is_warned_of_by_name() -> None:
    X, y = sample(0, 60)
    times = np.where(y == 1, 3, 1)
    with pytest.warns(UserWarning, match="class rare .*3 times"):
        classifier(0, max_iter=1).fit(np.repeat(X, times, axis=0), np.array(["common", "rare"])[np.repeat(y, times)])


def test_many_copied_rows_make_independence_doubtful(rng: np.random.Generator) -> None:
    X, y = sample(0, 120)
    draws = np.concatenate([np.arange(120), rng.integers(120, size=80)])
    with pytest.warns(UserWarning, match=r"80 of 200 rows"):
        classifier(0, max_iter=1).fit(X[draws], y[draws])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "Training .* was still improving when it ended")
        classifier(0, max_iter=1).fit(X[draws], y[draws], groups=draws)


def test_repeated_rows_of_a_sample_are_no_copies() -> None:
    X, y = sample(0, 200)
    coarse = np.round(X / 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "Training .* was still improving when it ended")
        warnings.filterwarnings("ignore", "The training rows hold only")
        for rows, labels in ((X, y), (coarse, y), (np.zeros((200, 3)), y)):
            classifier(0, max_iter=1).fit(rows, labels)
    assert regular_copies(np.repeat(X, 2, axis=0)[:-30]) == 2
    assert regular_copies(np.repeat(X, 2, axis=0)[:200] * np.arange(200)[:, None]) == 1
