"""Wrong widths, transposed inputs, one row instead of a matrix, NaN: errors, never numbers.

Without the shape checks of the tests: users have no jaxtyping. Each case runs in a process of its own library, where
annotations mean nothing.
"""

import os
import subprocess
import sys

CASES = r"""
import numpy as np
from abnet.networks.lifting import lift, mean_activation
from abnet.networks import Ancestral, Exact, PBGNet, SampledPBGNet, Uniform
from abnet.networks import exact
from abnet.networks import forward
from abnet.networks import pbgnet
from abnet.networks import uniform
from abnet.networks import ancestral
from abnet.networks import gaussian_kl as gauss
from abnet.networks import aggregation
from abnet.networks import cube
from abnet.networks.bam import BAM
from abnet.networks.codebook import code_length
from abnet.networks.posterior import Posterior

assert "jaxtyping" not in __import__("sys").modules
rng = np.random.default_rng(0)
n = rng.normal
net = lambda *d: BAM(tuple(n(size=(b, a)) for a, b in zip(d, d[1:])), tuple(n(size=b) for b in d[1:]))
good, X = net(4, 3, 2, 1), n(size=(6, 4))
L, m = lift(X), np.tanh(n(size=(5, 3)))
hole = X.copy()
hole[2, 1] = np.nan
whole = BAM(tuple(np.ones(W.shape, int) for W in good.weights), tuple(np.ones(b.shape, int) for b in good.biases))
misfit = BAM((n(size=(3, 4)), n(size=(2, 4)), n(size=(1, 2))), good.biases)
no_bias = BAM(good.weights, good.biases[:2])
nan_weights = BAM(tuple(np.nan * W for W in good.weights), good.biases)
two = Posterior.from_networks([good, good], [good, good], Exact())
one = lambda arrays: tuple(V[:1] for V in arrays)

cases = {
    "means of whole numbers": lambda: cube.corner_probabilities(np.ones((2, 2), int)),
    "means of one row": lambda: cube.corner_probabilities(m[0]),
    "mean over nothing": lambda: cube.mean_corner_probabilities(np.zeros((2, 0, 3))),
    "table short": lambda: cube.multilinear(n(size=4), m),
    "table long": lambda: cube.multilinear(n(size=16), m),
    "table transposed": lambda: cube.multilinear(n(size=(2, 8)), m),
    "table of no coordinate": lambda: cube.multilinear(n(size=4), m[:, :0]),
    "one table for two": lambda: cube.summed_multilinear(n(size=(1, 8)), n(size=(2, 3, 5))),
    "tables long": lambda: cube.summed_multilinear(n(size=(2, 16)), n(size=(2, 3, 5))),
    "lift one row": lambda: lift(X[0]),
    "layer on one row": lambda: mean_activation(good.layers[0], L[0]),
    "layer on plain rows": lambda: mean_activation(good.layers[0], X),
    "one neuron as a vector": lambda: mean_activation(good.layers[0][0], L),
    "one column as a table": lambda: exact.expected_output(net(4, 3, 2), X, n(size=4)),
    "table of other outputs": lambda: exact.expected_output(net(4, 3, 2), X, n(size=(5, 4))),
    "regions of a misfit": lambda: exact.region_values(misfit),
    "psi of a misfit": lambda: forward.psi(misfit, 2),
    "a draw of a misfit": lambda: misfit.perturb(rng),
    "a draw without a bias": lambda: no_bias.perturb(rng),
    "divergence from another width": lambda: exact.kl(net(4, 3, 1), net(4, 1, 1)),
    "divergence from another depth": lambda: pbgnet.kl(net(4, 3, 1), net(4, 3, 1, 1)),
    "few deviations": lambda: gauss.gaussian_kl(good.layers, good.layers, [0.1]),
    "few counts": lambda: gauss.gaussian_kl(good.layers, good.layers, None, [1]),
    "deviations as vectors": lambda: gauss.gaussian_kl(good.layers, good.layers, [np.ones(2)] * 3),
    "divergence of nothing": lambda: gauss.gaussian_kl([], []),
    "one target for five": lambda: aggregation.linear_loss(n(size=5), n(size=1)),
    "targets as a column": lambda: aggregation.linear_loss(n(size=5), n(size=(5, 1))),
    "targets of one class": lambda: aggregation.linear_loss(n(size=(5, 3)), n(size=(5, 1))),
    "one representation": lambda: uniform.log_transition(n(size=(3, 2)), n(size=2)),
    "two output neurons": lambda: ancestral.normal_mean(n(size=(2, 4)), n(size=(5, 3))),
    "no hidden layer": lambda: uniform.output(net(4, 1).layers, L, rng, 5),
    "no draws": lambda: (Uniform(0), SampledPBGNet(0), Ancestral(-1)),
    "a member too many": lambda: two.member(2),
    "a member before the first": lambda: two.member(-1),
    "few priors": lambda: Posterior(two.layers, one(two.prior), two.log_sigma, Exact()).kl(),
    "many priors": lambda: Posterior(one(two.layers), two.prior, two.log_sigma, Exact()).kl(),
    "few deviations of a posterior": lambda: Posterior(two.layers, two.prior, two.log_sigma[:1], Exact()).kl(),
    "drawn beside other priors": lambda: Posterior(one(two.layers), two.prior, two.log_sigma, Exact()).draw(rng),
    "deviations that are no numbers": lambda: Posterior.from_networks([good], [good], Exact(), [np.nan] * 3),
    "lifted rows that are not": lambda: two.output(X),
    "one lifted row": lambda: two.output(L[0]),
    "one class": lambda: code_length(1),
}
computed = {
    "predict": lambda network, X: network.predict(X),
    "exact": exact.expected_output,
    "pbgnet": pbgnet.expected_output,
    "forward": lambda network, X: forward.representation_probabilities(network, X, 2),
    "Exact": lambda network, X: Exact()(network, X),
}
inputs = {
    "transposed": X.T, "one row": X[0], "wide": np.c_[X, X], "no column": X[:, :0], "NaN": hole, "infinite": X / 0.0,
    "stacked": X[None], "text": X.astype(str), "complex": X + 1j, "objects": X.astype(object),
}
networks = {
    "misfit": misfit, "no bias": no_bias, "whole numbers": whole, "NaN": nan_weights, "nothing": BAM((), ()),
}
for name, compute in computed.items():
    cases |= {f"{name} of {what}": lambda c=compute, rows=rows: c(good, rows) for what, rows in inputs.items()}
    cases |= {f"{name} by {what}": lambda c=compute, bad=bad: c(bad, X) for what, bad in networks.items()}
    assert len(compute(good, X[:0])) == 0, name  # no rows, no outputs
np.seterr(all="ignore")
for name, case in cases.items():
    try:
        got = case()
    except (ValueError, IndexError) as error:
        assert str(error), name
    else:
        print(name, "gave", got)
"""


def test_wrong_shapes_are_errors_without_jaxtyping() -> None:
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CASES], capture_output=True, text=True, env={**os.environ}, check=False
    )
    assert (found.returncode, found.stdout) == (0, ""), found.stdout + found.stderr
