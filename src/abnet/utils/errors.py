"""Errors and warnings that record which parameters they mention, so that the command line can name its options instead.

A message is a template with ``{}`` for every part. ``str()`` writes a `Parameter` as in Python, and
`NamesParameters.worded` in any other way.
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
    """A parameter in a message, alone or with a value.

    Examples
    --------
    >>> str(Parameter("delta")), str(Parameter("prior", "split")), str(Parameter("download", True))
    ('delta', "prior='split'", 'download=True')
    """

    name: str
    value: Any = None

    def __str__(self) -> str:
        if self.value is None:
            return self.name
        return f"{self.name}={self.value!r}"


class NamesParameters(Exception):  # noqa: N818 never raised itself, but a base class of errors and warnings
    """An error or a warning whose message names parameters.

    Parameters
    ----------
    template : str
        The message, with ``{}`` for every part. User input must be a part, because it may contain braces.
    *parts
        Parameters, and other values to show.
    """

    def __init__(self, template: str, *parts: Any) -> None:
        self.template = template
        self.parts = parts
        super().__init__(template.format(*parts))

    def worded(self, spell: Callable[[Parameter], str]) -> str:
        """The message, with a function that writes each parameter.

        Examples
        --------
        >>> error = ParameterError("{} must be positive; got {!r}.", Parameter("max_iter"), 0)
        >>> str(error), error.worded(lambda parameter: "--max-iter")
        ('max_iter must be positive; got 0.', '--max-iter must be positive; got 0.')
        """
        parts = []
        for part in self.parts:
            if isinstance(part, Parameter):
                parts.append(spell(part))
            else:
                parts.append(part)
        return self.template.format(*parts)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.template, *self.parts)


class ParameterError(NamesParameters, ValueError):
    """A parameter is invalid, alone or in combination with others."""


class ParameterWarning(NamesParameters, UserWarning):
    """A warning that recommends a parameter."""


class RepeatedRowsError(NamesParameters, ValueError):
    """The rows were already counted."""


class TrainingRowsError(NamesParameters, ValueError):
    """The rows for a certificate are rows that the model was fitted on."""


class MissingDataError(NamesParameters, FileNotFoundError):
    """Files of a data set were not found; the message says how to set their folder or download them."""
