"""The settings file: a YAML mapping from flag names to values, usually a mounted ConfigMap.

Values are taken as they are written, not as YAML would guess: ``1:20`` stays text rather than becoming 80, ``no`` is
no boolean, ``10m`` needs no quotation marks. A list is a YAML list; null or an empty list gives nothing.
"""

from __future__ import annotations

from pathlib import Path

import yaml

from exoscaler.settings.catalogue import normal_name
from exoscaler.settings.flag import Flag
from exoscaler.settings.kinds import Gathers
from exoscaler.settings.origin import Origin, Source
from exoscaler.settings.reading import Reading
from exoscaler.settings.report import Report

_NULL = "tag:yaml.org,2002:null"


def read_config_file(path: str, report: Report) -> Reading:
    """Read the file. Whatever is wrong with it is a mistake in the report."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as failure:
        report.mistake(path, f"the settings file cannot be read: {failure.strerror or failure}")
        return Reading(report)
    except UnicodeDecodeError:
        report.mistake(path, "the settings file is not UTF-8 text")
        return Reading(report)
    except ValueError:
        report.mistake(path, "not a path of a file")
        return Reading(report)
    return read_yaml(text, path, report)


def read_yaml(text: str, path: str, report: Report) -> Reading:
    """Read the text of a settings file; `path` is for messages."""
    reading = Reading(report)
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as failure:
        line = f" line {failure.problem_mark.line + 1}" if failure.problem_mark else ""
        report.mistake(f"{path}{line}", f"not YAML: {failure.problem or failure.context}")
        return reading
    except (yaml.YAMLError, RecursionError):
        report.mistake(path, "not YAML")
        return reading
    if root is None or root.tag == _NULL:
        report.warning(path, "the settings file is empty")
    elif isinstance(root, yaml.MappingNode):
        _Document(path, report, reading).read(root)
    else:
        report.mistake(path, "must be a mapping from flag names to values, like `scan-interval: 10s`")
    return reading


class _Document:
    def __init__(self, path: str, report: Report, reading: Reading) -> None:
        self._path = path
        self._report = report
        self._reading = reading
        self._lines: dict[str, int] = {}

    def read(self, root: yaml.MappingNode) -> None:
        for key, value in root.value:
            if not isinstance(key, yaml.ScalarNode):
                self._report.mistake(self._place(key), "a key must be the name of a flag")
                continue
            origin = Origin(Source.FILE, key.value, self._place(key))
            flag = self._reading.find(key.value, origin)
            if flag and self._is_first(flag, key, origin):
                self._take(flag, value, origin)

    def _is_first(self, flag: Flag, key: yaml.ScalarNode, origin: Origin) -> bool:
        name = normal_name(key.value)
        line = key.start_mark.line + 1
        if name in self._lines:
            self._report.mistake(origin, f"is written on line {self._lines[name]} already; a file says everything once")
            return False
        self._lines[name] = line
        if flag.name == "config":
            self._report.mistake(origin, "a settings file cannot name another one")
            return False
        return True

    def _take(self, flag: Flag, value: yaml.Node, origin: Origin) -> None:
        gathers = flag.kind.gathers if flag.kind else Gathers.LAST
        if flag.kind is None:
            self._reading.add(flag, "", origin)
        elif isinstance(value, yaml.ScalarNode):
            self._take_scalar(flag, value, origin)
        elif isinstance(value, yaml.SequenceNode) and gathers is not Gathers.LAST:
            self._take_list(flag, value, origin)
        else:
            expected = "a value" if gathers is Gathers.LAST else "a list of values"
            self._report.mistake(origin, f"must be {expected}, written as {flag.kind.word}")

    def _take_scalar(self, flag: Flag, value: yaml.ScalarNode, origin: Origin) -> None:
        if value.tag != _NULL:
            self._reading.add(flag, value.value, origin)
        elif flag.kind and flag.kind.gathers is Gathers.LAST:
            self._report.mistake(origin, "has no value; write one or leave the key out")

    def _take_list(self, flag: Flag, value: yaml.SequenceNode, origin: Origin) -> None:
        texts: list[tuple[str, Origin]] = []
        for element in value.value:
            at = Origin(Source.FILE, origin.name, self._place(element))
            if isinstance(element, yaml.ScalarNode) and element.tag != _NULL:
                texts.append((element.value, at))
            else:
                self._report.mistake(at, "an element of the list is not a single value")
        if flag.kind and flag.kind.gathers is Gathers.WHOLE and texts:
            texts = [(",".join(text for text, _ in texts), origin)]
        for text, at in texts:
            self._reading.add(flag, text, at)

    def _place(self, node: yaml.Node) -> str:
        return f"{self._path} line {node.start_mark.line + 1}"
