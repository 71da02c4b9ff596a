"""What is on a page, for every kind of model, whatever the model's file holds.

Sections, charts and warnings are found by their ids and attributes, so that their sentences may change.
"""

import re
import subprocess
import sys
import warnings
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import abnet
from abnet.certificates.decision import Decision
from abnet.certificates.describe import sentences
from abnet.certificates.evidence import observe
from abnet.certificates.fitted_rows import row_filter
from abnet.certificates.from_evidence import certify
from abnet.certificates.goals import Goal, TargetError, TargetRecall
from abnet.certificates.meet_goal import meet
from abnet.certificates.statements.flagged import Flagged
from abnet.certificates.statements.statement import Statement
from abnet.certificates.terms import Terms
from abnet.certificates.validation_scores import ValidationScores
from abnet.explanation.background_rows import background_rows
from abnet.model import Card, Model, load, save
from abnet.report.certificate_section import Peer, peers_of, weak_classes
from abnet.report.estimates_section import MOST_PAIRS
from abnet.report.form_fields import form_fields, medoid
from abnet.report.measures import measure_rows
from abnet.report.page import report_page, write_report
from abnet.report.stated_facts import About
from abnet.report.svg import Series, chart, nice_ticks
from abnet.tables.columns import NumericColumn
from abnet.tables.labels import Labels
from abnet.tables.notes import Note
from abnet.tables.preparation.table_map import TableMap
from abnet.tables.unseen import UnseenWarning
from abnet.utils.wording import percent, percent_up
from export import models
from model.every_kind import ALL, certificate
from model.every_kind import model as stored
from report import pages

VOID = {"meta", "br", "input", "rect", "line", "circle", "polyline"}


