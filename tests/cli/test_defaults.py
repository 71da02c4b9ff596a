"""The commands repeat the defaults of the functions that they call, so that help appears without importing them."""

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from abnet import CertifiedClassifier
from abnet.certificates.planning import plan as plan_rows
from abnet.cli.certify import certify
from abnet.cli.compare import compare
from abnet.cli.demo import demo
from abnet.cli.explain import explain
from abnet.cli.export import export
from abnet.cli.fit import fit
from abnet.cli.monitor import monitor
from abnet.cli.plan import plan
from abnet.cli.predict import predict
from abnet.cli.report import report
from abnet.estimators.compare import compare as compare_models
from abnet.estimators.fit_table import fit_table
from abnet.explanation.explain_table import explain_table
from abnet.export.export_model import export_model
from abnet.model.certify_table import certify_table
from abnet.model.monitor_table import monitor as monitor_table
from abnet.model.predict_table import predict_table
from abnet.report.report_table import report_table
from abnet.tables.preparation import TablePreparation

CALLS: dict[Callable[..., Any], list[Callable[..., Any]]] = {
    fit: [fit_table, CertifiedClassifier, TablePreparation],
    compare: [compare_models, CertifiedClassifier, TablePreparation],
    demo: [CertifiedClassifier],
    certify: [certify_table],
    monitor: [monitor_table],
    report: [report_table],
    export: [export_model],
    explain: [explain_table],
    predict: [predict_table],
    plan: [plan_rows],
}
OWN_DEFAULTS = {(fit, "output"), (certify, "allow_shift"), (monitor, "allow_shift"), (predict, "allow_shift")}
"""Options that differ on purpose: `abnet fit` always writes a file, and the commands refuse shifted columns."""


def shared_parameters() -> Iterator[Any]:
    for command, functions in CALLS.items():
        options = inspect.signature(command).parameters
        for function in functions:
            for name, parameter in inspect.signature(function).parameters.items():
                has_default = parameter.default is not inspect.Parameter.empty
                if name in options and has_default and (command, name) not in OWN_DEFAULTS:
                    yield pytest.param(
                        options[name].default, parameter.default, id=f"{command.__name__}-{function.__name__}-{name}"
                    )


@pytest.mark.parametrize(("of_option", "of_function"), list(shared_parameters()))
def test_an_option_has_the_default_of_the_parameter(of_option: Any, of_function: Any) -> None:
    if of_function == ():  # an option that may be repeated is None where it is not given
        of_function = None
    assert of_option == of_function


def test_no_command_is_left_out() -> None:
    assert len(list(shared_parameters())) > 60
