"""Score and certify a partitioned table on many machines, with the NumPy model.

The evidence of a partition is a few sums, which can be added, so no machine needs all rows for the certificate.
"""

import operator
from collections.abc import Iterable
from functools import reduce
from typing import Any, Literal

import numpy as np

from abnet.certificates.certificate import Certificate
from abnet.certificates.certify import Terms, certify
from abnet.certificates.evidence import Evidence, observe
from abnet.model.model import Model
from abnet.tables.labels import losses_of, with_unknown

__all__ = ["certify_frame", "certify_parts", "partition_evidence", "score_frame"]


def partition_evidence(model: Model, X: Any, y: Any) -> Evidence:
    """The evidence from the rows of one partition.

    Parameters
    ----------
    model : Model
        If its scores are the expected output, the Gibbs losses are included.
    X : frame or array
    y : labels, one for each row; one that the model does not know is an error

    Examples
    --------
    >>> from abnet.model.predictors.compact import Compact
    >>> net = Model(Compact(np.ones((1, 1, 2)), np.zeros((1, 1)), np.array([[-1.0, 1.0]])))
    >>> found = partition_evidence(net, np.array([[3.0, 3.0], [-1.0, -2.0]]), [1, 1])
    >>> found.n_rows, found.errors
    (2, 1)
    """
    labels = model.labels
    exact = model.predictor.vote == "expectation"
    losses = None
    if len(y) == 0:
        codes = np.zeros(0, np.intp)
        answers = codes
        if exact:
            losses = np.zeros(0)
    else:
        codes, _ = with_unknown(labels.encode(np.asarray(y)), labels.n_classes)
        scores = model.decision_function(X)
        answers = model.decision(scores)
        if exact:
            losses = losses_of(scores, codes)
    return observe(answers, codes, labels.names, losses=losses)


def certify_parts(parts: Iterable[Evidence], *, delta: float = 0.05, n_candidates: int = 1) -> Certificate:
    """Certify a fitted model from the evidence of all partitions of a test set; each row must be in only one of them.

    The certificate equals that of all rows together, except that the Gibbs risk is bounded from its mean, not by
    betting. The rows must be held out from training, and be independent of each other.
    """
    partitions = list(parts)
    if not partitions:
        raise ValueError("there are no partitions to merge.")
    terms = Terms(delta=delta, n_candidates=n_candidates, source="test set")
    return certify(reduce(operator.add, partitions), terms)


def certify_frame(model: Model, frame: Any, target: str, *, delta: float = 0.05, n_candidates: int = 1) -> Certificate:
    """Certify a fitted model on a Dask data frame; each partition is processed on its worker.

    Parameters
    ----------
    model : Model
    frame : dask.dataframe.DataFrame
    target : str
        Column with the labels.
    delta : float
        Maximum probability that a bound is false.
    n_candidates : int
        Number of models compared on these rows.
    """
    try:
        import dask
    except ImportError as error:
        raise ImportError("a table in partitions needs Dask: pip install 'abnet[dask]'.") from error

    task: Any = dask.delayed(_evidence)  # type: ignore[attr-defined]
    compute: Any = dask.compute  # type: ignore[attr-defined]
    return certify_parts(
        compute(*(task(model, part, target) for part in frame.to_delayed())),
        delta=delta,
        n_candidates=n_candidates,
    )


def _evidence(model: Model, part: Any, target: str) -> Evidence:
    return partition_evidence(model, part.drop(columns=[target]), part[target].to_numpy())


def score_frame(model: Model, frame: Any, *, on_error: Literal["stop", "skip"] = "stop") -> Any:
    """Predict a Dask data frame: labels, and probabilities if available, as a lazy frame with the same partitions.

    The labels follow the model's decision: None where it abstains.

    Parameters
    ----------
    model : Model
    frame : dask.dataframe.DataFrame
    on_error : {"stop", "skip"}
        What to do with a row that the model rejects: raise the error, or leave label and probabilities empty and give
        the reason in a further column ``refused`` (empty for other rows).
    """
    if on_error not in ("stop", "skip"):
        raise ValueError(f"on_error must be 'stop' or 'skip'; got {on_error!r}.")
    scored = _scored
    if on_error == "skip":
        scored = _scored_or_refused
    # The meta-data of Dask are a frame without rows, whose predictions have the types of all others.
    return frame.map_partitions(scored, model, meta=scored(frame._meta, model))


def _scored(part: Any, model: Model) -> Any:
    import pandas as pd

    names = model.labels.names
    if len(part):
        scores = model.decision_function(part)
    elif len(names) > 2:
        scores = np.empty((0, len(names)))
    else:
        scores = np.empty(0)
    columns = {"label": model.answers_from_scores(scores)}
    if model.predictor.shares:
        shares = model.probabilities_from_scores(scores)
        columns |= {f"probability_{name}": shares[:, k] for k, name in enumerate(names)}
    return pd.DataFrame(columns, index=part.index)


def _scored_or_refused(part: Any, model: Model) -> Any:
    """`_scored` with a column of reasons; rejected rows are found by halving the partition."""
    import pandas as pd

    try:
        found = _scored(part, model).astype({"label": object})
        return found.assign(refused=pd.Series("", index=part.index, dtype=object))
    except ValueError as error:
        if len(part) > 1:
            half = len(part) // 2
            return pd.concat([_scored_or_refused(part[:half], model), _scored_or_refused(part[half:], model)])
        empty = _scored(part[:0], model).astype({"label": object}).reindex(part.index)
        return empty.assign(label=None, refused=pd.Series(str(error), index=part.index, dtype=object))
