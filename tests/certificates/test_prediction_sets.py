"""Prediction sets: from probabilities to thresholds, sets and statements; every path to them; the promises."""

import itertools
import json
import math
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl
import pytest
from scipy.stats import binom
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

import abnet
from abnet.bounds import clopper_pearson_bound
from abnet.bounds.prediction_sets import level_at_chosen_rows, rows_for_sets, set_rank
from abnet.certificates.certificate import Certificate
from abnet.certificates.joint_shares import Makes
from abnet.certificates.prediction_sets import PredictionSets, SetRows, set_statements
from abnet.certificates.set_rule import SLACK, SetRule, Sets
from abnet.certificates.set_text import read_set, set_text
from abnet.certificates.statements.missed_class import MissedClass
from abnet.certificates.statements.set_size import SetSize
from abnet.certificates.statements.single_answers import SingleAnswerError, SingleAnswers
from abnet.certificates.terms import Terms
from abnet.cli.app import app
from abnet.model.model import Model
from abnet.utils.errors import TrainingRowsError
from broken_promise import breaks

DELTA = 0.1
ALPHA = 0.2


class Given:
    """A model whose rows are its probabilities."""

    def __init__(self, n_classes: int) -> None:
        self.classes_ = np.arange(n_classes)

    def predict_proba(self, X: Any) -> Any:
        return np.asarray(X)


