"""`fit`: a certified fit from start to end, as a pure function.

Arrays, frames, single networks and mixtures all use this function, and so do tables larger than memory: their held-out
rows come in several blocks, those of a table in memory in one (`abnet.estimators.held_out_blocks`).
"""

import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import msgspec
import numpy as np

from abnet.bounds import gibbs_bound
from abnet.certificates.certificate import Certificate
from abnet.certificates.copied_rows import warn_of_copies
from abnet.certificates.decision import ARGMAX, Decision
from abnet.certificates.estimate import Estimate
from abnet.certificates.from_evidence import certify, counting
from abnet.certificates.joint_shares import Makes, hold_jointly, joint_shares
from abnet.certificates.prediction_sets import SetRows, set_statements
from abnet.certificates.row_hashing import fingerprint, row_hashes
from abnet.certificates.split import Split, warn_of_few_rows
from abnet.certificates.terms import Terms
from abnet.certificates.validation_scores import ValidationScores
from abnet.estimators.column_checks import checked_notes
from abnet.estimators.drawn_network import DrawnNetwork, draw_network
from abnet.estimators.fit_card import card_of
from abnet.estimators.fit_goal import FixedGoal, decide, fix_goal, hint_at_recall, warn_of_goal
from abnet.estimators.held_out_blocks import HeldOutBlocks, ManyBlocks, OneBlock
from abnet.estimators.known_classes import known_classes
from abnet.estimators.logistic_rival import learned_logistic, rival_of
from abnet.estimators.observing import Evaluated, Observed, observe_blocks, terms_of_posterior
from abnet.estimators.order_notes import order_notes
from abnet.explanation.region_conditions import regions_in_words
from abnet.model.card import Rival
from abnet.model.model import Model
from abnet.model.predictors.predictor import Predictor, shares_of
from abnet.model.region_words import RegionWords
from abnet.networks.bam import BAM
from abnet.tables.notes import Note, warn_of
from abnet.tables.preparation import TableMap, UnseenWarning
from abnet.tables.preparation.preparation import Unprepared
from abnet.training.column_choice import choose_columns
from abnet.training.features import Features, allows_certificate, prepare
from abnet.training.labelled_rows import LabelledRows
from abnet.training.learned import Learned, PreparedRows, deployed, words_of
from abnet.training.mixture_learning import learn_mixture
from abnet.training.network_learning import learn_network
from abnet.training.progress_bar import training_bar
from abnet.training.recipe import Recipe
from abnet.training.resolve import Sizes, resolve
from abnet.training.sample_weights import scaled_weights
from abnet.training.seeds import Generators
from abnet.training.settings import Settings, check_class_weight
from abnet.utils.errors import Parameter, ParameterError
from abnet.utils.groups import number_groups
from abnet.utils.label_values import label_values
from abnet.utils.progress import report_progress

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
        The prepared rows in memory, in the order of the split.
    learned : Learned
        Posterior, held rows, calibration and curves.
    terms : Terms
        The terms of the certificate.
    estimate : Estimate or None
        The Gibbs bound if it is only an estimate.
    drawn : Model
        One network drawn from the posterior, with its own certificate.
    seed : int
    rival : Rival or None
        Logistic regression on the same rows, if it was asked for.
    notes : tuple of Note
        On the order of the held-out rows. They are not kept in the model, which is the same in any order.
    """

    model: Model
    split: Split | None
    rows: PreparedRows
    learned: Learned
    terms: Terms
    estimate: Estimate | None
    drawn: Model
    seed: int
    rival: Rival | None = None
    notes: tuple[Note, ...] = ()

    @property
    def networks(self) -> tuple[BAM, ...]:
        """The members' centres."""
        return self.learned.posterior.members

    @property
    def priors(self) -> tuple[BAM, ...]:
        """The centres of their priors."""
        posterior = self.learned.posterior
        return tuple(BAM.from_layers(tuple(v[m] for v in posterior.prior)) for m in range(posterior.n_members))


