"""`learn_mixture`: members that learn a lesson together, which teachers may have made from the first part."""

import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from abnet.certificates.held import Held
from abnet.model.calibration import Calibration
from abnet.networks.exact import lift
from abnet.networks.posterior import Posterior
from abnet.training.learned import Learned, PreparedRows, deployed
from abnet.training.progress_bar import Report
from abnet.training.recipe import CLEARLY_LESS, LESS, MUCH, TRIAL, WIDE_MEMBERS, WIDE_NEURONS, Recipe, may_go_wide
from abnet.training.sample_weights import scaled
from abnet.training.seeds import Streams
from abnet.training.settings import Settings
from abnet.training.teachers import Lesson, Teaching, n_recombined, teach, teachers_named
from abnet.training.unfinished import warn_of_unfinished
from abnet.utils.memory import return_memory

if TYPE_CHECKING:
    from abnet.training.members import MixtureOutcome, MixturePlan
    from abnet.training.posterior_learner import PosteriorLearner

__all__ = ["learn_mixture", "softened", "unlearned"]

MOST_INPUTS = 2**26
"""Numbers in the rows that teachers make, codes included: a quarter of a gigabyte."""
MOST_ANSWERS = 2**23
"""Probabilities that teachers give to the rows they make: fewer rows are made for more than 139 classes."""
TOGETHER = 0.7
"""Weight of the loss of the mean output when taught members of several classes are trained; the rest is the mean of
their own losses. With that, and with labels as targets of the training rows, they made 3% fewer errors on held-out rows
of five tables and digits. The small members of two classes know too little alone, so there it is 1."""
SOFTNESS = 0.7
"""Exponent of the teachers' probabilities for synthetic rows with several classes, as by a temperature of 1.4. Softer
targets tell more about the less likely classes: networks made 7% fewer errors on held-out rows of digits, 3% of
segment, and as many of vowel and vehicle. Their own probabilities are calibrated afterwards."""
MOST_SCALED = 2_000
"""Synthetic rows on which the scales of the networks and of their teachers are compared."""
MOST_TAUGHT = 4_000_000
"""Cells, rows times features, that teachers learn from: of more rows a random part."""


def learn_mixture(
    rows: PreparedRows, recipe: Recipe, settings: Settings, streams: Streams, report: Report | None
) -> Learned:
    """Members from the first part; then, unless they are kept as they are, trained on through the bound.

    Parameters
    ----------
    rows : PreparedRows
    recipe : Recipe
    settings : Settings
    streams : Streams
    report : Report or None
    """
    learned = _prior_members(rows, recipe, settings, streams.train, report)
    name = "log loss, then linear loss" if learned.taught_by is None else "log loss"
    curve = learned.curves[name]
    if learned.interrupted:
        warnings.warn(
            "Training was interrupted: the best networks so far are kept, and their vote is certified.",
            stacklevel=4,
        )
    elif learned.taught_by is not None:  # of two halves in one curve neither end can be told
        warn_of_unfinished({"networks, log loss": curve}, settings.training.max_iter)
    if settings.frozen or learned.interrupted:
        return learned
    posterior, bound = _trained_on(learned.posterior, rows, settings, streams.train)
    return replace(learned, posterior=posterior, curves={**learned.curves, "bound": bound})


