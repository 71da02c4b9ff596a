"""`resolve`: the answer to every "auto", from the numbers of rows, columns and classes alone.

No rule here looks at a label or a result, so "auto" is not a choice that a bound has to account for. Three choices are
made elsewhere because they look at training rows: how an input is prepared depends on the types of its columns
(`abnet.training.choose_preprocessor`), columns of a wide table may be left out (`abnet.training.column_choice`), and a
mixture of small members may be replaced by wide ones after training (`abnet.training.wide_members`).
"""

import sys
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from abnet.networks import exact
from abnet.networks.codebook import MOST_NEURONS, code_length
from abnet.networks.independent_signs import WIDEST_TABLE
from abnet.training.mixture_plan import MixturePlan
from abnet.training.recipe import Recipe
from abnet.training.settings import Settings, TrainingSettings, is_auto
from abnet.utils.errors import Parameter, ParameterError

__all__ = [
    "AFFORDABLE",
    "PRIOR_RATE",
    "RATE",
    "Sizes",
    "batch_size",
    "computes_risk",
    "exact_cost",
    "mixture_plan",
    "network_aggregation",
    "prior_rate",
    "rate",
    "resolve",
    "share_of_first_part",
]

SHARE = 0.6
"""Share of the rows in the first part of a `CertifiedClassifier` whose widths are "auto". More training rows lower the
error by more than the certificate loses with fewer bound rows."""
SHARE_OF_GIVEN_WIDTHS = 0.5
"""The same where the widths are given."""
WIDE_FEATURES = 400
"""Number of prepared features above which a table is wide: codes and teachers would cost more than they bring."""
MOST_INPUTS = 6_000
"""Maximum number of inputs of a network with codes."""
MEMBERS = 8
"""Number of exact members with two classes."""
NEURONS = (8,)
"""Widths of exact members: small enough that they can be explained region by region."""
WIDE_MEMBERS = 4
"""Number of wide members with two classes: for wide tables, and where small members do not suffice."""
WIDE_NEURONS = (100,)
"""Widths of wide members with two classes."""
SEVERAL_MEMBERS = 2
"""Number of members with several classes."""
FEW_NEURONS = (150,)
"""Widths with several classes: one representation of ten neurons cannot carry all bits of a code word."""
MANY_NEURONS = (300,)
"""Widths with at least `MANY_CLASSES`."""
MANY_CLASSES = 6
MANY_TRAINING_ROWS = 1_500
"""From this many training rows on, there are twice as many members with several classes."""
MORE_OUTPUTS = 6
"""Output neurons of wide members beyond the shortest code word."""
MOST_BOOSTED = 30
"""With more classes the forest is the only teacher: boosting grows a tree for every class in every round."""
AFFORDABLE = 2**26
"""Maximum number of products in a training step for which "auto" is exact: some milliseconds on one core."""
SERIES_COST = 700
"""Products that take the time of the series for each neuron below the output, in training."""
MOST_EXACT_MEMBER = 10
"""Widest layer of a mixture's members for which "auto" is exact."""
PRIOR_RATE = 0.05
"""Learning rate of the prior of one network."""
RATE = 0.01
"""Learning rate of a stage that minimises the bound or the linear loss."""
MANY_ROWS = 20_000
"""From this many rows on, one network has larger minibatches."""
FEW_ROWS = 2_000
"""With fewer rows, a mixture without teachers has small minibatches: with large ones an epoch would be a few steps."""
SMALL_BATCH = 32
DISTILLED_BATCH = 64
"""Minibatch size of a distilled mixture."""
DISTILLED_STEPS = 3_000
"""Minimum number of minibatches of a distilled mixture."""
DISTILLED_EPOCHS = 8
"""Minimum number of times that a distilled mixture sees every row."""
NO_LIMIT = 10**9


@dataclass(frozen=True)
class Sizes:
    """What the rules look at.

    Attributes
    ----------
    n_rows : int
        Number of rows of the fit.
    n_features : int
        Number of prepared features, without codes.
    n_classes : int
    n_codes : int
        Number of thermometer codes that could be added to the features.
    """

    n_rows: int
    n_features: int
    n_classes: int
    n_codes: int = 0


