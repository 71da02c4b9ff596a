"""`abnet certify`."""

from pathlib import Path
from typing import Annotated

import typer

from abnet.cli import options, show
from abnet.cli.guard import UsageError, guarded, note

__all__ = ["certify"]


@guarded
def certify(
    model: Annotated[
        Path,
        typer.Argument(metavar="MODEL", readable=False, help="Model file; or a table that holds predictions."),
    ],
    table: Annotated[
        Path | None,
        typer.Argument(metavar="[TABLE]", readable=False, help="Labelled rows that had no part in learning."),
    ] = None,
    truth: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column with the labels; by default the one that the model predicts."),
    ] = None,
    prediction: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column with the answers of a model that lives elsewhere."),
    ] = None,
    by: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Populations, whose errors are bounded all at once.")
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Rows that belong together, such as those of one patient."),
    ] = None,
    delta: Annotated[
        float, typer.Option(metavar="NUMBER", help="Maximum probability that the certificate is false.")
    ] = 0.05,
    n_candidates: Annotated[
        int,
        typer.Option(metavar="NUMBER", help="Number of models among which you choose by means of these rows."),
    ] = 1,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the certificate as JSON; `abnet inspect` reads it.")
    ] = None,
    json: options.AsJSON = False,
) -> None:
    """Certify a finished model on labelled rows that had no part in learning.

    The model is one of ours, or the predictions of any model in a table. A row
    without an answer, and a label that the model does not know, are errors.

    abnet certify model.abnet fresh.csv
    abnet certify model.abnet fresh.csv --by hospital
    abnet certify model.abnet fresh.csv --group patient --save certificate.json
    abnet certify predictions.csv --truth diagnosis --prediction answer
    """
    from abnet.atomic import check_writable
    from abnet.cli.jobs.judge_table import judge_model_file, judge_predictions
    from abnet.decisions.certify_model import certify_judged

    if by is not None and group is not None:
        raise UsageError("give --by or --group, not both: no bound for populations of groups is offered.")
    if save is not None:
        check_writable(save)
    columns = tuple(name for name in (by, group) if name is not None)
    if prediction is not None:
        if table is not None or truth is None:
            raise UsageError("--prediction goes with one table and --truth: abnet certify PREDICTIONS --truth COLUMN.")
        rows = judge_predictions(model, truth=truth, prediction=prediction, columns=columns)
    else:
        if table is None:
            raise UsageError("name a model and a table; for a table with predictions, add --truth and --prediction.")
        rows = judge_model_file(model, table, truth=truth, columns=columns)[1]
    judged = rows.judged()
    certificate = certify_judged(
        judged, delta=delta, n_candidates=n_candidates,
        groups=rows.columns[group] if group else None, by=rows.columns[by] if by else None,
    )  # fmt: skip
    unanswered = [f"{show.count(judged.unanswered, 'row')} without an answer count as errors"] * (judged.unanswered > 0)
    for notice in (*rows.notices, *unanswered):
        note(f"note: {notice}")
    if save is not None:
        certificate.save(save)
    if json:
        show.as_json({"certificate": certificate.to_dict(), "unlabelled": rows.unlabelled, "fitted_rows": rows.fitted})
        return
    print(certificate.describe())
    if save is not None:
        print(f"\nCertificate written to {save}.")
