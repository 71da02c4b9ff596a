"""A certificate in words: the table, few sentences, nothing rounded to the wrong side."""

import pytest

from abnet.bounds import (
    Certificate,
    DrawnCertificate,
    SampledRisk,
    certify_frozen,
    certify_frozen_sampled,
    certify_test_set,
    certify_trained,
    certify_trained_sampled,
)
from abnet.bounds.wording import assumptions, confidence, percent, percent_up, sentences, table

FROZEN = certify_frozen([0.02, 0.1] * 500, [1, -1] * 500, [True] * 30 + [False] * 970, delta=0.05, prior="split")
TRAINED = certify_trained([0.02, 0.3] * 500, [1, -1] * 500, 12.0, delta=0.01, prior="init", n_candidates=4)
SAMPLED = certify_trained_sampled(SampledRisk(0.05, 0.01, 1000, 20), 8.0, delta=0.05, prior="split")
DRAWN = DrawnCertificate(1, 50, 2.0, delta=0.05, prior="split", posterior="train", n_candidates=3)
LOPSIDED = certify_frozen([0.1] * 100, [0] * 90 + [1] * 10, [True] * 6 + [False] * 94, delta=0.05, prior="split")


def words(certificate: Certificate | DrawnCertificate) -> str:
    return " ".join(str(certificate).split())


def judged(wrong: int, n: int, first: int) -> Certificate:
    """Errors on `n` rows, `first` of which are of the first class."""
    flags = [True] * wrong + [False] * (n - wrong)
    return certify_test_set([0.0] * n, [0] * first + [1] * (n - first), flags, delta=0.05)


def test_it_opens_with_a_table() -> None:
    header, whole, negative, positive, empty = str(FROZEN).splitlines()[:5]
    assert header.split("  ")[-3:] == ["error of predict, at most", "errors seen", "base rate"]
    assert whole.split() == ["all", "classes", "4.1", "%", "30", "of", "1,000", "50", "%"]
    assert negative.split() == ["class", "negative", "4.9", "%", "15", "of", "500"]
    assert positive.split() == ["class", "positive", "4.9", "%", "15", "of", "500"]
    assert empty == ""
    assert whole.index("1,000") + 5 == negative.index("500") + 3 == header.index("errors seen") + 11


def test_every_class_has_a_line() -> None:
    codes = [0, 1, 2, 3] * 5
    c = certify_test_set([0.1] * 20, codes, [False] * 20, delta=0.05, n_classes=5)
    lines = str(c).splitlines()[1:7]
    assert [line.split()[1] for line in lines[1:]] == ["0", "1", "2", "3", "4"]
    assert lines[-1].split()[2:] == ["100", "%", "no", "rows"]
    assert [line.name for line in table(c)] == ["all classes", *(f"class {i}" for i in range(5))]
    assert table(c)[0].base_rate == 0.75


def test_the_numbers_of_the_table_are_those_of_the_certificate() -> None:
    whole, negative, positive = table(LOPSIDED)
    assert (whole.error_bound, whole.errors, whole.n_rows) == (LOPSIDED.vote_error_bound, 6, 100)
    assert whole.base_rate == pytest.approx(0.1)
    assert (negative.n_rows, negative.errors, positive.n_rows, positive.errors) == (90, 6, 10, 0)
    assert [line.gibbs_risk_bound for line in (whole, negative)] == [
        LOPSIDED.gibbs_risk_bound,
        LOPSIDED.per_class[0].gibbs_risk_bound,
    ]


def test_frozen_certificate_in_words() -> None:
    text = words(FROZEN)
    promise = "With 95 % confidence, the error of `predict` on new data from the same source is at most 4.1 %"
    assert f"{promise} (test-set bound: 30 errors on 1,000 bound rows, which had no part in learning)." in text
    assert "the balanced error, which is the mean over the classes, is then at most 4.9 %" in text
    assert "sample weights were not used" in text
    assert "independent draws from one source" in text
    assert "vacuous" not in text
    assert "base rate:" not in text


@pytest.mark.parametrize(("errors", "noun"), [(0, "0 errors"), (1, "1 error"), (2, "2 errors")])
def test_errors_are_counted_in_english(errors: int, noun: str) -> None:
    assert f"bound: {noun} on 100 bound rows" in words(judged(errors, 100, 50))
    assert f"bound: {noun} on 9 bound rows" in words(DrawnCertificate(errors, 9, 1.0, 0.05, "init", "train"))


@pytest.mark.parametrize("certificate", [FROZEN, TRAINED, SAMPLED, DRAWN, LOPSIDED, judged(10, 10, 5)])
def test_at_most_three_sentences_are_said(certificate: Certificate | DrawnCertificate) -> None:
    said = sentences(certificate)
    assert 1 <= len(said) <= 3
    assert all(sentence.endswith(".") for sentence in [*said, *assumptions(certificate)])
    assert all(sentence in words(certificate) for sentence in [*said, *assumptions(certificate)])


def test_the_gibbs_risk_comes_on_request() -> None:
    assert "Gibbs" not in str(TRAINED)
    text = TRAINED.describe(details=True)
    assert text.splitlines()[0].endswith("Gibbs risk, at most")
    in_one_line = " ".join(text.split())
    assert f"(the Gibbs risk) is at most {percent_up(TRAINED.gibbs_risk_bound)} on new data" in in_one_line
    assert "each hold with 99 % confidence by themselves, not both at once" in in_one_line
    assert set(sentences(TRAINED)) < set(sentences(TRAINED, details=True))


