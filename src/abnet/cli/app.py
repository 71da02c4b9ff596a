"""The program: its commands, and what it says about itself."""

from typing import Annotated

import typer

from abnet import __version__
from abnet.cli.cache import cache
from abnet.cli.certify import certify
from abnet.cli.compare import compare
from abnet.cli.data import data
from abnet.cli.demo import demo
from abnet.cli.explain import explain
from abnet.cli.export import export
from abnet.cli.fit import fit
from abnet.cli.help import Command, Group
from abnet.cli.inspect import inspect
from abnet.cli.monitor import monitor
from abnet.cli.plan import plan
from abnet.cli.predict import predict
from abnet.cli.report import report
from abnet.cli.reproduce import app as reproduce
from abnet.cli.robust import robust

__all__ = ["app"]

app = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Results go to stdout, messages to stderr. Exit codes: 0 success; 1 a file is missing, invalid or refused; "
    "2 wrong usage, such as an unknown option or column; 3 `abnet monitor` raised an alarm; 130 interrupted; 141 the "
    "reader of stdout closed it.\n\nCompiled programs are kept in a cache folder; `abnet cache` shows it, and "
    "ABNET_CACHE names another one.",
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"abnet {__version__}")
        raise typer.Exit


@app.callback()
def program(
    version: Annotated[
        bool, typer.Option("--version", metavar="", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Train classifiers on tables, with a certified bound on their error on new data.

    abnet demo                                 everything, on built-in data
    abnet fit patients.csv --target diagnosis  train, certify, write model.abnet
    abnet predict model.abnet new.csv          label new rows
    """


for _command in (
    fit,
    predict,
    explain,
    inspect,
    certify,
    plan,
    robust,
    monitor,
    report,
    export,
    compare,
    demo,
    data,
    cache,
):
    app.command(cls=Command)(_command)

app.add_typer(reproduce, name="reproduce")