def draw(rng: np.random.Generator, n: int, n_classes: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """The true class has a uniform probability, and the next class the rest: t is missed with probability t."""
    y = rng.integers(n_classes, size=n)
    own = rng.random(n)
    X = np.zeros((n, n_classes))
    X[np.arange(n), y] = own
    X[np.arange(n), (y + 1) % n_classes] = 1 - own
    return X, y


def made_of(sets: PredictionSets, kind: Any) -> Any:
    made = sets.certificate.find(kind)
    assert made is not None
    return made


# The thresholds


@pytest.mark.parametrize("by_class", [False, True])
def test_threshold_is_just_below_the_row_that_the_rank_names(by_class: bool) -> None:
    X, y = draw(np.random.default_rng(0), 500)
    sets = abnet.prediction_sets(Given(3), X, y, alpha=ALPHA, by_class=by_class, delta=DELTA)
    own = X[np.arange(500), y]
    for label, threshold in sets.thresholds.items():
        scores = own
        share = DELTA
        if by_class:
            scores = own[y == label]
            share = DELTA / 3
        rank = set_rank(len(scores), ALPHA, share)
        assert rank is not None
        assert threshold == np.sort(scores)[rank] - SLACK
    inside = sets.contains(X)
    assert sets.predict(X[:20]) == [tuple(np.flatnonzero(row).tolist()) for row in inside[:20]]
    misses = sum(made.misses for made in sets.certificate.each(MissedClass))
    assert misses == np.sum(~inside[np.arange(500), y])


def test_the_order_of_rows_does_not_matter() -> None:
    X, y = draw(np.random.default_rng(1), 300)
    X = np.round(X, 2)
    for order in (np.argsort(y), np.argsort(X[:, 0]), np.random.default_rng(2).permutation(300)):
        for by_class in (False, True):
            first = abnet.prediction_sets(Given(3), X, y, by_class=by_class)
            assert (
                abnet.prediction_sets(Given(3), X[order], y[order], by_class=by_class).certificate == first.certificate
            )


def test_probabilities_that_differ_by_rounding_are_in_the_set() -> None:
    """The row of the threshold stays in its set although another batch gives it a little less."""
    X, y = draw(np.random.default_rng(3), 200)
    sets = abnet.prediction_sets(Given(3), X, y)
    inside = sets.contains(X)[np.arange(200), y]
    lower = X * (1 - 1e-7)
    assert (sets.rule.contains(lower)[np.arange(200), y] == inside).all()


def test_too_few_rows_give_all_classes_and_name_the_rows_needed() -> None:
    X, y = draw(np.random.default_rng(4), rows_for_sets(0.1) - 1)
    sets = abnet.prediction_sets(Given(3), X, y)
    assert sets.contains(X).all()
    assert set(sets.thresholds.values()) == {-math.inf}
    (made,) = sets.certificate.statements
    assert made.value is None
    assert str(rows_for_sets(0.1)) in sets.describe()
    assert Certificate.from_dict(sets.certificate.to_dict()) == sets.certificate


def test_a_rare_class_is_in_every_set_and_the_others_keep_their_thresholds() -> None:
    X, y = draw(np.random.default_rng(5), 600)
    keep = (y != 2) | (np.cumsum(y == 2) <= 7)
    sets = abnet.prediction_sets(Given(3), X[keep], y[keep], by_class=True)
    assert [part.value for part in sets.certificate.each(MissedClass)] == [0.1, 0.1, None]
    last = sets.certificate.each(MissedClass)[-1]
    assert f"there are {last.n}, so every set holds class {last.label}" in last.not_shown(sets.certificate.facts)
    assert sets.contains(X)[:, 2].all()
    assert str(rows_for_sets(0.1, 0.05 / 3)) in sets.describe()
    sets.certificate.check()


def test_unknown_labels_count_as_misses() -> None:
    X, y = draw(np.random.default_rng(6), 400)
    labels = y.copy()
    labels[:20] = 77
    some = abnet.prediction_sets(Given(3), X, labels)
    made = made_of(some, MissedClass)
    assert made.misses == 20 + np.sum(~some.contains(X)[np.arange(20, 400), y[20:]])
    assert some.thresholds[0] < abnet.prediction_sets(Given(3), X, y).thresholds[0]
    labels[:100] = 77
    many = abnet.prediction_sets(Given(3), X, labels)
    assert many.certificate.statements[0].value is None
    assert many.contains(X).all()
    assert "does not know" in many.describe()
    by_class = abnet.prediction_sets(Given(3), X, labels, by_class=True)
    assert [part.label for part in by_class.certificate.each(MissedClass)] == ["0", "1", "2"]
    by_class.certificate.check()


def test_empty_sets_are_misses_and_are_said() -> None:
    X, y = draw(np.random.default_rng(7), 400)
    sets = abnet.prediction_sets(Given(3), X / 2 + (y == 0)[:, None] * 0.0, y, alpha=0.6)
    made = made_of(sets, SetSize)
    assert made.rows_by_size[0] > 0
    assert () in sets.predict(X / 2)
    assert "without any class" in sets.describe()


# Sizes


def worst_rate(n: int, share: float, levels: np.ndarray) -> float:
    """How often a bound about a chosen row of each of two classes can fail, at levels by the rows of the second class.

    For every choice of two rows, the bound fails with probability at most x over the other rows, at any fixed level x.
    At worst it fails where the level is high, and for different choices in different samples.
    """
    rows = np.arange(1, n)
    of_others = binom.pmf(rows - 1, n - 2, share)
    failing = 0.0  # for one choice of rows, at the levels so far
    for place in np.argsort(levels, kind="stable"):
        choices = (n - rows[place]) * rows[place]
        failing = min(float(levels[place]), failing + float(of_others[place]) / choices)
    return n * (n - 1) * share * (1 - share) * failing


@pytest.mark.parametrize("share", [0.5, 0.2, 0.05])
def test_the_level_pays_for_all_choices_of_rows(share: float) -> None:
    """With the number of choices among the rows at hand, the rarer a class happens to be, the more may fail."""
    rows = np.arange(1, 60)
    level = level_at_chosen_rows(60, DELTA, thresholds=2, classes=2)
    assert worst_rate(60, share, np.full(59, level)) <= DELTA
    assert worst_rate(60, share, DELTA / ((60 - rows) * rows)) > 1.15 * DELTA


def test_level_is_the_delta_divided_among_the_expected_choices_of_rows() -> None:
    assert level_at_chosen_rows(5, DELTA) == pytest.approx(DELTA / 5)
    for n, n_classes in ((12, 2), (30, 3)):
        shares = np.random.default_rng(n).dirichlet(np.ones(n_classes), 1000)
        total = 0.0
        for n_found in range(1, n_classes + 1):
            found = itertools.combinations(range(n_classes), n_found)
            expected = sum(math.perm(n, n_found) * shares[:, list(own)].prod(axis=1) for own in found)
            total += np.max(expected) * level_at_chosen_rows(n, DELTA, thresholds=n_found, classes=n_classes)
        assert DELTA / 4 < total <= DELTA
    assert level_at_chosen_rows(200_000, DELTA, thresholds=200, classes=200) == 0.0


def test_sizes_are_those_of_the_rows_that_no_threshold_comes_from() -> None:
    X, y = draw(np.random.default_rng(8), 300)
    sets = abnet.prediction_sets(Given(3), X, y, alpha=ALPHA, by_class=True)
    own = X[np.arange(300), y]
    others = np.ones(300, bool)
    for label, threshold in sets.thresholds.items():
        (place,) = np.flatnonzero((y == label) & (own - SLACK == threshold))
        others[place] = False
    sizes = sets.contains(X).sum(axis=1)
    single = others & (sizes == 1)
    wrong = single & ~sets.contains(X)[np.arange(300), y]
    assert made_of(sets, SetSize).rows_by_size == tuple(np.bincount(sizes[others], minlength=4).tolist())
    assert (made_of(sets, SingleAnswers).singles, made_of(sets, SingleAnswers).n) == (single.sum(), 297)
    error = made_of(sets, SingleAnswerError)
    assert (error.errors, error.n) == (wrong.sum(), single.sum())
    level = level_at_chosen_rows(300, 0.05, thresholds=3, classes=3)
    assert error.value == pytest.approx(clopper_pearson_bound(error.errors, error.n, level))


def test_more_choices_than_any_bound_can_pay_for_give_trivial_bounds() -> None:
    rule = SetRule(alpha=0.1, by_class=True, thresholds=(0.1,) * 100)
    more: dict[str, Any] = {"sets": rule, "n_rows": 100_000, "delta": 0.05}
    assert SetSize.from_counts(rows_by_size=(0, 99_900, *(0,) * 99), **more).value == 100
    assert SingleAnswers.from_counts(singles=99_900, n=99_900, **more).value == 0.0
    assert SingleAnswerError.from_counts(errors=0, n=99_900, **more).value == 1.0


# The promises, where a threshold t misses the share t


def failures(rng: np.random.Generator, by_class: bool, samples: int, rank_more: int, order: bool) -> int:
    """Samples in which a miss rate is above the promise; a mutant takes a larger rank."""
    broken = 0
    for _ in range(samples):
        X, y = draw(rng, 200)
        if order:
            places = np.lexsort((X[:, 0], y))
            X, y = X[places], y[places]
        rows = SetRows(X, y, ("0", "1", "2"))
        terms = Terms(delta=DELTA)
        (made, *_) = set_statements(rows, Sets(ALPHA, by_class), terms, Makes(DELTA, DELTA, {}))
        assert isinstance(made, MissedClass)
        own = X[np.arange(200), y]
        thresholds = []
        for label, threshold in enumerate(made.sets.thresholds):
            assert threshold is not None
            scores = np.sort(own[y == label] if by_class else own)
            place = int(np.searchsorted(scores, threshold)) + rank_more
            thresholds.append(scores[place] - SLACK)
        broken += max(thresholds) > ALPHA
    return broken


@pytest.mark.parametrize("order", [False, True])
@pytest.mark.parametrize("by_class", [False, True])
def test_promise(by_class: bool, order: bool) -> None:
    rng = np.random.default_rng(9)
    assert not breaks(failures(rng, by_class, 400, 0, order), 400, DELTA)


@pytest.mark.parametrize("by_class", [False, True])
def test_a_threshold_of_a_larger_rank_breaks_the_promise(by_class: bool) -> None:
    assert breaks(failures(np.random.default_rng(10), by_class, 400, 4, False), 400, DELTA)


def test_the_quantile_of_an_average_breaks_the_promise() -> None:
    """The trap: conformal sets miss the share α on average over samples, and more of it in half of them."""
    rng = np.random.default_rng(11)
    broken = 0
    for _ in range(400):
        X, y = draw(rng, 200)
        broken += np.sort(X[np.arange(200), y])[int(ALPHA * 201) - 1] > ALPHA
    assert breaks(int(broken), 400, DELTA)


# Which rows, and every path


def spread(seed: int, n: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    centres = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])
    x = (rng.normal(size=(n, 2)) + centres[y]).round(4)
    return {"a": x[:, 0], "b": x[:, 1], "state": np.array(["red", "green", "a|b"])[y]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sets")
    for seed, (name, n) in enumerate([("fit", 700), ("fresh", 400), ("new", 9)]):
        pl.DataFrame(spread(seed, n)).write_csv(path / f"{name}.csv")
    options = ["--random-state", "0", "--max-iter", "20", "--teacher", "linear", "--hidden-layer-sizes", "4"]
    words = ["--target", "state", "-o", str(path / "m.abnet"), "--sets", "0.1", "--joint", "error rate"]
    run = CliRunner().invoke(app, ["fit", str(path / "fit.csv"), *words, "--joint", "misses of the sets=0.5", *options])
    assert run.exit_code == 2
    run = CliRunner().invoke(
        app, ["fit", str(path / "fit.csv"), *words, "--joint", "misses of the sets", *options], catch_exceptions=False
    )
    assert run.exit_code == 0, run.output
    return path


def run(*words: Any) -> Any:
    return CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)