def fit(rows: LabelledRows, settings: Settings, seed: int, *, compare: bool = False) -> Fitted:
    """Split and prepare the rows, train, observe the bound rows, certify, and make a model.

    Parameters
    ----------
    rows : LabelledRows
    settings : Settings
    seed : int
        Seed of all random numbers.
    compare : bool
        Whether to fit logistic regression too, and count its errors on the same rows.
    """
    from abnet.training.compilation import compilation_cache

    generators = Generators.of(seed)
    if rows.held_out is not None:
        settings = replace(settings, share=rows.held_out.share)
    report_progress("Columns")
    split = split_rows(rows, settings, seed)
    period = _period_of(rows, split)
    prepared, certifiable = prepare_rows(rows, split, settings)
    with ThreadPoolExecutor(1) as background, compilation_cache(), training_bar(settings.verbose) as report:
        if rows.groups is None and rows.held_out is None:
            _warn_of_copies(prepared)
        prepared = choose_columns(prepared, settings, rows.feature_names, generators.columns)
        values = label_values(prepared.codes, prepared.labels.n_classes)
        data_fingerprint = background.submit(fingerprint, prepared.features.base, values)
        prepared, recipe = choose_recipe(prepared, settings)

        # Learn
        training_rows = prepared
        if settings.frozen:  # training cannot use the bound rows
            training_rows = prepared.first_part()
        learn = learn_mixture
        if recipe.alone:
            learn = learn_network
        learned = learn(training_rows, recipe, settings, generators, report)
        if settings.goal is None and settings.members.class_weight is None:
            _hint_at_recall(learned, prepared)

        # Fix everything that the bound rows judge
        predictor = deployed(learned.recipe, learned.posterior, prepared.labels.n_classes, generators.deploy)
        terms = terms_of_posterior(_terms_of(learned, settings, period), learned.posterior, predictor)
        covered = certifiable and learned.posterior.aggregation.certified
        held_out = held_out_blocks(rows, prepared)
        goal = None
        if covered:
            goal = _fixed_goal(settings, learned, predictor, prepared, held_out.n_rows, terms)
        words = words_of(learned.posterior, prepared.labels.n_classes)
        drawn = draw_network(learned.posterior, generators.single, words)
        rival = None
        if compare and prepared.n_first:
            report_progress("Logistic regression, for comparison")
            rival = learned_logistic(prepared)

        region_words = _words_of_regions(predictor, prepared, rows.feature_names, terms)

        # Observe
        report_progress("Certificate")
        evaluated = Evaluated(
            posterior=learned.posterior,
            predictor=predictor,
            names=prepared.labels.names,
            terms=terms,
            drawn=drawn.predictor,
            goal=goal,
            rival=rival,
            region_words=region_words,
            keeps_scores=settings.sets is not None and covered,
        )
        seen = observe_blocks(evaluated, held_out, held_out.n_rows, generators.paths, report)

    # Certify
    held_out.warn()
    prepared = _with_checked_columns(prepared, learned, seed)
    set_rows = _rows_for_sets(seen, learned, prepared)
    certificate, decision, estimate = judge(seen, terms, goal, settings, set_rows, covered=covered)
    of_drawn = None  # a drawn network is certified for rows, not for groups
    if seen is not None and certifiable and rows.groups is None:
        of_drawn = drawn.certify(seen.of_drawn, _terms_of_drawn(learned, settings, period))
    chose = decision != ARGMAX or settings.sets is not None
    untouched = settings.frozen and certificate is not None and settings.n_candidates == 1 and not chose
    card = card_of(
        prepared,
        learned,
        settings,
        seed,
        data_fingerprint=data_fingerprint.result(),
        row_filter=held_out.row_filter(untouched=untouched),
        estimate=estimate,
        region_words=region_words,
        period=period,
    )
    kept_split: Split | None = split
    if rows.held_out is not None:
        kept_split = None
        card = msgspec.structs.replace(card, n_counted_rows=held_out.n_rows)
    model = Model(
        predictor,
        prepared.labels,
        prepared.features.preparation,
        rows.feature_names,
        learned.calibration,
        certificate,
        decision,
        card,
    )
    rival_in_numbers = None
    if seen is not None and seen.of_rival is not None:
        rival_in_numbers = rival_of(prepared, seen.of_rival, terms)
    return Fitted(
        model=model,
        split=kept_split,
        rows=prepared,
        learned=learned,
        terms=terms,
        estimate=estimate,
        drawn=_model_of_drawn(model, drawn, of_drawn),
        seed=seed,
        rival=rival_in_numbers,
        notes=order_notes(rows, split, seen),
    )


def _words_of_regions(
    predictor: Predictor, rows: PreparedRows, feature_names: tuple[str, ...] | None, terms: Terms
) -> tuple[RegionWords, ...]:
    """The regions of a narrow network in words, from rows of the first part; none without statements about regions."""
    if terms.trained or not rows.n_first:
        return ()
    outline = Model(predictor, rows.labels, rows.features.preparation, feature_names)
    return regions_in_words(outline, rows.features.inputs(slice(rows.n_first)))


def split_rows(rows: LabelledRows, settings: Settings, seed: int) -> Split:
    """Split the rows into first part and bound rows; all are bound rows if the prior is the random initialisation.

    With ``objective="loss"`` the first part is the validation rows. If the bound rows are streamed, the table was split
    when it was read, and its first part is in memory.
    """
    if rows.held_out is not None:
        return Split(first=rows.held_out.training_order, counted=np.arange(0))
    if settings.split or settings.objective == "loss":
        hashes = row_hashes(rows.X, rows.label_values)
        if rows.times is None:
            split = Split.of(hashes, settings.share, seed, rows.groups)
        else:
            split = Split.by_time(hashes, rows.times.values, settings.share, seed, rows.groups)
        warn_of_few_rows(hashes[split.first])
        return split
    if rows.groups is not None:
        number_groups(rows.groups, len(rows.codes))
    return Split(first=np.arange(0), counted=np.arange(len(rows.codes)))


