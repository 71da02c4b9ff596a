"""Jinja2 templates of a package's folder `templates`: everything that is put into them is escaped."""

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

__all__ = ["templates"]


@cache
def templates(package: str) -> Environment:
    """The templates of a package; a name that a template does not find is an error.

    Examples
    --------
    >>> templates("abnet.report").from_string("<p>{{ name }}</p>").render(name="<b>")
    '<p>&lt;b&gt;</p>'
    """
    return Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
