"""Estimators, models and decisions in notebooks: scikit-learn's own display, and below it what came out of the fit."""

from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import msgspec
import numpy as np
import pytest
import sklearn
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import abnet
from abnet.certificates.monitor import Monitor
from abnet.utils.html_text import as_html
from export import models
from report.pages import LABELS


class Reader(HTMLParser):
    """Elements and text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    return reader


X = np.random.default_rng(0).normal(size=(60, 2))
Y = np.array(LABELS)[(X[:, 0] > 0).astype(int)]


@pytest.fixture(scope="module")
def fitted() -> abnet.ABNetClassifier:
    return abnet.ABNetClassifier((2,), max_iter=4, random_state=0).fit(X, Y)


def test_a_fitted_classifier_shows_parameters_and_certificate(fitted: abnet.ABNetClassifier) -> None:
    shown = fitted._repr_mimebundle_()
    assert fitted._repr_html_().endswith(as_html(fitted.certificate_))
    assert shown["text/plain"] == repr(fitted)
    assert shown["text/html"].endswith(as_html(fitted.certificate_))
    below = shown["text/html"][-len(as_html(fitted.certificate_)) :]
    assert set(read(below).tags) <= {"div", "p", "pre"}
    assert "<script>alert" not in shown["text/html"]
    assert "hidden_layer_sizes" in shown["text/html"]


def test_the_recipe_is_shown_escaped(fitted: abnet.ABNetClassifier) -> None:
    own = fitted.model_
    fitted.model_ = replace(own, card=msgspec.structs.replace(own.card, recipe="8 <b>networks</b>"))
    try:
        assert "8 &lt;b&gt;networks&lt;/b&gt;" in fitted._repr_html_()
    finally:
        fitted.model_ = own


def test_unfitted_estimators_and_pipelines_are_as_scikit_learn_shows_them() -> None:
    from sklearn.utils import estimator_html_repr

    for estimator in (abnet.ABNetClassifier((2,)), abnet.PBGNetClassifier(), abnet.BNNClassifier()):
        shown = estimator._repr_mimebundle_()["text/html"]
        assert "Made as" not in shown
        assert "sk-container" in shown
    pipeline = make_pipeline(StandardScaler(), abnet.ABNetClassifier((2,)))
    assert "ABNetClassifier" in pipeline._repr_html_()
    assert "sk-container" in estimator_html_repr(pipeline)


def test_a_plain_display_stays_plain(fitted: abnet.ABNetClassifier) -> None:
    with sklearn.config_context(display="text"):
        assert "text/html" not in fitted._repr_mimebundle_()
        assert not hasattr(fitted, "_repr_html_")


def test_a_loaded_model_shows_itself_without_its_arrays() -> None:
    from abnet.model import Card
    from abnet.tables.labels import Labels

    model = models.model("mixture", 3, labels=Labels(np.array(LABELS)), card=Card(recipe="<i>"))
    shown = model._repr_html_()
    assert "Compact" in shown
    assert "&lt;i&gt;" in shown
    assert set(read(shown).tags) <= {"div", "p", "pre"}
    assert len(shown) < 5000


def test_certificates_and_monitors_show_their_words() -> None:
    rows = np.arange(400.0)[:, None]
    y = np.where(np.arange(400) % 2, "a", "b")
    made: list[Any] = [
        abnet.certify(lambda X: ["a"] * len(X), rows, y, by=np.array(["<script>", "b"] * 200)),
        abnet.compare_errors(lambda X: ["a"] * len(X), lambda X: ["b"] * len(X), rows, y),
        Monitor(0.05, 0.01),
    ]
    for record in made:
        shown = record._repr_html_()
        assert shown == as_html(record)
        assert "<script>" not in shown
        assert read(shown).text.split() == str(record).split()
