"""Learn, certify, compare, save: the job of `abnet fit`."""

import textwrap
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from abnet.bounds.certificate import Certificate
from abnet.cli.jobs.inputs import Labelled, make_estimator, read_labelled
from abnet.cli.jobs.rivals import (
    HoldOut,
    frozen_network,
    logistic_regression,
    parts_of,
    two_random_parts,
)
from abnet.data.preparation import TablePreparation, UnseenWarning
from abnet.files import save

__all__ = ["FitOutcome", "LEAST_ROWS", "fit_table", "rivals_of"]


LEAST_ROWS = 10
"""Fewer rows could not be split into two parts that say anything."""


@dataclass(frozen=True)
class FitOutcome:
    """What came out of a fit."""

    target: str
    classes: tuple[str, ...]
    n_rows: int
    n_columns: int
    certificate: Certificate | None
    bound_estimate: float | None
    rivals: tuple[HoldOut, ...]
    notices: tuple[str, ...]
    details: dict[str, Any]
    output: Path
    size: int
    replaced: bool

    @property
    def vote_bound(self) -> float | None:
        """The certified bound on the error of `predict`, if there is one."""
        return None if self.certificate is None else self.certificate.vote_error_bound

    def promise(self) -> str:
        """The certificate in words, or why there is none."""
        if self.certificate is not None:
            return self.certificate.describe(classes=(self.classes[0], self.classes[1]))
        return self._excuse()

    def _excuse(self) -> str:
        settings = ", ".join(f"{name} {self.details[name]!r}" for name in ("objective", "prior", "aggregation"))
        prepared = "" if self.details["prior"] == "split" else ", preparation learned from all rows"
        figure = (
            "" if self.bound_estimate is None else f" The Gibbs bound would be {self.bound_estimate:.3f}, an estimate."
        )
        return textwrap.fill(
            f"There is no certificate: no theorem covers what was done ({settings}{prepared}).{figure} "
            "The default options (--objective bound --prior split --aggregation exact) give one.",
            100,
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        certificate = None if self.certificate is None else self.certificate.to_dict()
        return {
            **{name: getattr(self, name) for name in ("target", "classes", "n_rows", "n_columns", "bound_estimate")},
            "certificate": certificate,
            "hold_out": [asdict(rival) for rival in self.rivals],
            "notices": self.notices,
            "details": self.details,
            "model": {"path": str(self.output), "bytes": self.size, "replaced": self.replaced},
        }


def fit_table(
    table: Path,
    target: str,
    output: Path,
    *,
    model: str,
    settings: dict[str, Any],
    drop: Sequence[str] = (),
    max_categories: int = 20,
    verbose: bool = False,
) -> FitOutcome:
    """Learn the target of a table, and write the model.

    Parameters
    ----------
    table, output : path
    target : str
    model : {"abnet", "pbgnet"}
    settings : dict
        Parameters of the classifier.
    drop : sequence of str
        Columns to leave out.
    max_categories : int
        Of `TablePreparation`.
    verbose : bool
        Draw a progress bar.
    """
    preparation = TablePreparation(max_categories=max_categories)
    classifier = make_estimator(model, settings, preprocessor=preparation, verbose=verbose)
    data = read_labelled(table, target, drop=drop, at_least=LEAST_ROWS)
    classifier.fit(data.X, data.y)
    predictor = classifier.compact()
    info = replace(predictor.info, details={**predictor.info.details, "target": target})
    replaced = output.exists()
    save(replace(predictor, info=info), output)
    rivals, notices = rivals_of(classifier, data, max_categories)
    return FitOutcome(
        target, tuple(map(str, classifier.classes_.tolist())), len(data.y), data.X.shape[1],
        classifier.certificate_, classifier.bound_estimate_, rivals, notices,
        info.details, output, output.stat().st_size, replaced,
    )  # fmt: skip


def rivals_of(classifier: Any, data: Labelled, max_categories: int) -> tuple[tuple[HoldOut, ...], tuple[str, ...]]:
    """Hold-out bounds on the classifier's own two parts, or where it has none, on two halves; notices on columns."""
    split = classifier.certificate_ is not None and classifier.certificate_.prior == "split"
    parts = parts_of(classifier, len(data.y)) if split else two_random_parts(len(data.y), 0.5, classifier.random_state)
    preparation = TablePreparation(max_categories=max_categories).fit(data.X[parts[0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenWarning)  # reported by the fit
        prepared = preparation.transform(data.X)
    same = frozen_network(classifier, prepared, data.y, parts) if split else ()
    rivals = (*same, logistic_regression(prepared, data.y, parts, classifier.delta))
    of_model = preparation if split else TablePreparation(max_categories=max_categories).fit(data.X)
    return rivals, tuple(map(str, of_model.notes_))
