"""Teachers: stronger classifiers that the networks are distilled from.

Teachers see the training rows (the first part) only. A prior may be learned from that part in any way, so distillation
does not change what a certificate means.
"""

from typing import Any

__all__ = ["TEACHERS", "teachers_named"]

TEACHERS = ("forest", "linear", "kernel", "metric-kernel", "laplace-kernel", "boosting")
"""Teachers known by name. "kernel" is Gaussian; "metric-kernel", Gaussian too, and "laplace-kernel" have a learned
metric. "all" pools their predictions (`abnet.training.teacher_pool`)."""
WITH_METRIC = ("metric-kernel", "laplace-kernel")
"""Teachers that "all" uses only with several classes and at least `ROWS_PER_FEATURE`."""
ROWS_PER_FEATURE = 10
"""With fewer rows, leave-one-out predictions with a learned metric are too optimistic, and get too much weight."""
TREES = 150
"""Trees of the forest."""
MOST_ROWS_PER_TREE = 25_000
"""Maximum number of rows that each tree of the forest is grown on: 150 trees of 160,000 rows fill a gigabyte."""
ROUNDS = 50
"""Rounds of boosting with two classes."""
LEARNING_RATE = 0.2
"""Learning rate of boosting with two classes."""
ROUNDS_OF_SEVERAL = 30
"""Rounds of boosting with several classes, where a round grows a tree for each class."""
LEARNING_RATE_OF_SEVERAL = 0.3
"""Learning rate of boosting with several classes."""


def teachers_named(teacher: Any, seed: int, shape: tuple[int, int] = (0, 1), n_classes: int = 2) -> dict[str, Any]:
    """Unfitted classifiers by name.

    Parameters
    ----------
    teacher : str or classifier
        "all", a name in `TEACHERS`, or the user's own classifier, which is cloned.
    seed : int
    shape : tuple of int
        Numbers of rows and features.
    n_classes : int

    Examples
    --------
    >>> list(teachers_named("all", 0)), list(teachers_named("linear", 0))
    (['forest', 'linear', 'kernel', 'boosting'], ['linear'])
    >>> list(teachers_named("all", 0, (300, 30), n_classes=3))
    ['forest', 'linear', 'kernel', 'metric-kernel', 'laplace-kernel', 'boosting']
    """
    if isinstance(teacher, type):
        raise TypeError(f"teacher must be a classifier, such as {teacher.__name__}(); got the class itself.")
    if not isinstance(teacher, str):
        from sklearn.base import clone

        return {type(teacher).__name__: clone(teacher)}
    n_rows, n_features = shape
    if teacher != "all":
        return {teacher: _built_in(teacher, seed, n_rows, n_classes)}
    names = list(TEACHERS)
    if n_classes == 2 or n_rows < ROWS_PER_FEATURE * n_features:
        names = [name for name in TEACHERS if name not in WITH_METRIC]
    return {name: _built_in(name, seed, n_rows, n_classes) for name in names}


def _built_in(name: str, seed: int, n_rows: int, n_classes: int) -> Any:
    """The unfitted teacher of this name."""
    if name == "forest":
        return _forest(seed, n_rows)
    if name == "boosting":
        return _boosting(seed, n_classes)
    if name == "linear":
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(max_iter=1000)
    from abnet.training.kernel_teacher import KernelTeacher

    return KernelTeacher(random_state=seed, metric=name in WITH_METRIC, laplace=name == "laplace-kernel")


def _forest(seed: int, n_rows: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    share_per_tree = None
    if n_rows > MOST_ROWS_PER_TREE:
        share_per_tree = MOST_ROWS_PER_TREE / n_rows
    return RandomForestClassifier(TREES, oob_score=True, n_jobs=-1, random_state=seed, max_samples=share_per_tree)


def _boosting(seed: int, n_classes: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    if n_classes == 2:
        return HistGradientBoostingClassifier(max_iter=ROUNDS, learning_rate=LEARNING_RATE, random_state=seed)
    return HistGradientBoostingClassifier(
        max_iter=ROUNDS_OF_SEVERAL, learning_rate=LEARNING_RATE_OF_SEVERAL, random_state=seed
    )
