"""Certified regions of a fit: every held-out row is counted in one region, in words that follow from training rows."""

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import abnet
from abnet import ABNetClassifier, CertifiedClassifier
from abnet.certificates.statements.region_error import LEAST_ROWS, RegionError
from abnet.explanation import certified_regions
from abnet.explanation.certified_region import why_no_certified_regions
from abnet.explanation.region_conditions import regions_in_words
from abnet.model.distributed_scoring import certify_parts, partition_evidence
from abnet.model.leading_signs import leading_signs, why_no_signs
from abnet.model.model import Model
from abnet.model.predictors.compact import Compact
from abnet.tables.labels import Labels
from explanation.test_shapley import every_kind

N = 900


def table(rng: np.random.Generator, n: int = N) -> pd.DataFrame:
    return pd.DataFrame({
        "glucose": rng.normal(120, 30, n).round(),
        "age": rng.integers(20, 80, n).astype(float),
        "city": rng.choice(["Oslo", "Rome", "Lima"], n),
    })  # fmt: skip


def labels(frame: pd.DataFrame, rng: np.random.Generator) -> NDArray[np.str_]:
    ill = (frame["glucose"] > 130) ^ (frame["age"] > 60)
    return np.where(ill ^ (rng.random(len(frame)) < 0.05), "ill", "well")


@pytest.fixture(scope="module")
def rows() -> tuple[pd.DataFrame, NDArray[np.str_]]:
    rng = np.random.default_rng(5)
    frame = table(rng)
    return frame, labels(frame, rng)


@pytest.fixture(scope="module")
def fitted(rows: tuple[pd.DataFrame, NDArray[np.str_]]) -> CertifiedClassifier:
    return CertifiedClassifier((3,), max_iter=60, random_state=0).fit(*rows)


def signs_by_hand(model: Model, frame: pd.DataFrame) -> list[str]:
    """Signs by a loop over rows and neurons."""
    predictor = model.predictor
    assert isinstance(predictor, Compact)
    found = []
    for x in np.asarray(model.prepare(frame), np.float32).astype(float):
        sums = [float(np.dot(w, x) + b) for w, b in zip(predictor.W[0], predictor.b[0], strict=True)]
        found.append("".join("+" if total >= 0 else "-" for total in sums))
    return found


def test_held_out_rows_are_counted_by_region(
    fitted: CertifiedClassifier, rows: tuple[pd.DataFrame, NDArray[np.str_]]
) -> None:
    frame = rows[0].iloc[fitted.bound_rows_]
    y = rows[1][fitted.bound_rows_]
    model = fitted.model_
    signs = np.array(signs_by_hand(model, frame))
    wrong = model.predict(frame) != y
    assert model.certificate is not None
    statements = model.certificate.each(RegionError)
    assert len(statements) >= 3
    listed = {s.signs for s in statements}
    for s in statements:
        inside = signs == s.signs
        assert (s.n, s.errors) == (int(inside.sum()), int(wrong[inside].sum()))
        assert s.answers_given == (*(int((model.predict(frame[inside]) == c).sum()) for c in model.classes_), 0)
    counts = pd.Series(signs).value_counts()
    assert {name for name, n in counts.items() if n >= LEAST_ROWS} == listed


def test_the_words_describe_the_regions(fitted: CertifiedClassifier) -> None:
    """The planted rule uses glucose and age; the shares in the words are those of training rows."""
    model = fitted.model_
    regions = model.card.region_words
    assert sum(region.n_rows for region in regions) <= N // 2
    words = " ".join(region.words for region in regions)
    assert "glucose" in words
    assert "age" in words
    for region in regions:
        assert 0.5 < region.covered <= 1
        assert 0 < region.pure <= 1


