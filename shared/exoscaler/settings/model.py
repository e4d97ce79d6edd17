"""The settings as one frozen value."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict, SecretStr, model_validator

from exoscaler.core.policy import ResourceLimits
from exoscaler.settings.contradictions import contradictions
from exoscaler.settings.values import Values

_GIB = 2**30


class ExoscaleAccess(BaseModel):
    """Where Exoscale's API is and what it is asked with. Comes from the EXOSCALE_* environment variables alone.

    Attributes:
        zone: the zone of the cluster, e.g. ``ch-gva-2``.
        endpoint: base address of the API, with ``/v2`` and without a slash at the end.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", hide_input_in_errors=True)

    zone: str
    api_key: SecretStr
    api_secret: SecretStr
    environment: str = "api"
    endpoint: str


class Settings(Values):
    """Every setting, under the flag's name with underscores. Frozen; made by `exoscaler.settings.load_settings`.

    Quantities are in the units of the flags: `memory_total` in GiB, `max_graceful_termination_sec` in seconds.

    Raises:
        pydantic.ValidationError: (a ValueError) a value out of range, or values that contradict each other.
    """

    exoscale: ExoscaleAccess | None = None
    """Access to Exoscale; None when another cloud provider is chosen."""

    @property
    def memory_total_bytes(self) -> ResourceLimits:
        """`memory_total` in bytes."""
        return ResourceLimits(self.memory_total.minimum * _GIB, self.memory_total.maximum * _GIB)

    @property
    def secret_values(self) -> tuple[str, ...]:
        """The secrets in plain text, for one purpose: `exoscaler.logs.configure` keeps them out of every line."""
        if self.exoscale is None:
            return ()
        return (self.exoscale.api_key.get_secret_value(), self.exoscale.api_secret.get_secret_value())

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        if found := contradictions(self):
            raise ValueError("; ".join(contradiction.what for contradiction in found))
        return self
