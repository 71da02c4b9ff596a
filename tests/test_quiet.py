"""Nothing but our own messages reaches the terminal."""

import os
import subprocess
import sys
import warnings

import jax
import numpy as np
import pytest

from abnet import CertifiedClassifier
from abnet.networks import Ancestral
from abnet.networks.bam import BAM
from abnet.networks.codebook import MANY_CLASSES
from abnet.networks.posterior import Posterior
from abnet.training.objective import Objective
from abnet.training.posterior_learner import PosteriorLearner, start

FIT = """
import os
import numpy as np
from abnet import ABNetClassifier
X = np.random.default_rng(0).normal(size=(80, 2))
ABNetClassifier((2,), max_iter=2, random_state=0).fit(X, X[:, 0] > 0)
print(os.environ["TF_CPP_MIN_LOG_LEVEL"])
"""
IMPORT = """
import os
import abnet
print(os.environ["TF_CPP_MIN_LOG_LEVEL"])
"""


@pytest.mark.parametrize(("program", "given", "level"), [(FIT, {}, "3"), (IMPORT, {"TF_CPP_MIN_LOG_LEVEL": "2"}, "2")])
def test_a_fit_writes_nothing_of_xla_and_a_level_of_the_user_stays(
    program: str, given: dict[str, str], level: str
) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "TF_CPP_MIN_LOG_LEVEL"}
    environment |= {"PYTHONWARNINGS": "ignore"} | given
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert (done.stdout.strip(), done.stderr) == (level, "")


@pytest.mark.parametrize("gap", [False, True])
@pytest.mark.parametrize("widths", [(2,), "auto"])
def test_numbers_that_are_too_large_give_no_warnings_of_numpy(
    gap: bool, widths: tuple[int, ...] | str, rng: np.random.Generator
) -> None:
    X = rng.normal(size=(60, 2))
    y = X[:, 1] > 0
    X[:9, 0] = 1e308
    X[9, 1] = np.nan if gap else 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with pytest.raises(ValueError, match=r"column 0 holds 1e\+308|too large for"):
            CertifiedClassifier(widths, max_iter=1, random_state=0).fit(X, y)


def test_the_table_of_many_classes_is_not_compiled_in(rng: np.random.Generator) -> None:
    """XLA would look for the class of each of its 2^c rows while it compiles: minutes for a thousand classes."""
    K = MANY_CLASSES + 1
    c = 8
    learner = PosteriorLearner((3, 2, c), Ancestral(1), 1, K)
    nets = [BAM.init(rng, learner.sizes)]
    state = start(Posterior.from_networks(nets, nets, Ancestral(1)), Objective.LOG, 4, 0.05)
    rows = (np.zeros((4, 4), np.float32), np.zeros((4, K), np.float32), np.ones(4, np.float32))
    program = jax.jit(learner.step).lower(state, *rows, np.float32(0.1), jax.random.key(0)).as_text()
    assert f"tensor<{2**c}xi32>" in program  # the class of each output
    assert f"tensor<{2**c}x{K}xf32>" not in program
