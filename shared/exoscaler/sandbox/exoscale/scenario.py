"""What an account looks like when the sandbox starts: written in Python, YAML or JSON.

::

    zone: ch-gva-2
    quotas: {instance: 20}
    clusters:
      - name: demo
        nodepools:
          - {name: general, size: 1, instance-type: standard.medium, labels: {tier: web}}
          - name: gpu
            size: 0
            instance-type: gpua30.small
            taints: {nvidia.com/gpu: {value: present, effect: NoSchedule}}
    pools:
      - {name: batch, size: 1, instance-type: standard.large}
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal, Self

import yaml
from pydantic import AfterValidator, Field, ValidationError, model_validator

from exoscaler.sandbox.exoscale import instance_types
from exoscaler.sandbox.exoscale.kebab import KebabModel, mistakes

UUID_PATTERN = r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"
STORAGE_LVM_MIN_DISK_GIB = 100


class ScenarioError(ValueError):
    """A scenario that cannot be read; the message lists every mistake."""


class QuotaSurface(StrEnum):
    """How a scale beyond the quota shows. The real API's way is not documented, so all are worth meeting."""

    REJECT = "reject"
    """The request is refused with a 400; nothing changes."""
    FAIL_OPERATION = "fail-operation"
    """The request is accepted; the operation fails with reason ``forbidden`` and the size stays as it was."""
    PARTIAL = "partial"
    """What fits is created and the size stays as ordered; the operation fails with reason ``partial``."""
    STUCK = "stuck"
    """What fits is created and the operation succeeds: the pool just has fewer members than its size."""


class Timing(KebabModel):
    """How long things take, in seconds of simulated time."""

    accept_seconds: float = Field(default=1.0, ge=0)
    """From an accepted change to the first thing that happens."""
    appear_seconds: float = Field(default=0.5, ge=0)
    """Between two new members."""
    finish_seconds: float = Field(default=3.0, ge=0)
    """From the last thing the control plane does to the end of the operation."""
    settle_seconds: float = Field(default=2.0, ge=0)
    """From there until the pool is ``running`` again."""
    boot_seconds: float = Field(default=40.0, ge=0)
    """From ``starting`` to ``running``, on average."""
    boot_jitter: float = Field(default=0.2, ge=0, lt=1)
    """The part of the boot time by which instances differ."""
    stop_seconds: float = Field(default=4.0, ge=0)
    """How long an instance is ``stopping``."""
    destroy_seconds: float = Field(default=4.0, ge=0)
    """How long it is ``destroying`` before it is gone."""


def _known_type(name: str) -> str:
    return instance_types.by_name(name).name


Uuid = Annotated[str, Field(pattern=UUID_PATTERN)]
Name = Annotated[str, Field(min_length=1, max_length=255)]
TypeName = Annotated[str, AfterValidator(_known_type)]


class Taint(KebabModel):
    """The value and effect of a taint; its key is the key of the map it is in."""

    value: str = Field(min_length=1, max_length=255)
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]


class _Group(KebabModel):
    """What nodepools and standalone pools have in common. An `id` left out is made up."""

    id: Uuid | None = None
    name: Name
    size: int = Field(ge=0)
    instance_type: TypeName
    instance_prefix: str = Field(
        default="pool", min_length=1, max_length=30, pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
    )
    description: str = Field(default="", max_length=255)
    anti_affinity_groups: tuple[Name, ...] = Field(default=(), max_length=8)
    """Names; a name used by two groups is the same anti-affinity group."""
    min_available: int = Field(default=0, ge=0)
    boot_seconds: float | None = Field(default=None, ge=0)
    """Overrides the scenario's timing."""


