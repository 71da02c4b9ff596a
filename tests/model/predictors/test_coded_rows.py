"""Rows whose codes are looked up, against the same rows written out."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from abnet.certificates.from_evidence import certify
from abnet.certificates.terms import Terms
from abnet.estimators.drawn_network import draw_network
from abnet.estimators.observing import Evaluated, observe_blocks, observe_posterior
from abnet.model.model import Model
from abnet.model.predictors.compact import Compact
from abnet.model.predictors.layers import Layers
from abnet.model.predictors.moments import MomentsPredictor
from abnet.model.predictors.paths import Paths
from abnet.model.predictors.single_precision import single_precision_error
from abnet.networks import Exact
from abnet.networks.bam import BAM
from abnet.networks.codebook import code_words
from abnet.networks.cube import multilinear, summed_multilinear
from abnet.networks.posterior import Posterior
from abnet.tables.labels import Labels
from abnet.tables.preparation.coded import CodedMap
from abnet.tables.preparation.scalers import StandardMap
from abnet.training.learned import BoundRows
from abnet.utils.coded_layer import MANY_CODED, CodedLayer
from abnet.utils.coded_rows import CodedRows

N = 3 * MANY_CODED + 7
D = 6


@pytest.fixture(scope="module")
def features() -> np.ndarray:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D)).astype(np.float32)
    X[:, 2] = X[:, 2] > 0  # two values, no codes
    X[:, 4] = np.round(X[:, 4])
    return X


@pytest.fixture(scope="module")
def coded(features: np.ndarray) -> CodedMap:
    return CodedMap.of(StandardMap((0.0,) * D, (1.0,) * D), features[:200])


@pytest.fixture(scope="module")
def signs(features: np.ndarray, coded: CodedMap) -> np.ndarray:
    """Features and codes by their definition, ``sgn(x - t)`` for every threshold."""
    columns = [np.where(features[:, j] >= t, 1.0, -1.0) for j, ts in enumerate(coded.thresholds) for t in ts]
    return np.column_stack([features, *columns]).astype(np.float32)


def networks(width: int, outputs: int, inputs: int, count: int = 3) -> list[BAM]:
    rng = np.random.default_rng(width + outputs)
    return [BAM.init(rng, (inputs, width, outputs)).perturb(rng) for _ in range(count)]


def test_written_out_they_are_the_signs(features: np.ndarray, coded: CodedMap, signs: np.ndarray) -> None:
    rows = coded.with_codes(features)
    np.testing.assert_array_equal(rows.toarray(), signs)
    np.testing.assert_array_equal(np.asarray(rows[5:9], np.float64), signs[5:9])
    np.testing.assert_array_equal(rows[np.arange(N) % 7 == 0].toarray(), signs[::7])
    assert rows.shape == signs.shape
    assert (len(coded.thresholds[2]), len(coded.thresholds[0])) == (0, 32)


@pytest.mark.parametrize(("outputs", "n_classes", "width"), [(1, 2, 5), (8, 3, 4), (1, 2, 1)])
def test_scores_are_those_of_the_signs(
    features: np.ndarray, coded: CodedMap, signs: np.ndarray, outputs: int, n_classes: int, width: int
) -> None:
    words = None if n_classes == 2 else code_words(n_classes, outputs)
    mixture = Compact.from_networks(networks(width, outputs, signs.shape[1]), words)
    model = Model(mixture, Labels(np.arange(n_classes)), preparation=coded)
    expected = mixture.score_rows(signs.astype(np.float64))
    rows = coded.with_codes(features)
    found = mixture.scores(rows)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)
    np.testing.assert_array_equal(mixture.scores(rows, threads=3), found)
    np.testing.assert_array_equal(model.scores(features), found)
    if n_classes > 2:
        answers = np.argmax(expected, axis=1)
    else:
        answers = (expected >= 0).astype(int)
    np.testing.assert_array_equal(mixture.votes(rows), answers)
    np.testing.assert_array_equal(mixture.votes(rows, threads=2), answers)
    np.testing.assert_array_equal(model.predict(features), answers)


def test_members_are_what_enumeration_says(signs: np.ndarray) -> None:
    """The one mean over all members against `multilinear` of each of them, which has oracles of its own."""
    rng = np.random.default_rng(1)
    for shape in ((3, 8), (2, 8, 3), (40, 2**9)):
        H = rng.uniform(-1, 1, shape)
        m = rng.uniform(-1, 1, (shape[0], shape[1].bit_length() - 1, 700))
        expected = sum(multilinear(H[k], m[k].T) for k in range(shape[0]))
        np.testing.assert_allclose(summed_multilinear(H, m), expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("scale", [1.0, 300.0])
def test_single_precision_keeps_its_bound(
    scale: float, features: np.ndarray, coded: CodedMap, signs: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bound counts the sums that are looked up, one a feature; it would give up if it counted every sign."""
    plain = Compact.from_networks(networks(5, 1, signs.shape[1]))
    mixture = Compact(scale * plain.W, scale * plain.b, plain.H)
    rows = coded.with_codes(features)
    every_sign = np.mean([single_precision_error(W, b) for W, b in zip(mixture.W, mixture.b, strict=True)])
    bound = mixture._single_precision_slack(rows)
    of_signs = mixture._single_precision_slack(signs)
    assert bound < 0.6 * of_signs == pytest.approx(0.6 * (every_sign + 1e-6))
    single = mixture.coded_scorer(rows.counts, np.float32)(rows)
    assert single.dtype == np.float32
    expected = mixture.score_rows(signs.astype(np.float64))
    assert 0 < np.abs(single - expected).max() <= bound
    again: list[int] = []
    exact = mixture.scores

    def noted(self: Compact, X: Any, **options: Any) -> Any:
        again.append(len(X))
        return exact(X, **options)

    monkeypatch.setattr(Compact, "scores", noted)
    monkeypatch.setattr("abnet.model.predictors.compact.MOST_SLACK", (bound + of_signs) / 2)
    np.testing.assert_array_equal(mixture.votes(rows), expected >= 0)
    assert sum(again) < len(rows)