def resolve(settings: Settings, sizes: Sizes, preprocessor: str | None = None) -> Recipe:
    """The recipe of a fit: the user's parameters, and rules for every "auto".

    With explicit widths there is one network, without codes and teachers unless these are set too.

    Parameters
    ----------
    settings : Settings
    sizes : Sizes
    preprocessor : str or None
        Name of the fitted preparation; the recipe repeats it.

    Examples
    --------
    >>> from abnet import CertifiedClassifier
    >>> settings = CertifiedClassifier().settings()
    >>> resolve(settings, Sizes(n_rows=1000, n_features=10, n_classes=2), "table").describe()
    '8 exact networks of 8 neurons, thermometer codes, distilled from all; trained on 60% of the rows'
    >>> resolve(settings, Sizes(n_rows=1000, n_features=10, n_classes=5), "table").describe()
    '2 networks of 150 neurons, 9 outputs, distilled from all; trained on 60% of the rows'
    """
    if settings.hidden is not None and not settings.is_mixture(sizes.n_classes):
        return Recipe(
            hidden_layer_sizes=settings.hidden,
            n_estimators=1,
            aggregation=network_aggregation(settings, settings.hidden, sizes.n_rows),
            codes="none",
            teacher=None,
            code_length=1,
            share=settings.share,
            preprocessor=preprocessor,
            alone=True,
        )
    hidden = _widths(settings, sizes)
    aggregation = _member_aggregation(settings, hidden)
    if settings.aggregation == "exact" and settings.hidden is not None:
        settings.check_width(sizes.n_classes)
    return Recipe(
        hidden_layer_sizes=hidden,
        n_estimators=_n_members(settings, sizes),
        aggregation=aggregation,
        codes=_codes(settings, sizes),
        teacher=_teacher(settings, sizes),
        code_length=_outputs(settings.code_length, sizes.n_classes, aggregation),
        share=settings.share,
        preprocessor=preprocessor,
    )


def share_of_first_part(share: Any, hidden: tuple[int, ...] | None) -> float:
    """Share of the rows in the first part; it is needed before the rows are prepared.

    Parameters
    ----------
    share : float or "auto"
    hidden : tuple of int or None
        The given widths; None for "auto".
    """
    if not is_auto(share):
        return float(share)
    if hidden is None:
        return SHARE
    return SHARE_OF_GIVEN_WIDTHS


def _small_members_suffice(sizes: Sizes) -> bool:
    """Whether "auto" starts with small exact members."""
    return sizes.n_classes == 2 and sizes.n_features <= WIDE_FEATURES


def _widths(settings: Settings, sizes: Sizes) -> tuple[int, ...]:
    """Widths of the hidden layers of every member."""
    if settings.hidden is not None:
        return settings.hidden
    if sizes.n_classes >= MANY_CLASSES:
        return MANY_NEURONS
    if sizes.n_classes > 2:
        return FEW_NEURONS
    if _small_members_suffice(sizes):
        return NEURONS
    return WIDE_NEURONS


def _n_members(settings: Settings, sizes: Sizes) -> int:
    if settings.members.count is not None:
        return settings.members.count
    if settings.hidden is not None:
        return 1
    if sizes.n_classes > 2:
        if settings.share * sizes.n_rows >= MANY_TRAINING_ROWS:
            return 2 * SEVERAL_MEMBERS
        return SEVERAL_MEMBERS
    if _small_members_suffice(sizes):
        return MEMBERS
    return WIDE_MEMBERS


def _codes(settings: Settings, sizes: Sizes) -> str:
    """Whether the inputs have thermometer codes."""
    if settings.members.codes != "auto":
        return settings.members.codes
    few_inputs = sizes.n_features + sizes.n_codes <= MOST_INPUTS
    if settings.hidden is None and _small_members_suffice(sizes) and few_inputs:
        return "thermometer"
    return "none"


def _teacher(settings: Settings, sizes: Sizes) -> str | None:
    """Name of the teacher, or the class of the user's own."""
    teacher = settings.members.teacher
    if teacher is None:
        return None
    if not isinstance(teacher, str):
        return type(teacher).__name__
    if teacher != "auto":
        return teacher
    if settings.hidden is not None or sizes.n_features > WIDE_FEATURES:
        return None
    if sizes.n_classes > MOST_BOOSTED:
        return "forest"
    return "all"


def _outputs(wanted: int | None, n_classes: int, aggregation: str) -> int:
    """Number of output neurons of every member: one for two classes, the length of a code word for several."""
    if n_classes == 2:
        return 1
    shortest = (n_classes - 1).bit_length()
    if shortest > MOST_NEURONS:
        raise ValueError(
            f"y holds {n_classes:,} classes, more than {2**MOST_NEURONS:,}: is it a number rather than a class?"
        )
    if wanted is not None:
        length = wanted
    elif aggregation == "moments":
        length = min(shortest + MORE_OUTPUTS, MOST_NEURONS)
    else:
        length = code_length(n_classes)
    if not shortest <= length <= MOST_NEURONS:
        raise ParameterError(
            "{} must lie between {} and {} for {} classes; got {}.",
            Parameter("code_length"),
            shortest,
            MOST_NEURONS,
            n_classes,
            length,
        )
    return length


