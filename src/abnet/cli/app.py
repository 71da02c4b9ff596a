"""The program: its commands, and what it says about itself."""

import typer

from abnet.cli.certifying import certify, monitor
from abnet.cli.commands import compare, data, demo, export, inspect
from abnet.cli.explain import explain
from abnet.cli.fit import fit
from abnet.cli.options import Command, Group, program
from abnet.cli.predict import predict
from abnet.cli.reporting import report
from abnet.cli.reproduce import app as reproduce

__all__ = ["app"]

app = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Results go to stdout, messages to stderr. Exit codes: 0 done; 1 the job failed, because a file is "
    "invalid or missing; 2 a usage error, such as an option that makes no sense or a column that is not in the table; "
    "3 `abnet monitor` raises an alarm; 130 interrupted; 141 stdout was closed by its reader.",
)


app.callback()(program)
for _command in (fit, predict, explain, inspect, certify, monitor, report, export, compare, demo, data):
    app.command(cls=Command)(_command)

app.add_typer(reproduce, name="reproduce")
