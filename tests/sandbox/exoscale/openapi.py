"""Exoscale's published API description as a test of answers: strict, so that a misspelt field fails."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

from openapi_schema_validator import OAS30ReadValidator, oas30_format_checker

SPEC: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "recorded" / "exoscale-openapi-subset.json").read_text(encoding="utf-8")
)

OPERATIONS: dict[str, tuple[str, str, dict[str, Any]]] = {
    operation["operationId"]: (method.upper(), path, operation)
    for path, methods in SPEC["paths"].items()
    for method, operation in methods.items()
}
"""Method, path and description of each operation by its id."""


def _closed(schema: Any) -> Any:
    """The schema with no property allowed that it does not name."""
    if isinstance(schema, list):
        return [_closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {name: _closed(each) for name, each in schema.items()}
    if isinstance(schema.get("properties"), dict) and "additionalProperties" not in schema:
        closed["additionalProperties"] = False
    return closed


_COMPONENTS = _closed(copy.deepcopy(SPEC["components"]))


def problems(operation_id: str, answer: object) -> list[str]:
    """What is wrong with an answer of an operation; empty when nothing is."""
    content = OPERATIONS[operation_id][2]["responses"]["200"]["content"]["application/json"]
    schema = {"allOf": [_closed(content["schema"])], "components": _COMPONENTS}
    validator = OAS30ReadValidator(schema, format_checker=oas30_format_checker)
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(answer)]
