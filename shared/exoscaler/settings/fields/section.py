"""What all sections of the settings share."""

from __future__ import annotations

from typing import ClassVar

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """Frozen, strict about types, closed to unknown names, and silent about input in error messages."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", hide_input_in_errors=True)

    section: ClassVar[str] = ""
    """The heading of the section in the reference page."""
