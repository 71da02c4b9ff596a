"""Binary activated neural networks with certified error rates on new data.

Names are loaded on first use: prediction with a saved model never imports JAX.
"""

import os
from typing import TYPE_CHECKING

from abnet.utils.lazy import lazy_names

# XLA logs to the terminal, bypassing sys.stderr. It reads this variable when JAX is first imported; a value set by
# the user is kept.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

if TYPE_CHECKING:
    from abnet import bounds, explanation, export, networks, paper
    from abnet.certificates.certificate import Certificate, load_certificate
    from abnet.certificates.certify_model import certify
    from abnet.certificates.compare_models import compare_errors
    from abnet.certificates.counterfactual import certify_counterfactual
    from abnet.certificates.goals import Costs, TargetError, TargetPrecision, TargetRecall, TargetSpecificity
    from abnet.certificates.monitor import Monitor
    from abnet.certificates.planning import plan
    from abnet.certificates.prediction_sets import prediction_sets
    from abnet.certificates.requests import Gaps
    from abnet.certificates.scores import certify_scores
    from abnet.certificates.set_rule import Sets
    from abnet.estimators.abnet import ABNetClassifier, PBGNetClassifier
    from abnet.estimators.certified import CertifiedClassifier
    from abnet.estimators.compare import compare
    from abnet.estimators.fit_table import fit_table
    from abnet.estimators.search import ABNetSearch
    from abnet.explanation.explain_table import explain_table
    from abnet.explanation.row_explanation import explain
    from abnet.export.export_model import export_model
    from abnet.model import Model, load
    from abnet.model.certify_copy import certify_copy
    from abnet.model.certify_table import certify_mix, certify_predictions, certify_table
    from abnet.model.check_inputs import check_inputs
    from abnet.model.monitor_table import monitor
    from abnet.model.predict_table import predict_table
    from abnet.model.summary import inspect_file
    from abnet.networks.bam import BAM
    from abnet.paper.demo import demo
    from abnet.paper.methods.classifiers import BinaryConnectClassifier, BNNClassifier, EBPClassifier
    from abnet.report.page import write_report
    from abnet.report.report_table import report_table
    from abnet.robustness.robust_table import robust_table

__version__ = "0.3.0"

__all__ = [
    "ABNetClassifier",
    "ABNetSearch",
    "BAM",
    "BNNClassifier",
    "BinaryConnectClassifier",
    "Certificate",
    "CertifiedClassifier",
    "Costs",
    "EBPClassifier",
    "Gaps",
    "Model",
    "Monitor",
    "PBGNetClassifier",
    "Sets",
    "TargetError",
    "TargetPrecision",
    "TargetRecall",
    "TargetSpecificity",
    "bounds",
    "certify",
    "certify_copy",
    "certify_counterfactual",
    "certify_mix",
    "certify_predictions",
    "certify_scores",
    "certify_table",
    "check_inputs",
    "compare",
    "compare_errors",
    "demo",
    "explain",
    "explain_table",
    "explanation",
    "export",
    "export_model",
    "fit_table",
    "inspect_file",
    "load",
    "load_certificate",
    "monitor",
    "networks",
    "paper",
    "plan",
    "predict_table",
    "prediction_sets",
    "report_table",
    "robust_table",
    "write_report",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "abnet.networks": [],
        "abnet.bounds": [],
        "abnet.explanation": [],
        "abnet.export": [],
        "abnet.paper": [],
        "abnet.networks.bam": ["BAM"],
        "abnet.certificates.certificate": ["Certificate", "load_certificate"],
        "abnet.certificates.goals": ["Costs", "TargetError", "TargetPrecision", "TargetRecall", "TargetSpecificity"],
        "abnet.certificates.certify_model": ["certify"],
        "abnet.model.certify_copy": ["certify_copy"],
        "abnet.model.certify_table": ["certify_mix", "certify_predictions", "certify_table"],
        "abnet.model.check_inputs": ["check_inputs"],
        "abnet.certificates.compare_models": ["compare_errors"],
        "abnet.certificates.counterfactual": ["certify_counterfactual"],
        "abnet.certificates.planning": ["plan"],
        "abnet.certificates.requests": ["Gaps"],
        "abnet.certificates.scores": ["certify_scores"],
        "abnet.certificates.prediction_sets": ["prediction_sets"],
        "abnet.certificates.set_rule": ["Sets"],
        "abnet.certificates.monitor": ["Monitor"],
        "abnet.model.monitor_table": ["monitor"],
        "abnet.estimators.abnet": ["ABNetClassifier", "PBGNetClassifier"],
        "abnet.estimators.certified": ["CertifiedClassifier"],
        "abnet.estimators.compare": ["compare"],
        "abnet.estimators.fit_table": ["fit_table"],
        "abnet.paper.methods.classifiers": ["BNNClassifier", "BinaryConnectClassifier", "EBPClassifier"],
        "abnet.estimators.search": ["ABNetSearch"],
        "abnet.explanation.explain_table": ["explain_table"],
        "abnet.explanation.row_explanation": ["explain"],
        "abnet.export.export_model": ["export_model"],
        "abnet.model": ["Model", "load"],
        "abnet.model.predict_table": ["predict_table"],
        "abnet.model.summary": ["inspect_file"],
        "abnet.paper.demo": ["demo"],
        "abnet.report.page": ["write_report"],
        "abnet.report.report_table": ["report_table"],
        "abnet.robustness.robust_table": ["robust_table"],
    },
    registries=["abnet.certificates.goals"],
)
