"""`fit`: a certified fit from start to end, as a pure function.

Arrays, frames, single networks and mixtures all use this function. Large tables do too: their held-out rows are
streamed afterwards, and the evidence from them replaces that of the few bound rows (`abnet.estimators.large_tables`).
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import msgspec
import numpy as np
from numpy.typing import NDArray

from abnet.bounds import gibbs_bound
from abnet.certificates.certificate import Certificate
from abnet.certificates.copied_rows import warn_of_copies
from abnet.certificates.decision import ARGMAX, Decision
from abnet.certificates.estimate import Estimate
from abnet.certificates.from_evidence import certify, counting
from abnet.certificates.goals import Goal
from abnet.certificates.held import Held
from abnet.certificates.row_hashing import fingerprint, row_hashes
from abnet.certificates.split import Split, warn_of_few_rows
from abnet.certificates.terms import Terms
from abnet.estimators.column_checks import checked_notes
from abnet.estimators.drawn_network import draw_network
from abnet.estimators.fit_card import card_of
from abnet.estimators.fit_goal import decide, hint_at_recall, with_probabilities
from abnet.estimators.known_classes import known_classes
from abnet.estimators.observing import Observed, observe_posterior
from abnet.model.model import Model
from abnet.model.predictors.predictor import Predictor
from abnet.networks.bam import BAM
from abnet.tables.preparation import TableMap
from abnet.tables.preparation.preparation import Unprepared
from abnet.training.features import allows_certificate, prepare
from abnet.training.labelled_rows import LabelledRows, marks_of
from abnet.training.learned import Learned, PreparedRows, deployed, words_of
from abnet.training.mixture_learning import learn_mixture
from abnet.training.network_learning import learn_network
from abnet.training.progress_bar import training_bar
from abnet.training.recipe import Recipe
from abnet.training.resolve import Sizes, resolve
from abnet.training.sample_weights import scaled_weights
from abnet.training.seeds import Generators
from abnet.training.settings import Settings, check_class_weight
from abnet.utils.class_scores import losses_of
from abnet.utils.errors import Parameter, ParameterError
from abnet.utils.groups import number_groups
from abnet.utils.progress import report_progress
from abnet.utils.threads import cores, one_blas_thread

__all__ = ["Fitted", "fit"]


@dataclass(frozen=True, eq=False)
class Fitted:
    """Result of a fit.

    Attributes
    ----------
    model : Model
    split : Split or None
        Training rows and bound rows; None if the bound rows were streamed.
    rows : PreparedRows
        The prepared rows, in the order of the split.
    learned : Learned
        Posterior, held rows, calibration and curves.
    terms : Terms
        The terms of the certificate.
    estimate : Estimate or None
        The Gibbs bound if it is only an estimate.
    drawn : Model
        One network drawn from the posterior, with its own certificate.
    seed : int
    """

    model: Model
    split: Split | None
    rows: PreparedRows
    learned: Learned
    terms: Terms
    estimate: Estimate | None
    drawn: Model
    seed: int

    @property
    def networks(self) -> tuple[BAM, ...]:
        """The members' centres."""
        return self.learned.posterior.members

    @property
    def priors(self) -> tuple[BAM, ...]:
        """The centres of their priors."""
        posterior = self.learned.posterior
        return tuple(BAM.from_layers(tuple(v[m] for v in posterior.prior)) for m in range(posterior.n_members))


