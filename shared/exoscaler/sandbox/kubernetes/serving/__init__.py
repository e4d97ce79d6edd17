"""The API over HTTP: paths, formats, streams, and the faults that can be asked for."""

from exoscaler.sandbox.kubernetes.serving.app import create_app

__all__ = ["create_app"]