def _prior_members(
    rows: PreparedRows, recipe: Recipe, settings: Settings, rng: np.random.Generator, report: Report | None
) -> Learned:
    """The members as the first part makes them."""
    from abnet.training.members import learn_members

    first, K, wanted, coded = slice(rows.n_first), rows.labels.n_classes, settings.members, rows.features.coded
    base, codes = rows.features.base[first], rows.codes[first]
    weights, groups = (None if given is None else given[first] for given in (rows.weights, rows.groups))
    teacher = recipe.teacher if isinstance(wanted.teacher, str) else wanted.teacher
    with _compiling(rows, recipe, settings):
        teaching, chosen = _taught(teacher, base, codes, K, rng, report, groups, weights)
    base, codes = base[chosen], codes[chosen]
    watched = None if groups is None else _last_groups(groups[chosen])
    if watched is None and teaching is None and wanted.class_weight is not None:
        watched = _some_of_each_class(codes, rng)
    lesson = Lesson(base, np.eye(K)[codes], len(base))
    if teaching is not None:
        lesson = teach(teaching, base, codes, rows.features.cells, rng, _most_made(rows), watched)
        teaching = teaching.dismissed()  # a forest takes as much room as a lesson
        return_memory()
    own = np.ones(len(base)) if weights is None else scaled(weights[chosen])
    shares = np.concatenate([own, np.ones(len(lesson.X) - len(base))])
    per_class = _class_weights(wanted.class_weight, codes, rows.labels.classes)
    targets, shares = _weighted(lesson.targets, shares, per_class)
    shares = scaled(shares)
    inputs = np.asarray(lesson.X, np.float32) if coded is None else coded.with_codes(lesson.X)
    lifted, told = _Lifted(inputs), 2 * targets[:, 1] - 1 if K == 2 else softened(targets, len(base))
    plan, seed = _plan(settings, len(inputs), taught=teaching is not None), int(rng.integers(2**31))

    def learned(recipe: Recipe, share: float = 1.0) -> "MixtureOutcome":
        # A stream of its own for each recipe: one that was tried second is repeated by its parameters alone.
        own_rng = np.random.default_rng([seed, recipe.n_estimators, *recipe.hidden_layer_sizes])
        shorter = replace(plan, steps=max(round(share * plan.steps), 1))
        return learn_members(
            _learner(rows, recipe, settings), lifted, told, shorter, own_rng,
            weights=shares, report=report, watched_rows=watched,
        )  # fmt: skip

    outcome = learned(recipe)
    if teaching is not None and may_go_wide(settings, recipe):
        recipe, outcome = _wider_if_asked(recipe, settings.wide, outcome, targets, learned)
    posterior = Posterior.from_networks(outcome.networks, outcome.networks, settings.make(recipe.aggregation))
    held = _held(posterior, recipe, outcome, teaching, inputs, targets, codes, per_class, K)
    calibration = None
    if teaching is not None or outcome.watched is not None:
        counted = np.ones(K) if per_class is None else per_class
        calibration = Calibration.fitted(held.shares, np.eye(K)[held.codes] * scaled(counted[held.codes])[:, None])
    taught_by = None if teaching is None else teaching.describe()
    error = None if teaching is None else float(np.mean(teaching.unseen.argmax(axis=1) != codes))
    # An untaught mixture learns in two halves, as a single network does.
    curves = {"log loss, then linear loss" if teaching is None else "log loss": outcome.curve}
    return Learned(posterior, recipe, held, calibration, curves, outcome.interrupted, taught_by, error)


def _learner(rows: PreparedRows, recipe: Recipe, settings: Settings) -> "PosteriorLearner":
    """The learner of the members that a recipe describes."""
    from abnet.training.posterior_learner import PosteriorLearner

    sizes, K = (_n_inputs(rows), *recipe.hidden_layer_sizes, recipe.code_length), rows.labels.n_classes
    together = 1.0 if K == 2 or recipe.teacher is None else TOGETHER
    return PosteriorLearner(sizes, settings.make(recipe.aggregation), recipe.n_estimators, K, together)


def _n_inputs(rows: PreparedRows) -> int:
    """Features with their codes."""
    base, coded = rows.features.base, rows.features.coded
    return int(base.shape[1] if coded is None else coded.n_features_out)


