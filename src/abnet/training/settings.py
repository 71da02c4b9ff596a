"""`Settings`: the checked parameters of a classifier; `abnet.training.resolve` answers what is "auto"."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from abnet.certificates.goals import Goal, goals_by_rank
from abnet.certificates.joint_shares import JointNames, joint_shares
from abnet.certificates.row_by_row import refit_problem
from abnet.certificates.set_rule import Sets
from abnet.certificates.terms import Draw, Source, Terms
from abnet.networks import (
    Aggregation,
    Ancestral,
    Exact,
    GlorotNormal,
    Initialisation,
    PBGNet,
    SampledPBGNet,
    Uniform,
    exact,
)
from abnet.networks.posterior import Posterior
from abnet.training.built_in_teachers import TEACHERS
from abnet.utils.errors import Parameter, ParameterError
from abnet.utils.parameters import check_choice, check_fraction, check_positive, check_tolerance

if TYPE_CHECKING:
    from abnet.training.loop import Limits

__all__ = [
    "AGGREGATIONS",
    "CLOSED_FORM",
    "PBGNET",
    "MemberSettings",
    "Settings",
    "TrainingSettings",
    "check_class_weight",
    "checked_goal",
    "checked_members",
    "is_auto",
    "whole_or_none",
]

Aggregations = Mapping[str, Callable[[int], Aggregation]]

AGGREGATIONS: Aggregations = {"exact": lambda n_samples: Exact(), "ancestral": Ancestral, "uniform": Uniform}
"""ABNet's aggregations, by the value of the parameter `aggregation`, as functions of `n_samples`."""
PBGNET: Aggregations = {"exact": lambda n_samples: PBGNet(), "sampled": SampledPBGNet}
"""PBGNet's."""
CLOSED_FORM: Aggregations = {"exact": lambda n_samples: Exact(), "moments": Ancestral}
"""Those of `CertifiedClassifier`: wide members are trained as "ancestral" and deployed in closed form."""


@dataclass(frozen=True)
class TrainingSettings:
    """Settings of the training; None means that a rule sets the value.

    Attributes
    ----------
    max_iter, n_iter_no_change, tol, validation_fraction
        As the parameters.
    batch_size : int or None
    rate : float or None
        Learning rate of the last stage.
    warm_up : int
        Epochs on the linear loss before the bound.
    deviations : bool
        Whether the standard deviation of each layer is learned through the bound.
    """

    max_iter: int = 100
    n_iter_no_change: int = 20
    tol: float = 1e-4
    validation_fraction: float = 0.2
    batch_size: int | None = None
    rate: float | None = None
    warm_up: int = 0
    deviations: bool = False

    @property
    def limits(self) -> "Limits":
        """When a stage of training ends."""
        from abnet.training.loop import Limits

        return Limits(self.tol, self.n_iter_no_change, max_epochs=self.max_iter)


@dataclass(frozen=True, eq=False)
class MemberSettings:
    """Settings of a mixture; by default the paper's single network.

    Attributes
    ----------
    count : int or None
        Number of members; None means that a rule sets it.
    teacher : None, str or classifier
        "auto" means that a rule sets it.
    codes : {"auto", "thermometer", "none"}
    class_weight : None, "balanced" or mapping
    """

    count: int | None = 1
    teacher: Any = None
    codes: str = "none"
    class_weight: Any = None

    @property
    def alone(self) -> bool:
        """Whether this may be a single network trained on the labels only."""
        one_member = self.count in (None, 1)
        no_teacher = self.teacher is None or is_auto(self.teacher)
        no_codes = self.codes in ("auto", "none")
        return one_member and no_teacher and no_codes and self.class_weight is None