def test_conditions_separate_as_they_say(rows: tuple[pd.DataFrame, NDArray[np.str_]]) -> None:
    """Conditions of one neuron of two columns, met by the rows that they name."""
    frame = rows[0]
    one = Compact(np.array([[[0.0, 1.0]]]), np.array([[-1.0]]), np.array([[-1.0, 1.0]]))
    model = Model(one, feature_names=("glucose", "age"), labels=Labels(np.array(["well", "ill"])))
    X = frame[["glucose", "age"]].to_numpy() / np.array([100.0, 50.0])
    below, above = sorted(regions_in_words(model, X), key=lambda region: region.signs, reverse=True)
    assert (below.signs, above.signs) == ("-", "+")
    condition, threshold = str(above).removeprefix("mostly ").rsplit(" ", 1)
    assert condition == "age above"
    met = X[:, 1] > float(threshold)
    inside = X[:, 1] >= 1.0
    assert above.covered == pytest.approx(met[inside].mean())
    assert above.pure == pytest.approx(inside[met].mean())
    assert min(above.covered, above.pure) > 0.95


def test_categories_and_signs_that_never_change(rng: np.random.Generator) -> None:
    """A neuron that reads only the city names it; one that never changes adds nothing."""
    frame = table(rng, 300)
    base = CertifiedClassifier((1,), max_iter=1, random_state=0).fit(frame, labels(frame, rng)).model_
    features = base.preparation.base.feature_names
    w = np.zeros((1, 2, len(features)))
    w[0, 0, features.index("city=Rome")] = 2.0
    model = Model(
        Compact(w, np.array([[-1.0, 5.0]]), np.array([[-1.0, -1.0, 1.0, 1.0]])),
        labels=base.labels,
        preparation=base.preparation,
    )
    regions = {region.signs: str(region) for region in regions_in_words(model, model.prepare(frame))}
    assert regions["++"] == "city Rome"
    assert regions["-+"] in ("city Oslo or Lima", "city Lima or Oslo", "city not Rome")


def test_rows_are_explained_with_their_region(
    fitted: CertifiedClassifier, rows: tuple[pd.DataFrame, NDArray[np.str_]]
) -> None:
    frame = rows[0].iloc[fitted.bound_rows_[:12]]
    regions = fitted.model_.regions()
    located = fitted.model_.located(frame)
    assert located is not None
    for explained, signs in zip(fitted.explain(frame), located.signs, strict=True):
        assert explained.certified == regions.of(str(signs))
        if explained.certified is not None:
            assert f"Region {explained.certified.number} " in explained.describe()
            assert explained.to_dict()["certified_region"]["error_bound"] == explained.certified.error_bound
    whole = abnet.explanation.explain_model(fitted.model_, frame)
    assert whole.certified == regions
    assert whole.to_dict()["certified_regions"] == regions.to_dict()
    for region in regions.listed:
        assert region.words in whole.describe()


def test_regions_survive_saving_and_are_certified_again_on_fresh_rows(
    fitted: CertifiedClassifier, tmp_path_factory: pytest.TempPathFactory, rng: np.random.Generator
) -> None:
    path = tmp_path_factory.mktemp("model") / "model.abnet"
    fitted.save(path)
    loaded = abnet.load(path)
    assert loaded.regions() == fitted.model_.regions()
    fresh = table(rng, 500)
    y = labels(fresh, rng)
    by_function = abnet.certify(loaded, fresh, y)
    by_classifier = fitted.certify(fresh, y)
    by_table = abnet.certify_table(loaded, fresh.assign(diagnosis=y), truth="diagnosis").made
    found = [certified_regions(made) for made in (by_function, by_classifier, by_table)]  # type: ignore[arg-type]
    assert found[0] is not None
    assert found[0].n_rows == 500
    assert found[0] == found[1] == found[2]
    assert {region.words for region in found[0].listed} <= {str(region) for region in loaded.card.region_words} | {""}