class NodepoolSpec(_Group):
    """An SKS Nodepool. Its `labels` and `taints` are those of its nodes."""

    disk_size: int = Field(default=50, ge=20, le=51200)
    labels: dict[str, str] = Field(default_factory=dict)
    taints: dict[str, Taint] = Field(default_factory=dict)
    kubelet_max_pods: int | None = Field(default=None, ge=1, le=65535)
    addons: tuple[Literal["storage-lvm"], ...] = ()

    @model_validator(mode="after")
    def _storage_needs_room(self) -> Self:
        if self.addons and self.disk_size < STORAGE_LVM_MIN_DISK_GIB:
            message = f"addon storage-lvm needs a disk-size of at least {STORAGE_LVM_MIN_DISK_GIB} GiB"
            raise ValueError(message)
        return self


class PoolSpec(_Group):
    """A standalone Instance Pool. `labels` are the pool's own; nodes get `node_labels` and `node_taints`."""

    disk_size: int = Field(default=50, ge=10, le=51200)
    labels: dict[str, str] = Field(default_factory=dict)
    node_labels: dict[str, str] = Field(default_factory=dict)
    node_taints: dict[str, Taint] = Field(default_factory=dict)


class InstanceSpec(KebabModel):
    """An instance that no pool manages. `registers` says whether it becomes a node of the cluster."""

    id: Uuid | None = None
    name: Name
    instance_type: TypeName
    disk_size: int = Field(default=50, ge=10, le=51200)
    labels: dict[str, str] = Field(default_factory=dict)
    registers: bool = False
    node_labels: dict[str, str] = Field(default_factory=dict)
    node_taints: dict[str, Taint] = Field(default_factory=dict)


class ClusterSpec(KebabModel):
    """An SKS cluster."""

    id: Uuid | None = None
    name: Name
    version: str = "1.34.1"
    level: Literal["starter", "pro"] = "pro"
    cni: Literal["calico", "cilium"] = "cilium"
    addons: tuple[
        Literal["exoscale-cloud-controller", "exoscale-container-storage-interface", "karpenter", "metrics-server"], ...
    ] = ("exoscale-cloud-controller", "metrics-server")
    nodepools: tuple[NodepoolSpec, ...] = Field(default=(), max_length=16)


class Scenario(KebabModel):
    """An account in one zone. Quotas that `quotas` does not name keep their usual limit; -1 is unlimited."""

    zone: str = Field(default="ch-gva-2", pattern=r"^[a-z]{2}-[a-z]+-\d+$")
    clusters: tuple[ClusterSpec, ...] = ()
    pools: tuple[PoolSpec, ...] = ()
    instances: tuple[InstanceSpec, ...] = ()
    quotas: dict[str, Annotated[int, Field(ge=-1)]] = Field(default_factory=dict)
    quota_surface: QuotaSurface = QuotaSurface.FAIL_OPERATION
    timing: Timing = Timing()

    @classmethod
    def load(cls, path: Path) -> Scenario:
        """Read a YAML or JSON file.

        Raises:
            ScenarioError: the file cannot be read or does not describe an account.
        """
        try:
            content: object = yaml.safe_load(path.read_text(encoding="utf-8"))
            return cls.model_validate(content)
        except ValidationError as error:
            lines = "\n".join(f"  - {mistake}" for mistake in mistakes(error))
            raise ScenarioError(f"{path} does not describe an account:\n{lines}") from error
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            raise ScenarioError(f"{path} cannot be read: {error}") from error


DEFAULT_SCENARIO = Scenario(
    quotas={"instance": 20},
    clusters=(
        ClusterSpec(
            name="demo",
            nodepools=(
                NodepoolSpec(name="general", size=1, instance_type="standard.medium", instance_prefix="general"),
                NodepoolSpec(
                    name="compute",
                    size=1,
                    instance_type="cpu.extra-large",
                    instance_prefix="compute",
                    labels={"workload": "compute"},
                    taints={"workload": Taint(value="compute", effect="NoSchedule")},
                ),
            ),
        ),
    ),
    pools=(
        PoolSpec(
            name="batch",
            size=1,
            instance_type="standard.large",
            instance_prefix="batch",
            node_labels={"workload": "batch"},
        ),
    ),
)
"""One cluster with an open and a tainted nodepool, and a standalone pool; room for 20 instances."""