def fit(rows: LabelledRows, settings: Settings, seed: int) -> Fitted:
    """Split and prepare the rows, train, observe the bound rows, certify, and make a model.

    Parameters
    ----------
    rows : LabelledRows
    settings : Settings
    seed : int
        Seed of all random numbers.
    """
    from abnet.training.compilation import compilation_cache

    generators = Generators.of(seed)
    report_progress("Columns")
    split = split_rows(rows, settings, seed)
    prepared, covered = prepare_rows(rows, split, settings)
    with ThreadPoolExecutor(1) as aside, compilation_cache(), training_bar(settings.verbose) as report:
        name = aside.submit(fingerprint, prepared.features.base, marks_of(prepared.codes, prepared.labels.n_classes))
        if rows.groups is None:
            features = prepared.features
            owners = None if features.stored.why_not_stored else features.cells
            warn_of_copies(features.base, prepared.codes, prepared.labels.classes, owners)
        prepared, recipe = choose_recipe(prepared, settings)
        learn = learn_network if recipe.alone else learn_mixture
        learned = learn(prepared.first_part() if settings.frozen else prepared, recipe, settings, generators, report)
        wanted = settings.goal is not None or settings.members.class_weight is not None
        if learned.held is not None and not (wanted or learned.recipe.alone):
            hint_at_recall(learned.held, prepared.first_part().codes, prepared.labels.names)
        report_progress("Certificate")
        predictor = deployed(learned.recipe, learned.posterior, prepared.labels.n_classes, generators.deploy)
        seen = observe_posterior(
            learned.posterior, predictor, prepared.bound(), prepared.labels.names, terms_of(learned, settings),
            generators.paths, report,
        )  # fmt: skip
    prepared = _with_checked_columns(prepared, learned, seed)
    certificate, decision, estimate = judge(seen, learned, predictor, prepared, settings.goal, covered=covered)
    model = Model(
        predictor, prepared.labels, prepared.features.preparation, rows.feature_names, learned.calibration,
        certificate, decision,
        card_of(
            prepared, learned, settings, seed, name.result(), estimate, decision, certified=certificate is not None
        ),
    )  # fmt: skip
    drawn = draw_one(model, learned, prepared, settings, generators.single, covered=covered)
    return Fitted(model, split, prepared, learned, seen.terms, estimate, drawn, seed)


def split_rows(rows: LabelledRows, settings: Settings, seed: int) -> Split:
    """Split the rows into first part and bound rows; all are bound rows if the prior is the random initialisation.

    With ``objective="loss"`` the first part is the validation rows.
    """
    if settings.split or settings.objective == "loss":
        hashes = row_hashes(rows.X, rows.marks)
        split = Split.of(hashes, settings.share, seed, rows.groups)
        warn_of_few_rows(hashes[split.first])
        return split
    if rows.groups is not None:
        number_groups(rows.groups, len(rows.codes))
    return Split(np.arange(0), np.arange(len(rows.codes)))


def prepare_rows(rows: LabelledRows, split: Split, settings: Settings) -> tuple[PreparedRows, bool]:
    """Features of all rows, from a preparation fitted on the first part, and whether a certificate covers it."""
    labels, codes = known_classes(rows, split.first, settings)
    K = labels.n_classes
    check_class_weight(settings.members.class_weight, labels.classes.tolist())
    if settings.goal is not None:
        settings.goal.check_classes(labels.names)
    if settings.is_mixture(K):
        settings.check_mixture(K)
    features = prepare(
        rows, settings.preprocessor, marks_of(codes, K), (split.first, split.counted),
        split.first if settings.split else None, scaled=settings.hidden is None,
    )  # fmt: skip
    covered = isinstance(features.stored, Unprepared) or (
        settings.split and allows_certificate(settings.preprocessor, features.stored.transform, rows.X)
    )
    order = np.concatenate([split.first, split.counted])
    weights, groups = (None if given is None else given[order] for given in (rows.weights, rows.groups))
    weights = scaled_weights(weights, len(split.first))
    return PreparedRows(features, codes[order], labels, len(order), weights, groups), covered


def choose_recipe(rows: PreparedRows, settings: Settings) -> tuple[PreparedRows, Recipe]:
    """The recipe for rows of these sizes, and the rows with codes if the recipe has them."""
    features, K = rows.features, rows.labels.n_classes
    wanted = settings.is_mixture(K) and settings.members.codes != "none"
    coded, d = features.code_map() if wanted else None, features.base.shape[1]
    n_codes = 0 if coded is None else coded.n_features_out - d
    recipe = resolve(settings, Sizes(rows.n_rows, d, K, n_codes), features.name)
    if recipe.codes != "thermometer":
        return rows, recipe
    if coded is None:
        raise ParameterError("{} needs a preprocessor that can be stored.", Parameter("codes", "thermometer"))
    return replace(rows, features=replace(features, coded=coded)), recipe


