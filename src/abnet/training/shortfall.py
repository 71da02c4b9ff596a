"""Networks that fall short of their teachers: on rows that neither was trained on, they make clearly more errors."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abnet.tables.notes import Note
from abnet.utils.wording import percent

__all__ = ["Shortfall", "shortfall"]

LEAST_PROBABILITY = 0.01
"""Networks fall short if so many more errors than the teachers' are less likely than this by chance."""
LEAST_DIFFERENCE = 0.02
"""Smaller differences of the error rates are not worth a note."""


@dataclass(frozen=True)
class Shortfall:
    """Errors of networks and of their teachers on the same validation rows of the first part.

    Attributes
    ----------
    networks, teachers : int
        Number of errors.
    n_rows : int
    """

    networks: int
    teachers: int
    n_rows: int

    @property
    def note(self) -> Note:
        """The note for the user."""
        facts: dict[str, str | int | float] = {
            "networks": percent(self.networks / self.n_rows),
            "teachers": percent(self.teachers / self.n_rows),
        }
        return Note("networks fall short", rows=self.n_rows, facts=facts)


def shortfall(
    of_networks: NDArray[np.intp], of_teachers: NDArray[np.intp], codes: NDArray[np.intp]
) -> Shortfall | None:
    """The errors of both, if the networks make clearly more; None otherwise.

    Rows on which both are right or both are wrong say nothing. If networks and teachers were equally good, each of the
    other rows would be as likely an error of the one as of the other: a sign test.

    Parameters
    ----------
    of_networks, of_teachers : int arrays (n,)
        Predicted classes of rows that the predicting models were not trained on.
    codes : int array (n,)
        Their classes.

    Examples
    --------
    >>> codes = np.zeros(100, int)
    >>> worse = np.repeat([1, 0], [20, 80])
    >>> shortfall(worse, codes, codes)
    Shortfall(networks=20, teachers=0, n_rows=100)
    >>> shortfall(codes, worse, codes) is None
    True
    """
    from scipy.stats import binom

    networks_wrong = of_networks != codes
    teachers_wrong = of_teachers != codes
    n_networks_only = int(np.sum(networks_wrong & ~teachers_wrong))
    n_teachers_only = int(np.sum(teachers_wrong & ~networks_wrong))
    n_apart = n_networks_only + n_teachers_only
    by_chance = float(binom.sf(n_networks_only - 1, n_apart, 0.5))
    if by_chance > LEAST_PROBABILITY or n_networks_only - n_teachers_only < LEAST_DIFFERENCE * len(codes):
        return None
    return Shortfall(int(networks_wrong.sum()), int(teachers_wrong.sum()), len(codes))
