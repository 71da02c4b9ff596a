"""Evidence to certificate: against the bounds by hand, as sums of parts, and as stored records."""

import json
import re
from pathlib import Path

import msgspec
import numpy as np
import pytest

from abnet import bounds
from abnet.bounds.betting import betting_bound
from abnet.bounds.drawn_network import drawn_network_bound
from abnet.bounds.kept_paths_exact import kept_paths_threshold
from abnet.certificates.certificate import Certificate, load_certificate
from abnet.certificates.estimate import Estimate
from abnet.certificates.evidence import Evidence, observe
from abnet.certificates.from_evidence import certify, certify_drawn, for_candidates
from abnet.certificates.statements.betting_gibbs_bound import FEWEST_ROWS, BettingGibbsBound
from abnet.certificates.statements.trained_error_bound import TrainedErrorBound
from abnet.certificates.terms import Expected, Terms

CLASSES = ("a", "b", "c")


def rows(n: int, seed: int = 0, **options: object) -> Evidence:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    losses = rng.beta(1, 6, n)
    answers = np.where(losses > 0.3, (truth + 1) % 3, truth)
    keys = rng.permutation(n).astype(np.uint64)
    return observe(answers, truth, CLASSES, losses=losses, keys=keys, **options)  # type: ignore[arg-type]


def test_a_finished_model_gets_clopper_pearson_on_its_errors() -> None:
    seen = rows(400)
    made = certify(seen, Terms(n_candidates=3))
    assert made.vote_error_bound == bounds.clopper_pearson_bound(seen.errors, 400, 0.05, n_candidates=3)
    for code, part in enumerate(made.per_class):
        assert part.delta is not None
        expected = bounds.clopper_pearson_bound(
            int(seen.class_errors[code]), part.n_examples, part.delta, n_candidates=3
        )
        assert part.vote_error_bound == expected
    assert sum(part.delta or 0.0 for part in made.per_class) <= 0.05


@pytest.mark.parametrize("n", [FEWEST_ROWS - 1, FEWEST_ROWS])
def test_the_number_of_rows_decides_between_betting_and_the_kl_bound(n: int) -> None:
    seen = rows(n)
    assert seen.values is not None
    assert seen.losses is not None
    mean = seen.losses.mean()
    assert mean is not None
    betting = n >= FEWEST_ROWS
    if betting:
        expected = betting_bound(seen.values.values)
    else:
        expected = bounds.gibbs_bound_frozen(mean, n)
    assert certify(seen, Terms()).gibbs_risk_bound == pytest.approx(expected, abs=1e-12)


def test_the_method_never_depends_on_the_losses() -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, 1500)
    keys = np.arange(1500, dtype=np.uint64)
    for terms in (Terms(), Terms(trained=True, kl=2.0), Terms(trained=True, kl=2.0, expected=Expected(0.1))):
        methods = set()
        for losses in (np.zeros(1500), np.ones(1500), rng.random(1500)):
            seen = observe(truth, truth, CLASSES, losses=losses, keys=keys)
            methods.add(tuple((type(s), s.about) for s in certify(seen, terms).statements))
        assert len(methods) == 1


def test_a_trained_posterior_gets_the_smaller_order_each_at_half_of_delta() -> None:
    seen = rows(500)
    assert seen.losses is not None
    mean = seen.losses.mean()
    pairs = seen.losses.pair_mean()
    assert mean is not None
    assert pairs is not None
    made = certify(seen, Terms(trained=True, kl=4.0))
    assert made.vote_error_bound == pytest.approx(bounds.vote_bound(mean, pairs, 4.0, 500), abs=1e-12)
    assert made.gibbs_risk_bound == pytest.approx(bounds.gibbs_bound(mean, 4.0, 500), abs=1e-12)


