"""The promise kept, from raw rows to the certificate: it fails at most a δ share of the time, and a mutant does not.

The true risk is known exactly (`estimators.worlds`). Here labels are coins. Labels that can be learned, mixtures,
searches and preparations that saw the bound rows are in the long tests.
"""

from functools import cache
from typing import Any

import pytest

from abnet import bounds
from broken_promise import breaks
from estimators.worlds import DELTA, KINDS, NOISE, OVERFIT, PROMISES, broken_promises, count, repetition

REPETITIONS = 84  # the fewest with the power that `breaks` asks for
FITS: dict[str, dict[str, Any]] = {
    "split, train": KINDS["split, train"],
    "split, frozen": KINDS["split, frozen"],
    "init": KINDS["init"],
    "overfitted": OVERFIT,
}


@cache
def fitted(kind: str, seed: int) -> Any:
    return repetition(NOISE, seed, **FITS[kind])


@pytest.mark.parametrize("kind", FITS)
def test_certificates_keep_their_promise(kind: str) -> None:
    failures = count(REPETITIONS, lambda seed: broken_promises(NOISE, fitted(kind, seed)))
    for promise, broken in zip(PROMISES, failures, strict=True):
        assert not breaks(int(broken), REPETITIONS, DELTA), promise


def test_mutant_without_the_divergence_breaks_the_promise() -> None:
    def broken(seed: int) -> list[bool]:
        certificate = fitted("overfitted", seed).certificate_
        drawn = fitted("overfitted", seed).draw_network().certificate
        n = certificate.facts.n_rows
        gibbs = bounds.gibbs_bound(certificate.empirical_gibbs_risk, 0.0, n, DELTA)
        single = bounds.single_network_bound(drawn.empirical_error, 0.0, n, DELTA)
        return [gibbs < 0.5, single < 0.5]

    for failures in count(REPETITIONS, broken):
        assert breaks(int(failures), REPETITIONS, DELTA)


def test_mutant_without_the_logarithm_breaks_the_promise() -> None:
    def broken(seed: int) -> bool:
        certificate = fitted("split, frozen", seed).certificate_
        return bounds.kl_inverse_upper(certificate.empirical_gibbs_risk, 0.0) < 0.5

    assert breaks(int(count(REPETITIONS, broken)), REPETITIONS, DELTA)
