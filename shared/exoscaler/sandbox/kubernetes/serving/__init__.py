"""The API over HTTP: paths, formats, streams, and the faults that can be asked for."""

from exoscaler.sandbox.kubernetes.serving.app import create_app
from exoscaler.sandbox.kubernetes.serving.open_watches import OpenWatches

__all__ = ["OpenWatches", "create_app"]
