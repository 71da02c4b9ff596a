"""Groups in a fit: whole groups on one side of every split, a certificate about new groups, and the row-wise trap."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import abnet
from abnet.certificates import row_hashes, row_order
from abnet.certificates.certificate import Certificate
from abnet.certificates.goals import Costs, TargetError
from abnet.certificates.statements.group_error_bound import GroupErrorBound
from abnet.certificates.statements.population_error import PopulationError
from abnet.training.stages import prior_spans
from abnet.training.targets import last_groups
from abnet.utils.groups import held_rows
from estimators.worlds import SIGNAL, certified, classifier

RNG = np.random.default_rng(8)
SIZES = RNG.integers(1, 7, 40)
GROUPS = np.repeat(np.arange(40), SIZES)
EFFECT = RNG.normal(size=(40, 3))
X = EFFECT[GROUPS] + 0.4 * RNG.normal(size=(len(GROUPS), 3))
Y = np.where(X[:, 0] + 0.5 * EFFECT[GROUPS, 1] > 0, "yes", "no")
SHUFFLED = RNG.permutation(len(GROUPS))
X = X[SHUFFLED]
Y = Y[SHUFFLED]
GROUPS = GROUPS[SHUFFLED]

KINDS: dict[str, dict[str, Any]] = {
    "frozen": {"posterior": "frozen"},
    "trained": {},
    "random prior": {"prior": "init"},
    "loss": {"objective": "loss"},
    "mixture": {"n_estimators": 2, "teacher": "linear", "max_iter": 2},
}


@pytest.fixture(scope="module", params=KINDS)
def fitted(request: pytest.FixtureRequest) -> Any:
    make = classifier
    if request.param == "mixture":
        make = certified
    return make(0, **KINDS[request.param]).fit(X, Y, groups=GROUPS)


def test_no_group_is_on_both_sides(fitted: Any) -> None:
    first = set(GROUPS[fitted.other_rows_])
    bound = set(GROUPS[fitted.bound_rows_])
    assert not first & bound
    assert first | bound == set(range(40))
    assert sorted([*fitted.other_rows_, *fitted.bound_rows_]) == list(range(len(Y)))


def populations(certificate: Certificate) -> list[str]:
    return [s.population for s in certificate.each(PopulationError)]


def test_the_certificate_counts_groups(fitted: Any) -> None:
    certificate = fitted.certificate_
    bound = fitted.bound_rows_
    assert isinstance(certificate, Certificate)
    certificate.check()
    assert certificate.facts.n_rows == len(bound)
    assert certificate.facts.n_groups == len(set(GROUPS[bound]))
    assert certificate.per_class == ()
    wrong = fitted.predict(X[bound]) != Y[bound]
    if not certificate.facts.trained:
        rows, errors = (
            [int(f(GROUPS[bound] == g)) for g in dict.fromkeys(GROUPS[bound])]
            for f in (np.sum, lambda mine: np.sum(wrong[mine]))
        )
        (error,) = certificate.each(GroupErrorBound)
        assert (list(error.rows), list(error.errors)) == (rows, errors)
    assert "a new group" in " ".join(str(certificate).split())
    assert fitted.draw_network().certificate is None  # its bound counts rows


def test_it_is_stored_and_checked(fitted: Any, tmp_path: Path) -> None:
    fitted.save(tmp_path / "model.abnet")
    loaded = abnet.load(tmp_path / "model.abnet")
    assert loaded.certificate_ == fitted.certificate_
    assert loaded.card.n_training_groups == 40
    record = fitted.certificate_.to_dict()
    record["statements"][0]["value"] -= 0.01
    with pytest.raises(ValueError, match="does not follow"):
        Certificate.from_dict(record)


def test_validation_rows_of_the_first_part_are_whole_groups() -> None:
    clf = classifier(0, posterior="frozen").fit(X, Y, groups=GROUPS)
    from abnet.training.loop import Span

    rows = GROUPS[clf.other_rows_]
    kept = len(clf.held_.codes)
    train, watch = prior_spans(Span(0, len(clf.other_rows_)), clf.validation_fraction, kept)
    assert not set(rows[train.first : train.first + train.size]) & set(rows[watch.first : watch.first + watch.size])
    assert watch.size == held_rows(rows, 0.2) > 0


def test_watched_rows_of_a_mixture_are_whole_groups() -> None:
    first = row_order(row_hashes(X, Y), 0, GROUPS)[: len(GROUPS) // 2]
    rows = GROUPS[first]
    watched = last_groups(rows)
    assert watched is not None
    assert not set(rows[watched]) & set(np.delete(rows, watched))
    assert last_groups(np.zeros(5)) is None


def test_bound_labels_change_nothing_but_the_certificate(split_as: Any) -> None:
    split_as(X, Y)
    settings = {"posterior": "frozen"}
    one = classifier(0, **settings).fit(X, Y, groups=GROUPS)
    turned = Y.copy()
    turned[one.bound_rows_] = np.where(Y[one.bound_rows_] == "yes", "no", "yes")
    other = classifier(0, **settings).fit(X, turned, groups=GROUPS)
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))
    assert one.certificate_ != other.certificate_


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_a_named_column_is_no_feature(kind: Any) -> None:
    names = ["a", "b", "c"]
    small = {"posterior": "frozen", "max_iter": 1}
    columns = dict(zip(names, X.T, strict=True))
    frame = kind({**columns, "patient": GROUPS.astype(str)})
    clf = classifier(0, **small).fit(frame, Y, groups="patient")
    assert list(clf.feature_names_in_) == names
    plain = classifier(0, **small).fit(kind(columns), Y, groups=GROUPS)
    assert clf.certificate_ == plain.certificate_
    fresh = {name: column + 0.01 for name, column in columns.items()}
    again = clf.certify(kind({**fresh, "patient": GROUPS.astype(str)}), Y, groups="patient")
    assert again.facts.n_groups == 40
    with pytest.warns(UserWarning, match="single rows"):
        assert len(populations(clf.certify(kind(fresh), Y, by="a"))) == len(set(X[:, 0].astype(str)))
    regions = kind({**fresh, "region": GROUPS % 3})
    with pytest.warns(UserWarning, match="single rows"):
        assert populations(clf.certify(regions, Y, by="region")) == ["0", "1", "2"]
    with pytest.raises(ValueError, match="'doctor'"):
        classifier(0).fit(frame, Y, groups="doctor")


@pytest.mark.parametrize(
    ("groups", "settings", "message"),
    [
        (GROUPS[:-1], {}, "groups"),
        (np.zeros(len(Y)), {}, r"\b1 group\b"),
        (np.where(GROUPS == 3, np.nan, GROUPS), {}, "groups"),
        ([None, *GROUPS[1:]], {}, r"\brow 0\b"),
        (GROUPS, {"decision": TargetError(0.1)}, "decision.*groups"),
        (GROUPS, {"decision": Costs(np.eye(2))}, "decision.*groups"),
    ],
)
def test_what_cannot_be_grouped_is_refused(groups: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        certified(0, **settings).fit(X, Y, groups=groups)


def test_a_search_keeps_groups_together() -> None:
    search = abnet.ABNetSearch(classifier(0, posterior="frozen", max_iter=1), {"hidden_layer_sizes": [(2,)]})
    search.fit(X, Y, groups=GROUPS)
    best = search.best_estimator_
    assert not set(GROUPS[best.other_rows_]) & set(GROUPS[best.bound_rows_])
    assert search.certificate_ is best.certificate_
    assert search.certificate_ is not None
    assert search.certificate_.facts.n_groups == len(set(GROUPS[best.bound_rows_]))
    assert search.certify(X + 0.01, Y, groups=GROUPS).facts.n_groups == 40


def test_copies_of_rows_are_groups() -> None:
    """Every row four times: as groups, the certificate is that of single rows but for the form of its bound."""
    X, y = SIGNAL.draw(np.random.default_rng(3))
    groups = np.repeat(np.arange(len(y)), 4)
    clf = classifier(0, posterior="frozen", max_iter=1).fit(np.repeat(X, 4, axis=0), np.repeat(y, 4), groups=groups)
    assert clf.certificate_.facts.n_groups == len(y) // 2
    (error,) = clf.certificate_.each(GroupErrorBound)
    assert set(error.rows) == {4}
    assert set(error.errors) <= {0, 4}


def test_a_test_set_counted_by_rows_is_warned_of(fitted: Any) -> None:
    """The promise of the fit is about a new group; one that counts rows is another."""
    with pytest.warns(UserWarning, match="single rows"):
        fitted.certify(X + 0.01, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fitted.certify(X + 0.01, Y, groups=GROUPS).facts.n_groups == len(np.unique(GROUPS))
