"""Builds everything from the settings; the only package that knows all of them."""

from exoscaler.wiring.service import EventRequest, Service, start

__all__ = ["EventRequest", "Service", "start"]
