"""Certificates and fitted models as notebooks show them: a few elements of HTML, every text in them escaped."""

from html import escape
from typing import Any

__all__ = ["certificate_html", "fitted_html"]

_STYLE = "border-left: 3px solid currentColor; padding: 0.2em 0 0.2em 0.8em; max-width: 48em"


def certificate_html(certificate: Any) -> str:
    """The words of a certificate as paragraphs.

    Parameters
    ----------
    certificate : Certificate or DrawnCertificate
        Or anything whose ``str()`` is text.

    Examples
    --------
    >>> certificate_html("At most 3 % <b>.")
    '<div style="...">\\n<p>At most 3 % &lt;b&gt;.</p>\\n</div>'
    """
    paragraphs = [escape(line.strip()) for line in str(certificate).splitlines() if line.strip()]
    body = "\n".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    return f'<div style="{_STYLE}">\n{body}\n</div>'


def fitted_html(parameters: str, certificate: Any = None) -> str:
    """What scikit-learn shows of an estimator, which is HTML already, and below it the certificate of the fit.

    Examples
    --------
    >>> fitted_html("<div>ABNetClassifier()</div>")
    '<div>ABNetClassifier()</div>'
    """
    return parameters if certificate is None else f"{parameters}\n{certificate_html(certificate)}"