def test_a_fit_keeps_its_sets_in_the_model_file(folder: Path) -> None:
    model: Any = abnet.load(folder / "m.abnet")
    made = model.certificate.find(MissedClass)
    assert (made.value, made.delta, model.certificate.shares) == (
        0.1, 0.025, {"error rate": 0.5, "misses of the sets": 0.5},
    )  # fmt: skip
    new = pl.read_csv(folder / "new.csv")
    probabilities = model.predict_proba(new.drop("state"))
    expected = [
        {str(model.classes_[place]) for place in np.flatnonzero(row >= made.sets.thresholds[0])}
        for row in probabilities
    ]
    lines = run("predict", folder / "m.abnet", folder / "new.csv", "--sets").stdout
    texts = pl.read_csv(lines.encode())["set"].to_list()
    assert [set(read_set(text)) for text in texts] == expected
    records = run("predict", folder / "m.abnet", folder / "new.csv", "--sets", "--json").stdout.splitlines()
    assert [set(json.loads(line)["set"]) for line in records] == expected
    one = abnet.predict_table(model, new[:1], sets=True).frame
    assert one is not None
    assert set(one["set"][0]) == expected[0]


def test_held_out_rows_of_the_fit_may_not_certify_again(folder: Path) -> None:
    model: Any = abnet.load(folder / "m.abnet")
    rows = pl.read_csv(folder / "fit.csv")
    with pytest.raises(TrainingRowsError):
        model.prediction_sets(rows.drop("state"), rows["state"].to_list())
    assert run("certify", folder / "m.abnet", folder / "fit.csv", "--sets", "0.1").exit_code == 1


