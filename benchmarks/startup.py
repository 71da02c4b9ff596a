"""What a user waits for in a fresh process."""

import os
import pty
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from measure import Row, at_most, best_times, stated

COMMAND = str(Path(sys.executable).parent / "abnet")
REPEAT = 5

WITHOUT = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pandas", "pyarrow"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
"""
"""As if neither were installed: `import pandas` fails, and scikit-learn goes on without it."""
FIT = """
import warnings
warnings.simplefilter("ignore")
import numpy as np
from abnet import ABNetClassifier, CertifiedClassifier
data = np.load("FILE")
CLASSIFIER.fit(data["X"], data["y"])
"""
AFTER = """
import warnings
warnings.simplefilter("ignore")
from sklearn.datasets import load_breast_cancer
from abnet import ABNetClassifier
X, y = load_breast_cancer(return_X_y=True)
ABNetClassifier((4, 4), random_state=0).fit(X, y)
"""
"""The same by who has imported much of scikit-learn before."""


def _python(program: str, **environment: str) -> None:
    # With byte code on disk, as it is after an installation; some machines are told to write none.
    given = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run([sys.executable, "-c", program], check=True, env={**given, **environment})


def _programs(folder: Path) -> list[str]:
    """Fits of breast cancer from an array file: one 4-4 network, and what a fit makes by default."""
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    file = folder / "breast_cancer.npz"
    np.savez(file, X=X, y=y)
    fit = WITHOUT + FIT.replace("FILE", file.as_posix())
    return [
        fit.replace("CLASSIFIER", f"{given}random_state=0)")
        for given in ("ABNetClassifier((4, 4), ", "CertifiedClassifier(")
    ]


def help_text() -> list[Row]:
    command = [COMMAND, "--help"]
    mine, theirs = best_times(
        lambda: subprocess.run(command, check=True, capture_output=True), lambda: _python("import numpy"), repeat=10
    )
    detail = f"{mine * 1e3:.0f} / {theirs * 1e3:.0f} ms"
    return [at_most("abnet --help / import numpy", mine / theirs, 3, detail)]


def first_fit() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        numbered = iter(range(1000))
        warm_cache = str(Path(folder) / "warm")
        one, auto = _programs(Path(folder))
        for program in (one, auto):
            _python(program, ABNET_CACHE=warm_cache)
        jax, both, cold, warm, late, default, first = best_times(
            lambda: _python("import jax"),
            lambda: _python(WITHOUT + "import jax, sklearn.base"),
            lambda: _python(one, ABNET_CACHE=str(Path(folder) / str(next(numbered)))),
            lambda: _python(one, ABNET_CACHE=warm_cache),
            lambda: _python(WITHOUT + AFTER, ABNET_CACHE=warm_cache),
            lambda: _python(auto, ABNET_CACHE=warm_cache),
            lambda: _python(auto, ABNET_CACHE=str(Path(folder) / str(next(numbered)))),
            repeat=REPEAT,
        )
    return [
        stated("import jax, sklearn.base / import jax", both / jax, f"{both:.2f} / {jax:.2f} s, with scipy.stats"),
        at_most("fit of breast cancer / import jax, cold cache", cold / jax, 8, f"{cold:.2f} / {jax:.2f} s"),
        at_most("fit of breast cancer / import jax, warm cache", warm / jax, 5, f"{warm:.2f} / {jax:.2f} s, one 4-4"),
        stated("the same after importing sklearn.datasets / import jax", late / jax, f"{late:.2f} / {jax:.2f} s"),
        stated(
            "default fit of it / import jax, warm cache", default / jax, f"{default:.2f} s, three teachers included"
        ),
        stated("the same, cold cache / warm cache", first / default, f"{first:.2f} s: the first fit on a machine"),
    ]


def first_output() -> list[Row]:
    """Seconds until `abnet fit` shows something on a terminal: a table of 569 rows, compiled programs at hand."""
    from sklearn.datasets import load_breast_cancer

    with tempfile.TemporaryDirectory() as folder:
        load_breast_cancer(as_frame=True).frame.to_csv(Path(folder) / "table.csv", index=False)
        seconds = min(_until_output("fit", "table.csv", "--target", "target", folder=folder) for _ in range(REPEAT))
    return [at_most("abnet fit: first output, s", seconds, 2, "on a terminal")]


def _until_output(*arguments: str, folder: str) -> float:
    """Seconds until the command writes its first byte to a terminal; it is then stopped."""
    ours, theirs = pty.openpty()
    begin = time.perf_counter()
    with subprocess.Popen([COMMAND, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder) as process:
        os.close(theirs)
        os.read(ours, 1)
        seconds = time.perf_counter() - begin
        process.kill()
    os.close(ours)
    return seconds


def rows() -> list[Row]:
    return [*help_text(), *first_output(), *first_fit()]
