"""Where the API server is and how to prove who we are: a kubeconfig, or the service account of the pod we run in.

Imports the official client, which takes long; import this module only when there is something to ask.
"""

from __future__ import annotations

import ipaddress
from pathlib import Path
from urllib.parse import urlsplit

import yaml
from kubernetes import config
from kubernetes.client import ApiClient, Configuration
from kubernetes.config import ConfigException
from kubernetes.config.kube_config import ENV_KUBECONFIG_PATH_SEPARATOR, KUBE_CONFIG_DEFAULT_LOCATION

from exoscaler.errors import SettingsError


def open_client(kubeconfig: str, user_agent: str, connections: int) -> ApiClient:
    """A client of the official library, with credentials that it renews by itself.

    `kubeconfig` names a file (or several, separated as in ``KUBECONFIG``). When it is empty, what the environment
    variable ``KUBECONFIG`` or else ``~/.kube/config`` names counts if it exists, and the pod's service account
    otherwise: the order that kubectl has, too.

    Raises:
        SettingsError: nothing usable was found; the message says where it was looked for.
    """
    configuration = Configuration()
    _load(kubeconfig, configuration)
    configuration.connection_pool_maxsize = connections
    # Whether a call may be repeated depends on what it does; the library would go by the method alone.
    configuration.retries = False
    if _is_loopback(configuration.host):
        configuration.proxy = None
    client = ApiClient(configuration)
    client.user_agent = user_agent
    return client


def _load(kubeconfig: str, configuration: Configuration) -> None:
    source = kubeconfig or _default_kubeconfig()
    try:
        if source:
            config.load_kube_config(  # type: ignore[no-untyped-call]  # the library is typed in part
                config_file=source, client_configuration=configuration, persist_config=False
            )
        else:
            config.load_incluster_config(  # type: ignore[no-untyped-call]  # the library is typed in part
                client_configuration=configuration
            )
    except (ConfigException, OSError, yaml.YAMLError, KeyError, TypeError, AttributeError, ValueError) as error:
        raise SettingsError((_mistake(source, error),)) from error


def _default_kubeconfig() -> str:
    """The default location as the library read it from the environment; empty when no such file exists."""
    location = str(KUBE_CONFIG_DEFAULT_LOCATION)
    parts = [part for part in location.split(ENV_KUBECONFIG_PATH_SEPARATOR) if part]
    return location if any(Path(part).expanduser().exists() for part in parts) else ""


def _mistake(source: str, error: Exception) -> str:
    if source:
        return f"the kubeconfig {source} cannot be used: {error}"
    return (
        "there is no kubeconfig (setting kubeconfig, environment variable KUBECONFIG, ~/.kube/config) "
        f"and no usable service account of a pod: {error}"
    )


def _is_loopback(host: str) -> bool:
    """Whether the API server is on this machine, which no proxy can reach; other clients leave proxies out, too."""
    name = urlsplit(host).hostname or ""
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"
