"""Jinja2 templates from the folder `templates` of a package; all inserted values are escaped."""

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

__all__ = ["templates"]


@cache
def templates(package: str) -> Environment:
    """The templates of a package; undefined names in a template raise an error.

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
