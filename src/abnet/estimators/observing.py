"""Observe a posterior on the bound rows: the answers of its predictor, and the losses of its draws."""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abnet.certificates.evidence import Evidence, observe, sum_evidence
from abnet.certificates.meet_goal import observe_candidates
from abnet.certificates.terms import Terms
from abnet.estimators.fit_goal import FixedGoal
from abnet.estimators.posterior_losses import losses_of_draws
from abnet.model.leading_signs import located_rows
from abnet.model.predictors.layers import Layers
from abnet.model.predictors.predictor import Predictor
from abnet.model.region_words import RegionWords
from abnet.networks.posterior import Posterior
from abnet.training.learned import BoundRows
from abnet.training.progress_bar import Report
from abnet.utils.class_scores import losses_of, winners
from abnet.utils.coded_rows import without_codes
from abnet.utils.threads import cores, one_blas_thread

__all__ = ["Evaluated", "Observed", "SeenBlock", "observe_blocks", "observe_posterior", "terms_of_posterior"]


@dataclass(frozen=True, eq=False)
class Evaluated:
    """What the bound rows judge; all of it was fixed before they are looked at.

    Attributes
    ----------
    posterior : Posterior
    predictor : Predictor
        The deployed predictor of the posterior.
    names : tuple of K str
        The classes.
    terms : Terms
        How the posterior was made.
    drawn : Layers
        One network drawn from the posterior.
    goal : FixedGoal or None
        The candidate decisions of a goal.
    rival : classifier or None
        Another model, from features without codes to class codes.
    region_words : tuple of RegionWords
        The regions of a narrow network in words.
    """

    posterior: Posterior
    predictor: Predictor
    names: tuple[str, ...]
    terms: Terms
    drawn: Layers
    goal: FixedGoal | None = None
    rival: Any = None
    region_words: tuple[RegionWords, ...] = ()
    keeps_scores: bool = False
    """Whether to keep the scores of all rows, for prediction sets."""


_LARGEST_FLOOR = 0.49


class Observed(NamedTuple):
    """What the bound rows show.

    Attributes
    ----------
    evidence : Evidence
        About the predictor and the draws of its posterior.
    mean_loss : float
        Mean linear loss of the predictor's scores.
    of_drawn : Evidence
        About the drawn network.
    of_goal, of_rival : Evidence or None
    wrong, codes : arrays (n,)
        Wrong answers of the plain vote, and classes, in the order in which the blocks have the rows.
    scores : array (n,) or (n, K), or None
        Scores of the rows in the same order, if they were to be kept.
    """

    evidence: Evidence
    mean_loss: float
    of_drawn: Evidence
    of_goal: Evidence | None
    of_rival: Evidence | None
    wrong: NDArray[np.bool_]
    codes: NDArray[np.uint32]
    scores: NDArray[np.float64] | None = None


class SeenBlock(NamedTuple):
    """The scores of some bound rows, and the evidence from them.

    Attributes
    ----------
    scores : float array (n,) or (n, K)
    evidence : Evidence or None
        None if it was interrupted, because a part of the rows is not enough.
    terms : Terms
        Of a certificate from this evidence, fixed before the rows were observed.
    """

    scores: NDArray[np.float64]
    evidence: Evidence | None
    terms: Terms


@one_blas_thread()
def observe_blocks(
    evaluated: Evaluated,
    blocks: Iterable[BoundRows],
    n_rows: int,
    paths: np.random.Generator,
    report: Report | None = None,
) -> Observed | None:
    """Collect the evidence of all bound rows, block by block; None if it was interrupted.

    Parameters
    ----------
    evaluated : Evaluated
    blocks : iterable of BoundRows
    n_rows : int
        Number of bound rows in all blocks.
    paths : numpy.random.Generator
        Of fresh paths, as for `observe_posterior`.
    report : Report, optional
    """
    evidence: list[Evidence] = []
    of_drawn: list[Evidence] = []
    of_goal: list[Evidence] = []
    of_rival: list[Evidence] = []
    kept_scores: list[NDArray[np.float64]] = []
    total_loss = 0.0
    wrong = []
    codes = []
    for rows in blocks:
        seen = observe_posterior(
            evaluated.posterior,
            evaluated.predictor,
            rows,
            evaluated.names,
            evaluated.terms,
            paths,
            report,
            n_rows=n_rows,
            region_words=evaluated.region_words,
        )
        if seen.evidence is None:
            return None
        evidence.append(seen.evidence)
        total_loss += float(losses_of(seen.scores, rows.codes).sum())
        wrong.append(winners(seen.scores) != rows.codes)
        codes.append(rows.codes.astype(np.uint32))
        of_drawn.append(observe(evaluated.drawn.votes(rows.X, threads=cores()), rows.codes, evaluated.names))
        if evaluated.goal is not None:
            of_goal.append(
                observe_candidates(
                    evaluated.goal.goal,
                    evaluated.goal.candidates,
                    seen.scores,
                    rows.codes,
                    evaluated.names,
                    keys=rows.betting_keys,
                )
            )
        if evaluated.rival is not None:
            of_rival.append(_observe_rival(evaluated, rows))
        if evaluated.keeps_scores:
            kept_scores.append(seen.scores)
    return Observed(
        evidence=sum_evidence(evidence),
        mean_loss=total_loss / n_rows,
        of_drawn=sum_evidence(of_drawn),
        of_goal=_sum_or_none(of_goal),
        of_rival=_sum_or_none(of_rival),
        wrong=np.concatenate(wrong),
        codes=np.concatenate(codes),
        scores=_joined_or_none(kept_scores),
    )


