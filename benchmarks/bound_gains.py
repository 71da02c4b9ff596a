"""What the bounds gain over those that they replaced, at counts that are given: no model is trained.

python benchmarks/bound_gains.py
"""

import math

from abnet.bounds import gibbs_bound_frozen, kl_inverse_upper
from abnet.bounds.catoni import catoni_fixed_bound, choose_C
from abnet.bounds.catoni_tandem import catoni_tandem_bound, choose_tilts
from abnet.bounds.clopper_pearson import clopper_pearson_bound, clopper_pearson_lower
from abnet.bounds.difference import difference_bound
from abnet.bounds.local_level import chosen_rate_lower
from abnet.bounds.trained import trained_vote_bound

DELTA = 0.05


def line(what: str, case: str, before: float, after: float) -> None:
    """A row of the table."""
    print(f"| {what} | {case} | {before:.4f} | {after:.4f} | {after - before:+.4f} |")


def frozen() -> None:
    """Chernoff's bound and the expected shortfall."""
    for n, risk in ((100, 0.03), (300, 0.03), (300, 0.1), (999, 0.03), (999, 0.1), (26_250, 0.03)):
        price = -math.log(DELTA) / n
        before = kl_inverse_upper(risk, price)
        line("Gibbs risk, frozen", f"n = {n:,}, mean loss {risk}", before, gibbs_bound_frozen(risk, n))


def tandem() -> None:
    """Four times the tandem risk and the μ-tandem bound from one event, if rates are as expected."""
    share = DELTA / 2
    cases = {
        (2.0, 30.0): (1000, 2.0),
        (1.0, 8.0): (30_000, 100.0),
        (4.0, 12.0): (30_000, 100.0),
        (0.05, 1.0): (1000, 2.0),
    }
    for (alpha, beta), (n, kl) in cases.items():
        risk = alpha / (alpha + beta)
        both = risk * (alpha + 1) / (alpha + beta + 1)
        C = choose_C(both, 2 * kl, n, share)
        before = min(1.0, 4 * catoni_fixed_bound(both, 2 * kl, n, C, share))
        after = catoni_tandem_bound(risk, both, kl, n, choose_tilts(risk, both, kl, n, share), share)
        line("vote, trained, second order", f"n = {n:,}, KL {kl:g}, losses Beta({alpha:g}, {beta:g})", before, after)


def floor() -> None:
    """Twice the Gibbs risk, and with the least loss of a row."""
    for least in (0.005, 0.02):
        before = trained_vote_bound(0.05, 0.04, 10_000, 20.0)
        after = trained_vote_bound(0.05, 0.04, 10_000, 20.0, floor=least)
        line("vote, trained, first order", f"n = 10,000, KL 20, mean loss .05, least loss {least}", before, after)


def difference() -> None:
    """Two Clopper-Pearson limits at δ/2 and the exact test."""
    for a, b, n in ((30, 60, 1000), (10, 40, 1000), (5, 5, 1000), (6, 16, 200), (3000, 3200, 100_000)):
        before = clopper_pearson_bound(a, n, DELTA / 2) - clopper_pearson_lower(b, n, DELTA / 2)
        line("difference of two models", f"{a:,} and {b:,} of {n:,}", before, difference_bound(a, b, n))


def coverage() -> None:
    """δ divided by 100 thresholds, and equal local levels."""
    for n in (100, 258, 1000, 3000):
        answered = int(0.92 * n)
        before = clopper_pearson_lower(answered, n, DELTA / 100)
        line("coverage, 100 thresholds", f"{answered:,} of {n:,}", before, chosen_rate_lower(answered, n, 100))


if __name__ == "__main__":
    print("| bound | case | before | after | difference |\n| --- | --- | --- | --- | --- |")
    for part in (frozen, tandem, floor, difference, coverage):
        part()
