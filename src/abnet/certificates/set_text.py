"""Sets of classes as text in one cell of a table, such as ``{ill|well}``."""

import re
from collections.abc import Iterable

__all__ = ["read_set", "set_text"]

_SPECIAL = re.compile(r"[\\|{}]")


def set_text(names: Iterable[str]) -> str:
    r"""The names between braces, separated by bars; a bar, brace or backslash in a name follows a backslash.

    Examples
    --------
    >>> set_text(["ill", "well"]), set_text([]), set_text(["a|b"])
    ('{ill|well}', '{}', '{a\\|b}')
    """
    parts = [_SPECIAL.sub(r"\\\g<0>", name) for name in names]
    return "{" + "|".join(parts) + "}"


def read_set(text: str) -> tuple[str, ...]:
    r"""The names in a text of `set_text`; raises a ValueError for any other text.

    Examples
    --------
    >>> read_set("{ill|well}"), read_set("{}"), read_set("{a\\|b}")
    (('ill', 'well'), (), ('a|b',))
    """
    if len(text) < 2 or text[0] != "{" or text[-1] != "}":
        raise ValueError(f"a set is written as {{a|b}}; got {text!r}.")
    inside = text[1:-1]
    if not inside:
        return ()
    names = [""]
    escaped = False
    for character in inside:
        if not escaped and character == "\\":
            escaped = True
        elif not escaped and character == "|":
            names.append("")
        else:
            names[-1] += character
            escaped = False
    if set_text(names) != text:
        raise ValueError(f"a set is written as {{a|b}}; got {text!r}.")
    return tuple(names)