def _member_aggregation(settings: Settings, hidden: tuple[int, ...]) -> str:
    """The aggregation of a mixture's members; "auto" is exact for narrow ones."""
    if settings.aggregation != "auto":
        return settings.aggregation
    if max(hidden) <= MOST_EXACT_MEMBER:
        return "exact"
    return settings.wide


def network_aggregation(settings: Settings, hidden: tuple[int, ...], n_rows: int) -> str:
    """The aggregation of one network; "auto" is exact if a training step is affordable.

    Parameters
    ----------
    settings : Settings
    hidden : tuple of int
    n_rows : int
        Number of rows of the fit.
    """
    if settings.aggregation != "auto":
        return settings.aggregation
    affordable = max(hidden[:-1], default=0) <= exact.MAX_WIDTH
    affordable = affordable and exact_cost(hidden, batch_size(settings.training, n_rows)) <= AFFORDABLE
    if affordable:
        aggregation = "exact"
        reason = "the exact output is affordable"
    else:
        aggregation = settings.wide
        reason = "too many representations to enumerate"
    if settings.verbose:
        print(f"aggregation: {aggregation} ({reason}).", file=sys.stderr)
    return aggregation


def exact_cost(hidden: tuple[int, ...], batch_size: int) -> int:
    """Products of one exact forward pass: ``2^{d_k + d_{k-1}}`` for each pair of layers, ``2^{d_1}`` for each row.

    For a wide last hidden layer, `SERIES_COST` products for each of its neurons take the place of ``2^{d_{L-1}}``.

    Examples
    --------
    >>> exact_cost((12, 12, 12), 64) <= AFFORDABLE, exact_cost((13, 13), 64) <= AFFORDABLE
    (True, False)
    >>> exact_cost((8, 50), 64) <= AFFORDABLE, exact_cost((500,), 64) <= AFFORDABLE
    (True, True)
    """
    corners = [2**d for d in hidden]
    if hidden[-1] > WIDEST_TABLE:
        corners[-1] = SERIES_COST * hidden[-1]
    return sum(below * above for below, above in pairwise(corners)) + batch_size * corners[0]


def computes_risk(settings: Settings, n_classes: int) -> bool:
    """Whether the risk of the posterior will be computed and not sampled; False if that is not yet known."""
    if settings.aggregation != "auto" or settings.hidden is None:
        return settings.aggregation == "exact"
    if settings.is_mixture(n_classes):
        return _member_aggregation(settings, settings.hidden) == "exact"
    return network_aggregation(settings, settings.hidden, MANY_ROWS) == "exact"


def batch_size(training: TrainingSettings, n_rows: int) -> int:
    """Minibatch size of one network, and of a mixture that is trained on the bound, for this number of rows."""
    if training.batch_size is not None:
        return min(training.batch_size, n_rows)
    if n_rows >= MANY_ROWS:
        return 64
    return 32


def rate(training: TrainingSettings) -> float:
    """Learning rate of a stage that minimises the bound or the linear loss."""
    if training.rate is None:
        return RATE
    return training.rate


def prior_rate(settings: Settings) -> float:
    """Learning rate of the prior of one network.

    A rate that is set belongs to the last stage. If the posterior is trained further, the prior has the usual rate, so
    that settings with several rates share one prior (`ABNetSearch`).
    """
    if settings.training.rate is None or not settings.frozen:
        return PRIOR_RATE
    return settings.training.rate


def mixture_plan(settings: Settings, n_rows: int, *, distilled: bool) -> MixturePlan:
    """How the members of a mixture are trained.

    A distilled mixture is trained for a number of steps; one without teachers in two halves of `max_iter` epochs.

    Parameters
    ----------
    settings : Settings
    n_rows : int
        Number of rows that the members are trained on, with synthetic ones.
    distilled : bool
        Whether there are teachers.
    """
    max_iter = int(settings.training.max_iter)
    if distilled:
        plan = MixturePlan(
            steps=max(DISTILLED_STEPS, DISTILLED_EPOCHS * n_rows // DISTILLED_BATCH),
            batch_size=DISTILLED_BATCH,
            most_epochs=max_iter,
        )
    else:
        plan = MixturePlan(most_epochs=max(max_iter // 2, 1), linear=True)
        if settings.hidden is not None:
            plan = replace(plan, steps=NO_LIMIT)
        if n_rows < FEW_ROWS:
            plan = replace(plan, batch_size=SMALL_BATCH)
    # If the posterior is trained further, a rate that is set belongs to that stage, as in `prior_rate`.
    if settings.training.rate is not None and settings.frozen:
        plan = replace(plan, rate=settings.training.rate)
    if settings.training.batch_size is not None:
        plan = replace(plan, batch_size=settings.training.batch_size)
    return plan
