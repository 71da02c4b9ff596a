"""The card of a report: what people state stands on the page, and what nobody stated is named."""

import re
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from typer.testing import CliRunner

import abnet
from abnet.certificates.certificate import Certificate
from abnet.certificates.cut_counts import CutCounts
from abnet.certificates.decision import Decision
from abnet.certificates.evidence import observe
from abnet.certificates.from_evidence import certify
from abnet.certificates.rates_of_cut import rates_of_cut
from abnet.certificates.requests import Gaps, Requests
from abnet.certificates.statements.decision_rule import CutRule
from abnet.certificates.statements.gap_bound import GapBound, group_limits, group_seen
from abnet.certificates.statements.population_error import PopulationError
from abnet.certificates.statements.tolerated_error import ToleratedError
from abnet.certificates.terms import Terms
from abnet.cli.app import app
from abnet.model.digest import belonging
from abnet.model.file import file_size, save
from abnet.model.monitor_table import certified_error
from abnet.model.predictors.compact import Compact
from abnet.report.documentation import QUESTIONS
from abnet.report.page import report_page
from abnet.report.stated_facts import About, about_from, about_template
from abnet.utils.wording import percent_down, percent_up
from export import models
from report import pages

CARD: dict[str, Any] = {
    "owner": "Clinic",
    "purpose": "<b>Second reading</b>",
    "oversight": "The senior reader decides.",
    "previous": [{"date": "2024-05-01", "error_bound": 0.0812, "change": "New device."}],
    "signatures": [{"name": "A. Smith", "role": "Head of laboratory", "date": "2025-02-03"}],
}


def part(page: str) -> str:
    """The section for the files."""
    return page.split('<section id="file"')[1].split("</section>")[0]


def test_stated_facts_are_shown_and_missing_ones_are_named() -> None:
    shown = part(report_page(models.model("mixture", 4), about=about_from(CARD), form=False))
    for fact in ("&lt;b&gt;Second reading&lt;/b&gt;", "senior reader", "2024-05-01", "8.2%", "A. Smith"):
        assert fact in shown
    missing = shown.split("Not stated:")[1]
    for field, name in QUESTIONS.items():
        assert (name in missing) == (field not in CARD)


def test_without_a_card_every_question_is_open() -> None:
    shown = part(report_page(models.model("mixture", 4), form=False))
    missing = shown.split("Not stated:")[1]
    assert all(name in missing for name in QUESTIONS.values())


def test_the_template_asks_for_every_field_and_is_a_card() -> None:
    text = about_template(models.model("mixture", 4))
    asked = set(tomllib.loads(text)) | {line[4:-2] for line in text.splitlines() if line.startswith("# [[")}
    assert asked == set(About.__struct_fields__)
    assert about_from(tomllib.loads(text)) == About()


def test_a_title_with_quotes_survives_the_template() -> None:
    model = models.model("mixture", 4)
    hostile = 'a "b" \\ \n c = 1'
    named = replace(model, card=replace_target(model.card, hostile))
    assert hostile in tomllib.loads(about_template(named))["title"]


def replace_target(card: Any, target: str) -> Any:
    import msgspec

    return msgspec.structs.replace(card, target=target)


def test_options_take_precedence_and_dates_may_be_dates(tmp_path: Path) -> None:
    file = tmp_path / "card.toml"
    file.write_text('owner = "Clinic"\ndate = 2026-01-31\n[[previous]]\ndate = 2025-01-31\n', encoding="utf-8")
    about = about_from(file, owner="Ward 3")
    assert (about.owner, about.date, about.previous[0].date) == ("Ward 3", "2026-01-31", "2025-01-31")


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("owner = ", ["card.toml", "TOML"]),
        ('ownr = "x"', ["card.toml", "ownr", "owner"]),
        ("owner = 3", ["card.toml", "owner"]),
        ('[[signatures]]\nrole = "x"', ["card.toml", "name", "signatures"]),
    ],
)
def test_a_wrong_card_is_refused_by_place_and_field(tmp_path: Path, text: str, facts: list[str]) -> None:
    file = tmp_path / "card.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - its facts are checked
        about_from(file)
    assert all(fact in str(raised.value) for fact in facts)


def test_further_certificates_are_shown_if_they_are_about_this_model() -> None:
    model = models.model("mixture", 4)
    classes = tuple(model.labels.names)
    seen = observe([0] * 90 + [1] * 10, [0] * 100, classes, populations=["north"] * 60 + ["south"] * 40)
    made = certify(seen, Terms(source="test set"))
    with pytest.raises(ValueError, match="another model"):
        report_page(model, certificates=[made], form=False)
    named = abnet.Model(model.predictor, labels=model.labels, preparation=model.preparation, certificate=made)
    page = part(report_page(named, certificates=[named.certificate], form=False))  # type: ignore[list-item]
    assert "north" in page
    assert "south" in page


def test_gaps_have_a_chart_for_each_rate_with_the_limits_of_every_group() -> None:
    model = models.model("mixture", 4)
    classes = tuple(model.labels.names)
    truth = np.arange(200) % 2
    answers = np.where(np.arange(200) % 9 == 0, 1 - truth, truth)
    sites = np.where(np.arange(200) < 60, "<north>", "south")
    seen = observe(answers, truth, classes, populations=sites)
    made = certify(seen, Terms(source="test set"), Requests(gaps=Gaps("site", classes[1])))
    named = abnet.Model(model.predictor, labels=model.labels, preparation=model.preparation, certificate=made)
    page = part(report_page(named, certificates=[named.certificate], form=False))  # type: ignore[list-item]
    assert page.count("by site</h4>") == 4
    assert page.count("&lt;north&gt;</span>") == 4
    for statement in made.each(GapBound):
        for group in statement.groups:
            assert f"{group_seen(group)}; {group_limits(group)}" in page
    whiskers = re.findall(r'<line x1="([\d.]+)%" x2="([\d.]+)%" y1="9" y2="9" class="whisker"/>', page)
    assert len(whiskers) == 8
    assert all(float(low) < float(high) for low, high in whiskers)
    assert "<north>" not in page


