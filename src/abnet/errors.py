"""Errors and warnings that know which parameters they name, so that the command line can name its options instead.

A message is a template with ``{}`` for every part that is filled in. A `Parameter` among the parts is spelled as in
Python by ``str()``, and in any other way by `NamesParameters.worded`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = [
    "MissingDataError",
    "NamesParameters",
    "Parameter",
    "ParameterError",
    "ParameterWarning",
    "RepeatedRowsError",
    "TrainingRowsError",
]


@dataclass(frozen=True)
class Parameter:
    """A parameter in a message: alone, or with a value to give it.

    Examples
    --------
    >>> str(Parameter("delta")), str(Parameter("prior", "split")), str(Parameter("download", True))
    ('delta', "prior='split'", 'download=True')
    """

    name: str
    value: Any = None

    def __str__(self) -> str:
        return self.name if self.value is None else f"{self.name}={self.value!r}"


class NamesParameters(Exception):  # noqa: N818 no error by itself, but what some errors share
    """An error whose message names parameters.

    Parameters
    ----------
    template : str
        The message, with ``{}`` for every part; what a user wrote belongs in a part, since it may hold braces.
    *parts
        Parameters, and anything else that is to be shown.
    """

    def __init__(self, template: str, *parts: Any) -> None:
        self.template, self.parts = template, parts
        super().__init__(template.format(*parts))

    def worded(self, spell: Callable[[Parameter], str]) -> str:
        """The message with every parameter spelled by a function.

        Examples
        --------
        >>> error = ParameterError("{} must be positive; got {!r}.", Parameter("max_iter"), 0)
        >>> str(error), error.worded(lambda parameter: "--max-iter")
        ('max_iter must be positive; got 0.', '--max-iter must be positive; got 0.')
        """
        return self.template.format(*(spell(part) if isinstance(part, Parameter) else part for part in self.parts))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.template, *self.parts)


class ParameterError(NamesParameters, ValueError):
    """A parameter that makes no sense, alone or together with others."""


class ParameterWarning(NamesParameters, UserWarning):
    """A warning that advises a parameter."""


class RepeatedRowsError(NamesParameters, ValueError):
    """Rows that are to be counted were counted before."""


class TrainingRowsError(NamesParameters, ValueError):
    """Rows that are to certify a model are rows that it was fitted on."""


class MissingDataError(NamesParameters, FileNotFoundError):
    """Files of a data set are nowhere to be found; the message says how to name their folder or to fetch them."""
