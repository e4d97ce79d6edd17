"""The command line."""

from exoscaler.cli.commands import main

__all__ = ["main"]
