"""Several devices train the same network as one, within rounding."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

PROGRAM = """
import json
import jax, numpy as np
from abnet import ABNetClassifier
from abnet.training import stage

def train():
    clf = ABNetClassifier((24, 16), aggregation="ancestral", max_iter=4, posterior="frozen", random_state=0).fit(X, y)
    return {"weights": clf.network_.weights[0].tolist(), "curve": clf.loss_curve_}

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 5)).astype(np.float32)
y = (X[:, 0] + 0.3 * rng.normal(size=300) > 0).astype(int)
several = train()
stage.batch_mesh = lambda batch_size: None
print(json.dumps({"devices": jax.device_count(), "several": several, "one": train()}))
"""


def test_four_devices_train_the_same_network_as_one() -> None:
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=4"}
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["devices"] == 4
    np.testing.assert_allclose(result["several"]["curve"], result["one"]["curve"], atol=1e-4)
    np.testing.assert_allclose(result["several"]["weights"], result["one"]["weights"], atol=1e-3)


def test_a_batch_that_does_not_divide_stays_on_one_device(monkeypatch: pytest.MonkeyPatch) -> None:
    import jax

    from abnet.training.devices import batch_mesh

    assert batch_mesh(32) is None  # the test process has one device
    monkeypatch.setattr(jax, "devices", lambda: [jax.local_devices()[0]] * 3)
    assert batch_mesh(32) is None