def _period_of(rows: LabelledRows, split: Split) -> str | None:
    """The bound rows of a split by time, in words; None if they are a random part."""
    if rows.held_out is not None:
        return rows.held_out.period
    if rows.times is None or split.latest is None:
        return None
    return rows.times.after(split.latest)


def prepare_rows(rows: LabelledRows, split: Split, settings: Settings) -> tuple[PreparedRows, bool]:
    """Prepare all rows in memory with a preparation fitted on the first part; also, whether it allows a certificate."""
    labels, codes = known_classes(rows, split.first, settings)
    n_classes = labels.n_classes
    check_class_weight(settings.members.class_weight, labels.classes.tolist())
    if settings.goal is not None:
        settings.goal.check_classes(labels.names)
    if settings.is_mixture(n_classes):
        settings.check_mixture(n_classes)
    features = _prepared_features(rows, split, settings, label_values(codes, n_classes))
    certifiable = isinstance(features.stored, Unprepared)
    if settings.split and not certifiable:
        certifiable = allows_certificate(settings.preprocessor, features.stored.transform, rows.X)
    order = np.concatenate([split.first, split.counted])
    weights = rows.weights
    if weights is not None:
        weights = scaled_weights(weights[order], len(split.first))
    groups = rows.groups
    if groups is not None:
        groups = groups[order]
    n_rows = len(order)
    if rows.held_out is not None:
        n_rows = rows.held_out.n_rows
    return PreparedRows(features, codes[order], labels, n_rows, weights, groups), certifiable


def _prepared_features(rows: LabelledRows, split: Split, settings: Settings, values: np.ndarray) -> Features:
    """The features, from a preparation fitted on the first part, or on all rows if there is none."""
    fit_on = None
    if settings.split:
        fit_on = split.first
    with warnings.catch_warnings():
        if rows.held_out is not None:  # the blocks hold the training rows too, and are looked at once
            warnings.simplefilter("ignore", UnseenWarning)
        return prepare(
            rows,
            settings.preprocessor,
            values,
            (split.first, split.counted),
            fit_on,
            scaled=settings.hidden is None,
        )


def _warn_of_copies(rows: PreparedRows) -> None:
    """Warn if rows are copies of each other."""
    features = rows.features
    owners = None
    if not features.stored.why_not_stored:
        owners = features.cells
    warn_of_copies(features.base, rows.codes, rows.labels.classes, owners)


def choose_recipe(rows: PreparedRows, settings: Settings) -> tuple[PreparedRows, Recipe]:
    """The recipe for rows of these sizes, and the rows with codes if the recipe has them."""
    features = rows.features
    n_classes = rows.labels.n_classes
    n_features = features.base.shape[1]
    code_map = None
    if settings.is_mixture(n_classes) and settings.members.codes != "none":
        code_map = features.code_map()
    n_codes = 0
    if code_map is not None:
        n_codes = code_map.n_features_out - n_features
    recipe = resolve(settings, Sizes(rows.n_rows, n_features, n_classes, n_codes), features.name)
    recipe = replace(recipe, columns=features.chosen_columns)
    if recipe.codes != "thermometer":
        return rows, recipe
    if code_map is None:
        raise ParameterError("{} needs a preprocessor that can be stored.", Parameter("codes", "thermometer"))
    return replace(rows, features=replace(features, coded=code_map)), recipe


def held_out_blocks(rows: LabelledRows, prepared: PreparedRows) -> HeldOutBlocks:
    """The bound rows: one block of a table in memory, several of a larger one."""
    if rows.held_out is None:
        return OneBlock(prepared)
    return ManyBlocks(rows.held_out, prepared)


def _hint_at_recall(learned: Learned, rows: PreparedRows) -> None:
    """Warn about a rare class that a mixture hardly ever predicts."""
    if learned.held is not None and not learned.recipe.alone:
        hint_at_recall(learned.held, rows.codes[: rows.n_first], rows.labels.names)


def _with_checked_columns(rows: PreparedRows, learned: Learned, seed: int) -> PreparedRows:
    """The rows, with notes on what quick checks of the training rows found, and on networks that fall short."""
    found: tuple[Note, ...] = ()
    if learned.shortfall is not None:
        found = (learned.shortfall.note,)
    if not isinstance(rows.features.stored, TableMap) or not rows.n_first:
        warn_of(found, stacklevel=5)
        return rows
    notes = checked_notes(rows.first_part(), learned.teachers_error, seed)
    return replace(rows, features=rows.features.with_notes((*notes, *found)))


