"""One row of Table 1: ABNet with two hidden units; the better of two learning rates by the mean bound over two splits.

It uses the circles data set, which needs no files. If you have the data of the paper (`abnet data`), write "mnist17".
"""

from abnet import paper

DATASET = "circles"
RATES = (0.1, 0.01)
SPLITS = 2
results = {
    (variant, rate): [paper.run(DATASET, "ABNet", (2,), rate, split, variant=variant) for split in range(SPLITS)]
    for variant in (None, "both")
    for rate in RATES
}
for variant in (None, "both"):
    means = {rate: sum(r.bound or 1.0 for r in results[variant, rate]) / SPLITS for rate in RATES}
    rate = min(means, key=means.__getitem__)
    test = sum(r.test_error for r in results[variant, rate]) / SPLITS
    print(f"{variant or 'paper':8} 1x2, rate {rate:g}: bound {means[rate]:.3f}, test error {test:.3f}")