@dataclass(frozen=True, eq=False)
class Settings:
    """The parameters of a fit.

    Attributes
    ----------
    estimator : str
        Name of the classifier's class.
    given : dict
        Parameters that differ from their defaults, as text.
    hidden : tuple of int or None
        Widths of the hidden layers; None means that rules set them (`abnet.training.resolve`).
    aggregation : str
        A name in `aggregations`, or "auto".
    aggregations : mapping
        Maps names to functions from `n_samples` to an aggregation.
    objective : {"bound", "loss"}
    split : bool
        Whether the prior is learned on a first part of the rows.
    frozen : bool
        Whether the posterior is that prior, so that the bound rows are held out from training.
    share : float
        Fraction of the rows in the first part.
    classes : array or None
        All possible labels; None for those of the first part.
    several : bool
        Whether there may be more than two classes.
    code_length : int or None
        Number of output neurons for several classes; None means that a rule sets it.
    goal : Goal or None
        The goal of the answers.
    sets : Sets or None
        Prediction sets to certify.
    joint : sequence of str or dict, or None
        Statements that hold jointly.
    gaps : bool
        Whether NaN in plain arrays is a missing value.
    given_prior, first : Posterior or None
        The given prior (None: a random one), and the initial weights of training (None: those of the prior).
    initialisation : Initialisation
        How a random prior is drawn.
    """

    estimator: str
    given: Mapping[str, str]
    hidden: tuple[int, ...] | None
    aggregation: str
    aggregations: Aggregations
    share: float
    n_samples: int = 100
    objective: str = "bound"
    split: bool = True
    frozen: bool = True
    preprocessor: Any = None
    delta: float = 0.05
    n_candidates: int = 1
    classes: NDArray[Any] | None = None
    several: bool = True
    code_length: int | None = None
    training: TrainingSettings = TrainingSettings()
    members: MemberSettings = MemberSettings()
    goal: Goal | None = None
    sets: Sets | None = None
    joint: JointNames | None = None
    gaps: bool = False
    given_prior: Posterior | None = None
    first: Posterior | None = None
    initialisation: Initialisation = GlorotNormal()  # noqa: RUF009 (a frozen value)
    verbose: int = 0

    def __post_init__(self) -> None:
        check_fraction("delta", self.delta)
        check_fraction("validation_fraction", self.training.validation_fraction)
        check_positive("n_samples", self.n_samples, whole=True)
        check_positive("n_candidates", self.n_candidates, whole=True)
        check_positive("max_iter", self.training.max_iter, whole=True)
        check_positive("n_iter_no_change", self.training.n_iter_no_change, whole=True)
        check_tolerance(self.training.tol)
        joint_shares(self.joint)
        if self.sets is not None and not isinstance(self.sets, Sets):
            raise ParameterError("{} must be a value such as Sets(0.1); got {!r}.", Parameter("sets"), self.sets)
        check_choice("aggregation", self.aggregation, self._names())
        if self.aggregation == "exact" and self.hidden is not None:
            # With several classes the last hidden layer needs a table too, but they are counted later.
            self.check_width(2)

    def _names(self) -> tuple[str, ...]:
        """Allowed values of `aggregation`; "auto" is one of them only if any width can be certified."""
        names = tuple(self.aggregations)
        certified = [name for name in names if self.aggregations[name](1).certified]
        if len(certified) > 1:
            return (*names, "auto")
        return names

    @property
    def wide(self) -> str:
        """The certified aggregation for networks that are too wide for exact computation."""
        for name in ("ancestral", "moments"):
            if name in self.aggregations:
                return name
        return "exact"

    @property
    def pbgnet(self) -> bool:
        """Whether every neuron reads its own draw of the layer below, so that a draw is a tree of networks."""
        if self.aggregations is PBGNET:
            return True
        if self.aggregation == "auto":
            return False
        return isinstance(self.make(self.aggregation), (PBGNet, SampledPBGNet))

    @property
    def prior(self) -> Source:
        """The origin of the prior, as a certificate names it."""
        if self.split:
            return "split"
        if self.given_prior is None:
            return "init"
        return "given"

    def check_width(self, n_classes: int) -> None:
        """Raise a ParameterError for layers too wide for the exact output; it names the other aggregations."""
        assert self.hidden is not None
        if self.pbgnet:
            return
        with_tables = self.hidden
        if n_classes == 2:
            with_tables = self.hidden[:-1]
        for layer, width in enumerate(with_tables, start=1):
            if width > exact.MAX_WIDTH:
                raise _too_wide(layer, width, self.aggregations)

    def make(self, aggregation: str) -> Aggregation:
        """The aggregation of this name."""
        return self.aggregations[aggregation](self.n_samples)

    def is_mixture(self, n_classes: int) -> bool:
        """Whether any setting needs a mixture: several members, a teacher, codes, weights or several classes."""
        return self.hidden is None or not self.members.alone or n_classes > 2

    def check_mixture(self, n_classes: int) -> None:
        """Raise a ParameterError for a mixture with objectives or aggregations that support one network only."""
        if self.training.warm_up or self.training.deviations or self.first is not None:
            raise ParameterError(
                "{}, {} and {} are for one network with two classes.",
                Parameter("warm_up"),
                Parameter("deviations"),
                Parameter("init"),
            )
        if self.split and self.aggregation != "uniform":
            return
        if self.hidden is None or n_classes > 2:
            raise ParameterError(
                "{}, {} and {} are for one network with two classes: set {}.",
                Parameter("prior", "init"),
                Parameter("objective", "loss"),
                Parameter("aggregation", "uniform"),
                Parameter("hidden_layer_sizes"),
            )
        raise ParameterError(
            "{}, {}, {} and {} need a prior learned on the first part, and exact or ancestral aggregation.",
            Parameter("n_estimators"),
            Parameter("teacher"),
            Parameter("codes"),
            Parameter("class_weight"),
        )

    def terms(self, n_layers: int) -> Terms:
        """The terms of a certificate; `n_layers` is the number of layers, including the output layer."""
        return Terms(
            delta=self.delta,
            n_candidates=self.n_candidates,
            source=self.prior,
            trained=not self.frozen,
            drawn=self._draw(n_layers),
        )

    def _draw(self, n_layers: int) -> Draw:
        """What is drawn from a posterior with this number of layers."""
        if self.pbgnet and n_layers > 2:
            return "tree"
        if self.pbgnet or self.aggregation == "auto":
            return "network"
        if type(self.make(self.aggregation)) in (Exact, Ancestral, Uniform):
            return "network"
        return "predictor"