@pytest.mark.parametrize("outputs", [1, 8])
def test_a_sign_network_answers_alike(features: np.ndarray, coded: CodedMap, signs: np.ndarray, outputs: int) -> None:
    words = None if outputs == 1 else code_words(3, outputs)
    network = Layers.from_network(networks(5, outputs, signs.shape[1])[0], words)
    found = network.scores(coded.with_codes(features), threads=2)
    np.testing.assert_array_equal(found, network.score_rows(signs.astype(np.float64)))
    assert len(np.unique(network.votes(signs))) > 1


@pytest.mark.parametrize("outputs", [1, 8])
def test_moments_are_those_of_the_signs(features: np.ndarray, coded: CodedMap, signs: np.ndarray, outputs: int) -> None:
    words = None if outputs == 1 else code_words(3, outputs)
    moments = MomentsPredictor.from_networks(networks(30, outputs, signs.shape[1]), words)
    np.testing.assert_allclose(moments.scores(coded.with_codes(features)), moments.scores(signs), rtol=0, atol=1e-13)


def test_others_have_the_signs_written_out(features: np.ndarray, coded: CodedMap, signs: np.ndarray) -> None:
    rng = np.random.default_rng(0)
    paths = Paths.from_networks(networks(5, 1, signs.shape[1]), rng, n_paths=6)
    np.testing.assert_array_equal(paths.scores(coded.with_codes(features)), paths.scores(signs))


@pytest.mark.parametrize("where", [0, 2, 4])
def test_a_missing_number_is_refused(features: np.ndarray, coded: CodedMap, where: int) -> None:
    X = features.copy()
    X[N - 3, where] = np.nan
    rows = coded.with_codes(X)
    assert np.isnan(rows.toarray()).any(axis=1).tolist() == [row == N - 3 for row in range(N)]
    nets = networks(5, 1, rows.shape[1])
    for predictor in (Compact.from_networks(nets), Layers.from_network(nets[0])):
        with pytest.raises(ValueError, match=f"NaN.* in row {N - 3}"):
            predictor.scores(rows)
        with pytest.raises(ValueError, match=f"NaN.* in row {N - 3}"):
            predictor.votes(rows)


