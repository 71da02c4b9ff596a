"""`Requests`: what a certificate states besides error rates; `Gaps`: gaps between the groups of a declared column."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from abnet.utils.errors import Parameter, ParameterError

__all__ = ["Gaps", "Requests", "split_populations"]


@dataclass(frozen=True, eq=False)
class Gaps:
    """Ask `abnet.certify` for the rates of groups with limits on both sides, and their largest gap: ``by=Gaps("sex")``.

    Parameters
    ----------
    by : array-like (n,) or str
        Group of each row, or the frame's column with the groups. Declare it before you look at the rows.
    positive : label, optional
        The class that the true-positive, false-positive and selection rates are about, against all other classes.
        Without it there is only the error rate.

    Examples
    --------
    >>> from abnet import certify
    >>> answers, truth, sex = [0, 1] * 200, [0, 1, 1, 1] * 100, ["f"] * 150 + ["m"] * 250
    >>> made = certify(lambda rows: rows, answers, truth, by=Gaps(sex))
    >>> made.statements[-1].about, round(made.statements[-1].value, 3)
    ('largest gap in error rate', 0.148)
    """

    by: ArrayLike | str
    positive: Any = None

    @property
    def column(self) -> str:
        """Name of the column; empty if the groups were given as an array."""
        if isinstance(self.by, str):
            return self.by
        return ""


@dataclass(frozen=True)
class Requests:
    """What a certificate states besides error rates.

    Attributes
    ----------
    gaps : Gaps or None
    mix : dict or None
        Shares of the classes in the new data, by name.
    new_answers : tuple of int or None
        How often each class was answered on unlabelled rows of the new data; the last number is for other answers and
        for none.
    others : bool
        Whether the model may give answers other than the classes, or no answer.
    """

    gaps: Gaps | None = None
    mix: Mapping[Any, float] | None = None
    new_answers: tuple[int, ...] | None = None
    others: bool = True

    @property
    def about_mix(self) -> bool:
        """Whether the error rate at another class mix is requested."""
        return self.mix is not None or self.new_answers is not None

    def check(self, *, grouped: bool) -> None:
        """Raise a ParameterError for requests that contradict each other, or that rows in groups cannot meet."""
        if self.mix is not None and self.new_answers is not None:
            raise ParameterError(
                "give {} or {}, not both: the mix is known, or the unlabelled rows bound it.",
                Parameter("mix"),
                Parameter("new_rows"),
            )
        if grouped and self.about_mix:
            raise ParameterError(
                "rows of each class are counted one by one at another class mix: leave out {} and {} with groups.",
                Parameter("mix"),
                Parameter("new_rows"),
            )


def split_populations(by: Any) -> tuple[Any, Gaps | None]:
    """The populations that `by` names, and the gaps that it asks for."""
    if isinstance(by, Gaps):
        return by.by, by
    return by, None
