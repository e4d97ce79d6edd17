"""What the status function shows over HTTP: probes, metrics, JSON and a page, all made from one report."""

from exoscaler.adapters.web.answers import Shown, WebAnswer, answer

__all__ = ["Shown", "WebAnswer", "answer"]