def test_fresh_rows_give_sets_of_their_own(folder: Path) -> None:
    saved = folder / "sets.json"
    made = run("certify", folder / "m.abnet", folder / "fresh.csv", "--sets", "0.2", "--sets-by-class", "--save", saved)
    assert made.exit_code == 0, made.output
    certificate = abnet.certificates.certificate.load_certificate(saved)
    rows = pl.read_csv(folder / "fresh.csv")
    model: Any = abnet.load(folder / "m.abnet")
    sets = model.prediction_sets(rows.drop("state"), rows["state"].to_list(), alpha=0.2, by_class=True)
    found = certificate.find(MissedClass, "red")
    assert found is not None
    assert found.sets.thresholds == pytest.approx(sets.rule.thresholds, abs=1e-12)
    texts = pl.read_csv(run("predict", folder / "m.abnet", folder / "new.csv", "--sets-from", saved).stdout.encode())[
        "set"
    ].to_list()
    assert [set(read_set(text)) for text in texts] == [
        set(one) for one in sets.predict(pl.read_csv(folder / "new.csv"))
    ]


def test_sets_of_another_model_are_refused(folder: Path) -> None:
    X, y = draw(np.random.default_rng(12), 200)
    abnet.prediction_sets(Given(3), X, y).save(folder / "other.json")
    with pytest.raises(ValueError, match="another model"):
        abnet.predict_table(folder / "m.abnet", folder / "new.csv", sets=folder / "other.json")
    model: Model = abnet.load(folder / "m.abnet")
    assert model.certificate is not None
    plain = msgspec.structs.replace(model.certificate, statements=model.certificate.statements[:1], shares={})
    with pytest.raises(ValueError, match="no prediction sets"):
        abnet.predict_table(model, folder / "new.csv", sets=plain)


def test_bound_rows_of_a_classifier() -> None:
    rows = spread(3, 500)
    X = np.column_stack([rows["a"], rows["b"]])
    y = rows["state"]
    clf: Any = abnet.CertifiedClassifier((4,), max_iter=10, random_state=0, sets=Sets(0.1)).fit(X, y)
    again = clf.prediction_sets(X, y, fitted=True)
    assert clf.certificate_.find(MissedClass) == again.certificate.find(MissedClass)
    with pytest.raises(TrainingRowsError):
        clf.prediction_sets(X, y)
    with pytest.raises(TrainingRowsError):
        abnet.certify(clf, X[clf.bound_rows_], y[clf.bound_rows_])
    with pytest.raises(ValueError, match="groups"):
        abnet.CertifiedClassifier((4,), sets=Sets(0.1)).fit(X, y, groups=np.arange(500) // 2)


def test_other_models() -> None:
    rows = spread(4, 900)
    X = np.column_stack([rows["a"], rows["b"]])
    y = rows["state"]
    model = LogisticRegression().fit(X[:300], y[:300])
    sets = abnet.prediction_sets(model, X[300:], y[300:])
    assert made_of(sets, MissedClass).value == 0.1
    assert set(map(type, sets.predict(X[:1])[0])) <= {str}
    with pytest.raises(ValueError, match="predict_proba"):
        abnet.prediction_sets(model.predict, X, y)

    class Scaled(LogisticRegression):
        def predict_proba(self, X: Any) -> Any:
            return super().predict_proba(X - np.mean(X, axis=0))

    with pytest.raises(ValueError, match="row by row"):
        abnet.prediction_sets(Scaled().fit(X[:300], y[:300]), X[300:], y[300:])


@pytest.mark.parametrize("names", [(), ("a",), ("a", "b"), ("a|b", "{c}", "d\\"), ("",) * 2, ("\n", "ü")])
def test_a_set_survives_its_text(names: tuple[str, ...]) -> None:
    assert read_set(set_text(names)) == names


@pytest.mark.parametrize("text", ["", "a|b", "{a", "{a\\}", "{a{b}", "{a}b}"])
def test_other_texts_are_no_sets(text: str) -> None:
    with pytest.raises(ValueError, match="set"):
        read_set(text)
