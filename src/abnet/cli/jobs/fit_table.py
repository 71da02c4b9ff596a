"""Learn, certify, compare, save: the job of `abnet fit`."""

import textwrap
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.bounds import clopper_pearson_bound
from abnet.bounds.certificate import Certificate
from abnet.cli.jobs.inputs import Labelled, make_estimator, read_labelled, two_random_parts
from abnet.cli.show import certificate_text
from abnet.data.preparation import TablePreparation, UnseenWarning
from abnet.files import save

__all__ = ["FitOutcome", "LEAST_ROWS", "Rival", "fit_table", "rivals_of"]


LEAST_ROWS = 10
"""Fewer rows could not be split into two parts that say anything."""


@dataclass(frozen=True)
class Rival:
    """Another model, judged by its errors on rows that had no part in it.

    Attributes
    ----------
    name : str
    bound : float
        Test-set (Clopper-Pearson) bound on its error.
    errors, n_examples : int
        Errors counted, and the rows they were counted on.
    same_network : bool
        Whether it is the certified network itself, before it saw these rows.
    """

    name: str
    bound: float
    errors: int
    n_examples: int
    same_network: bool = False


@dataclass(frozen=True)
class FitOutcome:
    """What came out of a fit."""

    target: str
    classes: tuple[str, ...]
    n_rows: int
    n_columns: int
    certificate: Certificate | None
    bound_estimate: float | None
    rivals: tuple[Rival, ...]
    notices: tuple[str, ...]
    details: dict[str, Any]
    output: Path
    size: int
    replaced: bool

    @property
    def vote_bound(self) -> float | None:
        """The certified bound on the error of `predict`, if there is one."""
        return None if self.certificate is None else self.certificate.vote_error_bound

    def promise(self, *, details: bool = False) -> str:
        """The certificate in words, or why there is none."""
        if self.certificate is None:
            return self._no_certificate_text()
        return certificate_text(self.certificate, details=details)

    def _no_certificate_text(self) -> str:
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
            "test_set_bounds": [asdict(rival) for rival in self.rivals],
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
    return FitOutcome(
        target, tuple(map(str, classifier.classes_.tolist())), len(data.y), data.X.shape[1],
        classifier.certificate_, classifier.bound_estimate_, rivals_of(classifier, data),
        tuple(map(str, classifier.preprocessor_.notes_)), info.details, output, output.stat().st_size, replaced,
    )  # fmt: skip


def rivals_of(classifier: Any, data: Labelled) -> tuple[Rival, ...]:
    """Models that are judged on the classifier's bound rows: itself before it saw them, and logistic regression.

    Where the classifier kept no rows from the bound, logistic regression has two random halves instead.
    """
    split = classifier.predictor_.info.details["prior"] == "split"
    first, second, preparation = classifier.other_rows_, classifier.bound_rows_, classifier.preprocessor_
    if not split:
        first, second = two_random_parts(len(data.y), 0.5, classifier.random_state)
        preparation = TablePreparation(max_categories=preparation.max_categories).fit(data.X[first])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenWarning)  # reported by the fit
        prepared = preparation.transform(data.X)
    same = frozen_network(classifier, prepared[second], data.y[second]) if split else ()
    model = _learned_logistic(prepared[first], data.y[first])
    wrong = model.predict(prepared[second]) != data.y[second]
    return (*same, _judged("logistic regression, learned from the other rows", wrong, classifier.delta))


def frozen_network(classifier: Any, prepared: NDArray[Any], labels: NDArray[Any]) -> tuple[Rival, ...]:
    """The network as it was before the bound rows trained it, judged on them; none if frozen or sampled."""
    from abnet.predictors.compact import CompactABNet
    from abnet.predictors.mean_field_network import MeanFieldNetwork
    from abnet.predictors.predictor import ModelInfo

    kind: Any = type(classifier.predictor_)
    if classifier.predictor_.info.details["posterior"] == "frozen" or kind not in (CompactABNet, MeanFieldNetwork):
        return ()
    before = kind.from_network(classifier.prior_, ModelInfo(classifier.classes_))
    wrong = before.predict(prepared) != labels
    return (_judged("the same network before it saw these rows", wrong, classifier.delta, same_network=True),)


def _judged(name: str, wrong: NDArray[Any], delta: float, *, same_network: bool = False) -> Rival:
    errors = int(np.count_nonzero(wrong))
    return Rival(name, clopper_pearson_bound(errors, len(wrong), delta), errors, len(wrong), same_network)


def _learned_logistic(X: NDArray[Any], y: NDArray[Any]) -> Any:
    """Logistic regression, or the only class where there is one class."""
    from sklearn.dummy import DummyClassifier
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(max_iter=1000) if len(np.unique(y)) == 2 else DummyClassifier()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # still a legitimate rule to judge
        return model.fit(X, y)
