"""Errors that name parameters in Python name options on the command line."""

import inspect

import pytest

from abnet.cli import options
from abnet.cli.compare import compare
from abnet.cli.demo import demo
from abnet.cli.fit import fit
from abnet.cli.options import spelled
from abnet.utils.errors import Parameter
from cli.tables import Failure, Run

FIT = set(inspect.signature(fit).parameters)


@pytest.mark.parametrize("name", options.PARAMETERS)
def test_every_parameter_is_an_option(name: str) -> None:
    option = "--" + name.replace("_", "-")
    assert spelled(Parameter(name), FIT) == option
    assert spelled(Parameter(name, "a b"), FIT) == f"{option} a b"


def test_a_command_without_the_option_names_the_one_that_has_it() -> None:
    for command in (compare, demo):
        own = set(inspect.signature(command).parameters)
        assert spelled(Parameter("codes", "none"), own) == "abnet fit --codes none"
        assert spelled(Parameter("delta"), own) == "--delta"
    assert spelled(Parameter("download", True), set()) == "abnet data --download"


def test_a_parameter_that_is_no_option_keeps_its_name() -> None:
    assert spelled(Parameter("preprocessor", "standardise"), FIT) == "preprocessor='standardise'"


def test_what_the_user_wrote_is_left_alone(failure: Failure) -> None:
    """Names of options and braces among the user's own words are neither rewritten nor filled in."""
    message = failure("fit", "no.csv", "--target", "y", "--codes", "delta {} {delta} prior='split'", code=2)
    assert message.endswith("""got "delta {} {delta} prior='split'".""")


def test_the_demo_speaks_of_options(failure: Failure) -> None:
    message = failure("demo", "--delta", "2", code=2)
    assert "--delta" in message


HELP = {
    "fit": ["held out", "'auto'", "--help-all"],
    "inspect": ["--details"],
    "": ["ABNET_CACHE", "141"],
}


@pytest.mark.parametrize(("command", "words"), HELP.items(), ids=HELP.keys())
def test_help_is_in_plain_words(run: Run, command: str, words: list[str]) -> None:
    text = " ".join(run(*command.split(), "--help").stdout.replace("│", " ").split())
    for word in words:
        assert word in text
    for quaint in ("hold-out", "truths", "Most epochs", "for lack of", "as 8,8"):
        assert quaint not in text