def _joined_or_none(parts: list[NDArray[Any]]) -> NDArray[Any] | None:
    """All rows; None without any."""
    if not parts:
        return None
    return np.concatenate(parts)


def _sum_or_none(parts: list[Evidence]) -> Evidence | None:
    """The sum of evidence; None without any."""
    if not parts:
        return None
    return sum_evidence(parts)


def _observe_rival(evaluated: Evaluated, rows: BoundRows) -> Evidence:
    """The errors of the other model, which reads features without codes."""
    answers = evaluated.rival.predict(without_codes(rows.X))
    return observe(answers, rows.codes, evaluated.names, groups=rows.groups, keys=rows.betting_keys)


@one_blas_thread()
def observe_posterior(
    posterior: Posterior,
    predictor: Predictor,
    rows: BoundRows,
    names: tuple[str, ...],
    terms: Terms,
    paths: np.random.Generator,
    report: Report | None = None,
    *,
    n_rows: int | None = None,
    region_words: tuple[RegionWords, ...] = (),
) -> SeenBlock:
    """Predict bound rows, or a block of them, with a trained predictor, and collect the evidence.

    Parameters
    ----------
    posterior : Posterior
    predictor : Predictor
        The deployed predictor of the posterior.
    rows : BoundRows
    names : tuple of K str
        The classes.
    terms : Terms
        How the posterior was made; this function adds the divergence and the kept paths of a trained posterior.
    paths : numpy.random.Generator
        Generator of fresh paths; independent of everything that the posterior depends on.
    report : Report, optional
    n_rows : int, optional
        Number of bound rows, if these are a block of them.
    region_words : tuple of RegionWords
        The regions of a narrow network in words. Rows are counted by region if the posterior was not trained on them.
    """
    terms = terms_of_posterior(terms, posterior, predictor)
    scores = predictor.scores(rows.X, threads=cores())
    try:
        losses = losses_of_draws(
            posterior,
            predictor,
            rows.X,
            scores,
            rows.codes,
            paths,
            frozen=not terms.trained,
            n_rows=n_rows,
            report=report,
        )
    except KeyboardInterrupt:
        warnings.warn(
            "Interrupted while the certificate was computed: the model is kept, without a certificate. Use `certify` "
            "on rows that were held out from training.",
            stacklevel=5,
        )
        return SeenBlock(scores, None, terms)
    given: dict[str, Any] = {}
    if losses is not None:
        given = losses._asdict()
    if not terms.trained:
        given["regions"] = located_rows(predictor, rows.X, region_words)
    evidence = observe(winners(scores), rows.codes, names, groups=rows.groups, keys=rows.betting_keys, **given)
    return SeenBlock(scores, evidence, terms)


def terms_of_posterior(terms: Terms, posterior: Posterior, predictor: Predictor) -> Terms:
    """The terms, with the divergence, the least loss and the kept paths of a posterior trained on the bound rows."""
    if not terms.trained:
        return terms
    kl = float(posterior.astype(np.float64).kl())
    if predictor.n_paths is None:
        # An output near 0 everywhere errs half of the time: the bound on the vote is useless then, whatever the floor.
        return replace(terms, kl=kl, vote="expectation", floor=min(predictor.least_loss, _LARGEST_FLOOR))
    return replace(terms, kl=kl, vote="kept paths", vote_paths=predictor.n_paths)