@pytest.mark.parametrize("paths", [None, 8])
def test_evidence_adds_up_in_any_order(paths: int | None) -> None:
    rng = np.random.default_rng(2)
    n = 1300
    truth = rng.integers(0, 4, n)
    losses = rng.random(n)
    keys = rng.permutation(n).astype(np.uint64)
    answers = rng.integers(0, 4, n)
    groups = rng.integers(0, 200, n)

    def part(where: slice | np.ndarray) -> Evidence:
        return observe(
            answers[where], truth[where], CLASSES, losses=losses[where], n_paths=paths, keys=keys[where],
            scores=losses[where], thresholds=(0.25, 0.5), populations=groups[where] % 3,
        )  # fmt: skip

    whole = certify(part(slice(None)), Terms(source="test set"))
    parts = [part(slice(a, b)) for a, b in ((900, 1300), (0, 100), (100, 900))]
    summed = parts[0] + parts[1] + parts[2]
    assert np.array_equal(summed.counts, part(slice(None)).counts)
    for one, other in zip(whole.statements, certify(summed, Terms(source="test set")).statements, strict=True):
        assert one.value == pytest.approx(other.value, abs=1e-9)
    shuffled = certify(part(rng.permutation(n)), Terms(source="test set"))
    assert shuffled.gibbs_risk_bound == pytest.approx(whole.gibbs_risk_bound, abs=1e-9)


def test_groups_add_up_when_their_rows_come_in_several_parts() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 300)
    answers = rng.integers(0, 2, 300)
    groups = rng.integers(0, 40, 300)
    keys = rng.permutation(40).astype(np.uint64)[groups]
    options = {"classes": ("no", "yes")}

    def part(where: slice) -> Evidence:
        return observe(answers[where], truth[where], groups=groups[where], keys=keys[where], **options)  # type: ignore[arg-type]

    whole = certify(part(slice(None)), Terms())
    summed = certify(part(slice(0, 90)) + part(slice(90, 300)), Terms())
    assert whole.vote_error_bound == summed.vote_error_bound
    assert whole.facts.n_groups == 40


def test_groups_of_one_row_are_bounded_like_rows() -> None:
    wrong = np.arange(100) < 7
    truth = np.zeros(100, int)
    seen = observe(wrong.astype(int), truth, ("no", "yes"), groups=np.arange(100), keys=np.arange(100, dtype=np.uint64))
    assert certify(seen, Terms()).vote_error_bound == bounds.clopper_pearson_bound(7, 100)


def test_unknown_labels_and_missing_answers_are_errors() -> None:
    seen = observe([0, 2, 1, 0], [0, 0, 2, 2], ("no", "yes"))
    assert seen.errors == 3
    made = certify(seen, Terms())
    assert made.facts.classes[-1] == "another label"
    assert made.facts.class_errors == (1, 0, 2)
    assert [part.vote_error_bound for part in made.per_class][1] == 1.0  # a class without rows


def test_a_stored_certificate_is_recomputed_and_edits_are_found(tmp_path: Path) -> None:
    file = tmp_path / "certificate.json"
    made = certify(rows(1200), Terms())
    made.save(file)
    assert load_certificate(file) == made
    kinds = made.check()
    assert kinds["error rate"] == "recomputed"
    assert kinds["Gibbs risk"] == "attainable"
    content = json.loads(file.read_text())
    for place, statement in enumerate(content["certificate"]["statements"]):
        edited = json.loads(file.read_text())
        edited["certificate"]["statements"][place]["value"] = statement["value"] * 0.5
        with pytest.raises(ValueError, match=made.statements[place].about):
            _write_and_load(file, edited, made)
    edited = json.loads(json.dumps(content))
    edited["certificate"]["vote_error_bound"] = 0.001
    with pytest.raises(ValueError, match="vote_error_bound"):
        _write_and_load(file, edited, made)
    edited = json.loads(json.dumps(content))
    edited["certificate"]["statements"][0]["errors"] = 0
    with pytest.raises(ValueError, match="error"):
        _write_and_load(file, edited, made)


def _write_and_load(file: Path, content: object, made: Certificate) -> None:
    file.write_text(json.dumps(content))
    try:
        load_certificate(file)
    finally:
        made.save(file)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "abnet certificate, version 4"}', "nothing"])
def test_a_file_that_is_no_certificate_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "x.json"
    file.write_text(text)
    with pytest.raises(ValueError, match="certificate"):
        load_certificate(file)


@pytest.mark.parametrize("step", [-1, 1])
def test_a_certificate_of_another_version_is_refused_by_both_numbers(tmp_path: Path, step: int) -> None:
    file = tmp_path / "x.json"
    certify(observe([0] * 222 + [1] * 6, [0] * 228, ("no", "yes")), Terms()).save(file)
    record = json.loads(file.read_text())
    kind, _, version = record["format"].rpartition(" ")
    other = int(version) + step
    file.write_text(json.dumps({**record, "format": f"{kind} {other}"}))
    with pytest.raises(ValueError, match=rf"version {other}\b.*\b{version}\b"):
        load_certificate(file)


