"""Five bounds on the same vote: which one is the tightest depends on how the voters err.

- Confident: on a few rows nearly all voters err, elsewhere hardly any. Twice the Gibbs risk is the tightest.
- Diverse: a few voters err on every row, but their majority rarely does. The mu-tandem bound is the tightest.
- Weak: every voter is barely better than chance. The C-bound is the tightest.
"""

import numpy as np

from abnet import bounds

rng = np.random.default_rng(0)
n = 100_000
kl = 8.0
delta = 0.05

shares = {  # of the voters that err on each row
    "confident": np.where(rng.random(n) < 0.04, 0.95, 0.01),
    "diverse": rng.beta(4, 16, n),
    "weak": rng.beta(60, 90, n),
}
print(f"{'':10} {'error':>6} {'2 Gibbs':>8} {'tandem':>8} {'mu':>8} {'C':>8} {'held out':>9}")
for name, p in shares.items():
    r = p.mean()
    e = (p**2).mean()
    values = [
        bounds.twice_gibbs_bound(r, kl, n, delta),
        bounds.tandem_bound(e, kl, n, delta),
        bounds.mu_tandem_bound(r, e, kl, n, delta),
        bounds.c_bound(r, 2 * (r - e), kl, n, delta),
    ]
    errors = int((p >= 0.5).sum())
    # The test-set bound on 1,000 held-out rows is tighter still, assuming that the vote has the same error rate there.
    held_out = bounds.clopper_pearson_bound(round(errors / 100), n // 100, delta)
    print(f"{name:10} {errors / n:6.3f} " + " ".join(f"{b:8.3f}" for b in values) + f" {held_out:9.3f}")
