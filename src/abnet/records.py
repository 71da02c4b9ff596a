"""What is given and what is stored: checks of plain values by name, and files that appear whole or not at all.

A check takes the name of a value and the value, and returns the value, converted where that loses nothing, or raises a
ValueError that says by its name what is wrong. The name may be a whole path, such as ``table.columns[3].scale``.
"""

import errno
import math
import operator
import os
import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, SupportsFloat, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from abnet.errors import Parameter, ParameterError

__all__ = [
    "Check",
    "amount",
    "apply",
    "atomic_path",
    "between",
    "check_array",
    "check_choice",
    "check_fraction",
    "check_hidden",
    "check_names",
    "check_positive",
    "check_table",
    "check_tolerance",
    "check_writable",
    "count",
    "exactly",
    "finite",
    "flag",
    "instance",
    "level",
    "list_of",
    "nonnegative",
    "number_of",
    "one_of",
    "optional",
    "positive",
    "probability",
    "real",
    "refusal",
    "take",
    "tally",
    "text",
    "texts",
]

Check = Callable[[str, Any], Any]

Arrays = Mapping[str, NDArray[Any]]

_LONGEST = 80


def refusal(name: str, rule: str, value: Any) -> ValueError:
    """The error for a value that breaks a rule, cut short where the value is long.

    Examples
    --------
    >>> refusal("max_iter", "be a positive whole number", 0)
    ValueError('max_iter must be a positive whole number; got 0.')
    """
    shown = repr(value)
    return ValueError(f"{name} must {rule}; got {shown if len(shown) <= _LONGEST else shown[:_LONGEST] + '…'}.")


def number_of(count: int, thing: str) -> str:
    """A number with its noun.

    Examples
    --------
    >>> number_of(1, "error"), number_of(2, "error"), number_of(1000, "bound row")
    ('1 error', '2 errors', '1,000 bound rows')
    """
    return f"{count:,} {thing}{'s' * (count != 1)}"


def real(name: str, value: Any) -> float:
    """A number that is not NaN, as a float."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, SupportsFloat):
        raise refusal(name, "be a number", value)
    try:
        number = float(value) + 0.0  # turns -0.0 into 0.0
    except (TypeError, ValueError, OverflowError) as error:
        raise refusal(name, "be a number", value) from error
    if math.isnan(number):
        raise ValueError(f"{name} must be a number; got NaN.")
    return number


def finite(name: str, value: Any) -> float:
    """A finite number of either sign."""
    number = real(name, value)
    if math.isinf(number):
        raise refusal(name, "be a finite number", value)
    return number


def nonnegative(name: str, value: Any) -> float:
    """A number in [0, inf]."""
    number = real(name, value)
    if number < 0.0:
        raise refusal(name, "not be negative", value)
    return number


def amount(name: str, value: Any) -> float:
    """A number in [0, inf)."""
    number = real(name, value)
    if not 0.0 <= number < math.inf:
        raise refusal(name, "be a finite number of at least 0", value)
    return number


def positive(name: str, value: Any) -> float:
    """A number in (0, inf)."""
    number = real(name, value)
    if not 0.0 < number < math.inf:
        raise refusal(name, "be a positive number", value)
    return number


def probability(name: str, value: Any) -> float:
    """A number in [0, 1]."""
    number = real(name, value)
    if not 0.0 <= number <= 1.0:
        raise refusal(name, "lie in [0, 1]", value)
    return number


def between(low: float, high: float) -> Check:
    """Allow numbers in the open interval.

    Examples
    --------
    >>> between(0, 1)("prior_fraction", 1.5)
    Traceback (most recent call last):
    ValueError: prior_fraction must lie strictly between 0 and 1; got 1.5.
    """

    def check(name: str, value: Any) -> float:
        number = real(name, value)
        if not low < number < high:
            raise refusal(name, f"lie strictly between {low:g} and {high:g}", value)
        return number

    return check


def level(name: str, value: Any) -> float:
    """A number in (0, 1): a probability of failure that one may ask for, or a share of the rows."""
    return float(between(0.0, 1.0)(name, value))


def count(name: str, value: Any, *, least: int = 1) -> int:
    """A whole number of at least `least`, as an int; a float such as 10.0 is refused."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, SupportsIndex):
        raise refusal(name, "be a whole number", value)
    try:
        number = operator.index(value)
    except TypeError as error:
        raise refusal(name, "be a whole number", value) from error
    if number < least:
        raise refusal(name, f"be at least {least}", number)
    return number


