import inspect
import warnings

import numpy as np
import pytest

from abnet.cli import options
from abnet.cli.compare import compare
from abnet.cli.demo import demo
from abnet.cli.fit import fit
from abnet.cli.in_cli_terms import spoken
from abnet.estimators.copies import warn_of_copies
from cli.tables import Failure

FIT = set(inspect.signature(fit).parameters)


@pytest.mark.parametrize("name", options.PARAMETERS)
def test_every_parameter_is_an_option(name: str) -> None:
    option = "--" + name.replace("_", "-")
    assert spoken(f"{name} must be positive; got 0.", FIT) == f"{option} must be positive; got 0."
    assert spoken(f"use {name}='a b'.", FIT) == f"use {option} a b."


@pytest.mark.parametrize(
    "text",
    [
        "column 'max_iter' has no value",
        "data/max_iter.csv does not exist; check the path.",
        "there is no folder /home/data_dir/x",
        "the prior must not see these rows",
        "my_delta must be",
        "max_iter_x and x_max_iter are left alone",
        "column 'prior=0' holds lists",
    ],
)
def test_words_of_the_user_are_left_alone(text: str) -> None:
    assert spoken(text, FIT) == text


def test_a_command_without_the_option_names_the_one_that_has_it() -> None:
    for command in (compare, demo):
        own = set(inspect.signature(command).parameters)
        assert spoken("use aggregation='ancestral'", own) == "use abnet fit --aggregation ancestral"
        assert spoken("delta must be", own) == "--delta must be"
    assert spoken("with download=True.", set()) == "with abnet data --download."


def test_no_option_is_promised_that_does_not_exist() -> None:
    X = np.repeat(np.random.default_rng(0).normal(size=(60, 3)), 2, axis=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_copies(X, np.ones(120), np.array(["a", "b"]))
    assert "sample_weight" in str(caught[0].message)
    assert spoken(str(caught[0].message), FIT).endswith("fit on the original rows.")


def test_the_demo_speaks_of_options(failure: Failure) -> None:
    message = failure("demo", "--hidden-layer-sizes", "40", code=2)
    assert "abnet fit --aggregation ancestral" in message
