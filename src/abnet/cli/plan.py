"""`abnet plan`: how many labelled rows a target will probably need."""

from typing import Annotated

import typer

from abnet.cli import console, options
from abnet.cli.guarded import guarded

__all__ = ["plan"]


def _rate(text: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(metavar="RATE", help=text)
    return option


@guarded
def plan(
    target_error: Annotated[float | None, _rate("Error rate to certify.")] = None,
    expected_error: Annotated[float | None, _rate("Error rate that the model probably has.")] = None,
    target_recall: Annotated[float | None, _rate("Recall to certify.")] = None,
    expected_recall: Annotated[float | None, _rate("Recall that the model probably has.")] = None,
    target_precision: Annotated[float | None, _rate("Precision to certify.")] = None,
    expected_precision: Annotated[float | None, _rate("Precision that the model probably has.")] = None,
    share: Annotated[
        float,
        typer.Option(
            metavar="SHARE",
            help="Share of the rows that count: answered rows, rows of the positive class (recall), or rows predicted "
            "as positive (precision).",
        ),
    ] = 1.0,
    power: Annotated[
        float, typer.Option(metavar="P", help="Probability of certifying the target if the expected rates are true.")
    ] = 0.9,
    json: options.AsJSON = False,
    delta: options.Delta = 0.05,
    n_candidates: options.NCandidates = 1,
) -> None:
    """Estimate how many labelled rows are needed to certify a target.

    The rows have to be held out from training. If the model turns out as expected,
    this many rows, or more, certify the target with the probability --power.

    abnet plan --target-error 0.05 --expected-error 0.03
    abnet plan --target-recall 0.9 --expected-recall 0.95 --share 0.1
    """
    from abnet.certificates.planning import plan as plan_rows

    made = plan_rows(
        target_error=target_error,
        expected_error=expected_error,
        target_recall=target_recall,
        expected_recall=expected_recall,
        target_precision=target_precision,
        expected_precision=expected_precision,
        share=share,
        power=power,
        delta=delta,
        n_candidates=n_candidates,
    )
    if json:
        console.as_json(made.to_dict())
    else:
        print(made)
