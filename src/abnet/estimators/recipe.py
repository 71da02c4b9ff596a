"""What "auto" stands for, by rules that look at sizes alone, never at a label; how a model was made, for its file.

Also what is refused or warned of in how it is made.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from abnet import __version__
from abnet.aggregation import Aggregation, Ancestral, Exact, MeanField, StochasticMeanField, Uniform, exact
from abnet.codebook import MOST_NEURONS, code_length
from abnet.errors import Parameter, ParameterError
from abnet.model.card import Curve
from abnet.words import number_of

__all__ = [
    "AFFORDABLE",
    "AGGREGATIONS",
    "MEAN_FIELD",
    "Recipe",
    "check_width",
    "exact_cost",
    "fit_record",
    "learning_share",
    "may_go_wide",
    "prior_share",
    "recipe_for",
    "settings_of",
    "stored_curves",
    "warn_of_unfinished",
    "warn_of_unsaved",
]


AGGREGATIONS: dict[str, Callable[[int], Aggregation]] = {
    "exact": lambda n_samples: Exact(),
    "ancestral": Ancestral,
    "uniform": Uniform,
}
"""ABNet's aggregations by the values of the parameter `aggregation`, from `n_samples`."""
MEAN_FIELD: dict[str, Callable[[int], Aggregation]] = {
    "exact": lambda n_samples: MeanField(),
    "sampled": StochasticMeanField,
}
"""PBGNet's."""

AFFORDABLE = 2**26
"""Products in a training step that "auto" still computes exactly: some milliseconds on one core."""
WIDE_FEATURES = 400
"""Prepared features above which a table is wide: codes and teachers would cost more than they bring."""
MOST_INPUTS = 6_000
"""Inputs of a network, codes included, up to which codes are made."""
MEMBERS, NEURONS = 8, (8,)
"""Two classes: exact members, small enough to be read region by region."""
PRIOR_SHARE, PRIOR_SHARE_ALONE = 0.6, 0.5
"""Share of the rows that learn, of a mixture by the rules and of a network whose widths are given: a larger first part
makes up by fewer errors for the bound rows that the certificate loses."""
WIDE_MEMBERS, WIDE_NEURONS = 4, (100,)
"""Several classes, or wide tables: one representation of ten neurons cannot carry all bits of a code."""
MANY_CLASSES, WIDER_NEURONS = 6, (300,)
"""From this many classes on the members are wider (docs/tables.md has figures)."""
MOST_BOOSTED = 30
"""With more classes the forest teaches alone: boosting grows a tree for each of them in each of its rounds."""


MUCH, CLEARLY_LESS = 0.1, 2 / 3
"""Share of the lesson unlearned from which on wide members are tried, and the share of that which they may leave."""
TRIAL, LESS = 1 / 4, 4 / 5
"""Share of the steps in which they are tried first, and what they may leave then: the rest of the steps takes away a
twentieth to a sixth of it."""


