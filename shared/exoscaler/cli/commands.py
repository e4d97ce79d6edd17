"""The commands of ``exoscaler``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

import exoscaler
from exoscaler.errors import ExoscalerError

FAILED = 1
MISUSED = 2

app = typer.Typer(
    name="exoscaler",
    help="Scales the worker nodes of Kubernetes clusters on Exoscale.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(asked: bool) -> None:  # noqa: FBT001 - typer's callbacks are called so
    if asked:
        typer.echo(f"exoscaler {exoscaler.__version__}")
        raise typer.Exit


@app.callback()
def _top(
    version: Annotated[  # noqa: FBT002 - an option, never given by position
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Scales the worker nodes of Kubernetes clusters on Exoscale."""


@app.command()
def demo(
    speed: Annotated[float, typer.Option(min=1, max=60, help="How many times as fast time runs in the sandbox.")] = 10,
    report: Annotated[Path | None, typer.Option(help="Where to write the HTML report.")] = None,
    logs: Annotated[Path | None, typer.Option(help="A folder to keep the logs of all processes in.")] = None,
) -> None:
    """Watch a cluster grow and shrink in a local sandbox. Ends with 0 only if every step really happened."""
    from exoscaler.cli.demo import run_demo  # noqa: PLC0415 - the other commands need none of it

    raise typer.Exit(run_demo(Console(), speed=speed, report=report, keep_logs=logs))


def main() -> None:
    """Run the command line; what was meant to be told ends without a traceback."""
    try:
        app()
    except ExoscalerError as error:
        typer.echo(f"exoscaler: {error}", err=True)
        sys.exit(FAILED)
