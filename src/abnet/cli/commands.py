"""The commands of one screen: `abnet compare`, `data`, `demo`, `export` and `inspect`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from abnet.cli import console, options
from abnet.cli.console import UsageError, guarded, said, say

__all__ = ["compare", "data", "demo", "export", "inspect"]


@guarded
def data(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Data set to describe or write.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="CSV file to write the data set to.")
    ] = None,
    data_dir: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Folder with the original files, tried before ABNET_DATA."),
    ] = None,
    download: Annotated[bool, typer.Option("--download", metavar="", help="Fetch missing files from OpenML.")] = False,
    overwrite: options.Overwrite = False,
    json: options.AsJSON = False,
) -> None:
    """List the data sets known by name, or write one to a CSV file.

    The labels are in the column 'label'.

    abnet data
    abnet data breast_cancer --output cancer.csv
    abnet data adult --data-dir ~/data --output adult.csv
    """
    from abnet.cli.jobs.run_demo import list_names, write_dataset

    if name is None:
        listing = list_names()
        if json:
            console.as_json(listing)
        else:
            console.rows(
                ["name", "files needed"], [[key, ", ".join(files) or "none"] for key, files in listing.items()], left=2
            )
        return
    if output is not None:
        from abnet.cli.jobs.inputs import check_output

        check_output(output, "CSV", overwrite=overwrite)
    record = write_dataset(name, output, data_dir=data_dir, download=download)
    if json:
        console.as_json(record)
    else:
        print(record["summary"] + (f", written to {output}" if output else ""))


@guarded
def demo(
    output_dir: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Folder for the model and the picture; created if missing.")
    ] = Path("demo"),
    quiet: Annotated[bool, typer.Option("--quiet", "-q", metavar="", help="No progress bar.")] = False,
    json: options.AsJSON = False,
    hidden_layer_sizes: options.HiddenLayerSizes = "auto",
    delta: options.Delta = 0.05,
    max_iter: options.MaxIter = 100,
    random_state: options.RandomState = None,
) -> None:
    """Do the whole job on built-in data, handwritten digits 0-4 against 5-9, in less than a minute.

    Learns from three quarters of the images with nothing set, certifies, compares
    with forest, boosting and logistic regression on the same rows, tests on the
    last quarter, and writes the model, a picture and a report.

    abnet demo
    abnet demo --output-dir /tmp/digits --hidden-layer-sizes 4 --random-state 1
    """
    from abnet.certificates.split import drawn_seed
    from abnet.cli.console import show_contenders
    from abnet.cli.jobs.run_demo import run_demo

    widths = options.widths(hidden_layer_sizes)
    settings = {"hidden_layer_sizes": widths, "delta": delta, "max_iter": max_iter}
    settings["random_state"] = drawn_seed(random_state)
    outcome = run_demo(output_dir, settings, verbose=not quiet)
    if json:
        console.as_json(outcome.to_dict())
        return
    print(f"{outcome.n_learn:,} digits to learn from, {outcome.n_test:,} to test on: 0-4 or 5-9?\n")
    print(outcome.certificate.describe(), end="\n\n")
    show_contenders(outcome.contenders)
    print(f"Model:    {outcome.model}\nPicture:  {outcome.picture}\nReport:   {outcome.report}")
    print(f"Next:     abnet inspect {outcome.model}")


@guarded
def export(
    model: options.Model,
    to: Annotated[
        str,
        typer.Option(metavar="c|onnx", help="A C99 file and its header, or an ONNX model for onnxruntime."),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="File to write; by default named like the model."),
    ] = None,
    prefix: Annotated[
        str,
        typer.Option(metavar="NAME", help="In C, what all names begin with: two models in one program need two."),
    ] = "abnet",
    example: Annotated[
        bool, typer.Option("--example", metavar="", help="In C, also write a main program that reads a CSV file.")
    ] = False,
    single: Annotated[
        bool, typer.Option("--float", metavar="", help="In C, compute in float: for processors without doubles.")
    ] = False,
    overwrite: options.Overwrite = False,
    json: options.AsJSON = False,
) -> None:
    r"""Write a model for other programs, with its preparation, labels and certificate.

    Networks and mixtures of abnet fit, their MAP networks and networks drawn from
    the posterior can be exported. What was written gives the labels of abnet
    predict. Models with columns of hashed text cannot be exported. ONNX needs the
    extra: pip install 'abnet\[onnx]'.

    abnet export model.abnet --to c --output model.c
    abnet export skin.abnet --to c --prefix skin --example
    abnet export model.abnet --to onnx
    """
    from abnet.cli.jobs.show_model import export_model

    if to not in ("c", "onnx"):
        raise UsageError(f"--to must be 'c' or 'onnx', not {to!r}.")
    record = export_model(model, to, output, prefix=prefix, example=example, single=single, overwrite=overwrite)
    if json:
        console.as_json(record)
        return
    replaced = ", in place of an older file" if record["replaced"] else ""
    print(f"Wrote {record['output']} ({console.kilobytes(record['bytes'])}){replaced}.")
    if to == "c":
        link = "link with -lm" if record["libm"] else "no mathematical library needed"
        print(f"files: {', '.join(record['files'])}")
        print(f"constants: {record['flash_bytes']:,} bytes, and a few kB of code")
        print(f"local arrays: {record['ram_bytes']:,} bytes of stack; {link}")
    else:
        from abnet.explanation.row_explanation import shown

        print(f"inputs: {', '.join(map(shown, record['inputs']))}")
        print(f"outputs: {', '.join(map(shown, record['outputs']))}")


@guarded
def inspect(
    model: Annotated[
        Path,
        typer.Argument(metavar="FILE", readable=False, help="Model file, or a certificate written with --save."),
    ],
    details: options.Details = False,
    json: options.AsJSON = False,
) -> None:
    """Show what a model file, or a certificate that was saved by itself, holds.

    Of a model: network, certificate, preparation, data fingerprint.

    The file is checked in full, and the bounds of its certificate are recomputed
    from the observations that it records.

    abnet inspect model.abnet --details
    abnet inspect model.abnet --json | jq .certificate.vote_error_bound
    """
    from abnet.cli.jobs.show_model import inspect_certificate, inspect_file
    from abnet.words import number_of

    certificate = inspect_certificate(model)
    if certificate is not None:
        console.as_json(certificate.to_dict()) if json else print(certificate.describe())
        return
    record, promise = inspect_file(model, details=details)
    if json:
        console.as_json(record)
        return
    _facts(record)
    print(promise, end="\n\n")
    _preparation(record)
    for name, value in record["card"].items():
        if name in ("row_filter", "curves", "rivals", "abstention", "decision"):
            continue  # long and nothing to read, or said in words; `abnet report` draws the curves
        if name == "background":
            value = f"{number_of(len(value), 'row')} of the first part, for `abnet explain`"
        print(f"{name.replace('_', ' ')}: {value}")


def _facts(record: dict[str, Any]) -> None:
    shapes = ", ".join(f"{name} {' × '.join(map(str, shape))}" for name, shape in record["arrays"].items())
    print(f"{record['path']}: {record['kind']}, {console.kilobytes(record['bytes'])}")
    print(f"inputs: {record['n_inputs']}; arrays: {shapes}")
    print(f"classes: {' or '.join(map(str, record['classes']))}", end="\n\n")


def _preparation(record: dict[str, Any]) -> None:
    lines = record["columns"]
    if lines:
        print("\n".join(["columns", *(f"  {line}" for line in lines)]), end="\n\n")


@guarded
def compare(
    context: typer.Context,
    table: options.Table,
    target: options.Target,
    test_fraction: Annotated[float, typer.Option(metavar="SHARE", help="Share of the rows kept as a test set.")] = 0.2,
    drop: options.Drop = None,
    use: options.Use = None,
    group: options.GroupColumn = None,
    save: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the tightest certificate as JSON; all of them then account for the choice among all models.",
        ),
    ] = None,
    decimal: options.Decimal = "auto",
    max_categories: options.MaxCategories = 20,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", metavar="", help="No progress bars.")] = False,
    json: options.AsJSON = False,
    hidden_layer_sizes: options.HiddenLayerSizes = "auto",
    learn_fraction: options.LearnFraction = "auto",
    delta: options.Delta = 0.05,
    max_iter: options.MaxIter = 100,
    random_state: options.RandomState = None,
) -> None:
    """Compare the model of `abnet fit` with forest, boosting and logistic regression on the same rows.

    A share of the rows is kept as a test set. All models learn from a first part
    of the others, and all are certified by their errors on the second part
    (test-set bound, Clopper-Pearson), the majority rule too. "abnet fit" marks
    the model that `abnet fit` would make. Nothing is hidden where another model
    is better. No model is saved; --save keeps the certificate of the one that you
    will choose, with its price.

    abnet compare patients.csv --target diagnosis
    abnet compare patients.csv --target diagnosis --save winner.json
    abnet compare patients.csv --target diagnosis --hidden-layer-sizes 8 --json
    """
    from abnet.cli.console import show_contenders
    from abnet.cli.jobs.compare_models import compare_table
    from abnet.cli.jobs.inputs import check_output
    from abnet.words import number_of, percent

    if not 0 < test_fraction < 1:
        raise UsageError(f"--test-fraction must lie strictly between 0 and 1, not {test_fraction}.")
    if save is not None:
        check_output(save, "JSON", inputs=[table], option="--save")
    outcome = compare_table(
        table, target, settings=options.settings(context), drop=drop or [], group=group,
        preparation=options.preparation(max_categories, decimal, use=use), test_fraction=test_fraction, save=save,
        verbose=not quiet,
    )  # fmt: skip
    for notice in outcome.notices:
        say(notice)
    if json:
        console.as_json({**outcome.to_dict(), "notes": said()})
        return
    learned, tested = number_of(outcome.n_learn, "row"), number_of(outcome.n_test, "row")
    print(f"Learned and certified on {learned}, tested on {tested}; confidence {1 - outcome.delta:.6g}.")
    print(f"Majority-class error on the test rows: {percent(outcome.base_rate)}. Threads: {outcome.threads}.\n")
    show_contenders(outcome.contenders, counted=outcome.n_candidates > 1)
    if save is not None and outcome.winner is not None:
        print(f"Certificate of {outcome.winner.name} (chosen among {outcome.n_candidates}) written to {save}.")