def _most_made(rows: PreparedRows) -> int:
    """Rows that teachers may make."""
    return min(MOST_INPUTS // _n_inputs(rows), MOST_ANSWERS // rows.labels.n_classes)


@contextmanager
def _compiling(rows: PreparedRows, recipe: Recipe, settings: Settings) -> Iterator[None]:
    """The members' program is compiled beside what is done here, where teachers learn for a while.

    Only its time depends on that. Of a long lesson, or one whose length depends on groups, it is compiled later.
    """
    from abnet.training.members import compile_members

    n = min(
        rows.n_first if rows.weights is None else int(np.sum(rows.weights[: rows.n_first] > 0)),
        _most_taught(rows.features.base.shape[1]),
    )
    n_rows = n + n_recombined(n, _most_made(rows))
    if recipe.teacher is None or rows.groups is not None or n_rows * _n_inputs(rows) > MOST_INPUTS // 4:
        yield
        return
    batch_size = _plan(settings, n_rows, taught=True).batch_size
    with ThreadPoolExecutor(1) as aside:
        aside.submit(compile_members, _learner(rows, recipe, settings), n_rows, batch_size)
        yield


def _held(
    posterior: Posterior,
    recipe: Recipe,
    outcome: "MixtureOutcome",
    teaching: Teaching | None,
    inputs: Any,
    targets: NDArray[np.float64],
    codes: NDArray[np.intp],
    per_class: NDArray[np.float64] | None,
    n_classes: int,
) -> Held:
    """Out-of-fold predictions of the teachers on the networks' scale; without teachers, the networks' own scores.

    The networks are a little less sure than their teachers. What the two say of synthetic rows shows by how much.
    Without teachers, the scores are those of the rows that early stopping monitors, or of all if there are too few.
    """
    scorer = deployed(recipe, posterior, n_classes, np.random.default_rng(0))
    if teaching is None:
        places = np.arange(len(codes)) if outcome.watched is None else outcome.watched
        return Held(scorer.scores(inputs[places]), codes[places])
    held = Held.from_shares(_weighted(teaching.unseen, np.ones(len(codes)), per_class)[0], codes)
    made = slice(len(codes), len(codes) + MOST_SCALED)
    own = Held(scorer.scores(inputs[made]), np.empty(0, np.intp)).shares
    return Held.from_shares(Calibration.fitted(targets[made], own).apply(held.shares), codes) if len(own) else held


def _trained_on(
    prior: Posterior, rows: PreparedRows, settings: Settings, rng: np.random.Generator
) -> tuple[Posterior, list[float]]:
    """The posterior that minimises Catoni's bound of the whole mixture on the bound rows, from the prior on."""
    from abnet.training.loop import Span, open_runs, pad_rows
    from abnet.training.objective import Objective
    from abnet.training.posterior_learner import PosteriorLearner, start
    from abnet.training.runner import best_of, new_keys, run_stage, stack
    from abnet.training.stages import RATE

    K, first, bound = rows.labels.n_classes, slice(rows.n_first), slice(rows.n_first, None)
    codes = np.minimum(rows.codes[bound], K - 1)  # what is learned of a label that is not known does not matter
    X = rows.features.inputs(bound)
    own = None if rows.weights is None else rows.weights[bound]
    per_class = _class_weights(settings.members.class_weight, rows.codes[first], rows.labels.classes)
    if per_class is not None:
        own = per_class[codes] * (1.0 if own is None else own)
    learner = PosteriorLearner(prior.sizes, prior.aggregation, prior.n_members, K)
    targets = 2.0 * codes - 1 if K == 2 else np.eye(K)[codes]
    padded, every = pad_rows(lift(np.asarray(X)), targets, None if own is None else scaled(own)), Span(0, len(codes))
    state = start(prior, Objective.BOUND, rows.n_draws or len(codes), settings.delta)
    rate = RATE if settings.training.rate is None else settings.training.rate
    outcome = run_stage(
        (learner,), (open_runs(stack([state]), [rate], new_keys(rng, 1)),), padded, every, every, rng=rng,
        batch_size=64 if len(codes) >= 20_000 else 32, limits=settings.training.limits,
    )  # fmt: skip
    curve = [float(value) for value in outcome.curve[:, 0]] if len(outcome.curve) else []
    return learner.posterior(best_of(outcome.runs[0])).astype(np.float32), curve


@dataclass(frozen=True, eq=False)
class _Lifted:
    """Rows that are written out and lifted where they are asked for: with their codes they take ten times the space."""

    rows: Any

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, some: Any) -> NDArray[np.float32]:
        return np.asarray(lift(np.asarray(self.rows[some])))


