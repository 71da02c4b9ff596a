"""One page about a model: `write_report`."""

from typing import TYPE_CHECKING

from abnet.utils.lazy import lazy_names

if TYPE_CHECKING:
    from abnet.report.page import write_report

__all__ = ["write_report"]

__getattr__, __dir__ = lazy_names(__name__, {"abnet.report.page": ["write_report"]})
