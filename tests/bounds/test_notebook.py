"""Certificates in notebooks: the same words, and whatever a class is called, no markup but ours."""

from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

from sklearn.linear_model import LogisticRegression

from abnet.bounds import Certificate, certify_trained
from abnet.bounds.wording import certificate_html, fitted_html
from model.every_kind import drawn_certificate

HOSTILE = ("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>')


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


def certificate() -> Certificate:
    plain = certify_trained([0.1, 0.3] * 60, [1, -1] * 60, 2.5, delta=0.05, prior="split")
    return replace(plain, class_names=HOSTILE)


def test_the_words_of_the_certificate_are_shown_and_nothing_else() -> None:
    for promise in (certificate(), drawn_certificate()):
        found = read(promise._repr_html_())
        assert set(found.tags) <= {"div", "p", "pre"}
        assert "p" in found.tags
        assert found.text.split() == str(promise).split()
    assert "<script>" in str(certificate())


def test_a_fitted_model_shows_parameters_and_certificate() -> None:
    parameters = LogisticRegression()._repr_html_()
    page = fitted_html(parameters, certificate())
    assert page.startswith(parameters)
    assert page.endswith(certificate_html(certificate()))
    assert "<script>alert" not in page
    assert "<img" not in page[len(parameters) :]
    assert fitted_html(parameters) == parameters