def _wider_if_asked(
    recipe: Recipe,
    aggregation: str,
    outcome: "MixtureOutcome",
    targets: NDArray[np.float64],
    learned: "Callable[..., MixtureOutcome]",
) -> "tuple[Recipe, MixtureOutcome]":
    """Wide members, if the small ones leave much of the lesson unlearned, and wide ones leave clearly less of it.

    A trial of a quarter of the steps comes first, since the training of wide members takes longer than all else in a
    fit: those that are then hardly ahead of the small ones are not clearly ahead of them in the end.
    """
    if outcome.interrupted or outcome.watched is None:
        return recipe, outcome
    gap = unlearned(targets[outcome.watched], min(outcome.curve))
    if gap <= MUCH:
        return recipe, outcome
    wide = replace(recipe, hidden_layer_sizes=WIDE_NEURONS, n_estimators=WIDE_MEMBERS, aggregation=aggregation)
    for share, may_leave in ((TRIAL, LESS), (1.0, CLEARLY_LESS)):
        return_memory()
        other = learned(wide, share)
        if other.watched is None or unlearned(targets[other.watched], min(other.curve)) > may_leave * gap:
            return recipe, outcome
    return wide, other


def softened(targets: NDArray[np.float64], n_own: int) -> NDArray[np.float64]:
    """Distributions to the power of `SOFTNESS`, but for the first rows, whose targets are labels.

    Examples
    --------
    >>> softened(np.array([[0.0, 1.0, 0.0], [0.1, 0.8, 0.1]]), 1).round(2)
    array([[0.  , 1.  , 0.  ],
           [0.16, 0.68, 0.16]])
    """
    made = targets[n_own:] ** SOFTNESS
    return np.concatenate([targets[:n_own], made / made.sum(axis=1, keepdims=True)])


def unlearned(targets: NDArray[np.float64], loss: float) -> float:
    """Share of what the teachers tell about rows that a mixture with this log loss there has not learned.

    The teachers tell ``H(mean target) - mean H(target)`` nats a row, and ``loss - mean H(target)`` of them are missing.

    Examples
    --------
    >>> sure = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> round(unlearned(sure, 0.0), 3), round(unlearned(sure, np.log(2)), 3)
    (0.0, 1.0)
    """
    own, mean = entr(targets).sum(axis=1).mean(), entr(targets.mean(axis=0)).sum()
    return float((loss - own) / max(mean - own, 1e-9))


def _taught(
    teacher: Any,
    base: NDArray[np.float32],
    codes: NDArray[np.intp],
    n_classes: int,
    rng: np.random.Generator,
    report: Any,
    groups: NDArray[Any] | None = None,
    weights: NDArray[np.float64] | None = None,
) -> tuple[Teaching | None, NDArray[np.intp]]:
    """The fitted teachers, if there are to be any, and the rows that they and the members learn from."""
    every = np.arange(len(codes)) if weights is None else np.flatnonzero(weights > 0)
    if not len(every):
        raise ValueError("all training rows have the sample weight 0: give some of them a larger weight.")
    if teacher is None or len(np.unique(codes[every])) < 2:
        return None, every
    seed = int(rng.integers(2**31))
    chosen = np.sort(rng.permutation(every)[: _most_taught(base.shape[1])])
    models = teachers_named(teacher, seed, (len(chosen), base.shape[1]), n_classes)
    told = None if report is None else lambda name, error: report(name, 1, 1, error)
    known, own = (None if given is None else given[chosen] for given in (groups, weights))
    return Teaching.of(models, base[chosen], codes[chosen], n_classes, seed, told, known, own), chosen


