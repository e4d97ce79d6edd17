"""From command line, environment and file to one `Settings`, or to one error that names every mistake."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from pydantic import ValidationError

from exoscaler.errors import SettingsError
from exoscaler.logs import Redactor
from exoscaler.settings.access import PROVIDER, VARIABLES, read_access, secrets_in
from exoscaler.settings.adjustments import adjust
from exoscaler.settings.catalogue import flags
from exoscaler.settings.contradictions import contradictions
from exoscaler.settings.flag import Flag, Status, flag_of_field
from exoscaler.settings.kinds import Gathers
from exoscaler.settings.model import Settings
from exoscaler.settings.origin import Origin, Source
from exoscaler.settings.reading import Given
from exoscaler.settings.report import Report
from exoscaler.settings.shown import shown
from exoscaler.settings.sources import read_sources
from exoscaler.settings.stand_ins import Resolved, apply_stand_ins
from exoscaler.settings.values import Values


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """The settings, and how they came about.

    Attributes:
        settings: the values.
        warnings: sentences to log at the start; none holds a secret.
        origins: where the value of each flag comes from, by flag name, and of each EXOSCALE_* variable that is set.
    """

    settings: Settings
    warnings: tuple[str, ...]
    origins: Mapping[str, Origin]


def load_settings(
    argv: Sequence[str], environ: Mapping[str, str], *, installed_providers: Collection[str]
) -> LoadedSettings:
    """Load the settings. Command line beats ``EXOSCALER_FLAGS`` beats environment beats file beats default.

    Args:
        argv: the flags, without the program's name.
        environ: the environment, usually `process_environment`.
        installed_providers: what ``cloud-provider`` may be, usually `exoscaler.settings.installed_providers`.

    Raises:
        SettingsError: with every mistake there is; no message holds a secret.
    """
    report = Report(Redactor(secrets_in(environ)))
    resolved = _read(read_sources(argv, environ, report), report)
    apply_stand_ins(resolved, report)
    _warn_of_no_effect(resolved, report)
    adjust(resolved, report)
    fields = _valid_fields(resolved, report)
    _report_contradictions(fields, resolved, report)
    provider = _provider(resolved, installed_providers, report)
    access = read_access(environ, report) if provider == PROVIDER else None
    if report.mistakes:
        raise SettingsError(report.mistakes)
    return LoadedSettings(
        settings=Settings.model_validate({**fields, "exoscale": access}),
        warnings=report.warnings,
        origins=_origins(resolved, environ if access else {}),
    )


def _read(chosen: Mapping[str, tuple[Given, ...]], report: Report) -> Resolved:
    resolved = Resolved()
    for name, given in chosen.items():
        flag = flags()[name]
        if flag.kind is not None:
            _read_flag(flag, given, resolved, report)
    return resolved


def _read_flag(flag: Flag, given: tuple[Given, ...], resolved: Resolved, report: Report) -> None:
    found: list[tuple[object, Given]] = []
    for occurrence in given:
        for text in _texts(flag, occurrence.text):
            try:
                found.append((flag.kind.read(text) if flag.kind else text, occurrence))
            except ValueError as wrong:
                report.mistake(occurrence.origin, str(wrong), occurrence.text)
                resolved.mistaken.add(flag.name)
    if not found:
        return
    is_list = flag.kind is not None and flag.kind.gathers in (Gathers.EACH, Gathers.COMMAS)
    resolved.values[flag.name] = tuple(value for value, _ in found) if is_list else found[0][0]
    resolved.given[flag.name] = tuple(occurrence for _, occurrence in found)


def _texts(flag: Flag, text: str) -> list[str]:
    if flag.kind is None or flag.kind.gathers is not Gathers.COMMAS:
        return [text]
    return text.split(",")


def _warn_of_no_effect(resolved: Resolved, report: Report) -> None:
    """Say what does nothing here and why; flags with the same reason share a sentence."""
    idle: dict[str, list[str]] = {}
    for name, value in resolved.values.items():
        flag = flags()[name]
        if flag.status is Status.ACCEPTED and (not flag.field or value != flag.default):
            idle.setdefault(flag.why, []).append(str(resolved.given[name][-1].origin))
    for why, places in idle.items():
        report.warning(", ".join(dict.fromkeys(places)), f"accepted without effect: {why}")


def _valid_fields(resolved: Resolved, report: Report) -> dict[str, object]:
    """The fields whose values are in range, as the model finds them; the others are reported."""
    named = {flag.field: flag.name for flag in flags().values() if flag.field and flag.name in resolved.values}
    fields = {field: resolved.values[name] for field, name in named.items()}
    try:
        Values.model_validate(fields)
    except ValidationError as invalid:
        for error in invalid.errors(include_url=False, include_input=False):
            field = str(error["loc"][0])
            given = resolved.given[named[field]][-1]
            report.mistake(given.origin, error["msg"].removeprefix("Value error, "), given.text)
            resolved.mistaken.add(named[field])
            fields.pop(field, None)
    return fields


def _report_contradictions(fields: Mapping[str, object], resolved: Resolved, report: Report) -> None:
    """Report values that do not fit each other. One that is wrong by itself is left out, to be mended first."""
    moot = {flag.field for name in resolved.mistaken if (flag := flags()[name]).field not in fields}
    draft = Values.model_validate(fields)
    for found in contradictions(draft):
        if moot.intersection(found.fields):
            continue
        if found.position is not None:
            given = resolved.given[flag_of_field(found.fields[0])][found.position]
            report.mistake(given.origin, found.what, given.text)
        else:
            report.mistake(" and ".join(_written(field, draft, resolved, report) for field in found.fields), found.what)


def _written(field: str, draft: Values, resolved: Resolved, report: Report) -> str:
    name = flag_of_field(field)
    if given := resolved.given.get(name):
        return report.written(given[-1].origin, given[-1].text)
    return f"--{name}={shown(getattr(draft, field))} (the default)"


def _provider(resolved: Resolved, installed: Collection[str], report: Report) -> str:
    provider = str(resolved.values.get("cloud-provider", flags()["cloud-provider"].default))
    if provider not in installed:
        given = resolved.given.get("cloud-provider")
        where, text = (
            (given[-1].origin, given[-1].text) if given else (Origin(Source.DEFAULT, "cloud-provider"), provider)
        )
        report.mistake(
            where, f"no such provider is installed; installed are {', '.join(sorted(installed)) or 'none'}", text
        )
    return provider


def _origins(resolved: Resolved, environ: Mapping[str, str]) -> Mapping[str, Origin]:
    found = {
        flag.name: resolved.given[flag.name][-1].origin
        if flag.name in resolved.given
        else Origin(Source.DEFAULT, flag.name)
        for flag in flags().values()
        if flag.field
    }
    access = {name: Origin(Source.ENVIRONMENT, name) for name in VARIABLES if environ.get(name, "").strip()}
    return MappingProxyType({**found, **access})
