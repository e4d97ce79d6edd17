"""Kubeconfig files: written for the sandbox, read for any cluster."""

from __future__ import annotations

from pathlib import Path

import yaml
from pydantic import SecretStr

_NAME = "exoscaler-sandbox"
_PRIVATE = 0o600


def write_kubeconfig(path: Path, url: str, token: SecretStr | None = None) -> Path:
    """Write a kubeconfig whose only context leads to `url`; readable by its owner alone.

    kubectl sends no token over plain HTTP: a sandbox for kubectl has to be one without token.
    """
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": _NAME,
        "clusters": [{"name": _NAME, "cluster": {"server": url}}],
        "users": [{"name": _NAME, "user": {"token": token.get_secret_value()} if token else {}}],
        "contexts": [{"name": _NAME, "context": {"cluster": _NAME, "user": _NAME, "namespace": "default"}}],
    }
    path.touch(mode=_PRIVATE)
    path.chmod(_PRIVATE)
    path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return path
