"""Several devices train the same networks as one, within rounding."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

PROGRAM = """
import json, sys
import jax, numpy as np
from abnet import ABNetClassifier
from abnet.training import runner as stage

def train(sizes, aggregation):
    clf = ABNetClassifier(sizes, aggregation=aggregation, max_iter=4, posterior="frozen", random_state=0).fit(X, y)
    return {"weights": clf.network_.weights[0].tolist(), "curve": clf.loss_curve_}

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 5)).astype(np.float32)
y = (X[:, 0] + 0.3 * rng.normal(size=300) > 0).astype(int)
networks = json.loads(sys.argv[1])
several = [train(*network) for network in networks]
stage.batch_mesh = lambda batch_size: None
one = [train(*network) for network in networks]
print(json.dumps({"devices": jax.device_count(), "several": several, "one": one}))
"""


def check_four_devices(*networks: tuple[tuple[int, ...], str]) -> None:
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=4"}
    command = [sys.executable, "-c", PROGRAM, json.dumps(networks)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["devices"] == 4
    for several, one in zip(result["several"], result["one"], strict=True):
        np.testing.assert_allclose(several["curve"], one["curve"], atol=1e-4)
        np.testing.assert_allclose(several["weights"], one["weights"], atol=1e-3)


def test_four_devices_train_the_same_network_as_one() -> None:
    """One whose rows are summed; tests/long has one whose paths are drawn."""
    check_four_devices(((3, 3), "exact"))


def test_a_batch_that_does_not_divide_stays_on_one_device(monkeypatch: pytest.MonkeyPatch) -> None:
    import jax

    from abnet.training.runner import batch_mesh

    assert batch_mesh(32) is None  # the test process has one device
    monkeypatch.setattr(jax, "devices", lambda: [jax.local_devices()[0]] * 3)
    assert batch_mesh(32) is None
