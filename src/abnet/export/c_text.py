"""Write names, texts and numbers as C; no text of a model can end its string literal, comment or line."""

import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "CPart",
    "c_array",
    "c_comment",
    "c_identifiers",
    "c_number",
    "c_plain",
    "c_reals",
    "c_string",
    "defines",
    "with_prefix",
]


_RESERVED = frozenset(
    re.findall(
        r"\w+",
        """
        auto break case char const continue default do double else enum extern float for goto if inline int long
        register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
        bool true false class delete new private protected public template this throw try catch virtual namespace using
        operator friend explicit export mutable typename and or not xor bitand bitor compl and_eq or_eq xor_eq not_eq
        asm errno stdin stdout stderr linux unix typeof wchar_t constexpr nullptr alignas alignof static_assert
        thread_local noexcept decltype concept requires signbit complex imaginary
        """,
    )
)
"""Words of C and C++, and macros in small letters, which no member of a struct may be called."""
_LONGEST_IDENTIFIER = 40
_ASCII = {"≤": "<=", "≥": ">=", "–": "-", "—": "-", "δ": "delta", "×": "x", "±": "+-", "’": "'", "‘": "'", "…": "..."}


def c_identifiers(names: Sequence[str]) -> list[str]:
    """A unique C identifier for every name, similar to it; none begins with ``abnet_``, the prefix of our own names.

    Examples
    --------
    >>> c_identifiers(["mean radius", "Mean-Radius", "2nd", "float", "*/ }", ""])
    ['mean_radius', 'mean_radius_2', 'x2nd', 'float_', 'x', 'x_2']
    """
    identifiers: list[str] = []
    for name in names:
        stem = _identifier(name)
        candidate = stem
        number = 1
        while candidate in identifiers:
            number += 1
            candidate = f"{stem}_{number}"
        identifiers.append(candidate)
    return identifiers


def _identifier(name: str) -> str:
    """The C identifier most similar to a name."""
    stem = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    stem = stem[:_LONGEST_IDENTIFIER].rstrip("_")
    if not stem:
        return "x"
    if stem[0].isdigit() or stem.startswith("abnet_"):
        stem = f"x{stem}"
    if stem in _RESERVED:
        stem = f"{stem}_"
    return stem


def c_plain(text: str, most: int | None = None) -> str:
    """Text in printable ASCII that can neither end a comment nor begin one, nor continue a line.

    With `most`, in one line of at most so many characters.

    Examples
    --------
    >>> c_plain("a */ b ??/ ≤ é")
    'a * / b ? ?/ <= \\\\xe9'
    """
    if most is not None:
        text = " ".join(text.split())
    plain = "".join(map(_plain_character, text))
    for pair in ("*/", "/*", "??"):
        while pair in plain:
            plain = plain.replace(pair, f"{pair[0]} {pair[1]}")
    if most is not None and len(plain) > most:
        plain = plain[: most - 3] + "..."
    if plain.endswith("\\"):
        # A backslash at the end of a line would continue it.
        plain += "."
    return plain


def _plain_character(character: str) -> str:
    """A character in printable ASCII; others than those of `_ASCII` as escapes."""
    if character < " " or character == "\x7f":
        return " "
    return _ASCII.get(character, character).encode("ascii", "backslashreplace").decode()


def c_comment(paragraphs: Iterable[str], width: int = 114) -> str:
    """A block comment of paragraphs; long lines are wrapped and keep their indentation."""
    lines: list[str] = []
    for paragraph in paragraphs:
        for line in paragraph.split("\n"):
            plain = c_plain(line)
            if len(plain) <= width:
                lines.append(plain)
                continue
            indent = " " * (len(plain) - len(plain.lstrip()))
            lines += textwrap.wrap(plain, width, subsequent_indent=indent, break_on_hyphens=False)
    # Wrapping may end a line with "*" and begin the next with "/": the " * " before each line keeps them apart.
    return "\n".join(["/*", *(f" * {line}".rstrip() for line in lines), " */"])


def c_string(text: str) -> str:
    """A string literal; everything but letters, digits and blanks is written in octal, so that it has no ``abnet_``.

    Examples
    --------
    >>> print(c_string('say "hi" ??/'))
    "say \\042hi\\042 \\077\\077\\057"
    """
    safe = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 -.,"
    characters = []
    for byte in text.encode("utf-8", "surrogatepass"):
        if byte in safe:
            characters.append(chr(byte))
        else:
            characters.append(f"\\{byte:03o}")
    return '"' + "".join(characters) + '"'


def c_number(value: float, *, single: bool) -> str:
    """A number that C reads as exactly this float, or as the nearest of single precision.

    Examples
    --------
    >>> c_number(0.1, single=True), c_number(0.1, single=False), c_number(2.0, single=True)
    ('0.100000001f', '0.1', '2.0f')
    """
    if not single:
        return repr(float(value))
    text = f"{np.float32(value):.9g}"
    if "." in text or "e" in text:
        return f"{text}f"
    return f"{text}.0f"


def c_array(kind: str, name: str, values: NDArray[np.generic] | Sequence[float]) -> str:
    """A constant array of numbers of a C type, filled row by row."""
    flat = np.asarray(values).ravel().tolist()
    if kind in ("float", "double"):
        items = [c_number(value, single=kind == "float") for value in flat]
    else:
        items = [str(int(value)) for value in flat]
    lines = (f"    {', '.join(items[start : start + 8])}" for start in range(0, len(items), 8))
    body = ",\n".join(lines)
    return f"static const {kind} {name}[{len(items)}] = {{\n{body}\n}};"


def c_reals(name: str, values: NDArray[np.float64]) -> "CPart":
    """A constant array: float where float32 holds every value, else double.

    Examples
    --------
    >>> c_reals("w", np.array([0.5])).code.split("[")[0], c_reals("w", np.array([0.1])).code.split("[")[0]
    ('static const float w', 'static const double w')
    """
    with np.errstate(over="ignore"):
        exact = bool((values.astype(np.float32) == values).all())
    if exact:
        return CPart(c_array("float", name, values), flash=4 * values.size)
    return CPart(c_array("double", name, values), flash=8 * values.size)


@dataclass(frozen=True)
class CPart:
    """A piece of C and what it needs; parts are joined with ``+``.

    Attributes
    ----------
    code : str
    flash : int
        Bytes of its constants.
    ram : int
        Bytes of its arrays on the stack.
    libm : bool
        Whether it must be linked with the mathematical library.
    """

    code: str
    flash: int = 0
    ram: int = 0
    libm: bool = False

    def __add__(self, other: "CPart") -> "CPart":
        return CPart(
            code=f"{self.code}\n{other.code}",
            flash=self.flash + other.flash,
            ram=self.ram + other.ram,
            libm=self.libm or other.libm,
        )


def with_prefix(code: str, prefix: str) -> str:
    """The code with the names of another prefix than ``abnet``; texts of the model have none of these names.

    Examples
    --------
    >>> with_prefix("abnet_predict(ABNET_UNITS)", "skin")
    'skin_predict(SKIN_UNITS)'
    """
    return re.sub(r"\babnet_", f"{prefix}_", code).replace("ABNET_", f"{prefix.upper()}_")


def defines(**sizes: int) -> CPart:
    """Sizes as macros with the prefix ``ABNET_``."""
    return CPart("\n".join(f"#define ABNET_{name} {value}" for name, value in sizes.items()))
