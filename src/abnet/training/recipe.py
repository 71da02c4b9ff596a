"""`Recipe`: what the members of a fit are, by rules that look at sizes alone, never at a label."""

from dataclasses import dataclass
from typing import Any

from abnet.networks.codebook import MOST_NEURONS, code_length
from abnet.training.settings import Settings, is_auto
from abnet.utils.errors import Parameter, ParameterError
from abnet.utils.wording import number_of

__all__ = ["PRIOR_SHARE", "PRIOR_SHARE_ALONE", "Recipe", "learning_share", "may_go_wide", "recipe_for"]

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
"""Wide tables of two classes, and tables on which small members leave much unlearned."""
SEVERAL_MEMBERS, FEW_NEURONS, MANY_NEURONS = 2, (150,), (300,)
"""Several classes: one representation of ten neurons cannot carry all bits of a code. Without thermometer codes: taught
by the same teachers, wide members made about as many errors on the features alone on vehicle, vowel, segment, satimage
and digits, in a seventh of the time."""
MANY_CLASSES = 6
"""From this many classes on the members have `MANY_NEURONS`."""
MANY_ROWS = 1_500
"""Training rows of several classes from which on there are twice as many members: more rows tell more, and the
teachers take longer too."""
MORE_OUTPUTS = 6
"""Output neurons of wide members beyond the shortest code. With four, they made 6% more errors on held-out rows of
vowel, vehicle, segment and digits."""
MOST_BOOSTED = 30
"""With more classes the forest teaches alone: boosting grows a tree for each of them in each of its rounds."""


MUCH, CLEARLY_LESS = 0.1, 2 / 3
"""Share of the lesson unlearned from which on wide members are tried, and the share of that which they may leave."""
TRIAL, LESS = 1 / 4, 4 / 5
"""Share of the steps in which they are tried first, and what they may leave then: the rest of the steps takes away a
twentieth to a sixth of it."""


@dataclass(frozen=True)
class Recipe:
    """What is learned: one network, or a mixture of members that may have teachers and codes.

    Attributes
    ----------
    hidden_layer_sizes : tuple of int
    n_estimators : int
        Number of members.
    aggregation : str
        A name in the aggregations of the settings.
    codes : {"thermometer", "none"}
    teacher : str or None
        Name, or the class of the user's own.
    code_length : int
        Output neurons of every member.
    share : float
        Share of the rows in the first part.
    preprocessor : str or None
        Name, or the class of the user's own.
    alone : bool
        Whether it is the paper's network, learned in the paper's stages; otherwise members learn a lesson.
    """

    hidden_layer_sizes: tuple[int, ...]
    n_estimators: int
    aggregation: str
    codes: str
    teacher: str | None
    code_length: int
    share: float
    preprocessor: str | None
    alone: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a model file; they repeat the fit of a `CertifiedClassifier` as explicit parameters."""
        kept = ("n_estimators", "codes", "teacher", "preprocessor")
        return {
            "hidden_layer_sizes": list(self.hidden_layer_sizes),
            **{name: getattr(self, name) for name in kept},
            "learn_fraction": self.share,
        }

    def describe(self, taught_by: str | None = None) -> str:
        """The recipe in one line.

        Examples
        --------
        >>> Recipe((8,), 8, "exact", "thermometer", "forest", 1, 0.5, "table").describe()
        '8 exact networks of 8 neurons, thermometer codes, distilled from forest; trained on 50% of the rows'
        """
        widths = "-".join(map(str, self.hidden_layer_sizes))
        kind = {"exact": "exact network", "moments": "network"}.get(self.aggregation, "sampled network")
        networks = f"{number_of(self.n_estimators, kind)} of {widths} neurons"
        outputs = f", {self.code_length} outputs" if self.code_length > 1 else ""
        codes = ", thermometer codes" if self.codes == "thermometer" else ""
        taught = f", distilled from {taught_by or self.teacher}" if self.teacher is not None else ""
        return f"{networks}{outputs}{codes}{taught}; {learning_share(self.share)}"


def learning_share(share: float) -> str:
    """The end of a recipe's line.

    Examples
    --------
    >>> learning_share(0.6), learning_share(0.0123)
    ('trained on 60% of the rows', 'trained on 1.2% of the rows')
    """
    return f"trained on {round(100 * share) if share >= 0.1 else f'{100 * share:.2g}'}% of the rows"


def recipe_for(
    settings: Settings, n_features: int, n_classes: int, n_codes: int, n_rows: int, preprocessor: str | None
) -> Recipe:
    """The recipe of a fit: what the user set, and rules for what is "auto".

    A network whose widths are given is left as it is given: alone, without codes and teacher, unless they are set too.

    Parameters
    ----------
    settings : Settings
    n_features, n_codes : int
        Prepared features, and thermometer codes that could be made of them.
    n_classes : int
    n_rows : int
        Rows of the fit.
    preprocessor : str or None
        What prepares the rows.
    """
    hidden, wanted = settings.hidden, settings.members
    if hidden is not None and not settings.is_mixture(n_classes):
        aggregation = settings.aggregation_of_one(hidden, n_rows)
        return Recipe(hidden, 1, aggregation, "none", None, 1, settings.share, preprocessor, alone=True)
    free, wide = hidden is None, n_features > WIDE_FEATURES
    exact_fits = n_classes == 2 and not wide
    usual, neurons = (MEMBERS, NEURONS) if exact_fits else (WIDE_MEMBERS, WIDE_NEURONS)
    if n_classes > 2:
        usual = SEVERAL_MEMBERS * (2 if settings.share * n_rows >= MANY_ROWS else 1)
        neurons = MANY_NEURONS if n_classes >= MANY_CLASSES else FEW_NEURONS
    if hidden is None:
        hidden = neurons
    members = wanted.count
    if members is None:
        members = usual if free else 1
    codes = wanted.codes
    if codes == "auto":
        codes = "thermometer" if free and exact_fits and n_features + n_codes <= MOST_INPUTS else "none"
    teacher = wanted.teacher
    if is_auto(teacher):
        teacher = None if wide or not free else "all" if n_classes <= MOST_BOOSTED else "forest"
    named = teacher if teacher is None or isinstance(teacher, str) else type(teacher).__name__
    aggregation = settings.aggregation_of_members(hidden)
    length = _outputs(settings.code_length, n_classes, aggregation)
    return Recipe(hidden, members, aggregation, codes, named, length, settings.share, preprocessor)


def _outputs(wanted: int | None, n_classes: int, aggregation: str) -> int:
    """Output neurons of every member: two classes have one, several what their code asks for."""
    if n_classes == 2:
        return 1
    shortest, name = (n_classes - 1).bit_length(), Parameter("code_length")
    if shortest > MOST_NEURONS:
        most = 2**MOST_NEURONS
        raise ValueError(f"y holds {n_classes:,} classes, more than {most:,}: is it a number rather than a class?")
    usual = min(shortest + MORE_OUTPUTS, MOST_NEURONS) if aggregation == "moments" else code_length(n_classes)
    length = usual if wanted is None else wanted
    if not shortest <= length <= MOST_NEURONS:
        limits = (shortest, MOST_NEURONS, n_classes, length)
        raise ParameterError("{} must lie between {} and {} for {} classes; got {}.", name, *limits)
    return length


def may_go_wide(settings: Settings, recipe: Recipe) -> bool:
    """Whether wide members may take the place of exact ones: where nothing about the members was set."""
    free = settings.hidden is None and settings.members.count is None and settings.aggregation == "auto"
    return free and recipe.aggregation == "exact"
