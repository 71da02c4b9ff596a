"""The goals, one file each: what a decision has to achieve, and how it is searched for, certified and asked for.

A new goal is a new file in this folder: a subclass of `Goal` with `goal`.
"""

import sys

from abnet.certificates.goals.costs import Costs
from abnet.certificates.goals.error import TargetError
from abnet.certificates.goals.goal import GOALS, Goal, GoalOption, goals_by_rank
from abnet.certificates.goals.precision import TargetPrecision
from abnet.certificates.goals.recall import TargetRecall
from abnet.certificates.goals.specificity import TargetSpecificity
from abnet.utils.lazy import import_folder

__all__ = [
    "GOALS",
    "Costs",
    "Goal",
    "GoalOption",
    "TargetError",
    "TargetPrecision",
    "TargetRecall",
    "TargetSpecificity",
    "goals_by_rank",
]

# Every goal in this folder is a name of this package.
import_folder(sys.modules[__name__])
for _kind in GOALS.values():
    if _kind.__name__ not in __all__:
        setattr(sys.modules[__name__], _kind.__name__, _kind)
        __all__.append(_kind.__name__)
