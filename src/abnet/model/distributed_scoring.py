"""Score and certify a partitioned table on many machines, with the NumPy model.

The evidence of a partition is a few sums, which can be added, so no machine needs all rows for the certificate.
"""

import operator
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.certificates.certificate import Certificate
from abnet.certificates.evidence import Evidence, Groups, observe
from abnet.certificates.fitted_rows import RowsFound
from abnet.certificates.from_evidence import certify
from abnet.certificates.grouped_rows import check_groups
from abnet.certificates.keyed_order import bet_keys, row_order
from abnet.certificates.random_seed import RandomState, drawn_seed
from abnet.certificates.row_hashing import row_hashes
from abnet.certificates.terms import Terms
from abnet.certificates.training_rows import filter_of, refuse_fitted
from abnet.model.digest import belonging, model_digest
from abnet.model.model import FittedClassifier, Model, model_of
from abnet.tables.labels import check_labelled, with_unknown
from abnet.utils.coded_rows import dense
from abnet.utils.errors import Parameter, ParameterError
from abnet.utils.label_values import label_values

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
    loaded = model_of(model)
    labels = np.asarray(y)
    check_labelled(labels)
    if not len(labels):
        return _evidence_of_nothing(loaded, grouped=groups is not None)
    n_classes = loaded.n_classes
    rows = loaded.features(X)
    encoded = loaded.labels.encode(labels)
    codes, _ = with_unknown(encoded, n_classes)
    training_rows = RowsFound()
    fitted_rows = filter_of(loaded)
    if fitted_rows is not None:
        fitted_rows.add(dense(rows), label_values(encoded, n_classes))
        training_rows = fitted_rows.counts
    scores = loaded.predictor.scores(rows)
    losses = None
    if _has_losses(loaded):
        losses = loaded.predictor.expected_losses(scores, codes)
    keys = None
    contents: dict[Any, int] = {}
    if groups is not None:
        keys = np.zeros(len(codes), np.uint64)  # `certify_parts` orders the groups
        contents = _contents_of_groups(X, labels, np.asarray(groups))
    evidence = observe(
        loaded.decision(scores),
        codes,
        loaded.labels.names,
        losses=losses,
        groups=groups,
        keys=keys,
        regions=loaded.located_inputs(rows),
    )
    return PartEvidence(replace(evidence, values=None), training_rows, contents, model_digest(loaded))


def _has_losses(model: Model) -> bool:
    """Whether the scores are the expected output, so that they give the Gibbs losses."""
    return model.predictor.vote == "expectation"


def _evidence_of_nothing(model: Model, *, grouped: bool) -> PartEvidence:
    """The evidence from a partition without rows."""
    codes = np.zeros(0, np.intp)
    losses = None
    if _has_losses(model):
        losses = np.zeros(0)
    regions = model.located_inputs(np.empty((0, model.n_inputs)))
    evidence = observe(codes, codes, model.labels.names, losses=losses, regions=regions)
    if grouped:
        evidence = replace(evidence, groups=Groups())
    return PartEvidence(evidence, model=model_digest(model))


def _contents_of_groups(X: Any, y: Any, groups: NDArray[Any]) -> dict[Any, int]:
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
    loaded = model_of(model)
    given = list(parts)
    if not given:
        raise ValueError("there are no partitions to merge.")
    whole = reduce(operator.add, given)
    if whole.model != model_digest(loaded):
        raise ValueError("the partitions were predicted by another model: pass the model that the evidence is about.")
    fitted_rows = filter_of(loaded)
    if fitted_rows is not None:
        fitted_rows.counts = whole.training_rows
    refuse_fitted(fitted_rows, instead="Certify on other rows.")
    seed = drawn_seed(random_state)
    evidence = whole.evidence
    if evidence.groups is None:
        check_groups(loaded, None, "groups")
    else:
        evidence = replace(evidence, groups=_in_keyed_order(evidence.groups, whole.contents, seed))
    certificate = certify(evidence, Terms(delta=delta, n_candidates=n_candidates, source="test set"))
    return belonging(certificate, loaded)


def _in_keyed_order(groups: Groups, contents: dict[Any, int], seed: int) -> Groups:
    """The groups with keys that follow from their contents and the seed, so not from the order of the partitions."""
    if len({isinstance(name, str) for name in groups.table}) > 1:
        raise ValueError("some groups are named by text, others by numbers: use one type in all partitions.")
    hashes = np.array([contents[name] for name in groups.table], np.uint64)
    keys = bet_keys(row_order(hashes, seed)).tolist()
    table = {}
    for key, (name, (_, *sums)) in zip(keys, groups.table.items(), strict=True):
        table[name] = (key, *sums)
    return Groups(table)


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
    if group is None and loaded.card.n_training_groups and loaded.card.group in frame.columns:
        raise ParameterError(
            "the model was fitted on groups of rows, and this frame has their column: add {}. The certificate is then "
            "about a new group.",
            Parameter("group", loaded.card.group),
        )
    task: Any = dask.delayed(_evidence)  # type: ignore[attr-defined]
    compute: Any = dask.compute  # type: ignore[attr-defined]
    parts = compute(*(task(loaded, part, target, group) for part in frame.to_delayed()))
    return certify_parts(loaded, parts, delta=delta, n_candidates=n_candidates, random_state=random_state)


def _evidence(model: Model, part: Any, target: str, group: str | None) -> PartEvidence:
    """The evidence from one partition of a Dask data frame."""
    groups = None
    if group is not None:
        groups = part[group].to_numpy()
    return partition_evidence(model, part.drop(columns=[target]), part[target].to_numpy(), groups=groups)


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
