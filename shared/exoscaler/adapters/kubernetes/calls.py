"""A call to the Kubernetes API, said in the words of its access rules: a verb, a resource, a namespace, a name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias
from urllib.parse import quote, urlencode

JsonObject: TypeAlias = Mapping[str, object]
"""A JSON object to send."""

MERGE_PATCH = "application/merge-patch+json"


class Verb(StrEnum):
    """What the call does, as RBAC names it."""

    GET = "get"
    LIST = "list"
    CREATE = "create"
    PATCH = "patch"
    DELETE = "delete"


_METHODS = {Verb.GET: "GET", Verb.LIST: "GET", Verb.CREATE: "POST", Verb.PATCH: "PATCH", Verb.DELETE: "DELETE"}


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource of the API; `group` is empty for the core group."""

    plural: str
    group: str = ""
    version: str = "v1"


NODES = Resource("nodes")
PODS = Resource("pods")
EVENTS = Resource("events")
CONFIG_MAPS = Resource("configmaps")
DISRUPTION_BUDGETS = Resource("poddisruptionbudgets", "policy")
DAEMON_SETS = Resource("daemonsets", "apps")


@dataclass(frozen=True, slots=True)
class Call:
    """One call. `namespace` is empty for what is in none, and in a list for all namespaces.

    Attributes:
        query: query parameters; those with an empty value are left out.
        body: sent as JSON; a patch is a JSON merge patch.
    """

    verb: Verb
    resource: Resource
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    query: Mapping[str, str] = field(default_factory=dict)
    body: JsonObject | None = None

    @property
    def method(self) -> str:
        """The HTTP method."""
        return _METHODS[self.verb]

    @property
    def path(self) -> str:
        """The path with its query."""
        where = self.resource
        parts = ["apis", where.group, where.version] if where.group else ["api", where.version]
        if self.namespace:
            parts += ["namespaces", self.namespace]
        # The name of an object to create is in its body, but that of an object to act on is in the path.
        named = self.name if self.verb is not Verb.CREATE or self.subresource else ""
        parts += [part for part in (where.plural, named, self.subresource) if part]
        query = urlencode({key: value for key, value in self.query.items() if value})
        path = "/" + "/".join(quote(part, safe="") for part in parts)
        return f"{path}?{query}" if query else path

    @property
    def access(self) -> str:
        """The resource as RBAC names it, subresource included."""
        return f"{self.resource.plural}/{self.subresource}" if self.subresource else self.resource.plural

    @property
    def operation(self) -> str:
        """What the call is, for messages: ``list pods``."""
        return f"{self.verb} {self.access}"

    @property
    def target(self) -> str:
        """The object it is about, for messages: ``default/web-1``; empty for a list of all."""
        return "/".join(part for part in (self.namespace, self.name) if part)
