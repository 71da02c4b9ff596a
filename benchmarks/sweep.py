"""Cost per setting of the grouped sweep against training one by one: 784-4-4-4-1, four learning rates, four models.

One by one: a program for each setting, one after the other, in a process that may use all cores. The sweep: settings
of a family side by side in one program, a single-threaded process for each core. Each is the best time of an epoch, the
look at the monitored rows included; one group runs beside the other as it does in a sweep.
"""

import json
import os
import subprocess
import sys
from typing import Any

from measure import Row, at_least, best_times

FAMILIES = (("PBGNet", "ABNet"), ("PBGNet_l", "ABNet_l"))
RATES = (0.1, 0.01, 0.001, 0.0001)
ROWS = 52_500
VALIDATION = 10_500


def epoch_seconds(models: tuple[str, ...], rates: tuple[float, ...], *, repeat: int) -> float:
    """Best time of an epoch of these settings in one program, in this process."""
    import jax
    import numpy as np

    from abnet.paper.protocol import protocol_of
    from abnet.paper.runs.model_runs import model_runs
    from abnet.paper.runs.run_setting import Setting
    from abnet.training.compilation import compiled_epoch
    from abnet.training.loop import Limits, Span
    from abnet.training.stages import lifted_rows
    from learning import images

    members = []
    held = 0
    if models[0].endswith("_l"):
        held = VALIDATION
    for model in models:
        settings = [Setting("mnistLH", model, (4, 4, 4), rate, 0) for rate in rates]
        members.append(model_runs(settings, protocol_of(settings[0]), 784, ROWS - held))
    X, y = images(ROWS)
    rows = lifted_rows(X, y, None)
    size = members[0].protocol.batch_size
    order = np.zeros(len(rows.targets) + size, np.int32)
    order[: ROWS - held] = held + np.random.default_rng(0).permutation(ROWS - held)
    fixed = (rows, order, np.int32(ROWS - held), Span(np.int32(0), np.int32(held or ROWS)))
    limits = Limits(*map(np.asarray, Limits()))
    learners = tuple(m.learner for m in members)
    epoch = compiled_epoch(learners)

    def one(runs: Any) -> Any:
        return jax.block_until_ready(epoch(learners, runs, *fixed, limits, batch_size=size))

    looked = one(tuple(m.runs() for m in members))
    (seconds,) = best_times(lambda: one(looked), repeat=repeat)
    return seconds


def main(arguments: list[str]) -> None:
    models, rates, repeat = (json.loads(argument) for argument in arguments)
    print(epoch_seconds(tuple(models), tuple(rates), repeat=repeat))


def rows() -> list[Row]:
    singles = [_started((model,), RATES[:1], threads=None) for family in FAMILIES for model in family]
    one_by_one = len(RATES) * sum(_seconds(process()) for process in singles)
    alone = sum(_seconds(_started(family, RATES, threads=None)()) for family in FAMILIES)
    together = [_seconds(p) for p in [_started(family, RATES, threads=1)() for family in FAMILIES]]
    if (os.cpu_count() or 1) > 1:
        grouped = max(together)
    else:
        grouped = sum(together)
    detail = (
        f"{one_by_one / 16 * 1e3:.0f} / {grouped / 16 * 1e3:.0f} ms for an epoch of a setting; side by side in one "
        f"process with all threads alone {one_by_one / alone:.2g} times"
    )
    return [at_least("one by one / grouped sweep, cost per setting of 784-4-4-4-1", one_by_one / grouped, 3, detail)]


def _started(models: tuple[str, ...], rates: tuple[float, ...], *, threads: int | None) -> Any:
    """A function that starts a process of its own for one program; its threads are settled before JAX starts."""
    environment = os.environ | ({} if threads is None else {"PJRT_NPROC": str(threads)})
    command = [sys.executable, __file__, json.dumps(models), json.dumps(rates), "12"]
    return lambda: subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def _seconds(process: "subprocess.Popen[str]") -> float:
    text, _ = process.communicate()
    if process.returncode:
        raise RuntimeError(f"the benchmark's process ended with exit code {process.returncode}")
    return float(text)


if __name__ == "__main__":
    main(sys.argv[1:])
