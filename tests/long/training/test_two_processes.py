"""Two processes on one machine, joined by `jax.distributed`, train the same network as one process."""

import json
import os
import socket
import subprocess
import sys
from typing import Any

import numpy as np

PROGRAM = """
import json, sys
import jax
if len(sys.argv) > 1:
    jax.distributed.initialize(sys.argv[1], num_processes=2, process_id=int(sys.argv[2]))
import numpy as np
from abnet import ABNetClassifier

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 5)).astype(np.float32)
y = (X[:, 0] + 0.3 * rng.normal(size=300) > 0).astype(int)
clf = ABNetClassifier((24, 16), aggregation="ancestral", max_iter=6, random_state=0).fit(X, y)
print("result", json.dumps({
    "processes": jax.process_count(), "weights": clf.network_.weights[0].tolist(),
    "bound": clf.certificate_.gibbs_risk_bound,
}))
"""


def start(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", PROGRAM, *arguments]
    return subprocess.Popen(command, env=dict(os.environ), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str]) -> Any:
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    return json.loads(next(line for line in out.splitlines() if line.startswith("result")).removeprefix("result"))


def free_address() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


def test_two_processes_train_the_same_network_as_one() -> None:
    address = free_address()
    pair = [start(address, str(k)) for k in range(2)]
    first, second = (finish(process) for process in pair)
    alone = finish(start())
    assert (first["processes"], alone["processes"]) == (2, 1)
    assert first == second
    np.testing.assert_allclose(first["weights"], alone["weights"], atol=1e-3)
    np.testing.assert_allclose(first["bound"], alone["bound"], atol=1e-4)
