import pickle

import pytest

from abnet.utils.errors import MissingDataError, NamesParameters, Parameter, ParameterError


@pytest.mark.parametrize("kind", [ParameterError, MissingDataError])
def test_parameters_are_spelled_by_whoever_shows_them(kind: type[NamesParameters]) -> None:
    error = kind("{} needs {}; got {!r}.", Parameter("posterior", "frozen"), Parameter("prior"), "{prior}")
    assert str(error) == "posterior='frozen' needs prior; got '{prior}'."
    assert error.worded(lambda parameter: parameter.name.upper()) == "POSTERIOR needs PRIOR; got '{prior}'."


@pytest.mark.parametrize("kind", [ParameterError, MissingDataError])
def test_errors_cross_processes(kind: type[NamesParameters]) -> None:
    error = kind("{} and {} and {} and {}", Parameter("a"), 1, "b", Parameter("c", 2))
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again)) == (kind, str(error))
    assert again.worded(lambda parameter: "x") == "x and 1 and b and x"


def test_they_are_the_errors_that_callers_expect() -> None:
    assert issubclass(ParameterError, ValueError)
    assert issubclass(MissingDataError, FileNotFoundError)
    assert MissingDataError("{} files are missing", 2).strerror is None