def test_trained_certificate_in_words() -> None:
    text = words(TRAINED)
    assert "With 99 % confidence" in text
    assert "second-order PAC-Bayes bound" in text
    assert "The choice among 4 candidates is accounted for by a union bound." in text
    assert "not counted" in text
    assert "class malignant" in TRAINED.describe(classes=("malignant", "benign"))
    with pytest.raises(ValueError, match="class_names"):
        TRAINED.describe(classes=("malignant",))


def test_without_a_bound_on_predict_the_gibbs_risk_is_told() -> None:
    text = words(SAMPLED)
    assert "There is no certificate for `predict`" in text
    assert "no bound not counted 10.4 %" in text
    assert "sampled with 20 paths for each" in text
    assert "not both at once" not in text
    assert "base rate" not in text


def test_drawn_certificate_in_words() -> None:
    text = words(DRAWN)
    assert text.startswith("error, at most errors seen drawn network 19.7 % 1 of 50 With 95 % confidence")
    assert "drawn once, not picked among several draws. The choice among 3 candidates is accounted for" in text


@pytest.mark.parametrize(
    ("certificate", "sentence"),
    [
        (
            judged(10, 10, 5),
            "This bound is vacuous, and it exceeds the base rate: always answering negative errs on 50 %",
        ),
        (
            judged(5, 10, 4),
            "This bound is vacuous, and it exceeds the base rate: always answering positive errs on 40 %",
        ),
        (LOPSIDED, "This bound exceeds the base rate: always answering negative errs on 10 % of the bound rows."),
        (DrawnCertificate(50, 50, 0.0, 0.05, "split", "frozen"), "This bound is vacuous."),
        (
            DrawnCertificate(30, 50, 0.0, 0.05, "split", "frozen"),
            "This bound is vacuous: a guess at random errs in 50 %",
        ),
        (
            certify_trained_sampled(SampledRisk(0.4, 0.2, 90, 20), 0.0, delta=0.05, prior="split"),
            "This bound is vacuous: a guess at random errs in 50 % of cases.",
        ),
    ],
)
def test_a_bound_of_little_use_says_so(certificate: Certificate | DrawnCertificate, sentence: str) -> None:
    assert sentence in words(certificate)


def test_with_more_classes_more_errors_are_of_use() -> None:
    """A bound of 60 % is vacuous for two classes, whose base rate is 50 %, and not for five of 80 %."""
    wrong = [True] * 50 + [False] * 50
    two = certify_test_set([0.5] * 100, [0, 1] * 50, wrong, delta=0.05)
    five = certify_test_set([0.5] * 100, [0, 1, 2, 3, 4] * 20, wrong, delta=0.05)
    assert two.vote_error_bound == five.vote_error_bound
    assert "vacuous" in words(two)
    assert "vacuous" not in words(five)


def test_a_useful_certificate_does_not_say_so() -> None:
    text = words(certify_frozen_sampled(SampledRisk(0.05, 0.01, 1000, 20), delta=0.05, prior="init"))
    assert "vacuous" not in text
    assert "exceeds" not in text


def test_no_line_begins_with_the_sign_of_a_percentage() -> None:
    for n in range(1, 60):
        c = judged(1, 100 * n, 50 * n)
        assert all(len(line) <= 100 and not line.startswith("%") for line in c.describe(details=True).splitlines())


def test_a_long_class_name_is_cut_in_the_table() -> None:
    lines = FROZEN.describe(classes=("n" * 300, "p")).splitlines()[:4]
    assert max(map(len, lines)) <= 100
    assert "…" in lines[2]


def test_a_class_name_of_several_lines_keeps_to_one() -> None:
    assert FROZEN.describe(classes=("one\n two", "")).splitlines()[2].startswith("class one two  ")


@pytest.mark.parametrize(
    ("delta", "text"), [(0.05, "95 %"), (0.001, "99.9 %"), (1 / 3, "66.6666 %"), (1e-9, "99.9999 %")]
)
def test_confidence_is_rounded_down(delta: float, text: str) -> None:
    assert f"With {text} confidence" in words(certify_trained([0.1] * 9, [1] * 9, 1.0, delta=delta, prior="init"))


@pytest.mark.parametrize(
    ("bound", "text"),
    [(0.04, "4.1 %"), (0.25, "25 %"), (0.00875, "0.88 %"), (0.9999, "100 %"), (0.0, "0 %"), (1e-9, "0.01 %")],
)
def test_bounds_are_rounded_up(bound: float, text: str) -> None:
    # 0.04 as a double lies a hair above four hundredths
    assert percent_up(bound) == text


def test_observed_rates_are_rounded_to_nearest() -> None:
    assert [percent(rate) for rate in (0.0, 0.0333, 0.00449, 1.0)] == ["0 %", "3.3 %", "0.45 %", "100 %"]


def test_a_vote_of_fresh_paths_is_promised_on_average() -> None:
    sampled = SampledRisk(0.05, 0.01, 1000, 20)
    certificate = certify_trained_sampled(sampled, 8.0, delta=0.05, prior="split", vote="fresh paths")
    promise = "the error of `predict` on new data from the same source, averaged over its random paths, is at most"
    assert promise in words(certificate)


def test_confidence_is_never_rounded_up() -> None:
    assert confidence(0.05) == "95 %"
    assert confidence(1e-300) == "99.9999 %"
