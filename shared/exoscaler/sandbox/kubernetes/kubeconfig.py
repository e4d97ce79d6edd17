"""Kubeconfig files: written for the sandbox, read for any cluster."""

from __future__ import annotations

import base64
import binascii
import ssl
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from pydantic import SecretStr

from exoscaler.sandbox.kubernetes.json_values import entries, section
from exoscaler.sandbox.objects import JsonObject

_NAME = "exoscaler-sandbox"
_PRIVATE = 0o600
_UNSUPPORTED = ("exec", "auth-provider")


class KubeconfigError(Exception):
    """A kubeconfig cannot be used; the message says which file, what is wrong and what would be right."""


@dataclass(frozen=True, slots=True)
class ClusterAccess:
    """How to reach a cluster and how to be admitted. `tls` None: the system's trust, or no TLS at all."""

    server: str
    tls: ssl.SSLContext | None = field(default=None, repr=False)
    token: SecretStr | None = None
    user: str = ""
    password: SecretStr | None = None


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


def read_kubeconfig(path: Path, context: str = "") -> ClusterAccess:
    """The access that a context of a kubeconfig gives, the current one without `context`.

    Tokens, token files, client certificates and basic authentication are understood; credentials that another program
    has to fetch are not.

    Raises:
        KubeconfigError: the file, the context or what it refers to is missing or malformed.
    """
    content = _load(path)
    chosen = context or str(content.get("current-context", ""))
    names = _named(path, content, "contexts", chosen, "context")
    cluster = _named(path, content, "clusters", str(names.get("cluster", "")), "cluster")
    user = _named(path, content, "users", str(names.get("user", "")), "user") if names.get("user") else {}
    fetched = [kind for kind in _UNSUPPORTED if kind in user]
    if fetched:
        raise KubeconfigError(f"{path}: the user of {chosen} needs {fetched[0]}: use one with a token or certificate")
    server = str(cluster.get("server", ""))
    if not server.startswith(("http://", "https://")):
        raise KubeconfigError(f"{path}: the cluster of {chosen} needs a server URL, not {server!r}")
    return ClusterAccess(
        server=server.rstrip("/"),
        tls=_tls(path, cluster, user) if server.startswith("https://") else None,
        token=_token(path, user),
        user=str(user.get("username", "")),
        password=SecretStr(str(user["password"])) if user.get("password") else None,
    )


def _load(path: Path) -> JsonObject:
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise KubeconfigError(f"{path}: the kubeconfig cannot be read: {error}") from error
    except yaml.YAMLError as error:
        raise KubeconfigError(f"{path}: the kubeconfig is no valid YAML") from error
    if not isinstance(content, dict):
        raise KubeconfigError(f"{path}: a kubeconfig is an object with clusters, users and contexts")
    return content


def _named(path: Path, content: JsonObject, kind: str, name: str, part: str) -> JsonObject:
    for entry in entries(content, kind):
        if entry.get("name") == name:
            return section(entry, part)
    raise KubeconfigError(f"{path}: there is no {part} named {name!r}")


def _token(path: Path, user: JsonObject) -> SecretStr | None:
    if user.get("token"):
        return SecretStr(str(user["token"]))
    if user.get("tokenFile"):
        file = path.parent / str(user["tokenFile"])
        try:
            return SecretStr(file.read_text(encoding="utf-8").strip())
        except OSError as error:
            raise KubeconfigError(f"{path}: the token file {file} cannot be read: {error}") from error
    return None


def _tls(path: Path, cluster: JsonObject, user: JsonObject) -> ssl.SSLContext:
    context = ssl.create_default_context()
    try:
        authority = _pem(path, cluster, "certificate-authority")
        if authority:
            context = ssl.create_default_context(cadata=authority.decode("ascii"))
        if cluster.get("insecure-skip-tls-verify"):
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        certificate, key = _pem(path, user, "client-certificate"), _pem(path, user, "client-key")
        if certificate and key:
            _load_pair(context, certificate, key)
    except (ssl.SSLError, OSError, binascii.Error, UnicodeDecodeError) as error:
        raise KubeconfigError(f"{path}: a certificate or key cannot be used: {error}") from error
    return context


def _pem(path: Path, source: JsonObject, name: str) -> bytes:
    """A certificate or key, from the file itself or from the one it names; empty when there is none."""
    embedded = source.get(f"{name}-data")
    if embedded:
        return base64.b64decode(str(embedded), validate=True)
    return (path.parent / str(source[name])).read_bytes() if source.get(name) else b""


def _load_pair(context: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    # The ssl module reads certificates from files only; these vanish as soon as it has.
    with tempfile.NamedTemporaryFile() as pair:
        pair.write(certificate + b"\n" + key)
        pair.flush()
        context.load_cert_chain(pair.name)