def test_partitions_add_up(fitted: CertifiedClassifier, rng: np.random.Generator) -> None:
    fresh = table(rng, 400)
    y = labels(fresh, rng)
    sizes = (0, 150, 250)
    ends = np.cumsum(sizes)
    parts = [
        partition_evidence(fitted, fresh.iloc[end - size : end], y[end - size : end])
        for size, end in zip(sizes, ends, strict=True)
    ]
    whole = certify_parts(fitted, [partition_evidence(fitted, fresh, y)])
    assert certified_regions(certify_parts(fitted, parts)) == certified_regions(whole)
    assert certified_regions(whole) is not None


def test_a_model_without_regions_says_why(rows: tuple[pd.DataFrame, NDArray[np.str_]]) -> None:
    frame = rows[0].iloc[:300]
    y = rows[1][:300]
    mixture = CertifiedClassifier((2,), n_estimators=2, max_iter=2, random_state=0).fit(frame, y).model_
    trained = (
        ABNetClassifier((3,), posterior="train", max_iter=2, random_state=0).fit(frame[["glucose", "age"]], y).model_
    )
    groups = np.arange(300) // 2
    grouped = CertifiedClassifier((2,), max_iter=2, random_state=0).fit(frame, y, groups=groups).model_
    reasons = {}
    for name, model in {"mixture": mixture, "trained": trained, "groups": grouped}.items():
        assert certified_regions(model.certificate) is None
        with pytest.raises(ValueError, match=r"."):
            model.regions()
        reasons[name] = why_no_certified_regions(model)
    for name, reason in reasons.items():
        assert name in reason
    assert mixture.located(frame) is None
    assert not trained.card.region_words


@pytest.mark.parametrize(
    ("kind", "located"), [("drawn", True), ("uniform", True), ("paths", False), ("moments", False)]
)
def test_kinds_of_predictors(kind: str, located: bool, rng: np.random.Generator) -> None:
    predictor = every_kind(rng)[kind].predictor
    signs = leading_signs(predictor, rng.normal(size=(20, predictor.n_inputs)))
    assert (signs is not None) == located
    assert bool(why_no_signs(predictor)) == (not located)


def test_signs_do_not_depend_on_the_form_of_the_rows(rng: np.random.Generator) -> None:
    from scipy.sparse import csr_array

    predictor = Compact(rng.normal(size=(1, 3, 4)), rng.normal(size=(1, 3)), rng.uniform(-1, 1, (1, 8)))
    X = rng.normal(size=(50, 4)).astype(np.float32)
    one = leading_signs(predictor, X)
    other = leading_signs(predictor, csr_array(X))
    assert one is not None
    assert other is not None
    assert (one == other).all()
    assert (one == np.concatenate([leading_signs(predictor, x[None]) for x in X])).all()


def test_regions_of_the_plain_vote_and_of_a_period_say_so(
    rows: tuple[pd.DataFrame, NDArray[np.str_]],
) -> None:
    """A threshold may answer otherwise than the vote, and the bound is about the period that was held out."""
    clf = CertifiedClassifier((3,), max_iter=5, random_state=0, decision=abnet.TargetRecall(0.5, positive="ill"))
    clf.fit(*rows, time=np.arange(len(rows[1])))
    regions = certified_regions(clf.certificate_)
    assert regions is not None
    assert regions.plain_vote
    for region in regions.listed:
        assert (region.plain_vote, region.period) == (True, regions.period)
        assert "error rate of the plain vote" in region.sentence()
        assert str(regions.period) in region.sentence()


def test_regions_that_share_delta_name_their_share(fitted: CertifiedClassifier, rng: np.random.Generator) -> None:
    frame = table(rng)
    joint = {"error rate": 0.6, "regions": 0.4}
    made = fitted.certify(frame, labels(frame, rng), joint=joint)
    regions = certified_regions(made)
    assert regions is not None
    assert regions.delta == pytest.approx(0.02)
    assert sum(part.delta for part in made.each(RegionError)) == pytest.approx(regions.delta)
