"""mnistLH with wide networks: test error and valid certificates over three splits, memory at 1,000 units a layer."""

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import train_test_split

import abnet
from promised import promised

pytestmark = pytest.mark.skipif("ABNET_DATA" not in os.environ, reason="set ABNET_DATA to the folder of the data files")

SETTINGS: dict[tuple[int, ...], dict[str, Any]] = {
    (100,): {"prior_fraction": 0.8, "validation_fraction": 0.05},
    (100, 100): {"prior_fraction": 0.7, "validation_fraction": 0.05},
}


@pytest.mark.parametrize(
    ("hidden", "error", "certificate"), [((100,), 0.020, 0.026), ((100, 100), 0.026, 0.033)], ids=["100", "100-100"]
)
def test_error_and_gibbs_certificate(hidden: tuple[int, ...], error: float, certificate: float) -> None:
    data = abnet.paper.load("mnistLH")
    errors = []
    promises = []
    for seed in range(3):
        X, X_test, y, y_test = train_test_split(data.X, data.y, test_size=0.25, random_state=seed)
        clf = abnet.ABNetClassifier(
            hidden, aggregation="auto", posterior="frozen", random_state=seed, **SETTINGS[hidden]
        ).fit(X, y)
        assert clf.aggregation_ == "ancestral"
        promised(clf).check()
        errors.append(1 - clf.score(X_test, y_test))
        promises.append(promised(clf).gibbs_risk_bound)
        print(f"{hidden} split {seed}: test error {errors[-1]:.4f}, Gibbs {promises[-1]:.5f}, {clf.certificate_}")
        assert errors[-1] <= promised(clf).vote_error_bound
    assert np.mean(errors) <= error
    assert np.mean(promises) <= certificate


PROGRAM = """
from pathlib import Path
import abnet
data = abnet.paper.load("mnistLH")
clf = abnet.ABNetClassifier((1000, 1000), aggregation="ancestral", max_iter=2, random_state=0)
clf.fit(data.X[:52_500], data.y[:52_500])
assert clf.certificate_ is not None
print(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])  # getrusage starts from the parent's peak
"""


def test_a_thousand_units_a_layer_fit_in_four_gigabytes() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    gigabytes = int(done.stdout) * 1024 / 1e9
    print(f"peak memory {gigabytes:.2f} GB")
    assert gigabytes < 4
