"""Where pods go: the sandbox's own scheduler, which shares nothing with exoscaler's simulation of one."""

from __future__ import annotations

from exoscaler.sandbox.controllers.scheduling.scheduler import SCHEDULER_NAME, Scheduler

__all__ = ["SCHEDULER_NAME", "Scheduler"]
