"""Which teachers there are for which rows."""

import pytest
from sklearn.linear_model import LogisticRegression

from abnet.training.teachers import WITH_METRIC, teachers_named


def test_trees_of_many_rows_are_grown_on_a_part_of_them() -> None:
    """By a share, so that folds with fewer rows may have it too; few rows are left as they are."""
    few, many = (teachers_named("forest", 0, (n, 5))["forest"].max_samples for n in (25_000, 100_000))
    assert few is None
    assert many == 0.25


def test_a_class_is_no_teacher() -> None:
    with pytest.raises(TypeError, match=r"LogisticRegression\(\)"):
        teachers_named(LogisticRegression, 0)


def test_a_metric_is_learned_with_several_classes_and_enough_rows() -> None:
    def names(shape: tuple[int, int], n_classes: int) -> list[str]:
        return [name for name in teachers_named("all", 0, shape, n_classes) if name in WITH_METRIC]

    assert names((200, 20), 3) == list(WITH_METRIC)
    assert names((199, 20), 3) == names((200, 20), 2) == []
