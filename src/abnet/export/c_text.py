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
"""Words of C and C++, and macros in small letters, which no member of a record may be called."""
_LONGEST = 40
_ASCII = {"≤": "<=", "≥": ">=", "–": "-", "—": "-", "δ": "delta", "×": "x", "±": "+-", "’": "'", "‘": "'", "…": "..."}


def c_identifiers(names: Sequence[str]) -> list[str]:
    """A unique C identifier for every name, similar to it; none begins with ``abnet_``, the prefix of our own names.

    Examples
    --------
    >>> c_identifiers(["mean radius", "Mean-Radius", "2nd", "float", "*/ }", ""])
    ['mean_radius', 'mean_radius_2', 'x2nd', 'float_', 'x', 'x_2']
    """
    taken: set[str] = set()
    found = []
    for name in names:
        stem = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")[:_LONGEST].rstrip("_") or "x"
        stem = f"x{stem}" if stem[0].isdigit() or stem.startswith("abnet_") else stem
        stem = f"{stem}_" if stem in _RESERVED else stem
        candidate, number = stem, 1
        while candidate in taken:
            number += 1
            candidate = f"{stem}_{number}"
        taken.add(candidate)
        found.append(candidate)
    return found


def c_plain(text: str, most: int | None = None) -> str:
    """Text in printable ASCII that can neither end a comment nor begin one, nor continue a line.

    Examples
    --------
    >>> c_plain("a */ b ??/ ≤ é")
    'a * / b ? ?/ <= \\\\xe9'
    """
    folded = " ".join(text.split()) if most is not None else text
    ascii_only = "".join(_ASCII.get(c, c) if ord(c) > 126 else (c if ord(c) > 31 else " ") for c in folded)
    written = ascii_only.encode("ascii", "backslashreplace").decode().replace("\x7f", " ")
    for pair in ("*/", "/*", "??"):
        while pair in written:
            written = written.replace(pair, f"{pair[0]} {pair[1]}")
    written = written if most is None or len(written) <= most else written[: most - 3] + "..."
    return written + "." if written.endswith("\\") else written


def c_comment(paragraphs: Iterable[str], width: int = 114) -> str:
    """A block comment of paragraphs; lines that are set in (with blanks) are kept as they are."""
    lines: list[str] = []
    for paragraph in paragraphs:
        for line in paragraph.split("\n"):
            plain = c_plain(line)
            indent = " " * (len(plain) - len(plain.lstrip()))
            wrapped = textwrap.wrap(plain, width, subsequent_indent=indent, break_on_hyphens=False)
            lines += [plain] if len(plain) <= width else wrapped
    # Wrapping may bring a star to the end of a line and a stroke to the start of the next: the " * " keeps them apart.
    return "\n".join(["/*", *(f" * {line}".rstrip() for line in lines), " */"])


def c_string(text: str) -> str:
    """A string literal; everything but letters, digits and blanks is written in octal, so that it has no ``abnet_``.

    Examples
    --------
    >>> print(c_string('say "hi" ??/'))
    "say \\042hi\\042 \\077\\077\\057"
    """
    safe = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 -.,"
    content = text.encode("utf-8", "surrogatepass")
    return '"' + "".join(chr(byte) if byte in safe else f"\\{byte:03o}" for byte in content) + '"'


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
    return f"{text}f" if "." in text or "e" in text else f"{text}.0f"


def c_array(kind: str, name: str, values: NDArray[np.generic] | Sequence[float]) -> str:
    """A constant array of numbers of a C type, filled row by row."""
    flat = np.asarray(values).ravel().tolist()
    if kind == "float":
        items = [c_number(value, single=True) for value in flat]
    else:
        items = [repr(float(value)) if kind == "double" else str(int(value)) for value in flat]
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
    return CPart(c_array("float" if exact else "double", name, values), values.size * (4 if exact else 8))


@dataclass(frozen=True)
class CPart:
    """A piece of C, the bytes of its constants and of its arrays on the stack, and whether it needs libm."""

    code: str
    flash: int = 0
    ram: int = 0
    libm: bool = False

    def __add__(self, other: "CPart") -> "CPart":
        code = f"{self.code}\n{other.code}"
        return CPart(code, self.flash + other.flash, self.ram + other.ram, self.libm or other.libm)


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