def _terms_of(learned: Learned, settings: Settings, period: str | None) -> Terms:
    """The terms of the certificate: how the model was made, and the expected values from the held rows."""
    terms = _terms_of_drawn(learned, settings, period)
    if not terms.trained or learned.held is None:
        return terms
    return replace(terms, expected=learned.held.expected())


def _terms_of_drawn(learned: Learned, settings: Settings, period: str | None) -> Terms:
    """How the model was made: the terms for one network of the posterior."""
    return replace(settings.terms(len(learned.posterior.sizes) - 1), period=period)


def _fixed_goal(
    settings: Settings, learned: Learned, predictor: Predictor, rows: PreparedRows, n_bound: int, terms: Terms
) -> FixedGoal | None:
    """The goal with its candidate decisions, from rows of the first part; None without a goal or a first part."""
    if settings.goal is None or learned.held is None:
        return None
    held = learned.held
    if len(np.unique(held.codes)) < 2:  # too few held rows: use the whole first part, although it was trained on
        first = slice(rows.n_first)
        held = ValidationScores(predictor.scores(rows.features.inputs(first)), rows.codes[first])
    return fix_goal(settings.goal, held, learned.calibration, rows.labels.names, n_bound, terms)


def _rows_for_sets(seen: Observed | None, learned: Learned, rows: PreparedRows) -> SetRows | None:
    """The probabilities of the bound rows, if prediction sets were asked for."""
    if seen is None or seen.scores is None:
        return None
    probabilities = shares_of(seen.scores)
    if learned.calibration is not None:
        probabilities = learned.calibration.apply(probabilities)
    return SetRows(probabilities, seen.codes.astype(np.intp), rows.labels.names)


def judge(
    seen: Observed | None,
    terms: Terms,
    goal: FixedGoal | None,
    settings: Settings,
    set_rows: SetRows | None = None,
    *,
    covered: bool,
) -> tuple[Certificate | None, Decision, Estimate | None]:
    """The certificate, the decision, and an estimate if no theorem covers the model.

    Parameters
    ----------
    seen : Observed or None
        None if it was interrupted: then there is neither.
    terms : Terms
    goal : FixedGoal or None
    settings : Settings
        Prediction sets that are asked for, and which statements hold jointly.
    set_rows : SetRows or None
        The bound rows for prediction sets.
    covered : bool
        Whether a theorem covers the model.
    """
    if seen is None:
        return None, ARGMAX, None
    if not covered:
        return None, ARGMAX, _estimate(seen, terms)
    target = ""
    if goal is not None and seen.of_goal is not None:
        target = decide(goal, seen.of_goal, terms)[1][0].unit
    at_share = Makes(terms.delta, terms.delta, joint_shares(settings.joint)).choosing(target)
    terms_of_goal = replace(terms, delta=at_share)
    decision = ARGMAX
    if goal is not None and seen.of_goal is not None:
        decision, statements = decide(goal, seen.of_goal, terms_of_goal)
        warn_of_goal(goal.goal, statements, terms)

    def made(makes: Makes) -> Certificate:
        others = replace(terms, delta=makes.delta)
        certificate = certify(seen.evidence, others)
        if goal is not None and seen.of_goal is not None:
            if decision != ARGMAX:
                certificate = counting(certificate, "vote")
            certificate = certificate.adding(decide(goal, seen.of_goal, terms_of_goal, others)[1])
        if set_rows is not None and settings.sets is not None:
            certificate = certificate.adding(set_statements(set_rows, settings.sets, terms, makes))
        return certificate

    return hold_jointly(made, terms.delta, settings.joint), decision, None


def _estimate(seen: Observed, terms: Terms) -> Estimate:
    """The Gibbs bound without a theorem that covers it, as an estimate."""
    evidence = seen.evidence
    n = evidence.n_rows
    if evidence.groups is not None:
        n = len(evidence.groups.table)
    if evidence.losses is None:
        risk = seen.mean_loss  # a closed form has no losses of drawn networks: use its own
    else:
        risk = evidence.losses.mean() or 0.0
    return Estimate(
        quantity="bound on the Gibbs risk",
        counted={"risk": risk, "n": n, "kl": terms.kl},
        value=gibbs_bound(risk, terms.kl, n, terms.delta, n_candidates=terms.n_candidates),
        why="No theorem covers the way this model was trained, so nothing is promised about new data.",
    )


def _model_of_drawn(model: Model, drawn: DrawnNetwork, certificate: Certificate | None) -> Model:
    """The drawn network as a model."""
    return replace(
        model,
        predictor=drawn.predictor,
        certificate=certificate,
        calibration=None,
        decision=ARGMAX,
        card=msgspec.structs.replace(model.card, bound_estimate=None, region_words=()),
    )