def test_the_command_prints_a_card_and_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    models.model("mixture", 4).save("model.abnet")
    printed = CliRunner().invoke(app, ["report", "model.abnet", "--card-template"])
    assert printed.exit_code == 0
    assert not Path("report.html").exists()
    Path("card.toml").write_text(printed.stdout.replace('owner = ""', 'owner = "Clinic"'), encoding="utf-8")
    made = CliRunner().invoke(app, ["report", "model.abnet", "--card", "card.toml", "--no-form", "--quiet"])
    assert made.exit_code == 0, made.output
    assert "Clinic" in part(Path("report.html").read_text(encoding="utf-8"))


def headings(page: str) -> list[str]:
    """The headings of further certificates, in their order."""
    return re.findall(r'<h3 id="certificate-\d+">(.*?)</h3>', page)


def test_further_certificates_differ_in_their_headings_and_are_listed_first() -> None:
    model = models.model("mixture", 4)
    names = tuple(model.labels.names)
    terms = Terms(source="test set")
    sites = ["north", "south"] * 100
    seen = observe([0] * 180 + [1] * 20, [0] * 200, names, populations=sites)
    plain = certify(observe([0] * 180 + [1] * 20, [0] * 200, names), terms)
    tolerance = ToleratedError.from_counts(
        errors=20, unproved=30, n=200, tolerance="age by 2", delta=0.05, n_candidates=1
    )
    made = [
        plain,
        certify(seen, terms),
        certify(seen, terms, Requests(gaps=Gaps("site"))),
        Certificate(statements=(tolerance,), facts=plain.facts),
        plain,
    ]
    named = [belonging(certificate, model) for certificate in made]
    page = report_page(model, certificates=named, form=False)
    shown = headings(page)
    assert len(set(shown)) == len(made)
    assert "site" in shown[2]
    assert "age by 2" in shown[3]
    summary = page.split('<section id="summary"')[1].split("</section>")[0]
    lines = re.findall(r'<li><a href="#certificate-(\d)">(.*?)</a>: (.*?)</li>', summary)
    assert [(number, heading) for number, heading, _ in lines] == [
        (str(place), heading) for place, heading in enumerate(shown, start=1)
    ]
    assert percent_up(plain.vote_error_bound or 1.0) in lines[0][2]
    for population in named[1].each(PopulationError):
        assert percent_up(population.value or 1.0) in lines[1][2]
    gap = named[2].find(GapBound)
    assert gap is not None
    assert percent_up(gap.value or 1.0).rstrip("%") in lines[2][2]
    assert percent_up(tolerance.value or 1.0) in lines[3][2]
    counts = part(page).split('id="certificate-4"')[1].split("</table>")[0]
    assert [int(number) for number in re.findall(r"<td>(\d+)</td>", counts)] == [150, 30, 20]


def test_the_size_of_the_deployed_form_is_that_of_its_file(tmp_path: Path) -> None:
    model = abnet.Model(Compact(np.ones((2, 3, 4)), np.zeros((2, 3)), np.zeros((2, 8))))
    save(model, tmp_path / "model.abnet")
    assert file_size(model) == (tmp_path / "model.abnet").stat().st_size
    shown = part(report_page(model, form=False))
    assert f"{2 * 3 * 4 + 2 * 3 + 2 * 8} multiplications" in shown
    assert report_page(model, form=False) == report_page(model, form=False)


def test_words_of_the_theory_stand_in_its_section_alone() -> None:
    model = models.model("mixture", 4)
    page = report_page(model, form=False)
    before, theory = page.split('<section id="theory"')
    assert "<details" in theory
    assert type(model.predictor).__name__ in theory
    assert type(model.predictor).__name__ not in before.split("</style>")[1]


def test_the_monitoring_plan_names_what_the_monitor_will_watch() -> None:
    model = pages.hostile()
    called = model.labels.names[1]
    names = tuple(model.labels.names)
    counts = CutCounts(100, 90, negatives=200, negatives_above=20, rows=300, rows_above=110)
    rates = rates_of_cut(counts, CutRule(threshold=0.3, called=called), delta=0.05, n_candidates=1)
    seen = observe([1] * 300, [0] * 200 + [1] * 100, names)
    vote = certify(seen, Terms(source="test set"))
    ruled = replace(
        model,
        certificate=Certificate(statements=tuple(rates), facts=vote.facts),
        decision=Decision(kind="cut", threshold=0.3, positive=1),
    )
    shown = part(report_page(ruled, form=False))
    assert percent_up(certified_error(ruled, "error", None)) in shown
    for quantity in ("recall", "precision"):
        rate = percent_down(1.0 - certified_error(ruled, quantity, called))
        assert f"--{quantity} certified</code> it watches a {quantity} of at least {rate}" in shown
    plain = part(report_page(replace(model, certificate=vote), form=False))
    assert percent_up(vote.vote_error_bound or 1.0) in plain
    assert "--recall certified" not in plain


def test_rows_without_a_label_are_named_before_the_figure_is_relied_on() -> None:
    model = pages.hostile()
    card = msgspec.structs.replace(model.card, n_unlabelled_rows=2317)
    for shown, expected in ((replace(model, card=card), True), (model, False)):
        summary = report_page(shown, form=False).split('<section id="summary"')[1].split("</section>")[0]
        box = "".join(re.findall(r'<div class="warning">(.*?)</div>', summary, flags=re.DOTALL))
        assert ("2,317" in box) == expected