def is_auto(value: Any) -> bool:
    """Whether a parameter is "auto"."""
    return isinstance(value, str) and value == "auto"


def _too_wide(layer: int, width: int, aggregations: Aggregations) -> ParameterError:
    other_names = [name for name in aggregations if name != "exact"]
    options = []
    for name in other_names:
        if aggregations[name](1).certified:
            options.append("{} (certified)")
        else:
            options.append("{} (an estimate)")
    return ParameterError(
        "Hidden layer {} has {} units: the exact output needs a table of its 2^{} representations (at most "
        f"2^{exact.MAX_WIDTH} are allowed; with two classes, the last hidden layer may have any width). Use narrower "
        f"layers, or sampling: {' or '.join(options)}.",
        layer,
        width,
        width,
        *(Parameter("aggregation", name) for name in other_names),
    )


def whole_or_none(name: str, value: Any) -> int | None:
    """A positive whole number; None for "auto"."""
    if is_auto(value):
        return None
    check_positive(name, value, whole=True)
    return int(value)


def checked_members(n_estimators: Any, teacher: Any, codes: Any, class_weight: Any) -> MemberSettings:
    """The checked settings of a mixture."""
    count = whole_or_none("n_estimators", n_estimators)
    check_choice("codes", codes, ("auto", "thermometer", "none"))
    _check_teacher(teacher)
    if class_weight is not None and not isinstance(class_weight, Mapping):
        check_choice("class_weight", class_weight, ("balanced",))
    return MemberSettings(count, teacher, codes, class_weight)


def _check_teacher(teacher: Any) -> None:
    """Raise a ParameterError unless a teacher is None, a known name or a classifier that can be refitted."""
    if teacher is None:
        return
    parameter = Parameter("teacher")
    if isinstance(teacher, str):
        names = ("auto", "all", *TEACHERS)
        if teacher not in names:
            raise ParameterError(
                "{} must be None or one of {}; got {!r}.", parameter, ", ".join(map(repr, names)), teacher
            )
        return
    if not hasattr(teacher, "predict_proba"):
        raise ParameterError(
            "{} must be None, a text, or a classifier with predict_proba; got {!r}.", parameter, teacher
        )
    problem = refit_problem(teacher)
    if problem:
        raise ParameterError("{} must be refitted on the first part, but {}.", parameter, problem)


def checked_goal(goal: Any) -> Goal | None:
    """The checked goal."""
    if goal is None or isinstance(goal, Goal):
        return goal
    names = ", ".join(kind.__name__ for kind in goals_by_rank())
    raise ParameterError("{} must be one of {}; got {!r}.", Parameter("decision"), names, goal)


def check_class_weight(class_weight: Any, classes: list[Any]) -> None:
    """Raise a ParameterError for weights of unknown classes: a misspelt name would leave its class at weight 1."""
    if not isinstance(class_weight, Mapping):
        return
    for label in class_weight:
        if label not in classes:
            raise ParameterError(
                "{} has a weight for {!r}, which is not a class of the first part; the classes are {}.",
                Parameter("class_weight"),
                label,
                ", ".join(map(repr, classes)),
            )
    for label, weight in class_weight.items():
        if not isinstance(weight, Real) or not 0.0 <= float(weight) < np.inf:
            raise ParameterError(
                "{} must be finite and not negative; the class {!r} has {!r}.",
                Parameter("class_weight"),
                label,
                weight,
            )
    if not any(class_weight.get(label, 1.0) for label in classes):
        raise ParameterError("{} leaves no class with a weight above 0.", Parameter("class_weight"))
