"""Observe a posterior on the bound rows: the answers of its predictor, and the losses of its draws."""

import warnings
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abnet.certificates.evidence import Evidence, observe
from abnet.certificates.terms import Terms
from abnet.estimators.posterior_losses import losses_of_draws
from abnet.model.predictors.predictor import Predictor
from abnet.networks.posterior import Posterior
from abnet.training.learned import BoundRows
from abnet.training.progress_bar import Report
from abnet.utils.class_scores import winners
from abnet.utils.threads import cores, one_blas_thread

__all__ = ["Observed", "observe_posterior"]


class Observed(NamedTuple):
    """Evidence from the bound rows, and the terms of the certificate."""

    scores: NDArray[np.float64]
    evidence: Evidence | None
    """None if it was interrupted, because a part of the rows is not enough."""
    terms: Terms
    """Fixed before the bound rows were observed."""


@one_blas_thread()
def observe_posterior(
    posterior: Posterior,
    predictor: Predictor,
    rows: BoundRows,
    names: tuple[str, ...],
    terms: Terms,
    rng: np.random.Generator,
    report: Report | None = None,
) -> Observed:
    """Predict the bound rows with a trained predictor, and collect the evidence.

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
    rng : numpy.random.Generator
        Generator of fresh paths; independent of everything that the posterior depends on.
    report : Report, optional
    """
    if terms.trained:
        kl, paths = float(posterior.astype(np.float64).kl()), predictor.n_paths
        terms = replace(terms, kl=kl, vote="expectation" if paths is None else "kept paths", vote_paths=paths)
    scores = predictor.scores(rows.X, threads=cores())
    try:
        losses = losses_of_draws(
            posterior, predictor, rows.X, scores, rows.codes, rng, frozen=not terms.trained, report=report
        )
    except KeyboardInterrupt:
        warnings.warn(
            "Interrupted while the certificate was computed: the model is kept, without a certificate. Use `certify` "
            "on rows that were held out from training.",
            stacklevel=5,
        )
        return Observed(scores, None, terms)
    seen = observe(
        winners(scores), rows.codes, names, **({} if losses is None else losses._asdict()), groups=rows.groups,
        keys=np.arange(len(rows.codes)),
    )  # fmt: skip
    return Observed(scores, seen, terms)
