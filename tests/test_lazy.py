"""A module that another library imports without need is loaded when it is used, and not before."""

import subprocess
import sys

PROGRAM = """
import sys
from abnet import ABNetClassifier
assert "scipy.stats" not in sys.modules, "loaded for nothing"
assert "sklearn.base" in sys.modules
import numpy as np
import sklearn.utils.fixes
assert sklearn.utils.fixes._mode(np.array([1, 2, 2])).mode == 2
import scipy.stats
from sklearn.preprocessing import PowerTransformer
assert scipy.stats is sys.modules["scipy.stats"] and scipy.stats.__spec__ is not None
assert scipy.stats.norm.cdf(0) == 0.5
"""


def test_the_estimators_are_imported_without_the_statistics_of_scipy() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)


def test_a_stand_in_gives_what_the_module_gives_even_while_it_stands_in() -> None:
    from abnet.lazy import put_off

    sys.modules.pop("json.tool", None)
    with put_off("json.tool"):
        stand_in = sys.modules["json.tool"]
        assert stand_in.main.__module__ == "json.tool"
        assert sys.modules["json.tool"] is not stand_in
    assert sys.modules["json.tool"].main is stand_in.main
    with put_off("json.tool"):
        assert sys.modules["json.tool"].main is stand_in.main
