"""The form in which a client wants objects: as they are, as rows of a table, or their metadata alone."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from exoscaler.sandbox.kubernetes.failures import ApiFailure

META_GROUP = "meta.k8s.io/v1"


class Form(StrEnum):
    """What the ``as`` parameter of an Accept header asks for."""

    OBJECT = ""
    TABLE = "Table"
    METADATA = "PartialObjectMetadata"


@dataclass(frozen=True, slots=True)
class _Range:
    media_type: str
    parameters: dict[str, str]
    quality: float


_LIST_FORMS = {"PartialObjectMetadataList": Form.METADATA}
_JSON = ("application/json", "application/*", "*/*")


def parse_accept(header: str) -> list[dict[str, str]]:
    """The parameters of every acceptable range that JSON satisfies, the preferred first."""
    ranges = [_parse_range(part) for part in header.split(",") if part.strip()]
    ranges.sort(key=lambda one: -one.quality)
    return [one.parameters for one in ranges if one.media_type in _JSON and one.quality > 0]


def requested_form(header: str) -> Form:
    """The first form in an Accept header that the server can give.

    Raises:
        ApiFailure: 406, there is none.
    """
    if not header.strip():
        return Form.OBJECT
    for parameters in parse_accept(header):
        wanted = parameters.get("as", "")
        if not wanted:
            return Form.OBJECT
        if parameters.get("g") == "meta.k8s.io" and parameters.get("v") == "v1":
            try:
                return _LIST_FORMS.get(wanted) or Form(wanted)
            except ValueError:
                continue
    message = "only the following media types are accepted: application/json"
    raise ApiFailure(406, "NotAcceptable", message)


def _parse_range(part: str) -> _Range:
    media_type, *rest = (piece.strip() for piece in part.split(";"))
    parameters = {name.strip(): value.strip().strip('"') for name, _, value in (piece.partition("=") for piece in rest)}
    try:
        quality = float(parameters.get("q", "1"))
    except ValueError:
        quality = 0.0
    return _Range(media_type, parameters, quality)
