"""The page in a real browser: inert, silent, narrow enough, readable, and as right as Python."""

import json
import shutil
import subprocess
import warnings
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from abnet.certificates.decision import Decision
from abnet.explanation.row_explanation import explain_inputs
from abnet.model.model import Model
from abnet.report.importance_section import page_plan
from abnet.report.page import report_page
from abnet.tables.columns import TextColumn
from abnet.tables.unseen import UnseenWarning
from export import models
from export.test_js import path_models
from report import pages
from report.browser import Browser, needs_chromium

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    made = Browser()
    yield made
    made.close()


@pytest.fixture(scope="module")
def model() -> Model:
    return pages.hostile()


@pytest.fixture(scope="module")
def page(model: Model, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(report_page(model, pages.given(model)), encoding="utf-8")
    return path


EXPLAINED = "document.getElementById('abnet-answer').dataset.contributions !== undefined"


def test_nothing_complains_and_nothing_leaves_the_page(browser: Browser, page: Path) -> None:
    browser.show(page)
    browser.until(EXPLAINED)
    assert browser.complaints == []
    outside = [url for url in browser.requests if not url.startswith("data:")]  # the picture of the browser's calendar
    assert outside == [page.resolve().as_uri()]
    assert browser.value("document.querySelectorAll('img, b b, svg[onload], iframe, object, link').length") == 0


def test_a_script_that_got_into_the_page_would_not_run(browser: Browser, page: Path, tmp_path: Path) -> None:
    """The policy allows this page's own script alone, and no request: a trap shows that it is in force."""
    trap = tmp_path / "trap.html"
    inserted = "<script>alert('out')</script><img src='https://example.org/x.png'><p style='color: red'>x</p></main>"
    trap.write_text(page.read_text(encoding="utf-8").replace("</main>", inserted), encoding="utf-8")
    browser.show(trap)
    browser.until(EXPLAINED)
    assert len(browser.complaints) == 3
    assert all("Content Security Policy" in complaint for complaint in browser.complaints)


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
@pytest.mark.parametrize("width", [400, 1200])
def test_no_horizontal_scroll(browser: Browser, page: Path, width: int, script: bool) -> None:
    browser.show(page, width=width, script=script)
    if script:
        browser.until(EXPLAINED)
    browser.ask("Emulation.setScriptExecutionDisabled", value=False)
    assert browser.value("document.documentElement.scrollWidth") <= width
    over = "!e.closest('.wide') && e.getBoundingClientRect().right > innerWidth + 1"
    assert browser.value(f"[...document.querySelectorAll('main *')].filter((e) => {over}).length") == 0


def test_no_word_of_the_columns_is_broken_on_a_phone(browser: Browser, page: Path) -> None:
    """One of the columns has a name of 300 letters, which may not take the room of the others."""
    browser.show(page, width=400)
    lines = (
        "[...document.querySelectorAll('#columns td:nth-child(2), #columns th')].filter((cell) => "
        "!cell.textContent.includes(' ')).map((cell) => { const range = document.createRange(); "
        "range.selectNodeContents(cell); return range.getClientRects().length; })"
    )
    found = browser.value(lines)
    assert len(found) > 8
    assert set(found) == {1}
    fields = "[...document.querySelectorAll('label span')].map((name) => name.scrollHeight / name.clientHeight)"
    heights = "[...document.querySelectorAll('label span')].map((name) => name.clientHeight)"
    assert max(browser.value(fields)) > 1  # the long name is cut
    assert max(browser.value(heights)) < 60  # between two lines, not through one


def test_without_script_all_is_there_but_the_form(browser: Browser, page: Path) -> None:
    browser.show(page, script=False)
    browser.ask("Emulation.setScriptExecutionDisabled", value=False)
    assert browser.value("document.getElementById('abnet-form').hidden")
    assert browser.value("getComputedStyle(document.getElementById('abnet-form')).display") == "none"
    text = browser.value("document.body.innerText")
    for words in ("What is certified", "Confusion matrix", "With JavaScript on", "How to reproduce it"):
        assert words in text


CONTRAST = """(() => {
  const channel = (v) => { v /= 255; return v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; };
  const light = ([r, g, b]) => .2126 * channel(r) + .7152 * channel(g) + .0722 * channel(b);
  const parse = (text) => { const n = text.match(/[\\d.]+/g).map(Number); return n.length > 3 ? n : [...n, 1]; };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3]));
  const behind = (e) => {
    if (!e) return parse(getComputedStyle(document.body).backgroundColor).slice(0, 3);
    const own = parse(getComputedStyle(e).backgroundColor);
    return own[3] === 1 ? own.slice(0, 3) : over(own, behind(e.parentElement));
  };
  const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + .05) / (y + .05); };
  const wrong = [];
  let texts = 0, shapes = 0;
  for (const e of document.querySelectorAll('body *')) {
    if (!e.getClientRects().length || getComputedStyle(e).visibility === 'hidden') continue;
    const style = getComputedStyle(e), own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (own && !e.closest('script, style, title, desc, option')) {
      const ink = parse(e.closest('svg') ? style.fill : style.color), size = parseFloat(style.fontSize);
      const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
      const found = ratio(over(ink, behind(e)), behind(e));
      texts += 1;
      if (found < (large ? 3 : 4.5)) wrong.push([e.outerHTML.slice(0, 80), found]);
    }
    if (e.matches('.bar, .dot, .line, .mark, .whisker')) {
      const ink = parse(e.matches('.bar, .dot') ? style.fill : style.stroke);
      const found = ratio(ink, behind(e.closest('svg')));
      shapes += 1;
      if (found < 3) wrong.push([e.outerHTML.slice(0, 80), found]);
    }
  }
  return { wrong, texts, shapes };
})()"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_reaches_aa(browser: Browser, page: Path, scheme: str) -> None:
    browser.show(page, scheme=scheme)
    browser.until(EXPLAINED)
    found = browser.value(CONTRAST)
    assert found["wrong"] == []
    assert found["texts"] > 150
    assert found["shapes"] > 20
    backgrounds = {"light": "rgb(255, 255, 255)", "dark": "rgb(21, 24, 27)"}
    assert browser.value("getComputedStyle(document.body).backgroundColor") == backgrounds[scheme]


def test_a_low_contrast_would_be_found(browser: Browser, page: Path, tmp_path: Path) -> None:
    browser.show(page)
    browser.value("document.documentElement.style.setProperty('--muted', '#bbbbbb')")
    assert len(browser.value(CONTRAST)["wrong"]) > 10


def test_it_prints_on_white_paper_without_the_form(browser: Browser, page: Path, tmp_path: Path) -> None:
    browser.show(page, scheme="dark")
    browser.until(EXPLAINED)
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    browser.ask("Emulation.setEmulatedMedia", media="print", features=dark)
    assert browser.value("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    for hidden in ("nav", "#try"):
        assert browser.value(f"getComputedStyle(document.querySelector('{hidden}')).display") == "none"
    browser.print(tmp_path / "page.pdf")
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.skipif(shutil.which("pdftoppm") is None, reason="pdftoppm is not installed")
@pytest.mark.parametrize("kind", ["mixture", "classes"])
def test_no_printed_page_but_the_last_is_left_empty(browser: Browser, tmp_path: Path, kind: str) -> None:
    model = pages.plain(kind)
    (tmp_path / "page.html").write_text(report_page(model, pages.plain_rows(model)), encoding="utf-8")
    browser.show(tmp_path / "page.html")
    browser.print(tmp_path / "page.pdf")
    subprocess.run(["pdftoppm", "-r", "30", "-gray", tmp_path / "page.pdf", tmp_path / "sheet"], check=True)
    filled = [share_filled(path) for path in sorted(tmp_path.glob("sheet*.pgm"))]
    assert 3 < len(filled) < 10
    assert min(filled[:-1]) > 0.7


def share_filled(path: Path) -> float:
    """How far down a sheet of A4 is printed, between its margins."""
    _, size, _, pixels = path.read_bytes().split(b"\n", 3)
    width, height = map(int, size.split())
    grey = np.frombuffer(pixels, np.uint8).reshape(height, width)
    top = round(height * 14 / 297)
    bottom = round(height * (297 - 16) / 297)
    return float((np.flatnonzero((grey[top:bottom] < 235).any(axis=1)).max() + 1) / (bottom - top))


# The form against Python

ANSWERS = """(rows => {
  const form = document.querySelector('#abnet-form form'), answer = document.getElementById('abnet-answer');
  return rows.map((row) => {
    row.forEach((value, i) => { document.getElementById(`abnet-field-${i}`).value = value; });
    form.dispatchEvent(new Event('submit', { cancelable: true }));
    const shown = answer.querySelector('.result')?.textContent, p = JSON.parse(answer.dataset.probabilities || 'null');
    return { label: answer.dataset.label, p, shown };
  });
})"""


def typed(model: Model, rows: Any) -> list[list[str]]:
    """What is typed into the fields for rows of the hostile table."""
    choices = [
        [*column.categories, *(column.rare or ())] if isinstance(column, TextColumn) else None
        for column in model.preparation.columns
    ]
    return [
        [_typed(cell, listed, place) for place, (cell, listed) in enumerate(zip(row, choices, strict=True))]
        for row in rows
    ]


def _typed(cell: Any, listed: list[str] | None, place: int) -> str:
    if listed is not None:
        if cell is None or cell.strip().lower() in ("", "nan", "<na>", "null"):
            return ""
        if cell in listed:
            return str(listed.index(cell))
        return "\0another"
    if cell is None:
        return ""
    if place == 5:
        return (date(1970, 1, 1) + timedelta(days=cell)).isoformat()
    if isinstance(cell, bool):
        return {True: "true", False: "false"}[cell]
    return str(cell)


@pytest.mark.parametrize("kind", ["mixture", "classes", "compact"])
def test_the_form_answers_as_python_does(browser: Browser, tmp_path: Path, kind: str) -> None:
    """200 rows with missing cells, unseen categories and words beyond ASCII, typed into the fields."""
    model = pages.hostile(kind)
    path = tmp_path / "report.html"
    path.write_text(report_page(model, pages.given(model)), encoding="utf-8")
    frame = pages.frame(200, seed=9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenWarning)
        scores = model.decision_function(models.with_dates(frame, frame.columns[5]))
    browser.show(path)
    found = browser.value(f"{ANSWERS}({json.dumps(typed(model, frame.rows()))})")
    assert [one["label"] for one in found] == [str(label) for label in model.labels.from_scores(scores)]
    np.testing.assert_allclose([one["p"] for one in found], model.probabilities_from_scores(scores), atol=1e-5)
    assert all(one["shown"].startswith("Answer: ") for one in found)
    assert len({one["label"] for one in found}) > 1
    assert browser.complaints == []


@pytest.mark.parametrize("name", ["paths", "several classes", "moments", "moments, several classes"])
def test_the_form_of_wide_networks(browser: Browser, tmp_path: Path, name: str) -> None:
    from abnet.report.measures import measure_rows

    model = path_models()[name]
    rng = np.random.default_rng(8)
    X = rng.normal(size=(200, 4)).round(3)
    path = tmp_path / "report.html"
    path.write_text(report_page(model, measure_rows(model, X, model.predictor.votes(X))), encoding="utf-8")
    browser.show(path)
    found = browser.value(f"{ANSWERS}({json.dumps(X.astype(str).tolist())})")
    assert [one["label"] for one in found] == [str(label) for label in model.predict(X)]
    np.testing.assert_allclose([one["p"] for one in found], model.predict_proba(X), atol=1e-5)
    browser.until(EXPLAINED)
    assert browser.complaints == []


@pytest.mark.parametrize("kind", ["cut", "abstain"])
def test_the_form_decides_as_python_does(browser: Browser, tmp_path: Path, kind: str) -> None:
    if kind == "cut":
        rule = {"threshold": 0.2, "positive": 0}
    else:
        rule = {"threshold": 0.4}
    model = replace(path_models()["moments"], decision=Decision(kind=kind, **rule))  # type: ignore[arg-type]
    X = np.random.default_rng(8).normal(size=(100, 4)).round(3)
    path = tmp_path / "report.html"
    path.write_text(report_page(model), encoding="utf-8")
    browser.show(path)
    found = browser.value(f"{ANSWERS}({json.dumps(X.astype(str).tolist())})")
    expected = ["" if label is None else str(label) for label in model.predict(X)]
    assert [one["label"] for one in found] == expected
    assert expected != [str(label) for label in model.labels.decode(model.predictor.votes(X))]


def test_the_form_explains_as_python_does(browser: Browser, model: Model, page: Path) -> None:
    given = pages.given(model)
    plan = page_plan(model, given)
    assert plan is not None
    frame = pages.frame(200, seed=9)[3:4]
    dated = models.with_dates(frame, frame.columns[5])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenWarning)
        inputs = model.prepare(dated)
    expected = explain_inputs(model, inputs, [("",) * 7], plan)[0]
    browser.show(page)
    browser.until(EXPLAINED)
    browser.value("delete document.getElementById('abnet-answer').dataset.contributions")
    browser.value(f"{ANSWERS}({json.dumps(typed(model, frame.rows()))})")
    browser.until(EXPLAINED)
    found = json.loads(browser.value("document.getElementById('abnet-answer').dataset.contributions"))
    np.testing.assert_allclose(found, expected.contributions, atol=1e-9)
    assert np.abs(expected.contributions).max() > 0.001
    assert expected.regions is not None
    listed = browser.value("document.querySelector('#abnet-answer table')?.textContent ?? ''").replace("−", "-")
    assert expected.regions.other_probability < 0.5  # otherwise they say little, and are left out
    assert all(f"{region.member + 1}: {region.word}" in listed for region in expected.regions.listed)


def test_a_row_that_cannot_be_answered_is_said_so(browser: Browser, tmp_path: Path) -> None:
    """A model of arrays has no rule for a missing number."""
    path = tmp_path / "report.html"
    path.write_text(report_page(path_models()["moments"]), encoding="utf-8")
    browser.show(path)
    row = ["1", "3", "", "2"]
    answered = browser.value(f"{ANSWERS}([{json.dumps(row)}])")[0]
    assert answered["label"] == ""
    assert browser.value("document.querySelector('#abnet-answer .problem').textContent")