def test_terms_that_contradict_each_other_are_refused() -> None:
    for wrong in ({"kl": 1.0}, {"trained": True, "source": "test set"}, {"vote": "kept paths"}, {"delta": 1.0}):
        with pytest.raises(ValueError, match=r"kl|divergence|test set|vote_paths|delta"):
            Terms(**wrong)


def test_without_rows_or_anything_covered_there_is_no_certificate() -> None:
    with pytest.raises(ValueError, match="rows"):
        certify(observe(np.zeros(0, int), np.zeros(0, int), CLASSES), Terms())
    with pytest.raises(ValueError, match="losses"):
        certify(observe([0, 1], [0, 1], CLASSES), Terms(trained=True, kl=1.0, vote=None))


def test_words_state_the_bound_rounded_up() -> None:
    made = certify(observe([0] * 222 + [1] * 6, [0] * 228, ("no", "yes")), Terms())
    assert made.vote_error_bound is not None
    assert 0.0512 < made.vote_error_bound < 0.0514
    assert all(fact in str(made) for fact in ("5.2%", "95%", "228"))
    assert "5.1%" not in str(made)
    risky = certify(observe([0], [0], ("<b>", "yes")), Terms())
    assert "<b>" not in risky._repr_html_()


def test_replacing_a_bound_by_a_smaller_one_breaks_its_check() -> None:
    made = certify(rows(300), Terms(trained=True, kl=3.0))
    for statement in made.statements:
        assert statement.value is not None
        with pytest.raises(ValueError, match=re.escape(str(statement.value - 1e-6))):
            msgspec.structs.replace(statement, value=statement.value - 1e-6).check()


def test_expected_figures_are_never_zero() -> None:
    assert Expected.from_losses(np.zeros(9)).risk == 0.05


N = 1200
RISKS = np.random.default_rng(11).beta(2.0, 20.0, N)
TRUTH = (np.random.default_rng(12).random(N) < 0.1).astype(int)


def of_losses(losses: np.ndarray, terms: Terms, keys: np.ndarray | None = None, **options: object) -> Certificate:
    order = keys
    if keys is None:
        order = np.arange(len(losses))
    seen = observe(TRUTH[: len(losses)], TRUTH[: len(losses)], ("a", "b"), losses=losses, keys=order, **options)  # type: ignore[arg-type]
    return certify(seen, terms)


def test_expected_figures_give_catonis_bound_and_are_recorded() -> None:
    plain = of_losses(RISKS, Terms(trained=True, kl=3.0))
    with_C = of_losses(RISKS, Terms(trained=True, kl=3.0, expected=Expected(0.08, 3.0, 0.01)))
    assert (with_C.gibbs_risk_bound or 1.0) < (plain.gibbs_risk_bound or 0.0)
    assert (with_C.vote_error_bound or 1.0) < (plain.vote_error_bound or 0.0)
    assert with_C.per_class == plain.per_class
    record = with_C.to_dict()
    assert Certificate.from_dict(record) == with_C
    record["statements"][1]["expected_risk"] = 0.2
    with pytest.raises(ValueError, match="does not follow"):
        Certificate.from_dict(record)


def test_sorted_rows_are_bet_on_in_the_order_of_their_keys() -> None:
    """Sorted by loss, as a file may be: bets in that order would promise less than the mean."""
    sorted_risks = np.sort(RISKS)
    keys = np.random.default_rng(0).permutation(N)
    made = of_losses(sorted_risks, Terms(source="test set"), keys)
    assert betting_bound(sorted_risks) == pytest.approx(RISKS.mean())
    assert (made.gibbs_risk_bound or 0.0) > 1.01 * RISKS.mean()
    statement = made.find(BettingGibbsBound)
    assert statement is not None
    assert statement.check() == "attainable"
    assert statement.check(sorted_risks[np.argsort(keys)]) == "recomputed"
    with pytest.raises(ValueError, match="does not follow"):
        statement.check(sorted_risks)


