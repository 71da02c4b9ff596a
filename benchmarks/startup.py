"""What a user waits for in a fresh process."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import Row, at_most, best_times, stated

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
from sklearn.datasets import load_breast_cancer
from abnet import ABNetClassifier
X, y = load_breast_cancer(return_X_y=True)
ABNetClassifier(SIZES, random_state=0).fit(X, y)
"""
ONE, DEFAULT = (WITHOUT + FIT.replace("SIZES", sizes) for sizes in ("(4, 4)", "'auto'"))


def _python(program: str, **environment: str) -> None:
    subprocess.run([sys.executable, "-c", program], check=True, env={**os.environ, **environment})


def help_text() -> list[Row]:
    command = [str(Path(sys.executable).parent / "abnet"), "--help"]
    mine, theirs = best_times(
        lambda: subprocess.run(command, check=True, capture_output=True), lambda: _python("import numpy"), repeat=10
    )
    detail = f"{mine * 1e3:.0f} / {theirs * 1e3:.0f} ms"
    return [at_most("abnet --help / import numpy", mine / theirs, 3, detail)]


def first_fit() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        numbered = iter(range(1000))
        warm_cache = str(Path(folder) / "warm")
        _python(DEFAULT, ABNET_CACHE=warm_cache)
        jax, both, cold, warm, default = best_times(
            lambda: _python("import jax"),
            lambda: _python(WITHOUT + "import jax, sklearn.base"),
            lambda: _python(ONE, ABNET_CACHE=str(Path(folder) / str(next(numbered)))),
            lambda: _python(ONE, ABNET_CACHE=warm_cache),
            lambda: _python(DEFAULT, ABNET_CACHE=warm_cache),
            repeat=3,
        )
    return [
        stated("import jax and scikit-learn / import jax", both / jax, f"{both:.2f} / {jax:.2f} s, part of every fit"),
        at_most("fit of breast cancer / import jax, cold cache", cold / jax, 6, f"{cold:.2f} / {jax:.2f} s"),
        at_most("fit of breast cancer / import jax, warm cache", warm / jax, 3, f"{warm:.2f} / {jax:.2f} s, one 4-4"),
        stated(
            "default fit of it / import jax, warm cache", default / jax, f"{default:.2f} s, three teachers included"
        ),
    ]


def rows() -> list[Row]:
    return [*help_text(), *first_fit()]
