"""Texts as HTML for notebooks."""

import re
from html import escape

__all__ = ["as_html", "fitted_html"]

_STYLE = "border-left: 3px solid currentColor; padding: 0.2em 0 0.2em 0.8em; max-width: 48em"


def fitted_html(parameters: str, certificate: object = None, recipe: str = "") -> str:
    """Append the result of the fit to scikit-learn's HTML display of an estimator.

    Examples
    --------
    >>> print(fitted_html("<div>ABNetClassifier()</div>", recipe="8 networks of 8 neurons"))
    <div>ABNetClassifier()</div>
    <p>Made as 8 networks of 8 neurons.</p>
    """
    parts = [parameters]
    if recipe:
        parts.append(f"<p>Made as {escape(recipe)}.</p>")
    if certificate is not None:
        parts.append(as_html(certificate))
    return "\n".join(parts)


def as_html(shown: object) -> str:
    """The text as HTML paragraphs for a notebook, escaped.

    Examples
    --------
    >>> as_html("At most 3% <b>.")
    '<div style="...">\\n<p>At most 3% &lt;b&gt;.</p>\\n</div>'
    """
    blocks = [block for block in re.split(r"\n\s*\n", str(shown).strip("\n")) if block.strip()]
    body = "\n".join(_block(block) for block in blocks)
    return f'<div style="{_STYLE}">\n{body}\n</div>'


def _block(block: str) -> str:
    """A paragraph; columns keep their places."""
    if re.search(r"\S {2,}\S", block):
        return f"<pre>{escape(block)}</pre>"
    return f"<p>{escape(' '.join(block.split()))}</p>"