class Reader(HTMLParser):
    """A strict reader: elements are closed in order, names and attributes are ours, and the text is kept."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.ids: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in ("script", "style"):
            self.text += data


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    assert len(set(reader.ids)) == len(reader.ids)
    reader.text = " ".join(reader.text.replace("\N{NO-BREAK SPACE}", " ").split())
    return reader


def section(page: str, ident: str) -> str:
    """The HTML of one section."""
    return page.split(f'<section id="{ident}"')[1].split("</section>")[0]


def kinds_of_warnings(page: str) -> set[str]:
    return set(re.findall(r'data-warning="([^"]*)"', page))


def bars(page: str, figure: str) -> dict[tuple[str, str], str]:
    """The percentage at every bar of a figure, by the first word of its name and the rows that it was counted on."""
    html = page.split(f'<figure id="{figure}"')[1].split("</figure>")[0]
    found = {}
    for rows, name, text in re.findall(r'<li(?: data-rows="([^"]*)")?><p><span>(.*?)</span> <b>(.*?)</b>', html):
        found[re.split(r"[ ,]", unescape(name))[0], rows] = re.findall(r"[\d.]+%", text)[0]
    return found


OURS = {
    "html", "head", "meta", "title", "style", "body", "header", "p", "h1", "nav", "ul", "li", "a", "main", "section",
    "h2", "h3", "h4", "span", "code", "pre", "strong", "figure", "figcaption", "svg", "rect", "line", "text", "desc",
    "polyline", "circle", "table", "caption", "thead", "tbody", "tr", "th", "td", "b", "small", "details", "summary",
    "div", "form", "noscript", "footer", "script", "dl", "dt", "dd", "ol", "g",
}  # fmt: skip


ABOUT = About(
    title="</title><script>alert(5)</script>", owner="<b>me</b>", purpose="</p><img src=x onerror=alert(6)>",
    date="2026-11-18", data="<i>rows</i>",
)  # fmt: skip


@pytest.mark.parametrize("kind", ["mixture", "classes"])
@pytest.mark.parametrize("with_rows", [True, False])
def test_whatever_things_are_called_the_page_is_ours(kind: str, with_rows: bool) -> None:
    model = pages.hostile(kind)
    page = report_page(model, pages.given(model) if with_rows else None, about=ABOUT)
    found = read(page)
    assert found.tags <= OURS
    assert not {name for name in found.attributes if name.startswith("on") or name in ("style", "src", "srcset")}
    assert re.findall(r"<script[^>]*>", page) == ['<script type="application/json" id="abnet-data">', "<script>"]
    assert re.findall(r'href="(?!#)', page) == []
    assert "default-src 'none'" in page
    for name in (*models.HOSTILE[:3], "n" * 100, *filter(None, msgspec.structs.astuple(ABOUT))):
        assert " ".join(name.split()) in found.text


def test_the_words_of_the_certificate_are_on_the_page() -> None:
    model = pages.hostile()
    page = report_page(model)
    found = read(page).text
    assert model.certificate_ is not None
    for sentence in sentences(model.certificate_):
        assert sentence.replace("`", "") in found
    assert percent_up(model.certificate_.vote_error_bound) in found  # type: ignore[arg-type]
    assert "<table" not in section(page, "estimates")
    assert "ABNetClassifier(random_state=0, teacher='<script>alert(3)</script>')" in found
    assert bars(page, "bounds")["<svg", ""] == "25%"
    assert bars(page, "rates")["<svg", "held-out"] == "10%"


def test_rows_bring_estimates_called_estimates() -> None:
    model = pages.hostile()
    page = report_page(model, pages.given(model))
    estimates = section(page, "estimates")
    for part in ("<strong>estimates</strong>", 'id="reliability-t"', 'id="risk-t"', 'class="confusion'):
        assert part in estimates
    assert 'class="bars"' in section(page, "moves")
    assert bars(page, "rates")["this", "given"] == "15%"
    assert 'class="warning"' in estimates  # the model does not know its training rows
    assert "training rows" not in kinds_of_warnings(page)


def test_fitted_rows_are_warned_of() -> None:
    model = models.model("mixture", 4)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    codes = model.predictor.votes(X)
    model = replace(model, card=Card(row_filter=row_filter(X, 2.0 * codes - 1)))
    page = report_page(model, measure_rows(model, X, codes))
    assert "training rows" in kinds_of_warnings(page)
    assert "80 of 80" in section(page, "summary")
    assert "80 of 80" in section(page, "estimates").split('class="warning"')[1]
    fresh = rng.normal(size=(80, 4))
    page = report_page(model, measure_rows(model, fresh, model.predictor.votes(fresh)))
    assert "training rows" not in kinds_of_warnings(page)
    assert 'class="warning"' not in section(page, "estimates")


@pytest.mark.parametrize("kind", ALL)
def test_every_kind_of_model_has_a_report(kind: str, tmp_path: Path) -> None:
    model = stored(kind)
    save(model, tmp_path / "model.abnet")
    X = np.random.default_rng(5).normal(size=(40, 3))
    for given in (None, measure_rows(model, X, model.predictor.votes(X))):
        page = report_page(load(tmp_path / "model.abnet"), given)
        assert "repeat" in read(page).ids
        assert ('id="abnet-form"' not in section(page, "try")) == (kind in WITHOUT_FORM)


WITHOUT_FORM = {"uniform", "pbgnet: drawn", "layers: units"}


def test_a_model_that_nobody_fitted_says_what_it_lacks() -> None:
    page = report_page(models.model("compact", 3))
    for ident, part in (("repeat", "<pre>"), ("learning", "<svg"), ("moves", "<svg")):
        assert part not in section(page, ident)
        assert "<p>" in section(page, ident)
    assert page.split("</header>")[0].count("<dd>not stated</dd>") == 2


def test_the_rows_that_a_model_keeps_are_enough_for_importance_and_explanation() -> None:
    model = models.model("mixture", 4, feature_names=tuple("abcd"))
    rng = np.random.default_rng(0)
    model = replace(model, card=Card(background=background_rows(rng.normal(size=(100, 4)).astype(np.float32))))
    page = report_page(model)
    found = read(page).text
    assert " 25 rows " in found
    assert '"permutations"' in page
    assert '"permutations"' not in report_page(model, form=False)
    assert "<script" not in report_page(model, form=False)


def test_abstaining_is_told() -> None:
    scores = np.linspace(-1.0, 1.0, 400)
    truth = ((scores > 0) ^ (np.abs(scores) < 0.05)).astype(int)
    decision, made = meet(
        TargetError(0.05), ValidationScores(scores, truth), scores, truth, ("no", "yes"), Terms(), keys=np.arange(400)
    )
    assert decision is not None
    model = replace(models.model("mixture", 4, certificate=certificate().adding(made)), decision=decision)
    page = report_page(model)
    rule = page.split('class="decision"')[1].split("</div>")[0]
    assert "5%" in rule
    assert repr(decision.threshold) in rule
    assert f'"threshold": {decision.threshold}' in page
    X = np.random.default_rng(0).normal(size=(200, 4))
    given = measure_rows(model, X, model.predictor.votes(X))
    answered = int(np.sum(model.decision(model.predictor.scores(X)) < 2))
    assert 0 < answered < 200
    assert given.measures.n_answered == answered
    assert given.measures.confusion[:, 2].sum() == 200 - answered
    assert f" {answered:,} ({percent(answered / 200)}) " in read(report_page(model, given)).text
    assert number_of(page) == "5%"  # the promise of the decision, not of the plain vote


def test_a_goal_that_every_row_meets_leaves_none_to_people() -> None:
    decision, made = met(TargetError(0.05), 400)
    assert decision is not None
    assert decision.threshold is not None
    assert decision.threshold < 0
    model = replace(models.model("mixture", 4, certificate=certificate().adding(made)), decision=decision)
    rule = report_page(model).split('class="decision"')[1].split("</div>")[0]
    assert repr(decision.threshold) not in rule  # every row is answered, so no threshold is of use


def test_a_cut_is_told_with_its_threshold_and_measured_as_decided() -> None:
    decision, made = met(TargetRecall(0.9, positive="yes"), 400)
    assert decision is not None
    decision = msgspec.structs.replace(decision, threshold=-0.25)
    model = models.model("mixture", 4, labels=Labels(np.array(["no", "yes"])), certificate=certificate().adding(made))
    model = replace(model, decision=decision)
    X = np.random.default_rng(0).normal(size=(200, 4))
    codes = model.predictor.votes(X)
    given = measure_rows(model, X, codes)
    assert given.measures.errors == int(np.sum(model.predict(X) != model.labels.decode(codes))) > 0
    page = report_page(model, given)
    rule = page.split('class="decision"')[1].split("</div>")[0]
    share = model.probabilities_from_scores(np.array([-0.25]))[0, 1]
    assert "-0.25" in rule
    assert percent(share) in rule
    assert "90%" in rule
    flagged = next(s for s in made if isinstance(s, Flagged))
    assert f"{flagged.flagged:,} of {flagged.n:,}" in page.split('<figure id="rates"')[0]
    assert number_of(page) == "90%"
    alarms = int(np.sum((codes == 0) & (model.predict(X) == "yes")))
    (warning,) = re.findall(r'data-warning="uncertified side">(.*?)</li>', page)
    assert f"{alarms:,} of {int(np.sum(codes == 0)):,}" in warning
    assert "weak classes" not in kinds_of_warnings(page)  # bounds by class are not about these answers


def met(goal: Goal, n: int) -> tuple[Decision | None, list[Statement]]:
    """A goal on n scores of which the larger half belongs to the second class, without an error."""
    scores = np.linspace(-1.0, 1.0, n)
    truth = (np.arange(n) >= n // 2).astype(int)
    return meet(goal, ValidationScores(scores, truth), scores, truth, ("no", "yes"), Terms(), keys=np.arange(n))


def number_of(page: str) -> str:
    """The number at the top of the first page."""
    return re.findall(r'<span class="number">(.*?)</span>', page)[0]


def test_a_goal_that_could_not_be_certified_is_warned_of_on_the_first_page() -> None:
    decision, made = met(TargetRecall(0.99, positive="yes"), 40)
    assert decision is None
    model = models.model("mixture", 4, labels=Labels(np.array(["no", "yes"])), certificate=certificate().adding(made))
    page = report_page(model)
    (warning,) = re.findall(r'data-warning="missed goal">(.*?)</li>', section(page, "summary"))
    assert "99%" in warning
    assert 'class="decision"' not in page  # the plain vote answers
    assert number_of(page) == percent_up(model.certificate_.vote_error_bound)  # type: ignore[union-attr, arg-type]


def test_columns_to_doubt_stand_before_the_figure() -> None:
    """Leaks and shared identifiers come before it; columns that were only left out are listed after it."""
    made = models.model("mixture", 4)
    columns = tuple(NumericColumn(name, 0.0, 0.0, 1.0, False) for name in "abcd")
    constant = Note("constant", ("country",), facts={"value": "0"})
    shared = Note("shared identifier", ("patient",), 9, facts={"values": 3})
    cut = Note("cut tells the label", ("weeks",), 9, facts={"cut": "7"})
    row_name = Note("identifier", ("row",), facts={"why": "never repeat"})
    for notes, first in (((constant, shared), True), ((constant, cut), True), ((constant, row_name), False)):
        page = report_page(replace(made, preparation=TableMap(columns, notes)))
        box = page.index('<div class="warning">')
        assert (box < page.index('class="number"')) == first
        items = page[box:].split("</ul>")[0].split("<li ")[1:]
        assert notes[1].columns[0] in items[0]
        assert "country" in items[1]
    calm = report_page(replace(made, preparation=TableMap(columns, ())))
    assert "columns" not in kinds_of_warnings(calm)


def test_errors_on_test_rows_are_not_those_that_a_bound_counts() -> None:
    """A comparison judges on other rows, where more errors may be seen than the bound allows."""
    (peer,) = peers_of([{"name": "forest", "bound": 0.125, "test_error": 0.2}])
    assert (peer.seen, peer.tested) == (None, 0.2)
    page = report_page(pages.hostile(), rivals=[peer])
    assert bars(page, "bounds")["forest", ""] == "12.5%"
    assert bars(page, "rates")["forest", "test"] == "20%"
    assert ("forest", "held-out") not in bars(page, "rates")


def test_a_model_that_is_worse_says_so() -> None:
    model = pages.hostile()
    bound = model.certificate_.vote_error_bound  # type: ignore[union-attr]
    assert bound is not None
    worse = Peer("tree", bound + 0.1, 0.1)
    better = Peer("logistic regression", bound - 0.1, 0.1)
    assert "better models" not in kinds_of_warnings(report_page(model, rivals=[worse]))
    page = report_page(model, rivals=[worse, better])
    (warning,) = re.findall(r'data-warning="better models">(.*?)</li>', page)
    assert better.name in warning
    assert percent_up(bound - 0.1) in warning
    assert worse.name not in warning


def test_classes_with_a_much_worse_bound_are_marked_and_in_natural_order() -> None:
    names = ("c10", "c2", "c1")
    truth = np.repeat([0, 1, 2], [200, 200, 20])
    answers = np.where(np.arange(420) >= 412, 0, truth)  # 8 of 20 rows of c1 are wrong
    made = certify(observe(answers, truth, names), Terms(source="test set"))
    assert [part.label for part in weak_classes(made)] == ["c1"]
    model = models.model("classes", 4, labels=Labels(np.array(["a", *names, "z"])), certificate=made)
    page = report_page(model)
    assert page.count('class="marked"') == 1
    (warning,) = re.findall(r'data-warning="weak classes">(.*?)</li>', page)
    assert re.findall(r"\bc\d+\b", warning) == ["c1"]
    found = read(page).text
    assert found.index("class c1 ") < found.index("class c2 ") < found.index("class c10 ")


def test_progress_ends_at_one() -> None:
    seen = list[float]()
    model = pages.hostile()
    report_page(model, pages.given(model), progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def test_explain_and_report_have_the_same_importance() -> None:
    rng = np.random.default_rng(0)
    model = models.model("mixture", 4, feature_names=tuple("abcd"))
    model = replace(model, card=Card(background=background_rows(rng.normal(size=(100, 4)).astype(np.float32))))
    X = rng.normal(size=(300, 4)).astype(np.float32)
    y = model.predict(X)
    found = read(report_page(model, measure_rows(model, X, model.labels.encode(y)))).text
    for one in abnet.explanation.explain_model(model, X, y).importance:
        assert f"{one.column} {100 * one.contribution:.1f}% ± {100 * one.contribution_error:.1f}" in found


def test_the_form_begins_with_a_typical_row() -> None:
    """The fields, prepared again, are the features of the medoid."""
    table = models.columns(models.HOSTILE, hashed=False)
    made = models.with_dates(models.table(30, [c.name for c in table.columns]), table.columns[5].name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenWarning)
        features = np.asarray(table.transform(made))
    typical = medoid(features)
    assert any(np.array_equal(typical, row) for row in features.astype(np.float64))
    model = models.model("mixture", table.n_features_out, preparation=table)
    cells = {}
    for column, field in zip(table.columns, form_fields(model, typical), strict=True):
        usual = field["usual"]
        if field["type"] == "choice":
            usual = None if usual is None else "something else" if usual < 0 else field["choices"][usual]
        if field["type"] == "date":
            if usual is None:
                usual = None
            else:
                usual = str(np.datetime64("1970-01-01") + int(usual))
        unit = ""
        if isinstance(column, NumericColumn):
            unit = column.form.before
        cells[column.name] = [None if usual in (None, "") else f"{unit}{usual}"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenWarning)
        again = np.asarray(table.transform(cells))[0]
    readable = np.concatenate([[c.kind not in ("words", "hashed")] * len(c.features) for c in table.columns])
    np.testing.assert_allclose(again[readable], typical[readable], rtol=1e-3, atol=1e-3)


def test_no_certificate_is_said_so() -> None:
    model = models.model("compact", 3, certificate=None, card=Card(bound_estimate=0.3))
    page = report_page(model)
    assert 'class="number"' not in page
    assert "30%" in page.split('class="verdict"')[1].split("</p>")[0]


def test_many_classes_show_what_is_confused_most() -> None:
    from abnet.model.predictors.compact import Compact
    from abnet.networks.bam import BAM
    from abnet.networks.codebook import code_words

    rng = np.random.default_rng(0)
    names = np.array([f"class {k}" for k in range(20)])
    model = Model(Compact.from_networks([BAM.init(rng, (3, 4, 6))], code_words(20, 6)), Labels(names))
    X = rng.normal(size=(200, 3))
    codes = rng.integers(20, size=200)
    page = report_page(model, measure_rows(model, X, codes))
    pairs = section(page, "estimates").split("share of that class")[1].split("</table>")[0]
    assert pairs.count("<tr") == MOST_PAIRS
    assert 'class="confusion' not in page
    assert " 14 more" in page.split('class="lead"')[1].split("</p>")[0]


# The function


def test_the_function_takes_classifiers_and_rows(tmp_path: Path) -> None:
    class Fitted:
        model_ = models.model("mixture", 3)

    X = np.random.default_rng(0).normal(size=(30, 3))
    y = Fitted.model_.predict(X)
    path = abnet.write_report(Fitted(), tmp_path / "report.html", X, y, title="Mine")
    assert path == tmp_path / "report.html"
    assert "<h1>Mine</h1>" in path.read_text(encoding="utf-8")
    for X_, y_, match in ((X, None, "X.*y"), (X, y[:5], r"\b5\b.*\b30\b"), (X, y + 7, r"\by\b")):
        with pytest.raises(ValueError, match=match):
            write_report(Fitted(), tmp_path / "other.html", X_, y_)
    with pytest.raises(TypeError, match="dict"):
        write_report({}, tmp_path / "other.html")  # type: ignore[arg-type]
    assert not (tmp_path / "other.html").exists()


def test_the_same_model_gives_the_same_page(tmp_path: Path) -> None:
    model = pages.hostile()
    assert report_page(model, pages.given(model)) == report_page(model, pages.given(model))


def test_a_loaded_file_needs_neither_jax_nor_scikit_learn(tmp_path: Path) -> None:
    save(pages.hostile(), tmp_path / "model.abnet")
    code = (
        "import sys, abnet\n"
        f"abnet.write_report(abnet.load({str(tmp_path / 'model.abnet')!r}), {str(tmp_path / 'r.html')!r})\n"
        "found = {'jax', 'sklearn', 'matplotlib', 'pandas'} & set(sys.modules)\nassert not found, found\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
    assert (tmp_path / "r.html").stat().st_size > 10_000


def test_other_models_may_be_given() -> None:
    model: Model = replace(pages.hostile())
    peers = peers_of(
        [{"name": "forest", "bound": 0.125, "test_error": 0.08}, {"name": "tree", "test_error": 0.2}, {"a": 1}]
    )
    page = report_page(model, rivals=peers)
    assert bars(page, "bounds")["forest", ""] == "12.5%"
    rates = bars(page, "rates")
    assert rates["forest", "test"] == "8%"
    assert rates["tree", "test"] == "20%"
    assert ("tree", "") not in bars(page, "bounds")
    assert "svg onload" not in read(page).text  # instead of the model's own


def test_bounds_and_counted_rates_never_share_an_axis() -> None:
    """A chart of bounds has no rate in it, and a chart of rates has no bound."""
    peers = peers_of([{"name": "forest", "bound": 0.125, "test_error": 0.2}])
    page = report_page(pages.hostile(certificate=certificate()), rivals=peers, form=False)
    bounds = bars(page, "bounds")
    rates = bars(page, "rates")
    assert bounds.keys() == {("this", ""), ("forest", "")}
    assert rates.keys() == {("this", "held-out"), ("forest", "test"), ("always", "")}
    assert bounds["forest", ""] == "12.5%"
    assert rates["forest", "test"] == "20%"
    assert not {"12.5%", bounds["this", ""]} & set(rates.values())


# Pictures


@pytest.mark.parametrize(("low", "high"), [(0, 1), (0.0, 0.034), (3, 3), (-2.5, 1e6), (0, 7), (0.1199, 0.12)])
def test_ticks_are_round_and_span_the_interval(low: float, high: float) -> None:
    ticks = nice_ticks(low, high)
    assert ticks[0] <= low
    assert ticks[-1] >= high
    assert 2 <= len(ticks) <= 8
    assert np.allclose(np.diff(ticks), ticks[1] - ticks[0])


def test_points_are_where_their_numbers_are() -> None:
    """The second of three points on a line lies in the middle of the others, and larger is higher."""
    drawn = chart([Series("s", [0, 1, 2], [0.0, 0.5, 1.0])], "c", "t", "d", x_label="x", y_label="y")
    line = re.search(r'points="([^"]+)"', drawn)
    assert line is not None
    points = np.array([[float(v) for v in pair.split(",")] for pair in line[1].split()])
    np.testing.assert_allclose(points[1], points[[0, 2]].mean(axis=0), atol=0.11)
    assert points[2, 1] < points[0, 1]
    assert points[2, 0] > points[0, 0]