@dataclass(frozen=True)
class Recipe:
    """How a mixture is made; every part is a parameter of the same name of `CertifiedClassifier`.

    Attributes
    ----------
    hidden_layer_sizes : tuple of int
    n_estimators : int
        Number of members.
    aggregation : {"exact", "ancestral"}
    codes : {"thermometer", "none"}
    teacher : str or None
        Name, or the class of the user's own.
    code_length : int
        Output neurons of every member.
    prior_fraction : float
    preprocessor : str or None
        Name, or the class of the user's own.
    """

    hidden_layer_sizes: tuple[int, ...]
    n_estimators: int
    aggregation: str
    codes: str
    teacher: str | None
    code_length: int
    prior_fraction: float
    preprocessor: str | None

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a model file; they repeat the fit of a `CertifiedClassifier` as explicit parameters."""
        kept = ("n_estimators", "codes", "teacher", "preprocessor")
        return {
            "hidden_layer_sizes": list(self.hidden_layer_sizes),
            **{name: getattr(self, name) for name in kept},
            "learn_fraction": self.prior_fraction,
        }

    def describe(self, taught_by: str | None = None) -> str:
        """The recipe in one line.

        Examples
        --------
        >>> Recipe((8,), 8, "exact", "thermometer", "forest", 1, 0.5, "table").describe()
        '8 exact networks of 8 neurons, thermometer codes, distilled from forest; trained on 50% of the rows'
        """
        widths = "-".join(map(str, self.hidden_layer_sizes))
        kind = "exact" if self.aggregation == "exact" else "sampled"
        networks = f"{number_of(self.n_estimators, f'{kind} network')} of {widths} neurons"
        outputs = f", {self.code_length} outputs" if self.code_length > 1 else ""
        codes = ", thermometer codes" if self.codes == "thermometer" else ""
        taught = f", distilled from {taught_by or self.teacher}" if self.teacher is not None else ""
        return f"{networks}{outputs}{codes}{taught}; {learning_share(self.prior_fraction)}"


def learning_share(share: float) -> str:
    """The end of a recipe's line.

    Examples
    --------
    >>> learning_share(0.6), learning_share(0.0123)
    ('trained on 60% of the rows', 'trained on 1.2% of the rows')
    """
    return f"trained on {round(100 * share) if share >= 0.1 else f'{100 * share:.2g}'}% of the rows"


def recipe_for(
    estimator: Any,
    hidden: tuple[int, ...] | None,
    n_features: int,
    n_classes: int,
    n_codes: int,
    preprocessor: str | None,
) -> Recipe:
    """The recipe of a fit: what the user set, and rules for what is "auto".

    A network whose widths are given is left as it is given: alone, without codes and teacher, unless they are set too.

    Parameters
    ----------
    estimator : MixtureClassifier
    hidden : tuple of int or None
        The widths, None for "auto".
    n_features, n_codes : int
        Prepared features, and thermometer codes that could be made of them.
    n_classes : int
    preprocessor : str or None
        What prepares the rows.
    """
    free, wide = hidden is None, n_features > WIDE_FEATURES
    exact_fits = n_classes == 2 and not wide
    if hidden is None:
        hidden = NEURONS if exact_fits else WIDER_NEURONS if n_classes >= MANY_CLASSES else WIDE_NEURONS
    members = estimator.n_estimators
    if members == "auto":
        members = (MEMBERS if exact_fits else WIDE_MEMBERS) if free else 1
    codes = estimator.codes
    if codes == "auto":
        codes = "thermometer" if free and not wide and n_features + n_codes <= MOST_INPUTS else "none"
    teacher = estimator.teacher
    if isinstance(teacher, str) and teacher == "auto":
        teacher = None if wide or not free else "all" if n_classes <= MOST_BOOSTED else "forest"
    named = teacher if teacher is None or isinstance(teacher, str) else type(teacher).__name__
    length = _outputs(estimator.code_length, n_classes)
    aggregation = estimator.aggregation
    if aggregation == "auto":
        aggregation = "exact" if max(hidden) <= 10 else "ancestral"
    return Recipe(hidden, int(members), aggregation, codes, named, length, prior_share(estimator), preprocessor)


def _outputs(wanted: Any, n_classes: int) -> int:
    """Output neurons of every member: two classes have one, several what their code asks for."""
    if n_classes == 2:
        return 1
    shortest, name = (n_classes - 1).bit_length(), Parameter("code_length")
    if shortest > MOST_NEURONS:
        most = 2**MOST_NEURONS
        raise ValueError(f"y holds {n_classes:,} classes, of at most {most:,}: is it a number, and no class?")
    length = code_length(n_classes) if isinstance(wanted, str) else int(wanted)
    if not shortest <= length <= MOST_NEURONS:
        limits = (shortest, MOST_NEURONS, n_classes, length)
        raise ParameterError("{} must lie between {} and {} for {} classes; got {}.", name, *limits)
    return length


def may_go_wide(estimator: Any, recipe: Recipe) -> bool:
    """Whether sampled members may take the place of exact ones: where nothing about the members was set."""
    free = (estimator.hidden_layer_sizes, estimator.n_estimators, estimator.aggregation)
    return recipe.aggregation == "exact" and all(isinstance(value, str) and value == "auto" for value in free)


def prior_share(estimator: Any) -> float:
    """Share of the rows in the first part: what the user set, or the rule for "auto".

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> prior_share(SimpleNamespace(prior_fraction="auto", hidden_layer_sizes="auto"))
    0.6
    """
    if not isinstance(estimator.prior_fraction, str):
        return float(estimator.prior_fraction)
    free = isinstance(estimator.hidden_layer_sizes, str)
    return PRIOR_SHARE if free else PRIOR_SHARE_ALONE


def check_width(aggregations: Mapping[str, Callable[[int], Aggregation]], hidden: tuple[int, ...]) -> None:
    """Refuse layers that the exact output is too wide for, with the other aggregations as the remedy."""
    for layer, width in enumerate(hidden, start=1):
        if width > exact.MAX_WIDTH:
            others = {name: make(1).certified for name, make in aggregations.items() if name != "exact"}
            words = " or ".join(f"{{}} ({'certified' if sure else 'an estimate'})" for sure in others.values())
            raise ParameterError(
                "Hidden layer {} has {} units: the exact output needs a table of 2^{} representations (at most "
                f"2^{exact.MAX_WIDTH} are taken). Use narrower layers, or sampling: {words}.",
                layer, width, width, *(Parameter("aggregation", name) for name in others),
            )  # fmt: skip


def exact_cost(hidden: tuple[int, ...], batch_size: int) -> int:
    """Products of one exact forward pass: ``2^{d_k + d_{k-1}}`` for each pair of layers, ``2^{d_1}`` for each row.

    Examples
    --------
    >>> exact_cost((12, 12, 12), 64) <= AFFORDABLE, exact_cost((13, 13), 64) <= AFFORDABLE
    (True, False)
    """
    return sum(2 ** (below + above) for below, above in pairwise(hidden)) + batch_size * 2 ** hidden[0]


MOST_POINTS, MOST_TEXT = 150, 300
"""Points of a stored curve, and characters of a stored setting, at the most."""


def fit_record(estimator: Any, curves: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    """How a model was made, for its card: `settings_of`, `stored_curves` and the version."""
    return {"version": __version__, "settings": settings_of(estimator), "curves": stored_curves(curves)}


def settings_of(estimator: Any) -> dict[str, str]:
    """Parameters that were set otherwise than by default, each as the text that sets it again.

    A text that is cut, since it would be very long, ends in "…".

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> settings_of(LogisticRegression(C=2.0, random_state=0))
    {'C': '2.0', 'random_state': '0'}
    """
    usual = {name: parameter.default for name, parameter in signature(type(estimator)).parameters.items()}
    texts = {name: _text(value) for name, value in estimator.get_params(deep=False).items()}
    return {name: text for name, text in texts.items() if name != "verbose" and text != _text(usual.get(name))}


def _text(value: Any) -> str:
    text = " ".join(repr(value.item() if isinstance(value, np.generic) else value).split())
    return text if len(text) <= MOST_TEXT else text[: MOST_TEXT - 1] + "…"


def stored_curves(curves: Mapping[str, Sequence[float]]) -> tuple[Curve, ...]:
    """Learning curves for a model file: of a long one every second or third point, each with five digits.

    Parameters
    ----------
    curves : mapping
        From what was monitored to its value at the start and after every epoch.

    Examples
    --------
    >>> stored_curves({"log loss": [0.7, 0.123456789]})
    (Curve(name='log loss', every=1, values=(0.7, 0.12346)),)
    """
    stored = []
    for name, curve in curves.items():
        values = [float(f"{value:.5g}") for value in curve]
        every = max(-(-len(values) // MOST_POINTS), 1)
        if len(values) > 1 and np.isfinite(values).all():
            stored.append(Curve(name, every, tuple(values[::every])))
    return tuple(stored)


STILL = 0.02
"""Share of the monitored value by which the last tenth of the epochs improves it, if more epochs are worth trying."""


def warn_of_unsaved(reason: Exception) -> None:
    """Warn, when a model is fitted, that it cannot be saved."""
    warnings.warn(f"{reason} Predictions work, but `save` will refuse this model.", stacklevel=6)


def warn_of_unfinished(curves: Mapping[str, Sequence[float]], max_iter: int) -> None:
    """Warn if a stage of training ended at its last epoch while what it monitored still improved.

    Parameters
    ----------
    curves : mapping
        From the names of the stages to the monitored value at the start and after every epoch; smaller is better.
    max_iter : int
        Epochs of a stage, at the most; the two halves of the prior's have half of them each.

    Examples
    --------
    >>> warn_of_unfinished({"bound": [0.5, 0.2, 0.2, 0.2]}, 3)
    """
    for name, curve in curves.items():
        most = max(max_iter // 2, 1) if name.startswith("prior") else max_iter
        if len(curve) - 1 < most or len(curve) < 2:
            continue
        late = max(most // 10, 1)
        before, after = min(curve[:-late]), min(curve)
        if before - after > STILL * abs(before):
            warnings.warn(
                f"Training ({name}) ended at its last epoch, while it still improved ({before:.3g} to {after:.3g} in "
                f"the last {late}): a larger max_iter than {max_iter} may give a better model.",
                ConvergenceWarning,
                stacklevel=6,
            )
            return
