"""JSON patch (RFC 6902) with JSON pointers (RFC 6901)."""

from __future__ import annotations

from exoscaler.sandbox.kubernetes.failures import ApiFailure, bad_request
from exoscaler.sandbox.kubernetes.json_values import clone
from exoscaler.sandbox.objects import JsonObject

MOST_OPERATIONS = 10_000
_WITH_VALUE = ("add", "replace", "test")
_WITH_SOURCE = ("move", "copy")


def apply_json_patch(target: JsonObject, operations: list[JsonObject]) -> JsonObject:
    """`target` after all operations; when one of them fails, none is applied.

    Raises:
        ApiFailure: 400 an operation is malformed, 413 there are too many, 422 one cannot be applied or a test fails.
    """
    if len(operations) > MOST_OPERATIONS:
        message = f"the patch has {len(operations)} operations, and at most {MOST_OPERATIONS} are allowed"
        raise ApiFailure(413, "RequestEntityTooLarge", message)
    document: object = clone(target)
    for operation in operations:
        document = _apply(document, operation)
    if not isinstance(document, dict):
        raise _cannot("the patch leaves something that is not an object")
    return document


def _apply(document: object, operation: JsonObject) -> object:
    if not isinstance(operation, dict):
        raise bad_request(f"an operation of a JSON patch is an object, not {operation!r}")
    kind, path = operation.get("op"), _steps(operation.get("path"))
    if kind in _WITH_VALUE and "value" not in operation:
        raise bad_request(f"the operation {kind} needs a value")
    if kind == "test":
        if not _same(_read(document, path), operation["value"]):
            raise _cannot(f"testing path {operation['path']} failed")
        return document
    if kind == "remove":
        return _without(document, path)
    if kind == "replace":
        _read(document, path)
        return _with(_without(document, path) if path else document, path, clone(operation["value"]))
    if kind == "add":
        return _with(document, path, clone(operation["value"]))
    if kind in _WITH_SOURCE:
        source = _steps(operation.get("from"))
        value = clone(_read(document, source))
        return _with(_without(document, source) if kind == "move" else document, path, value)
    raise bad_request(f"unknown operation in a JSON patch: {kind!r}")


def _steps(pointer: object) -> list[str]:
    if not isinstance(pointer, str) or (pointer and not pointer.startswith("/")):
        raise bad_request(f"not a JSON pointer: {pointer!r}")
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def _read(document: object, path: list[str]) -> object:
    value = document
    for step in path:
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list):
            value = value[_index(value, step, len(value) - 1)]
        else:
            raise _cannot(f"the path /{'/'.join(path)} does not exist")
    return value


def _with(document: object, path: list[str], value: object) -> object:
    if not path:
        return value
    parent = _read(document, path[:-1])
    step = path[-1]
    if isinstance(parent, dict):
        parent[step] = value
    elif isinstance(parent, list):
        parent.insert(len(parent) if step == "-" else _index(parent, step, len(parent)), value)
    else:
        raise _cannot(f"the path /{'/'.join(path)} leads into a value that is neither object nor list")
    return document


def _without(document: object, path: list[str]) -> object:
    _read(document, path)
    if not path:
        return None
    parent = _read(document, path[:-1])
    if isinstance(parent, dict):
        del parent[path[-1]]
    elif isinstance(parent, list):
        del parent[_index(parent, path[-1], len(parent) - 1)]
    return document


def _same(left: object, right: object) -> bool:
    """Equality as JSON has it: a boolean is not a number."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_same(left[name], right[name]) for name in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(_same(one, other) for one, other in zip(left, right, strict=True))
    return left == right and isinstance(left, bool) is isinstance(right, bool)


def _index(items: list[object], step: str, highest: int) -> int:
    if not step.isdigit() or (step.startswith("0") and step != "0") or int(step) > highest:
        raise _cannot(f"the list of {len(items)} has no place {step!r}")
    return int(step)


def _cannot(why: str) -> ApiFailure:
    return ApiFailure(422, "Invalid", f"the server rejected our request due to an error in our request: {why}")
