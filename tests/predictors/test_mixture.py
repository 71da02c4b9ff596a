"""Mixtures as predictors: the mean of their members, for two classes and for several; files give them back."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from abnet import load
from abnet.aggregation import exact
from abnet.bam import BAM
from abnet.codebook import code_words, decode_table, words_from_text, words_to_text
from abnet.files import save
from abnet.labels import Labels
from abnet.predictors.compact import CompactABNet
from abnet.predictors.mixture import CompactMixture, PathMixture
from abnet.predictors.paths import PathPredictor, path_outputs
from abnet.predictors.predictor import Calibration, ModelInfo, Predictor
from conftest import random_network

CASES = [(2, (3, 4, 1)), (2, (3, 4, 3, 1)), (3, (3, 4, 5)), (5, (3, 3, 4, 6))]
each_case = pytest.mark.parametrize(("K", "sizes"), CASES, ids=str)


def info_of(K: int) -> ModelInfo:
    return ModelInfo(Labels(np.array([f"class {k}" for k in range(K)])))


def members(rng: np.random.Generator, sizes: tuple[int, ...], count: int = 3) -> list[BAM]:
    return [random_network(rng, sizes, scale=2.0) for _ in range(count)]


@each_case
def test_score_is_the_mean_of_the_members(K: int, sizes: tuple[int, ...], rng: np.random.Generator) -> None:
    networks, X = members(rng, sizes), rng.normal(size=(7, 3)).astype(np.float32)
    table = None if K == 2 else decode_table(code_words(K, sizes[-1]))
    expected = np.mean([exact.expected_output(n, X.astype(np.float64), table) for n in networks], axis=0)
    mixture = CompactMixture.from_networks(networks, info_of(K))
    np.testing.assert_allclose(mixture.decision_function(X), expected, atol=1e-12)
    shares = mixture.vote_share(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_array_equal(mixture.predict(X), mixture.classes_[shares.argmax(axis=1)])


def test_a_mixture_of_one_is_the_network(rng: np.random.Generator) -> None:
    network, X = members(rng, (3, 4, 3, 1), 1)[0], rng.normal(size=(9, 3))
    one, alone = CompactMixture.from_networks([network]), CompactABNet.from_network(network)
    np.testing.assert_allclose(one.decision_function(X), alone.decision_function(X), atol=1e-15)


@each_case
def test_single_precision_changes_no_label(K: int, sizes: tuple[int, ...], rng: np.random.Generator) -> None:
    mixture = CompactMixture.from_networks(members(rng, sizes), info_of(K))
    X = np.concatenate([rng.normal(size=(500, 3)), np.zeros((3, 3)), 1e19 * rng.normal(size=(5, 3))])
    np.testing.assert_array_equal(mixture.votes(X), Predictor.votes(mixture, X))


@each_case
def test_many_paths_come_near_the_exact_output(K: int, sizes: tuple[int, ...], rng: np.random.Generator) -> None:
    networks, X = members(rng, sizes), rng.normal(size=(4, 3))
    paths = PathMixture.from_networks(networks, rng, n_paths=30_000, info=info_of(K))
    truth = CompactMixture.from_networks(networks, info_of(K)).decision_function(X)
    assert np.abs(paths.decision_function(X) - truth).max() < 5 / np.sqrt(30_000 / 3)


def test_paths_of_one_member_are_the_path_predictor(rng: np.random.Generator) -> None:
    network, X = members(rng, (3, 6, 5, 1), 1)[0], rng.normal(size=(6, 3))
    one = PathMixture.from_networks([network], np.random.default_rng(3), n_paths=8)
    alone = PathPredictor.from_network(network, np.random.default_rng(3), n_paths=8)
    np.testing.assert_allclose(one.decision_function(X), alone.decision_function(X), atol=1e-15)


@pytest.mark.parametrize("kind", ["compact", "paths"])
@each_case
def test_file_gives_it_back(
    kind: str, K: int, sizes: tuple[int, ...], rng: np.random.Generator, tmp_path: Path
) -> None:
    info = replace(info_of(K), calibration=Calibration(1.5, 0.01))
    networks, X = members(rng, sizes), rng.normal(size=(11, 3))
    mixture: Predictor = (
        CompactMixture.from_networks(networks, info)
        if kind == "compact"
        else PathMixture.from_networks(networks, rng, n_paths=9, info=info)
    )
    save(mixture, tmp_path / "m.abnet")
    loaded = load(tmp_path / "m.abnet")
    np.testing.assert_array_equal(loaded.decision_function(X), mixture.decision_function(X))
    np.testing.assert_array_equal(loaded.predict_proba(X), mixture.predict_proba(X))
    np.testing.assert_array_equal(loaded.predict(X), mixture.predict(X))
    assert loaded.info.calibration == info.calibration


@each_case
def test_probabilities_are_calibrated_and_the_vote_is_not(
    K: int, sizes: tuple[int, ...], rng: np.random.Generator
) -> None:
    calibration, X = Calibration(3.0, 0.02), rng.normal(size=(20, 3))
    mixture = CompactMixture.from_networks(members(rng, sizes), replace(info_of(K), calibration=calibration))
    np.testing.assert_allclose(mixture.predict_proba(X), calibration.apply(mixture.vote_share(X)))
    np.testing.assert_array_equal(mixture.predict_proba(X).argmax(axis=1), mixture.votes(X))


@pytest.mark.parametrize("X", [np.array([[np.nan, 0, 0]]), np.array([[np.inf, 0, 0]]), np.array([[1e39, 0, 0]])])
@each_case
def test_rows_without_an_answer_are_refused(
    K: int, sizes: tuple[int, ...], X: np.ndarray, rng: np.random.Generator
) -> None:
    networks = members(rng, sizes)
    for mixture in (
        CompactMixture.from_networks(networks, info_of(K)),
        PathMixture.from_networks(networks, rng, n_paths=3, info=info_of(K)),
    ):
        with pytest.raises(ValueError, match="in row 1"):
            mixture.predict(np.concatenate([np.zeros((1, 3)), X]))


@pytest.mark.parametrize("change", ["W", "b", "H", "name", "range"])
def test_arrays_that_do_not_fit_are_refused(change: str, rng: np.random.Generator) -> None:
    arrays = dict(CompactMixture.from_networks(members(rng, (3, 4, 5)), info_of(3)).arrays())
    if change == "name":
        arrays["V"] = arrays.pop("b")
    elif change == "range":
        arrays["H"] = arrays["H"] - 0.5
    else:
        arrays[change] = arrays[change][:, :-1]
    with pytest.raises(ValueError, match="array"):
        CompactMixture.from_arrays(arrays, info_of(3))


def test_the_kept_code_book_is_the_one_that_decodes(rng: np.random.Generator, tmp_path: Path) -> None:
    """A file made with other words than today's search would find must go on to mean what it meant."""
    networks, X = members(rng, (3, 4, 5)), rng.normal(size=(30, 3))
    usual = PathMixture.from_networks(networks, np.random.default_rng(1), n_paths=9, info=info_of(3))
    book = words_to_text(code_words(3, 5))
    turned = [book[1], book[2], book[0]]  # class j has the word of class j + 1
    info = replace(info_of(3), details={"code_book": turned})
    other = PathMixture.from_networks(networks, np.random.default_rng(1), n_paths=9, info=info)
    save(other, tmp_path / "m.abnet")
    loaded = load(tmp_path / "m.abnet")
    np.testing.assert_array_equal(loaded.decision_function(X), other.decision_function(X))
    table = decode_table(words_from_text(turned, 3, 5))

    def shares(m: int) -> np.ndarray:
        layers, rows = networks[m].astype(np.float64).layers, X.astype(np.float32).astype(np.float64)
        return path_outputs(layers, rows, 3, lambda k, shape: other.noise[k][m], table).mean(axis=1)

    outputs = [shares(m) for m in range(len(networks))]
    np.testing.assert_allclose(other.decision_function(X), np.mean(outputs, axis=0), atol=1e-12)
    assert not np.allclose(other.decision_function(X), usual.decision_function(X))
    with pytest.raises(ValueError, match="3 words of 5 signs"):
        replace(other, info=replace(info, details={"code_book": ["+", "-", "+-"]}))
