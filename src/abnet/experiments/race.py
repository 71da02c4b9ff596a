"""Fewer runs for the wide half: short trials on the first repetition choose the settings that train in full.

For each data set and model, every setting trains for a few epochs; the best sixth of them, at least three, go on to
all repetitions. A trial is the beginning of the run it stands for: the same split, start and minibatches.
"""

from collections.abc import Iterable
from dataclasses import replace

from abnet.experiments.result import Result
from abnet.experiments.setting import Setting

__all__ = ["finalists", "trials"]

_TRIAL_EPOCHS = {"ads": 20, "adult": 3, "mnistLH": 3}
_OTHERS = 5
_SHARE, _FEWEST = 6, 3


def trials(settings: Iterable[Setting]) -> list[Setting]:
    """Return the trials that stand for the wide ones of the settings; narrow ones have none.

    Their length is about 1,500 minibatches: 20 epochs for ads, 3 for adult and mnistLH, 5 for the others.

    Examples
    --------
    >>> trials([Setting("ads", "BC", (10,), 0.1, 2), Setting("ads", "BC", (8,), 0.1, 2)])
    [Setting(dataset='ads', model='BC', hidden_layer_sizes=(10,), learning_rate=0.1, repetition=0, trial_epochs=20)]
    """
    return list(dict.fromkeys(_trial(s) for s in settings if s.architecture == "wide"))


def finalists(settings: Iterable[Setting], results: Iterable[Result]) -> list[Setting]:
    """Return the settings to train in full: all narrow ones, and the wide ones whose trials are among the best.

    Trials are ranked by the bound for PBGNet and ABNet, by the validation loss for their versions without it, by the
    validation error for the others.

    Raises
    ------
    ValueError
        If a trial is missing from the results.
    """
    settings, values = list(settings), {result.setting: _value(result) for result in results}
    wanted = trials(settings)
    missing = sum(trial not in values for trial in wanted)
    if missing:
        raise ValueError(f"{missing} of {len(wanted)} trials have not been run; without them there is no choice")
    cells: dict[tuple[str, str], list[Setting]] = {}
    for trial in wanted:
        cells.setdefault((trial.dataset, trial.model), []).append(trial)
    best = {trial for cell in cells.values() for trial in sorted(cell, key=values.__getitem__)[: _places(len(cell))]}
    return [s for s in settings if s.architecture == "narrow" or _trial(s) in best]


def _trial(setting: Setting) -> Setting:
    return replace(setting, repetition=0, trial_epochs=_TRIAL_EPOCHS.get(setting.dataset, _OTHERS))


def _value(result: Result) -> float:
    """What a trial is ranked by: that which training watched, where it is finer than an error rate."""
    loss = result.validation_loss
    return result.score if loss is None or result.setting.model in ("PBGNet", "ABNet") else loss


def _places(n: int) -> int:
    return max(n // _SHARE, _FEWEST)
