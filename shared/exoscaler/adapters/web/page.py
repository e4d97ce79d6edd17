"""The report as a page to look at: rendered here, without scripts or outside resources."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template


@cache
def _template() -> Template:
    loader = PackageLoader("exoscaler.adapters.web", "templates")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined).get_template("status.html")


def render(report: Mapping[str, object]) -> str:
    """The page for a report of `exoscaler.app.status`; everything in it is escaped."""
    return _template().render(report=report)
