"""A partitioned table scored and certified on many machines, by the model in NumPy.

What a partition shows of the model is a few sums, which add up: the certificate of all rows needs no machine that
holds them all.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from abnet.bounds.certificate import Certificate
from abnet.bounds.certify import assemble, of_classifier
from abnet.bounds.rules import ExactRisk, Terms, VoteErrors
from abnet.labels import with_unknown
from abnet.model.model import Model

__all__ = ["PartitionEvidence", "certify_frame", "certify_parts", "partition_evidence", "score_frame"]


@dataclass(frozen=True)
class PartitionEvidence:
    """Sums over the rows of a partition, for each class, and last for labels that the model does not know.

    Rows, errors of the vote, losses and squares of losses.
    """

    rows: tuple[int, ...]
    errors: tuple[int, ...]
    losses: tuple[float, ...]
    squares: tuple[float, ...]

    @staticmethod
    def merge(parts: Iterable["PartitionEvidence"]) -> "PartitionEvidence":
        """The sums over the rows of all partitions; each row must be in one of them only."""
        found = list(parts)
        if not found:
            raise ValueError("there are no partitions to merge.")
        columns = zip(*(p.rows for p in found), strict=True), zip(*(p.errors for p in found), strict=True)
        values = zip(*(p.losses for p in found), strict=True), zip(*(p.squares for p in found), strict=True)
        rows, errors = (tuple(map(sum, column)) for column in columns)
        losses, squares = (tuple(map(math.fsum, column)) for column in values)
        return PartitionEvidence(rows, errors, losses, squares)

    @property
    def n_codes(self) -> int:
        """Number of classes, and one more if there are labels that are not known."""
        return len(self.rows) - int(self.rows[-1] == 0)

    def risk(self) -> ExactRisk:
        """Mean losses, of all rows and by class."""
        parts = zip(self.losses, self.squares, self.rows, strict=True)
        by_class = tuple(_risk(loss, square, n) if n else None for loss, square, n in parts)
        whole = _risk(math.fsum(self.losses), math.fsum(self.squares), sum(self.rows))
        return replace(whole, by_class=by_class[: self.n_codes])


def _risk(loss: float, square: float, n: int) -> ExactRisk:
    return ExactRisk(min(1.0, loss / n), min(1.0, square / n), n)


def partition_evidence(model: Model, X: Any, y: Any) -> PartitionEvidence:
    """What the rows of one partition show.

    Parameters
    ----------
    model : Model
        The loss of a row is the share of the vote that is against its label, where the shares are exact (compact
        networks and mixtures of them); of others, such as means of sampled paths, it is the error, 0 or 1: a
        deterministic classifier is a posterior of one point.
    X : frame or array
    y : labels, one for each row; one that the model does not know is an error

    Examples
    --------
    >>> from abnet.predictors.table import Table
    >>> net = Model(Table(np.ones((1, 1, 2)), np.zeros((1, 1)), np.array([[-1.0, 1.0]])))
    >>> found = partition_evidence(net, np.array([[3.0, 3.0], [-1.0, -2.0]]), [1, 1])
    >>> found.rows, found.errors
    ((0, 2, 0), (0, 1, 0))
    """
    labels, given = model.labels, np.asarray(y)
    K = labels.n_classes
    classes = range(K + 1)
    if not len(given):
        none, nothing = (0,) * len(classes), (0.0,) * len(classes)
        return PartitionEvidence(none, none, nothing, nothing)
    codes, _ = with_unknown(labels.encode(given), K)
    scores = model.decision_function(X)
    wrong = labels.encode(labels.from_scores(scores)) != codes
    if model.predictor.vote == "expectation":
        shares = model.shares_from_scores(scores)[np.arange(len(codes)), np.minimum(codes, K - 1)]
        losses = np.where(codes < K, np.clip(1.0 - shares, 0.0, 1.0), 1.0)
    else:
        losses = wrong.astype(np.float64)
    mine = [codes == k for k in classes]
    return PartitionEvidence(
        tuple(int(m.sum()) for m in mine),
        tuple(int(wrong[m].sum()) for m in mine),
        tuple(math.fsum(losses[m].tolist()) for m in mine),
        tuple(math.fsum((losses[m] ** 2).tolist()) for m in mine),
    )


def certify_parts(
    model: Model, parts: Iterable[PartitionEvidence], *, delta: float = 0.05, n_candidates: int = 1
) -> Certificate:
    """Certify a finished model by what all partitions of a test set show.

    The certificate is that of `abnet.bounds.certify_test_set` for all rows at once, but for the last bits of two means
    (of `abnet.certify` for a model without exact shares).
    The rows must have had no part in learning, and be independent of each other.
    """
    evidence = PartitionEvidence.merge(parts)
    terms = Terms(0.0, delta, "test set", n_candidates, "frozen", "expectation")
    errors = VoteErrors(sum(evidence.errors), evidence.errors[: evidence.n_codes])
    names = (*model.labels.names, "labels not known")
    certificate = assemble(evidence.risk(), errors, terms)
    if model.predictor.vote != "expectation":
        certificate = of_classifier(certificate)
    return replace(certificate, class_names=names[: evidence.n_codes])


def certify_frame(model: Model, frame: Any, target: str, *, delta: float = 0.05, n_candidates: int = 1) -> Certificate:
    """Certify a finished model on a Dask data frame, where its partitions are; a lost worker's are computed again.

    Parameters
    ----------
    model : Model
    frame : dask.dataframe.DataFrame
    target : str
        Column of the labels.
    delta : float
        Probability with which a bound may fail.
    n_candidates : int
        Number of models judged on these rows.
    """
    try:
        import dask
    except ImportError as error:
        raise ImportError("a table in partitions needs Dask: pip install 'abnet[dask]'.") from error

    task: Any = dask.delayed(_evidence)  # type: ignore[attr-defined]
    compute: Any = dask.compute  # type: ignore[attr-defined]
    return certify_parts(
        model,
        compute(*(task(model, part, target) for part in frame.to_delayed())),
        delta=delta,
        n_candidates=n_candidates,
    )


def _evidence(model: Model, part: Any, target: str) -> PartitionEvidence:
    return partition_evidence(model, part.drop(columns=[target]), part[target].to_numpy())


def score_frame(model: Model, frame: Any) -> Any:
    """Labels, and probabilities if there are any, of a Dask data frame, as a lazy frame with the same partitions."""
    return frame.map_partitions(_scored, model, meta=_scored(frame._meta, model))


def _scored(part: Any, model: Model) -> Any:
    import pandas as pd

    names = model.labels.names
    scores = model.decision_function(part) if len(part) else np.empty((0, len(names)) if len(names) > 2 else 0)
    columns = {"label": model.labels.from_scores(scores)}
    if model.predictor.shares:
        shares = model.probabilities_from_scores(scores)
        columns |= {f"probability_{name}": shares[:, k] for k, name in enumerate(names)}
    return pd.DataFrame(columns, index=part.index)
