"""Certificates and fitted models as notebooks show them: a few elements of HTML, every text in them escaped."""

import re
from html import escape
from typing import Any

__all__ = ["certificate_html", "fitted_html"]

_STYLE = "border-left: 3px solid currentColor; padding: 0.2em 0 0.2em 0.8em; max-width: 48em"


def certificate_html(certificate: Any) -> str:
    """The words of a certificate as paragraphs, its table as it stands.

    Parameters
    ----------
    certificate : Certificate or DrawnCertificate
        Or anything whose ``str()`` is text.

    Examples
    --------
    >>> certificate_html("At most 3 % <b>.")
    '<div style="...">\\n<p>At most 3 % &lt;b&gt;.</p>\\n</div>'
    """
    blocks = [block for block in re.split(r"\n\s*\n", str(certificate).strip("\n")) if block.strip()]
    body = "\n".join(_table(block) if re.search(r"\S {2,}\S", block) else _paragraph(block) for block in blocks)
    return f'<div style="{_STYLE}">\n{body}\n</div>'


def _table(block: str) -> str:
    return f"<pre>{escape(block)}</pre>"


def _paragraph(block: str) -> str:
    return f"<p>{escape(' '.join(block.split()))}</p>"


def fitted_html(parameters: str, certificate: Any = None) -> str:
    """What scikit-learn shows of an estimator, which is HTML already, and below it the certificate of the fit.

    Examples
    --------
    >>> fitted_html("<div>ABNetClassifier()</div>")
    '<div>ABNetClassifier()</div>'
    """
    return parameters if certificate is None else f"{parameters}\n{certificate_html(certificate)}"