def test_rows_too_large_for_their_type_are_refused(features: np.ndarray, coded: CodedMap) -> None:
    rows = coded.with_codes(features)
    huge = replace(rows, features=np.where(np.arange(N)[:, None] == 4, np.float32(3e38), rows.features))
    scorer = Compact.from_networks(networks(5, 1, rows.shape[1])).coded_scorer(rows.counts, np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        assert np.flatnonzero(~np.isfinite(scorer(huge))).tolist() == [4]


def test_many_thresholds(rng: np.random.Generator) -> None:
    """More than a byte counts."""
    x = rng.normal(size=(MANY_CODED, 1)).astype(np.float32)
    thresholds = tuple(np.linspace(-3, 3, 300).tolist())
    rows = CodedMap(StandardMap((0.0,), (1.0,)), (thresholds,)).with_codes(x)
    np.testing.assert_array_equal(rows.toarray()[:, 1:], np.where(x >= thresholds, 1, -1))
    W = rng.normal(size=(4, 301))
    b = rng.normal(size=4)
    np.testing.assert_allclose(CodedLayer(W, b, rows.counts).sums(rows), rows.toarray() @ W.T + b, atol=1e-10)


def test_the_certificate_is_that_of_the_signs(features: np.ndarray, coded: CodedMap, signs: np.ndarray) -> None:
    nets = tuple(networks(5, 1, signs.shape[1]))
    scorer = Compact.from_networks(nets)
    codes = (features[:, 0] > 0).astype(np.intp)
    posterior = Posterior.from_networks(nets, nets, Exact())

    def certified(X: Any) -> Any:
        rows = BoundRows(X, codes)
        rng = np.random.default_rng(0)
        seen = observe_posterior(posterior, scorer, rows, ("no", "yes"), Terms(), rng)
        assert seen.evidence is not None
        return certify(seen.evidence, seen.terms)

    written = certified(signs)
    looked_up = certified(coded.with_codes(features))
    assert (looked_up.facts, looked_up.vote_error_bound) == (written.facts, written.vote_error_bound)
    for name in ("empirical_gibbs_risk", "gibbs_risk_bound"):
        assert getattr(looked_up, name) == pytest.approx(getattr(written, name), rel=1e-12)
    assert [part.vote_error_bound for part in looked_up.per_class] == [
        part.vote_error_bound for part in written.per_class
    ]


def test_other_models_have_the_features_alone(features: np.ndarray, coded: CodedMap, signs: np.ndarray) -> None:
    """A model that is counted beside the network learned from the table's features, without their codes."""
    nets = tuple(networks(5, 1, signs.shape[1]))
    posterior = Posterior.from_networks(nets, nets, Exact())
    codes = (features[:, 0] > 0).astype(np.intp)
    read: list[np.ndarray] = []

    class Other:
        def predict(self, rows: np.ndarray) -> np.ndarray:
            read.append(rows)
            return np.zeros(len(rows), np.intp)

    evaluated = Evaluated(
        posterior,
        Compact.from_networks(nets),
        ("no", "yes"),
        Terms(),
        draw_network(posterior, np.random.default_rng(0)).predictor,
        rival=Other(),
    )
    keys = np.arange(len(codes))
    blocks = [BoundRows(coded.with_codes(features[k]), codes[k], keys=keys[k]) for k in (slice(0, 20), slice(20, None))]
    seen = observe_blocks(evaluated, blocks, len(codes), np.random.default_rng(0))
    np.testing.assert_array_equal(np.concatenate(read), features)
    assert seen is not None
    assert seen.of_rival is not None
    assert seen.of_rival.errors == codes.sum()
    assert seen.evidence.errors == np.sum((evaluated.predictor.scores(signs) > 0) != codes)


def test_rows_are_an_array_to_numpy() -> None:
    rows = CodedRows(np.array([[0.2, 7.0]], np.float32), np.array([[1]]), (2, 0))
    assert (rows.ndim, rows.dtype, rows.shape, len(rows)) == (2, np.dtype(np.float32), (1, 4), 1)
    assert np.asarray(rows, np.float64).dtype == np.float64
