"""The card of a model: how it was made, in typed fields, for `abnet inspect`, reports and explanations."""

import math
from itertools import pairwise
from typing import Any

import msgspec

from abnet.certificates.fitted_rows import RowFilter
from abnet.certificates.trade_off import TradeOff
from abnet.model.region_words import RegionWords
from abnet.tables.preparation.training_inputs import TrainingInputs

__all__ = ["Card", "Curve", "Rival"]


class Curve(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Learning curve of a stage: the monitored value at the start and after every `every` epochs."""

    name: str
    every: int
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        if self.every < 1:
            raise ValueError(f"the points of a curve must be 1 epoch apart or more; got {self.every}.")


class Rival(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Another model for comparison, with the bound from its errors on held-out rows.

    Attributes
    ----------
    name : str
    bound : float
        Test-set (Clopper-Pearson) bound on its error.
    errors, n_examples : int
        Number of errors, and number of rows.
    base_rate : float or None
        Majority-class error on these rows.
    n_candidates : int
        Number of models among which one may be chosen with these rows, as given to the fit.
    """

    name: str
    bound: float
    errors: int
    n_examples: int
    base_rate: float | None = None
    n_candidates: int = 1


class Card(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """How a model was made; unknown fields are None or empty.

    Attributes
    ----------
    estimator : str
        Name of the classifier's class.
    version : str
        Of abnet.
    command : str
        The command line of the fit.
    settings : dict
        Parameters that differ from their defaults, each as Python source text.
    seed : int
        Pass it as ``random_state`` to repeat the fit.
    recipe : str
        How a mixture was made, as text.
    parameters : dict
        The values that "auto" was resolved to, for a mixture.
    sizes : tuple of int
        ``(d_0, d_1, …, d_L)`` of the network, or of each member.
    aggregation, objective, prior, posterior : str
    curves : tuple of Curve
    target, group, time : str
        Columns of the labels, of the groups and of the times.
    period : str
        If the rows were split by time, which of them were held out, such as "after 2024-03-01".
    cuts : tuple of float
        Points at which a numeric target was cut into classes; empty for a target of labels.
    n_training_rows, n_training_groups : int
        Number of rows, and of groups, passed to `fit`.
    n_counted_rows : int
        Number of further rows of a large table that were streamed to certify the model.
    n_unlabelled_rows : int
        Number of rows of the table that were left out because they have no label.
    data_fingerprint : str
        Of the prepared rows with their labels.
    row_filter : RowFilter
        Filter to recognise training rows.
    training_inputs : TrainingInputs
        The range of every column in the training rows, to tell whether new rows look like them.
    background : tuple of tuples of float
        Some prepared rows of the first part, as background for explanations.
    bound_estimate : float
        The Gibbs bound if it is only an estimate.
    rivals : tuple of Rival
    trade_offs : tuple of TradeOff
        What thresholds reach on held rows of the first part.
    region_words : tuple of RegionWords
        The regions of a narrow leading layer in words; empty for mixtures and wide layers.
    """

    estimator: str | None = None
    version: str | None = None
    command: str | None = None
    settings: dict[str, str] | None = None
    seed: int | None = None
    recipe: str | None = None
    parameters: dict[str, Any] | None = None
    sizes: tuple[int, ...] = ()
    aggregation: str | None = None
    objective: str | None = None
    prior: str | None = None
    posterior: str | None = None
    curves: tuple[Curve, ...] = ()
    target: str | None = None
    group: str | None = None
    time: str | None = None
    period: str | None = None
    cuts: tuple[float, ...] = ()
    n_training_rows: int | None = None
    n_training_groups: int | None = None
    n_counted_rows: int | None = None
    n_unlabelled_rows: int | None = None
    data_fingerprint: str | None = None
    row_filter: RowFilter | None = None
    training_inputs: TrainingInputs | None = None
    background: tuple[tuple[int | float, ...], ...] = ()
    bound_estimate: float | None = None
    rivals: tuple[Rival, ...] = ()
    trade_offs: tuple[TradeOff, ...] = ()
    region_words: tuple[RegionWords, ...] = ()

    def __post_init__(self) -> None:
        if any(not a < b for a, b in pairwise((*self.cuts, math.inf))):
            raise ValueError(f"cut points must be finite and increasing; got {self.cuts}.")

    def to_dict(self) -> dict[str, Any]:
        """The known fields as plain values for JSON; raises a ValueError for anything that `from_dict` would reject.

        Examples
        --------
        >>> Card(estimator="ABNetClassifier", sizes=(4, 2, 1)).to_dict()
        {'estimator': 'ABNetClassifier', 'sizes': [4, 2, 1]}
        """
        try:
            record: dict[str, Any] = msgspec.to_builtins(self)
        except TypeError as error:
            raise ValueError(f"a card holds plain numbers and text only: {error}.") from error
        for name, value in record.items():
            if isinstance(value, tuple):
                record[name] = list(value)
        Card.from_dict(record)
        return record

    @staticmethod
    def from_dict(record: Any) -> "Card":
        """Read the result of `to_dict`; raises a ValueError for anything else."""
        try:
            return msgspec.convert(record, Card)
        except msgspec.ValidationError as error:
            raise ValueError(f"the card of the model is damaged: {error}.") from error
