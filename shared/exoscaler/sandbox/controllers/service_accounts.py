"""Service accounts: every namespace has one named ``default``, without which an API server takes no pods."""

from __future__ import annotations

from exoscaler.sandbox.controllers.reading import Reader
from exoscaler.sandbox.controllers.resources import NAMESPACES, SERVICE_ACCOUNTS
from exoscaler.sandbox.controllers.writing import Writer
from exoscaler.sandbox.objects import ObjectClient

DEFAULT_ACCOUNT = "default"


class ServiceAccounts:
    """Creates the default service account of namespaces that lack it."""

    name = "service-accounts"

    def __init__(self, client: ObjectClient, reader: Reader) -> None:
        self._writer = Writer(client)
        self._reader = reader

    def step(self) -> bool:
        """Look at every namespace once."""
        having = {
            account["metadata"]["namespace"]
            for account in self._reader.all(SERVICE_ACCOUNTS)
            if account["metadata"]["name"] == DEFAULT_ACCOUNT
        }
        changed = False
        for namespace in self._reader.all(NAMESPACES):
            metadata = namespace["metadata"]
            if metadata["name"] in having or metadata.get("deletionTimestamp"):
                continue
            body = {
                "apiVersion": SERVICE_ACCOUNTS.group,
                "kind": "ServiceAccount",
                "metadata": {"name": DEFAULT_ACCOUNT, "namespace": metadata["name"]},
            }
            changed = self._writer.create(SERVICE_ACCOUNTS, body) is not None or changed
        return changed