def _most_taught(n_features: int) -> int:
    """Rows that teachers learn from, at the most."""
    return max(MOST_TAUGHT // max(n_features, 1), 2_000)


def _last_groups(groups: NDArray[Any]) -> NDArray[np.intp] | None:
    """Rows of the last groups, about an eighth of all: they say which epoch to keep. None if there is one group."""
    from abnet.training.members import WATCHED
    from abnet.utils.groups import held_rows

    held = held_rows(groups, min(1 / 8, WATCHED / len(groups)))
    held = held or held_rows(groups, 1 / len(np.unique(groups)))
    return np.arange(len(groups) - held, len(groups)) if held < len(groups) else None


def _some_of_each_class(codes: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.intp] | None:
    """An eighth of the rows of each class, one at least: where classes have weights, those of a heavy one must not be
    left out of the rows that say which epoch to keep. None if no class has two.
    """
    from abnet.training.members import WATCHED

    share = min(1 / 8, WATCHED / len(codes))
    places = (np.flatnonzero(codes == code) for code in np.unique(codes))
    held = [rng.permutation(own)[: max(round(share * len(own)), 1)] for own in places if len(own) > 1]
    return np.concatenate(held) if held else None


FEW_ROWS, SMALL_BATCH = 2_000, 32
"""An epoch of fewer rows has smaller minibatches: with large ones it would be a handful of steps."""


TAUGHT_BATCH, TAUGHT_STEPS, TAUGHT_EPOCHS = 64, 3_000, 8
"""Minibatches of a lesson; how many there are, and how often every row is seen, at the least. Minibatches of 128 rows,
4,000 of them, took more than twice the time for the same mean error on seven tables of two classes (.1488, now .1485),
though tic-tac-toe left 3.0% of its lesson unlearned, now 3.5%."""


def _plan(settings: Settings, n_rows: int, *, taught: bool) -> "MixturePlan":
    """How long and how fast: by steps for a taught mixture, in two halves of `max_iter` epochs for another."""
    from abnet.training.members import MixturePlan

    training = settings.training
    plan = MixturePlan(most_epochs=int(training.max_iter))
    if taught:
        steps = max(TAUGHT_STEPS, TAUGHT_EPOCHS * n_rows // TAUGHT_BATCH)
        plan = replace(plan, batch_size=TAUGHT_BATCH, steps=steps)
    if not taught:
        steps = plan.steps if settings.hidden is None else 10**9
        plan = replace(plan, steps=steps, most_epochs=max(int(training.max_iter) // 2, 1), linear=True)
        plan = replace(plan, batch_size=SMALL_BATCH) if n_rows < FEW_ROWS else plan
    # A posterior that is trained further has the rate for itself: its settings then share one prior (`ABNetSearch`).
    if training.rate is not None and settings.frozen:
        plan = replace(plan, rate=training.rate)
    return plan if training.batch_size is None else replace(plan, batch_size=training.batch_size)


def _class_weights(wanted: Any, codes: NDArray[np.intp], classes: NDArray[Any]) -> NDArray[np.float64] | None:
    """A weight for each class, from the rows that learn alone."""
    if wanted is None:
        return None
    if isinstance(wanted, str):
        counts = np.bincount(codes, minlength=len(classes))
        return np.asarray(len(codes) / (len(classes) * np.maximum(counts, 1)))
    return np.array([float(wanted.get(label, 1.0)) for label in classes.tolist()])


def _weighted(
    targets: NDArray[np.float64], shares: NDArray[np.float64], classes: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Targets and weights of rows when every class has a weight: a row counts as its classes do."""
    if classes is None:
        return targets, shares
    moved = targets * classes
    total = np.maximum(moved.sum(axis=1), np.finfo(float).tiny)
    return moved / total[:, None], shares * total
