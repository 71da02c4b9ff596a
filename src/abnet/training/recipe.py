"""`Recipe`: what a fit trains; the values that every "auto" was resolved to."""

from dataclasses import dataclass
from typing import Any

from abnet.utils.wording import number_of

__all__ = ["Recipe", "share_in_words"]

KINDS = {"exact": "exact network", "moments": "network"}
"""What the networks of an aggregation are called; others are sampled networks."""


@dataclass(frozen=True)
class Recipe:
    """What a fit trains: one network, or a mixture of members that may have teachers and codes.

    Attributes
    ----------
    hidden_layer_sizes : tuple of int
    n_estimators : int
        Number of members.
    aggregation : str
        A name in the aggregations of the settings.
    codes : {"thermometer", "none"}
    teacher : str or None
        Name, or the class of the user's own classifier.
    code_length : int
        Output neurons of every member.
    share : float
        Share of the rows in the first part.
    preprocessor : str or None
        Name, or the class of the user's own transformer.
    alone : bool
        Whether it is the paper's network, trained in the paper's stages, and not a mixture.
    columns : tuple of int or None
        Number of columns that were chosen, and of all, if columns were left out because they do not help to predict.
    """

    hidden_layer_sizes: tuple[int, ...]
    n_estimators: int
    aggregation: str
    codes: str
    teacher: str | None
    code_length: int
    share: float
    preprocessor: str | None
    alone: bool = False
    columns: tuple[int, int] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a model file; they repeat the fit of a `CertifiedClassifier` as explicit parameters."""
        return {
            "hidden_layer_sizes": list(self.hidden_layer_sizes),
            "n_estimators": self.n_estimators,
            "codes": self.codes,
            "teacher": self.teacher,
            "preprocessor": self.preprocessor,
            "learn_fraction": self.share,
        }

    def describe(self, distilled_from: str | None = None) -> str:
        """The recipe in one line.

        Parameters
        ----------
        distilled_from : str, optional
            The teachers in words; by default the name of the teacher.

        Examples
        --------
        >>> Recipe((8,), 8, "exact", "thermometer", "forest", 1, 0.5, "table").describe()
        '8 exact networks of 8 neurons, thermometer codes, distilled from forest; trained on 50% of the rows'
        """
        widths = "-".join(map(str, self.hidden_layer_sizes))
        kind = KINDS.get(self.aggregation, "sampled network")
        parts = [f"{number_of(self.n_estimators, kind)} of {widths} neurons"]
        if self.code_length > 1:
            parts.append(f"{self.code_length} outputs")
        if self.codes == "thermometer":
            parts.append("thermometer codes")
        if self.teacher is not None:
            parts.append(f"distilled from {distilled_from or self.teacher}")
        trained_on = share_in_words(self.share)
        if self.columns is not None:
            chosen, n_columns = self.columns
            trained_on += f" and {chosen:,} of {n_columns:,} columns"
        return f"{', '.join(parts)}; {trained_on}"


def share_in_words(share: float) -> str:
    """The share of the training rows, as at the end of a recipe's line.

    Examples
    --------
    >>> share_in_words(0.6), share_in_words(0.0123)
    ('trained on 60% of the rows', 'trained on 1.2% of the rows')
    """
    if share >= 0.1:
        percent = str(round(100 * share))
    else:
        percent = f"{100 * share:.2g}"
    return f"trained on {percent}% of the rows"
