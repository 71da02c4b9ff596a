"""Score and certify a partitioned table on many machines, with the NumPy model.

The evidence of a partition is a few sums, which can be added, so no machine needs all rows for the certificate.
"""

import operator
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from abnet.certificates.certificate import Certificate
from abnet.certificates.evidence import Evidence, Groups, observe
from abnet.certificates.fitted_rows import RowsFound
from abnet.certificates.from_evidence import certify
from abnet.certificates.grouped_rows import check_groups
from abnet.certificates.keyed_order import bet_keys, row_order
from abnet.certificates.random_seed import RandomState, drawn_seed
from abnet.certificates.row_hashing import row_hashes
from abnet.certificates.terms import Terms
from abnet.certificates.training_rows import filter_of, label_values, refuse_fitted
from abnet.model.digest import belonging, model_digest
from abnet.model.model import FittedClassifier, Model, model_of
from abnet.tables.labels import check_labelled, with_unknown
from abnet.utils.class_scores import losses_of
from abnet.utils.coded_rows import dense
from abnet.utils.errors import Parameter, ParameterError

__all__ = ["PartEvidence", "certify_frame", "certify_parts", "partition_evidence", "score_frame"]


@dataclass(frozen=True, eq=False)
class PartEvidence:
    """What the rows of a partition add to a certificate; of disjoint partitions it is added with ``+``.

    Attributes
    ----------
    evidence : Evidence
    training_rows : RowsFound
        How many of the rows the model was fitted on, by its filter.
    contents : dict
        For rows in groups: the sum of the hashes of each group's rows, which the betting bound orders the groups by.
    model : str or None
        Digest of the model that predicted the rows; None for a model that cannot be saved.
    """

    evidence: Evidence
    training_rows: RowsFound = field(default_factory=RowsFound)
    contents: dict[Any, int] = field(default_factory=dict)
    model: str | None = None

    def __add__(self, other: "PartEvidence") -> "PartEvidence":
        if self.model != other.model:
            raise ValueError("the partitions were predicted by different models, so their errors cannot be added.")
        contents = dict(self.contents)
        for name, content in other.contents.items():
            contents[name] = (contents.get(name, 0) + content) % 2**64
        return PartEvidence(
            evidence=self.evidence + other.evidence,
            training_rows=self.training_rows + other.training_rows,
            contents=contents,
            model=self.model,
        )


def partition_evidence(
    model: Model | FittedClassifier, X: Any, y: Any, *, groups: ArrayLike | None = None
) -> PartEvidence:
    """The evidence from the rows of one partition.

    Parameters
    ----------
    model : Model or fitted classifier
        If its scores are the expected output, the Gibbs losses are included.
    X : frame or array
    y : labels, one for each row; one that the model does not know is an error
    groups : array-like (n,), optional
        Group of each row; the rows of a group may be spread over several partitions.

    Examples
    --------
    >>> from abnet.model.predictors.compact import Compact
    >>> net = Model(Compact(np.ones((1, 1, 2)), np.zeros((1, 1)), np.array([[-1.0, 1.0]])))
    >>> found = partition_evidence(net, np.array([[3.0, 3.0], [-1.0, -2.0]]), [1, 1])
    >>> found.evidence.n_rows, found.evidence.errors, found.training_rows.found
    (2, 1, 0)
    """
    loaded, given = model_of(model), np.asarray(y)
    check_labelled(given)
    labels, exact = loaded.labels, loaded.predictor.vote == "expectation"
    K = labels.n_classes
    if not len(given):
        none = np.zeros(0, np.intp)
        losses, nobody = np.zeros(0) if exact else None, None if groups is None else Groups()
        nothing = replace(observe(none, none, labels.names, losses=losses), groups=nobody)
        return PartEvidence(nothing, model=model_digest(loaded))
    rows, found = loaded.features(X), labels.encode(given)
    codes, _ = with_unknown(found, K)
    seen = filter_of(loaded)
    if seen is not None:
        seen.add(dense(rows), label_values(found, K))
    scores = loaded.predictor.scores(rows)
    evidence = observe(
        loaded.decision(scores), codes, labels.names, losses=losses_of(scores, codes) if exact else None, groups=groups,
        keys=None if groups is None else np.zeros(len(codes), np.uint64),  # `certify_parts` orders the groups
    )  # fmt: skip
    training_rows = RowsFound()
    if seen is not None:
        training_rows = seen.counts
    contents = {} if groups is None else _contents(X, given, np.asarray(groups))
    return PartEvidence(replace(evidence, values=None), training_rows, contents, model_digest(loaded))


