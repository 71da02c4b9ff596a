"""ROC and precision-recall curves against scikit-learn, and their place on the page."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score, roc_curve

from abnet.report.page import report_page
from abnet.report.roc_curves import measure_ranking
from report import pages


@pytest.mark.parametrize("decimals", [1, 6], ids=["many ties", "no ties"])
@pytest.mark.parametrize("seed", range(5))
def test_areas_and_curves_are_those_of_scikit_learn(seed: int, decimals: int) -> None:
    generator = np.random.default_rng(seed)
    truth = generator.random(150) < 0.3
    scores = (generator.normal(size=150) + truth).round(decimals)
    made = measure_ranking(scores, truth, scores > 0.5)
    assert made is not None
    assert made.area == pytest.approx(roc_auc_score(truth, scores), abs=1e-12)
    assert made.average_precision == pytest.approx(average_precision_score(truth, scores), abs=1e-12)
    false_alarms, recall, _ = roc_curve(truth, scores, drop_intermediate=False)
    assert np.allclose(made.recall, recall[1:])
    assert np.allclose(made.false_alarms, false_alarms[1:])
    precision, _, _ = precision_recall_curve(truth, scores)
    assert np.allclose(made.precision[::-1], precision[:-1][: len(made.precision)])
    flagged = scores > 0.5
    assert made.chosen[0] == (truth & flagged).sum() / truth.sum()
    assert made.chosen[1] == (~truth & flagged).sum() / (~truth).sum()


def test_rows_of_one_class_have_no_curve() -> None:
    assert measure_ranking(np.array([0.1, 0.2]), np.array([True, True]), np.array([True, True])) is None


def test_curves_stand_on_the_page_of_two_classes_only() -> None:
    two = pages.hostile()
    assert 'id="roc' in report_page(two, pages.given(two), form=False)
    several = pages.hostile("classes")
    assert 'id="roc' not in report_page(several, pages.given(several), form=False)
    assert 'id="roc' not in report_page(two, form=False)
