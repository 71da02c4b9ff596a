"""`RowsPart`: what was counted on all bound rows, or on those of one class."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abnet.certificates.evidence import Evidence, Groups
from abnet.certificates.facts import Facts
from abnet.certificates.terms import Expected, Terms

__all__ = ["LossMeans", "RowsPart", "parts_of"]


@dataclass(frozen=True, eq=False)
class LossMeans:
    """Means of the Gibbs losses on some rows (or groups).

    Attributes
    ----------
    risk, tandem : float
        Empirical Gibbs risk, and mean product of the losses of two independent draws.
    n_paths : int or None
        Fresh paths per row with which the losses were sampled; None if they are exact.
    values : float array or None
        The loss of every single row, in the order for betting bounds; streams do not keep them.
    """

    risk: float
    tandem: float
    n_paths: int | None
    values: NDArray[np.float64] | None


@dataclass(frozen=True, eq=False)
class RowsPart:
    """What was counted on all bound rows, or on those of one class.

    Attributes
    ----------
    label : str or None
        The class; None for all rows.
    n : int
        Independent draws: rows, or groups.
    errors : int
        Wrong answers.
    delta : float
        The δ of a statement about these rows.
    losses : LossMeans or None
    expected : Expected or None
        Expected values. They are about all classes together, so they are not used for one class.
    """

    label: str | None
    n: int
    errors: int
    delta: float
    losses: LossMeans | None
    expected: Expected | None = None


def parts_of(evidence: Evidence, terms: Terms) -> Iterator[RowsPart]:
    """All rows, then each class that has rows; only the whole, if the rows are in groups."""
    if evidence.groups is not None:
        yield _all_groups(evidence, evidence.groups, terms)
        return
    yield RowsPart(None, evidence.n_rows, evidence.errors, terms.delta, _loss_means(evidence, None), terms.expected)
    facts = Facts.of(evidence, terms)
    for code, label in enumerate(facts.classes):
        n = facts.class_rows[code]
        if n:
            errors = facts.class_errors[code]
            yield RowsPart(label, n, errors, facts.delta_of(label), _loss_means(evidence, code))


def _loss_means(evidence: Evidence, code: int | None) -> LossMeans | None:
    """The means of all rows (code None) or of one class; the last code is that of labels the model does not know."""
    losses = evidence.losses
    if losses is None:
        return None
    risk = losses.mean(code)
    tandem = losses.pair_mean(code)
    assert risk is not None  # there are rows
    assert tandem is not None
    return LossMeans(risk, tandem, losses.n_paths, _single_losses(evidence, code))


def _single_losses(evidence: Evidence, code: int | None) -> NDArray[np.float64] | None:
    kept = evidence.values
    if kept is None:
        return None
    if code is None:
        return kept.values
    return kept.values[kept.codes == code]


def _all_groups(evidence: Evidence, groups: Groups, terms: Terms) -> RowsPart:
    """Every group has the same weight, whatever its size."""
    rows, errors, mean_losses, mean_pairs = groups.in_order()
    losses = None
    if evidence.losses is not None:
        risk = float(mean_losses.mean())
        tandem = float(mean_pairs.mean())
        losses = LossMeans(risk, tandem, evidence.losses.n_paths, mean_losses)
    return RowsPart(None, len(rows), int(errors.sum()), terms.delta, losses, terms.expected)