def _with_checked_columns(rows: PreparedRows, learned: Learned, seed: int) -> PreparedRows:
    """The rows, with notes on what quick checks of the training rows found."""
    if not isinstance(rows.features.stored, TableMap) or not rows.n_first:
        return rows
    notes = checked_notes(rows.first_part(), learned.teachers_error, seed)
    return replace(rows, features=rows.features.with_notes(notes))


def terms_of(learned: Learned, settings: Settings) -> Terms:
    """The terms of the certificate: how the model was made, and the expected values from the held rows."""
    terms = settings.terms(len(learned.posterior.sizes) - 1)
    if not terms.trained or learned.held is None:
        return terms
    return replace(terms, expected=learned.held.expected())


def judge(
    seen: Observed, learned: Learned, predictor: Predictor, rows: PreparedRows, goal: Goal | None, *, covered: bool
) -> tuple[Certificate | None, Decision, Estimate | None]:
    """The certificate, the decision, and an estimate if no theorem covers the model."""
    if seen.evidence is None:
        return None, ARGMAX, None
    if not (covered and learned.posterior.aggregation.certified):
        return None, ARGMAX, _estimate(seen, rows.bound().codes)
    certificate = certify(seen.evidence, seen.terms)
    if goal is None or learned.held is None:
        return certificate, ARGMAX, None
    held = learned.held
    if len(np.unique(held.codes)) < 2:  # of few rows; then of all in the first part, however well they are known
        first = slice(rows.n_first)
        held = Held(predictor.scores(rows.features.inputs(first)), rows.codes[first])
    held = with_probabilities(held, learned.calibration)
    decision, made = decide(goal, held, seen.scores, rows.bound().codes, rows.labels.names, seen.terms)
    if decision != ARGMAX:
        certificate = counting(certificate, "vote")
    return certificate.adding(made), decision, None


def _estimate(seen: Observed, codes: NDArray[np.intp]) -> Estimate:
    """The Gibbs bound without a theorem that covers it, as an estimate."""
    evidence, terms = seen.evidence, seen.terms
    assert evidence is not None
    n = evidence.n_rows if evidence.groups is None else len(evidence.groups.table)
    # A closed form has no losses of drawn networks: use its own losses instead.
    risk = float(losses_of(seen.scores, codes).mean()) if evidence.losses is None else evidence.losses.mean() or 0.0
    return Estimate(
        quantity="bound on the Gibbs risk", counted={"risk": risk, "n": n, "kl": terms.kl},
        value=gibbs_bound(risk, terms.kl, n, terms.delta, n_candidates=terms.n_candidates),
        why="No theorem covers the way this model was trained, so nothing is promised about new data.",
    )  # fmt: skip


@one_blas_thread()
def draw_one(
    model: Model, learned: Learned, rows: PreparedRows, settings: Settings, rng: np.random.Generator, *, covered: bool
) -> Model:
    """One network drawn from the posterior with its own certificate, which counts rows, not groups.

    This works for any posterior, no matter how its own risk was computed.
    """
    bound, posterior = rows.bound(), learned.posterior
    network, certificate = draw_network(
        posterior, bound.X, bound.codes, rng, rows.labels,
        words_of(posterior, rows.labels.n_classes), terms=settings.terms(len(posterior.sizes) - 1), threads=cores(),
    )  # fmt: skip
    return replace(
        model, predictor=network, certificate=certificate if covered and rows.groups is None else None,
        calibration=None, decision=ARGMAX, card=msgspec.structs.replace(model.card, bound_estimate=None),
    )  # fmt: skip