def tally(name: str, value: Any) -> int:
    """A whole number of at least 0."""
    return count(name, value, least=0)


def flag(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, bool):
        raise refusal(name, "be true or false", value)
    return value


def text(name: str, value: Any) -> str:
    """A string."""
    if not isinstance(value, str):
        raise refusal(name, "be text", value)
    return value


def texts(name: str, value: Any) -> tuple[str, ...]:
    """A list of different strings."""
    found: tuple[str, ...] = list_of(text)(name, value)
    if len(set(found)) < len(found):
        raise refusal(name, "be a list of different texts", value)
    return found


def list_of(check: Check) -> Check:
    """Allow a list, check every item under the name of its place, and return a tuple.

    Examples
    --------
    >>> list_of(finite)("mean", [1, 2.5])
    (1.0, 2.5)
    >>> list_of(finite)("mean", [1, "2"])
    Traceback (most recent call last):
    ValueError: mean[1] must be a number; got '2'.
    """

    def check_list(name: str, value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise refusal(name, "be a list", value)
        return tuple(check(f"{name}[{i}]", item) for i, item in enumerate(value))

    return check_list


def one_of(*choices: Any) -> Check:
    """Allow the given values only.

    Examples
    --------
    >>> one_of("train", "frozen")("posterior", "thawed")
    Traceback (most recent call last):
    ValueError: posterior must be one of 'train', 'frozen'; got 'thawed'.
    """

    def check(name: str, value: Any) -> Any:
        # By type first: True equals 1, and an array compared with a text is no boolean.
        same = [isinstance(value, type(choice)) and not isinstance(value, bool) for choice in choices]
        if not any(alike and value == choice for alike, choice in zip(same, choices, strict=True)):
            raise refusal(name, f"be one of {', '.join(map(repr, choices))}", value)
        return value

    return check


def optional(check: Check) -> Check:
    """Let None pass, and check everything else.

    Examples
    --------
    >>> optional(positive)("scale", None), optional(positive)("scale", 2)
    (None, 2.0)
    """
    return lambda name, value: None if value is None else check(name, value)


def instance(cls: type) -> Check:
    """Allow instances of `cls` only."""

    def check(name: str, value: Any) -> Any:
        if not isinstance(value, cls):
            raise refusal(name, f"be a {cls.__name__}", value)
        return value

    return check


def exactly(name: str, value: Any, fields: Collection[str]) -> dict[str, Any]:
    """A dictionary that has the given fields, all of them and no other.

    Examples
    --------
    >>> exactly("point", {"x": 1, "z": 2}, ["x", "y"])
    Traceback (most recent call last):
    ValueError: point has missing fields ['y'] and unknown fields ['z'].
    """
    if not isinstance(value, Mapping):
        raise refusal(name, "be a dictionary", value)
    missing, unknown = sorted(set(fields) - set(value)), sorted(map(str, set(value) - set(fields)))
    if missing or unknown:
        raise ValueError(f"{name} has missing fields {missing} and unknown fields {unknown}.")
    return dict(value)


def take(name: str, value: Any, /, **checks: Check) -> dict[str, Any]:
    """The fields of a dictionary that has exactly those of `checks`, each passed through its check.

    Examples
    --------
    >>> take("column", {"scale": 2.0}, scale=positive)
    {'scale': 2.0}
    >>> take("column", {"scale": -2.0}, scale=positive)
    Traceback (most recent call last):
    ValueError: column.scale must be a positive number; got -2.0.
    """
    record = exactly(name, value, checks)
    return {field: check(f"{name}.{field}", record[field]) for field, check in checks.items()}


def apply(checks: Mapping[str, Check], record: object) -> None:
    """Replace each named field of a frozen `record` by what its check returns."""
    for name, check in checks.items():
        object.__setattr__(record, name, check(name, getattr(record, name)))


def check_names(arrays: Arrays, names: tuple[str, ...]) -> None:
    """Refuse anything but arrays of these names."""
    if set(arrays) != set(names):
        raise ValueError(f"the arrays must be {', '.join(names)}, not {', '.join(sorted(arrays))[:200] or 'none'}.")


def check_array(arrays: Arrays, name: str, shape: tuple[int, ...], dtype: Any = np.float64) -> None:
    """Refuse an array of another shape or type, or with values that are not finite."""
    array = arrays[name]
    if array.shape != shape or array.dtype != dtype:
        wanted = f"{np.dtype(dtype)} of shape {shape}"
        raise ValueError(f"the array {name} must be {wanted}, but is {array.dtype} of shape {array.shape}.")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError(f"the array {name} holds values that are not finite.")


def check_table(arrays: Arrays, name: str, shape: tuple[int, ...]) -> None:
    """Refuse what is no table of expected outputs: float64 in [-1, 1], but for rounding."""
    check_array(arrays, name, shape)
    if np.abs(arrays[name]).max() > 1 + 1e-9:
        raise ValueError(f"the array {name} holds values outside [-1, 1].")


def check_hidden(sizes: Any) -> tuple[int, ...]:
    """`hidden_layer_sizes` as a tuple of at least one width of at least one."""
    name = Parameter("hidden_layer_sizes")
    widths = (sizes,) if isinstance(sizes, (int, np.integer)) else sizes
    if not isinstance(widths, Iterable) or isinstance(widths, str):
        raise ParameterError("{} must be a whole number or a tuple of them; got {!r}.", name, sizes)
    widths = tuple(widths)
    if not widths or not all(_is_positive(d, whole=True) for d in widths):
        raise ParameterError("{} must hold at least one width, each of 1 or more; got {!r}.", name, sizes)
    return tuple(int(d) for d in widths)


def check_fraction(name: str, value: Any) -> float:
    """A number strictly between 0 and 1."""
    if not _is_positive(value) or not value < 1:
        raise ParameterError("{} must lie strictly between 0 and 1; got {!r}.", Parameter(name), value)
    return float(value)


def check_positive(name: str, value: Any, *, whole: bool = False) -> None:
    """A positive number, whole if asked."""
    if not _is_positive(value, whole=whole):
        kind = "whole number" if whole else "number"
        raise ParameterError("{} must be a positive {}; got {!r}.", Parameter(name), kind, value)


def _is_positive(value: Any, *, whole: bool = False) -> bool:
    try:
        return bool(value > 0 and math.isfinite(value) and (not whole or int(value) == value))
    except (TypeError, ValueError, OverflowError):
        return False


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """One of the named choices."""
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(map(repr, choices))
        raise ParameterError("{} must be one of {}; got {!r}.", Parameter(name), listed, value)


def check_tolerance(value: Any) -> None:
    """A number that is not negative."""
    if not (isinstance(value, (int, float, np.number)) and 0 <= value < np.inf):
        raise ParameterError("{} must be a number of at least 0; got {!r}.", Parameter("tol"), value)


def check_writable(path: str | os.PathLike[str]) -> Path:
    """Where a file of that name would be written, links followed; an OSError says why it could not be.

    Worth calling before a long job whose last act is to write.

    Examples
    --------
    >>> check_writable("/")
    Traceback (most recent call last):
    IsADirectoryError: / is a folder; name a file.
    """
    target = Path(path).resolve()
    if target.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file.")
    if target.exists() and not target.is_file():
        raise OSError(f"{path} is not a regular file, so it cannot be replaced; name another.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"cannot write {path}: there is no folder {target.parent}; make it first.")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise PermissionError(f"cannot write {path}: no permission to write in the folder {target.parent}.")
    return target


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary file beside `path` to write to; it takes the final name when the block ends well, else it is removed.

    The content is on the disk before the name is: a reader, or a machine that loses power, has the old file or the new
    one.

    Examples
    --------
    >>> import tempfile
    >>> final = Path(tempfile.mkdtemp()) / "answer.txt"
    >>> with atomic_path(final) as temporary:
    ...     _ = temporary.write_text("42")
    ...     final.exists()
    False
    >>> final.read_text()
    '42'
    """
    target = check_writable(path)
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.part")
    try:
        temporary.touch(exist_ok=False)
        yield temporary
        _flush(temporary)
        temporary.replace(target)
    except OSError as error:
        if error.errno not in _FULL or error.filename:
            raise
        told = f"{error.strerror}; nothing was written: make room there, or name another place"
        raise OSError(error.errno, told, os.fspath(path)) from error
    finally:
        temporary.unlink(missing_ok=True)


_FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)


def _flush(path: Path) -> None:
    """Bring a file's content from the system's memory to the disk."""
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
