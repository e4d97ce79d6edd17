"""Strategic merge patch: a merge patch that knows which lists are keyed, with directives among its fields."""

from __future__ import annotations

from collections.abc import Callable

from exoscaler.sandbox.kubernetes.failures import ApiFailure, bad_request
from exoscaler.sandbox.kubernetes.json_values import clone
from exoscaler.sandbox.kubernetes.patches.merge_keys import Field, field_of
from exoscaler.sandbox.objects import JsonObject

_DIRECTIVE = "$patch"
_RETAIN = "$retainKeys"
_ORDER = "$setElementOrder/"
_DELETE_VALUES = "$deleteFromPrimitiveList/"


def apply_strategic_patch(target: JsonObject, patch: JsonObject, kind: str) -> JsonObject:
    """`target`, an object of that kind, with `patch` merged in. Neither is modified.

    Raises:
        ApiFailure: 400 or 422, a directive or a keyed list in the patch is malformed.
    """
    return _merge_object(target, patch, kind)


def _merge_object(target: JsonObject, patch: JsonObject, type_name: str) -> JsonObject:
    directive = patch.get(_DIRECTIVE)
    if directive == "replace":
        return _plain(patch)
    if directive == "delete":
        return {}
    if directive not in (None, "merge"):
        raise bad_request(f"unknown patch directive in {_DIRECTIVE}: {directive!r}")
    result = _retained(target, patch)
    for name, value in patch.items():
        if name.startswith("$"):
            continue
        if value is None:
            result.pop(name, None)
        else:
            field = field_of(type_name, name)
            result[name] = _merge_value(result.get(name), value, field)
    _apply_list_directives(result, target, patch, type_name)
    return result


def _apply_list_directives(result: JsonObject, target: JsonObject, patch: JsonObject, type_name: str) -> None:
    for name, values in patch.items():
        if name.startswith(_DELETE_VALUES):
            _delete_values(result, name.removeprefix(_DELETE_VALUES), values)
        elif name.startswith(_ORDER):
            _set_order(result, target, name.removeprefix(_ORDER), values, type_name)
        elif name.startswith("$") and name not in (_DIRECTIVE, _RETAIN):
            raise bad_request(f"unknown patch directive: {name}")


def _retained(target: JsonObject, patch: JsonObject) -> JsonObject:
    retained = patch.get(_RETAIN)
    if retained is None:
        return dict(target)
    sent = {name for name, value in patch.items() if not name.startswith("$") and value is not None}
    if not isinstance(retained, list) or not sent <= set(retained):
        raise ApiFailure(422, "Invalid", f"{_RETAIN} must list every field that the patch sets: {retained}")
    return {name: value for name, value in target.items() if name in retained}


def _merge_value(existing: object, value: object, field: Field) -> object:
    if isinstance(value, dict):
        if field.replaces or not isinstance(existing, dict):
            return _plain(value)
        return _merge_object(existing, value, field.type)
    if isinstance(value, list):
        known = existing if isinstance(existing, list) else []
        if field.key:
            return _merge_keyed(known, value, field)
        if field.merges_values:
            return [*known, *(item for item in value if item not in known)]
        return [_plain(item) if isinstance(item, dict) else clone(item) for item in value]
    return value


def _merge_keyed(known: list[JsonObject], patch: list[JsonObject], field: Field) -> list[JsonObject]:
    """Merge a list of objects by its key; an item ``$patch: replace`` replaces the list by the others."""
    if any(_directive_of(item) == "replace" for item in patch):
        return [_plain(item) for item in patch if set(item) != {_DIRECTIVE}]
    result = list(known)
    for item in patch:
        identity = item.get(field.key)
        if identity is None:
            raise bad_request(f"an item of a list in the patch lacks the list's merge key {field.key!r}")
        index = next((at for at, one in enumerate(result) if one.get(field.key) == identity), None)
        if _directive_of(item) == "delete":
            result = [one for one in result if one.get(field.key) != identity]
        elif index is None:
            result.append(_plain(item))
        else:
            result[index] = _merge_object(result[index], item, field.type)
    return result


def _directive_of(item: object) -> str:
    if not isinstance(item, dict):
        raise bad_request(f"a list that merges by key holds objects, not {item!r}")
    return str(item.get(_DIRECTIVE, ""))


def _plain(value: JsonObject) -> JsonObject:
    """A value of a patch that meets nothing to merge with: without its directives and nulls."""
    result: JsonObject = {}
    for name, item in value.items():
        if name.startswith("$") or item is None:
            continue
        if isinstance(item, dict):
            result[name] = _plain(item)
        elif isinstance(item, list):
            objects = [one for one in item if not (isinstance(one, dict) and one.get(_DIRECTIVE) == "delete")]
            result[name] = [_plain(one) if isinstance(one, dict) else clone(one) for one in objects]
        else:
            result[name] = item
    return result


def _delete_values(result: JsonObject, name: str, values: object) -> None:
    if not isinstance(values, list):
        raise bad_request(f"{_DELETE_VALUES}{name} must be a list")
    known = result.get(name)
    if isinstance(known, list):
        result[name] = [value for value in known if value not in values]


def _set_order(result: JsonObject, target: JsonObject, name: str, wanted: object, type_name: str) -> None:
    """Bring a merged list into the wanted order; what it does not name keeps its place among the others."""
    merged = result.get(name)
    if not isinstance(wanted, list):
        raise ApiFailure(422, "Invalid", f"{_ORDER}{name} must be a list")
    if not isinstance(merged, list):
        return
    key = field_of(type_name, name).key
    identify: Callable[[object], object] = (
        (lambda item: item.get(key) if isinstance(item, dict) else item) if key else (lambda item: item)
    )
    ranks = [identify(item) for item in wanted]
    before = [identify(item) for item in target.get(name) or []]
    named = sorted((item for item in merged if identify(item) in ranks), key=lambda item: ranks.index(identify(item)))
    others = [item for item in merged if identify(item) not in ranks]
    ordered: list[object] = []
    while named and others:
        mine, theirs = identify(named[0]), identify(others[0])
        first = mine not in before or (theirs in before and before.index(mine) < before.index(theirs))
        ordered.append((named if first else others).pop(0))
    result[name] = [*ordered, *named, *others]