@pytest.mark.parametrize("paths", [3, 30])
def test_kept_paths_share_one_threshold(paths: int) -> None:
    means = RISKS
    pairs = RISKS**2
    terms = Terms(delta=0.5, trained=True, kl=1.0, vote="kept paths", vote_paths=paths)
    made = of_losses(means, terms, pairs=pairs, n_paths=8)
    risk = bounds.sampled_risk_bound(float(means.mean()), 8 * N, 0.0225)
    gibbs = bounds.gibbs_bound(risk, 1.0, N, 0.2025)
    first, second = (kept_paths_threshold(paths, 0.05, order=j) for j in (1, 2))
    assert (second > 0.0) == (paths > 4)  # so few paths have no second-order bound
    assert (made.vote_error_bound or 1.0) <= min(1.0, gibbs / min(first, second or first)) + 1e-12
    ideal = of_losses(means, Terms(delta=0.5, trained=True, kl=1.0), pairs=pairs, n_paths=8)
    assert ideal.gibbs_risk_bound == made.gibbs_risk_bound
    assert (ideal.vote_error_bound or 1.0) < (made.vote_error_bound or 0.0)


def test_fresh_paths_have_no_tandem_bound() -> None:
    made = of_losses(RISKS, Terms(trained=True, vote="fresh paths"), pairs=RISKS**2, n_paths=2)
    vote = made.find(TrainedErrorBound)
    assert vote is not None
    assert vote.tandem is None
    ideal = of_losses(RISKS, Terms(trained=True), pairs=RISKS**2, n_paths=2)
    assert (ideal.vote_error_bound or 1.0) < (made.vote_error_bound or 0.0)


def test_a_drawn_network_is_counted_or_charged() -> None:
    seen = rows(300)
    frozen = certify_drawn(seen, Terms())
    trained = certify_drawn(seen, Terms(trained=True), 12.0)
    assert frozen.vote_error_bound == bounds.clopper_pearson_bound(seen.errors, 300)
    assert trained.vote_error_bound == drawn_network_bound(seen.errors, 300, 12.0)
    assert Certificate.from_dict(trained.to_dict()) == trained
    more = for_candidates(trained, 5)
    assert more.vote_error_bound == drawn_network_bound(seen.errors, 300, 12.0, n_candidates=5)
    assert more.facts.n_candidates == 5


@pytest.mark.parametrize(
    "change",
    [
        {"vote_error_bound": 0.01}, {"delta": 0.5}, {"unknown": 1}, {"statements": []}, {"facts": {}},
        {"statements": None}, {"gibbs_risk_bound": None},
    ],
    ids=str,
)  # fmt: skip
def test_reading_is_strict(change: dict[str, object]) -> None:
    record = certify(rows(200), Terms()).to_dict()
    assert Certificate.from_dict(record).to_dict() == record
    with pytest.raises(ValueError, match="certificate"):
        Certificate.from_dict({**record, **change})
    others: list[object] = [None, [], "certificate", 3]
    for other in others:
        with pytest.raises(ValueError, match="certificate"):
            Certificate.from_dict(other)


def test_estimates_and_certificates_do_not_read_each_other(tmp_path: Path) -> None:
    estimate = Estimate(quantity="error rate", value=0.1, why="It learned from these rows.")
    estimate.save(tmp_path / "e.json")
    certify(rows(50), Terms()).save(tmp_path / "c.json")
    assert Estimate.load(tmp_path / "e.json") == estimate
    with pytest.raises(ValueError, match="certificate"):
        load_certificate(tmp_path / "e.json")
    with pytest.raises(ValueError, match="estimate"):
        Estimate.load(tmp_path / "c.json")


def test_notebooks_show_the_words_escaped() -> None:
    names = ("<b>", "a&b", "c")
    shown = certify(observe([0, 1, 2], [0, 1, 1], names), Terms())._repr_html_()
    assert "<b>" not in shown
    assert "&lt;b&gt;" in shown
    assert "a&amp;b" in shown


def test_a_network_trained_through_its_bound_states_the_gibbs_risk_first() -> None:
    seen = observe([0, 1] * 50, [0, 1] * 50, ("a", "b"), losses=np.full(100, 0.1))
    trained = str(certify(seen, Terms(source="init", trained=True, kl=1.0)))
    head = trained.splitlines()[0]
    text = trained.split("\n\n")[1]
    assert head.index("Gibbs risk") < head.index("error rate")
    assert text.index("Gibbs") < text.index("vote")
    frozen = str(certify(seen, Terms()))
    assert "Gibbs risk" not in frozen.splitlines()[0]