def _contents(X: Any, y: Any, groups: Any) -> dict[Any, int]:
    """The sum of the hashes of each group's rows."""
    contents: dict[Any, int] = {}
    for name, content in zip(groups.tolist(), row_hashes(X, y).tolist(), strict=True):
        contents[name] = (contents.get(name, 0) + content) % 2**64
    return contents


def certify_parts(
    model: Model | FittedClassifier,
    parts: Iterable[PartEvidence],
    *,
    delta: float = 0.05,
    n_candidates: int = 1,
    random_state: RandomState = None,
) -> Certificate:
    """Certify a fitted model from the evidence of all partitions of a test set; each row must be in only one of them.

    The certificate equals that of all rows together, except that the Gibbs risk is bounded from its mean, not by
    betting. The rows must be held out from training, and be independent of each other unless they are in groups.

    Parameters
    ----------
    model : Model or fitted classifier
        The model that the evidence is about.
    parts : iterable of PartEvidence
    delta : float
        Maximum probability that a bound is false.
    n_candidates : int
        Number of models compared on these rows.
    random_state : int, optional
        Seed for the order in which the betting bound reads the groups; drawn anew by default.

    Raises
    ------
    TrainingRowsError
        A ValueError: the model was fitted on more of the rows than chance explains, as for `abnet.certify`.
    """
    found, loaded = list(parts), model_of(model)
    if not found:
        raise ValueError("there are no partitions to merge.")
    whole = reduce(operator.add, found)
    if whole.model != model_digest(loaded):
        raise ValueError("the partitions were predicted by another model: pass the model that the evidence is about.")
    seen = filter_of(loaded)
    if seen is not None:
        seen.counts = whole.training_rows
    refuse_fitted(seen, instead="Certify on other rows.")
    evidence, seed = whole.evidence, drawn_seed(random_state)
    if evidence.groups is None:
        check_groups(loaded, None, "groups")
    else:
        evidence = replace(evidence, groups=_in_keyed_order(evidence.groups, whole.contents, seed))
    made = certify(evidence, Terms(delta=delta, n_candidates=n_candidates, source="test set"))
    return belonging(made, loaded)


def _in_keyed_order(groups: Groups, contents: dict[Any, int], seed: int) -> Groups:
    """The groups with keys that follow from their contents and the seed, so not from the order of the partitions."""
    if len({isinstance(name, str) for name in groups.table}) > 1:
        raise ValueError("some groups are named by text, others by numbers: use one type in all partitions.")
    hashes = np.array([contents[name] for name in groups.table], np.uint64)
    keys = bet_keys(row_order(hashes, seed)).tolist()
    return Groups({name: (key, *sums[1:]) for key, (name, sums) in zip(keys, groups.table.items(), strict=True)})


def certify_frame(
    model: Model | FittedClassifier,
    frame: Any,
    target: str,
    *,
    group: str | None = None,
    delta: float = 0.05,
    n_candidates: int = 1,
    random_state: RandomState = None,
) -> Certificate:
    """Certify a fitted model on a Dask data frame; each partition is processed on its worker.

    Parameters
    ----------
    model : Model or fitted classifier
    frame : dask.dataframe.DataFrame
    target : str
        Column with the labels.
    group : str, optional
        Column with the group of each row; the certificate is then about a new group. It is needed for a model that was
        fitted on groups, if the frame has their column.
    delta, n_candidates, random_state
        As for `certify_parts`.

    Raises
    ------
    TrainingRowsError
        A ValueError: the model was fitted on more of the rows than chance explains.
    """
    try:
        import dask
    except ImportError as error:
        raise ImportError("a table in partitions needs Dask: pip install 'abnet[dask]'.") from error

    loaded = model_of(model)
    fitted_on = loaded.card.group if loaded.card.n_training_groups else None
    if group is None and fitted_on in frame.columns:
        raise ParameterError(
            "the model was fitted on groups of rows, and this frame has their column: add {}. The certificate is then "
            "about a new group.", Parameter("group", fitted_on),
        )  # fmt: skip
    task: Any = dask.delayed(_evidence)  # type: ignore[attr-defined]
    compute: Any = dask.compute  # type: ignore[attr-defined]
    parts = compute(*(task(loaded, part, target, group) for part in frame.to_delayed()))
    return certify_parts(loaded, parts, delta=delta, n_candidates=n_candidates, random_state=random_state)


def _evidence(model: Model, part: Any, target: str, group: str | None) -> PartEvidence:
    X, y = part.drop(columns=[target]), part[target].to_numpy()
    return partition_evidence(model, X, y, groups=None if group is None else part[group].to_numpy())


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
