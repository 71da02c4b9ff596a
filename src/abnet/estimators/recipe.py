"""The recipe of a mixture: what "auto" stands for, by rules that look at sizes alone, never at a label or a result."""

from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

from abnet.codebook import code_length

__all__ = ["AFFORDABLE", "Recipe", "exact_cost", "recipe_for"]

AFFORDABLE = 2**26
"""Products in a training step that "auto" still computes exactly: some milliseconds on one core."""

WIDE_FEATURES = 400
"""Prepared features above which a table is wide: codes and teachers would cost more than they bring."""

MOST_INPUTS = 6_000
"""Inputs of a network, codes included, up to which codes are made."""

MEMBERS, NEURONS = 8, (8,)
"""Two classes: exact members, small enough to be read region by region."""

WIDE_MEMBERS, WIDE_NEURONS = 4, (100,)
"""Several classes, or wide tables: one representation of ten neurons cannot carry all bits of a code."""


@dataclass(frozen=True)
class Recipe:
    """How a mixture is made; every part is a parameter of the same name of `ABNetClassifier`.

    Attributes
    ----------
    hidden_layer_sizes : tuple of int
    n_estimators : int
        Number of members.
    aggregation : {"exact", "ancestral"}
    codes : {"thermometer", "none"}
    teacher : str or None
        Name, or the class of the user's own.
    code_length : int
        Output neurons of every member.
    prior_fraction : float
    preprocessor : str or None
        Name, or the class of the user's own.
    """

    hidden_layer_sizes: tuple[int, ...]
    n_estimators: int
    aggregation: str
    codes: str
    teacher: str | None
    code_length: int
    prior_fraction: float
    preprocessor: str | None

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a model file; they repeat the fit as explicit parameters."""
        return {**asdict(self), "hidden_layer_sizes": list(self.hidden_layer_sizes)}

    def describe(self, taught_by: str | None = None) -> str:
        """The recipe in one line.

        Examples
        --------
        >>> Recipe((8,), 8, "exact", "thermometer", "all", 1, 0.5, "table").describe("forest 75 %, linear 25 %")
        '8 exact networks of 8 neurons, thermometer codes, taught by forest 75 %, linear 25 %; 50 % of the rows learn'
        """
        widths = "-".join(map(str, self.hidden_layer_sizes))
        kind = "exact" if self.aggregation == "exact" else "sampled"
        networks = f"{self.n_estimators} {kind} network{'s' * (self.n_estimators != 1)} of {widths} neurons"
        outputs = f", {self.code_length} outputs" if self.code_length > 1 else ""
        codes = ", thermometer codes" if self.codes == "thermometer" else ""
        taught = f", taught by {taught_by or self.teacher}" if self.teacher is not None else ""
        return f"{networks}{outputs}{codes}{taught}; {round(100 * self.prior_fraction)} % of the rows learn"


def recipe_for(
    estimator: Any,
    hidden: tuple[int, ...] | None,
    n_features: int,
    n_classes: int,
    n_codes: int,
    preprocessor: str | None,
) -> Recipe:
    """The recipe of a fit: what the user set, and rules for what is "auto".

    A network whose widths are given is left as it is given: alone, without codes and teacher, unless they are set too.

    Parameters
    ----------
    estimator : ABNetClassifier
    hidden : tuple of int or None
        The widths, None for "auto".
    n_features, n_codes : int
        Prepared features, and thermometer codes that could be made of them.
    n_classes : int
    preprocessor : str or None
        What prepares the rows.
    """
    free, wide = hidden is None, n_features > WIDE_FEATURES
    exact_fits = n_classes == 2 and not wide
    if hidden is None:
        hidden = NEURONS if exact_fits else WIDE_NEURONS
    members = estimator.n_estimators
    if members == "auto":
        members = (MEMBERS if exact_fits else WIDE_MEMBERS) if free else 1
    codes = estimator.codes
    if codes == "auto":
        codes = "thermometer" if free and not wide and n_features + n_codes <= MOST_INPUTS else "none"
    teacher = estimator.teacher
    if isinstance(teacher, str) and teacher == "auto":
        teacher = "all" if free and not wide else None
    named = teacher if teacher is None or isinstance(teacher, str) else type(teacher).__name__
    length = code_length(n_classes) if estimator.code_length == "auto" else int(estimator.code_length)
    aggregation = estimator.aggregation
    if aggregation == "auto":
        aggregation = "exact" if max(hidden) <= 10 else "ancestral"
    share = float(estimator.prior_fraction)
    return Recipe(hidden, int(members), aggregation, codes, named, length, share, preprocessor)


def exact_cost(hidden: tuple[int, ...], batch_size: int) -> int:
    """Products of one exact forward pass: ``2^{d_k + d_{k-1}}`` for each pair of layers, ``2^{d_1}`` for each row.

    Examples
    --------
    >>> exact_cost((12, 12, 12), 64) <= AFFORDABLE, exact_cost((13, 13), 64) <= AFFORDABLE
    (True, False)
    """
    return sum(2 ** (below + above) for below, above in pairwise(hidden)) + batch_size * 2 ** hidden[0]
