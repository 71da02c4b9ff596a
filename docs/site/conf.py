"""Settings of Sphinx for the site; `build.py` stages the pages and calls it."""

import inspect
import re
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx

import abnet

project = "abnet"
author = "the authors of abnet"
version = release = abnet.__version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
]

root_doc = "index"
exclude_patterns = ["_build"]
default_role = "py:obj"  # a link where the name is one of ours, else plain code
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "dollarmath"]
suppress_warnings = ["ref.python"]  # a bare name such as `n_features_in` may be that of several classes

autodoc_typehints = "none"  # the docstrings say what arguments are, shapes included
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "inherited-members": True}
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_param = False
napoleon_custom_sections = [("Attributes", "params_style")]

html_theme = "furo"
html_title = f"abnet {version}"
html_math_renderer = "mathml"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_static_path = ["static"]
html_css_files = ["site.css"]
html_favicon = html_logo = "static/favicon.svg"
html_theme_options = {
    "navigation_with_keys": True,
    "light_css_variables": {"color-brand-primary": "#0f5e7d", "color-brand-content": "#0f5e7d"},
    "dark_css_variables": {"color-brand-primary": "#7cc4e0", "color-brand-content": "#7cc4e0"},
}
pygments_style = "friendly"
pygments_dark_style = "monokai"

# Copy what is typed, not what is printed: the lines after a prompt, where a block has prompts.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"


def _mathml(formula: str, *, block: bool) -> str:
    # The translator knows opening and closing delimiters only, and which of them one is shows in its shape.
    sided = re.sub(
        r"\\([bB])ig(\\?[(\[{)\]}])", lambda m: rf"\{m[1]}ig{'l' if m[2][-1] in '([{' else 'r'}{m[2]}", formula
    )
    return str(tex2mathml(sided, as_block=block))


def _inline(translator: Any, node: nodes.math) -> None:
    translator.body.append(_mathml(node.astext(), block=False))
    raise nodes.SkipNode


def _block(translator: Any, node: nodes.math_block) -> None:
    translator.body.append(f'<div class="math">{_mathml(node.astext(), block=True)}</div>')
    raise nodes.SkipNode


def _is_foreign(app: Sphinx, what: str, name: str, member: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what classes inherit from other libraries: their documentation is elsewhere."""
    function = getattr(member, "fget", None) or getattr(member, "__func__", member)
    home = getattr(inspect.unwrap(function), "__module__", None) if callable(function) else ""
    return True if home is None or (home and not home.startswith("abnet")) else None


_properties: dict[str, list[str]] = {}


def _keep(app: Sphinx, what: str, name: str, member: Any, options: Any, lines: list[str]) -> None:
    if what == "property":
        _properties[name] = list(lines)


def _restore(app: Sphinx, what: str, name: str, member: Any, options: Any, lines: list[str]) -> None:
    """Take the docstring of a property as it is: what stands before a colon in it is no type."""
    if what == "property":
        lines[:] = _properties.pop(name)


def setup(app: Sphinx) -> None:
    """Formulas as MathML, which browsers show without script and without a network."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))  # type: ignore[arg-type]
    app.connect("autodoc-process-docstring", _keep, priority=400)  # napoleon's is 500
    app.connect("autodoc-process-docstring", _restore, priority=600)
    app.connect("autodoc-skip-member", _is_foreign)
