"""`abnet inspect`."""

from typing import Any

from abnet.cli import options, show
from abnet.cli.guard import guarded

__all__ = ["inspect"]


@guarded
def inspect(
    model: options.Model,
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
    from abnet.cli.jobs.inspect_file import inspect_certificate, inspect_file

    certificate = inspect_certificate(model)
    if certificate is not None:
        show.as_json(certificate.to_dict()) if json else print(certificate.describe())
        return
    record, promise = inspect_file(model, details=details)
    if json:
        show.as_json(record)
        return
    _facts(record)
    print(promise, end="\n\n")
    _preparation(record)
    for name, value in record["details"].items():
        if name == "row_filter":
            continue  # long, and nothing to read
        print(f"{name.replace('_', ' ')}: {value}")


def _facts(record: dict[str, Any]) -> None:
    shapes = ", ".join(f"{name} {' × '.join(map(str, shape))}" for name, shape in record["arrays"].items())
    print(f"{record['path']}: {record['kind']}, {show.kilobytes(record['bytes'])}")
    print(f"inputs: {record['n_inputs']}; arrays: {shapes}")
    print(f"classes: {' or '.join(map(str, record['classes']))}", end="\n\n")


def _preparation(record: dict[str, Any]) -> None:
    lines = record["columns"]
    if lines:
        print("\n".join(["columns", *(f"  {line}" for line in lines)]), end="\n\n")
