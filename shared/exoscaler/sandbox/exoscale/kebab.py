"""The base of everything that users write for the sandbox in YAML or JSON: kebab-case keys, none unknown."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, ValidationError


def _kebab(name: str) -> str:
    return name.replace("_", "-")


class KebabModel(BaseModel):
    """A frozen model whose fields are kebab-case on the wire and snake_case in Python."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=_kebab, validate_by_name=True, validate_by_alias=True
    )


def mistakes(error: ValidationError) -> tuple[str, ...]:
    """One sentence per mistake, each led by the path of the field it is in."""
    return tuple(
        ": ".join(
            filter(None, (".".join(str(part) for part in item["loc"]), item["msg"].removeprefix("Value error, ")))
        )
        for item in error.errors(include_url=False, include_input=False)
    )
