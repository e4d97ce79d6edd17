"""Changes of Node objects that cannot lose what somebody else changes at the same time.

A change is a round of three: read the node, decide on what was read, send a patch that carries the resourceVersion of
what was read. When the node changed in between, the API server refuses with 409, and the round begins anew. A round
whose answer was lost begins anew, too: if its patch arrived, the next one finds nothing to do.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from exoscaler.adapters.kubernetes.access import Access
from exoscaler.adapters.kubernetes.answers import malformed
from exoscaler.adapters.kubernetes.calls import NODES, Call, JsonObject, Verb
from exoscaler.adapters.kubernetes.node_marks import Edit, MarkedByOthers, MarkedNode, marking, unmarking
from exoscaler.adapters.kubernetes.retries import is_transient
from exoscaler.core.operations.effects import DeleteNode, TaintNode, UntaintNode
from exoscaler.errors import Conflict, ExoscalerError, NotFound

ROUNDS = 6


def taint_node(access: Access, change: TaintNode) -> None:
    """Mark a node for deletion and, if asked, cordon it, in one write; see `marking`.

    Raises:
        NotFound: the node is gone, or another node has its name.
        Conflict: somebody else's mark is on the node, or others kept changing it; nothing was written.
        RemoteError: any other failure.
    """
    _change(access, change.node_name, change.node_uid, lambda node: marking(node, change))


def untaint_node(access: Access, change: UntaintNode) -> None:
    """Take the mark back; see `unmarking`. A node that is gone, or was replaced by another, is success.

    Raises:
        Conflict: others kept changing it; nothing was written.
        RemoteError: any other failure.
    """
    try:
        _change(access, change.node_name, change.node_uid, lambda node: unmarking(node, change))
    except NotFound:
        return


def delete_node(access: Access, change: DeleteNode) -> None:
    """Delete the Node object if it still is the one meant; one that is gone or replaced is success.

    Raises:
        Conflict: the API server refuses, although it still is the one meant.
        RemoteError: any other failure.
    """
    options: JsonObject = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": change.node_uid}}
    try:
        access.ask(Call(Verb.DELETE, NODES, name=change.node_name, body=options)).content()
    except NotFound:
        return
    except Conflict:
        if _is_there(access, change):
            raise


def _is_there(access: Access, change: DeleteNode) -> bool:
    try:
        _read(access, change.node_name, change.node_uid)
    except NotFound:
        return False
    return True


def _change(access: Access, name: str, uid: str, decide: Callable[[MarkedNode], Edit]) -> None:
    def one_round() -> None:
        node = _read(access, name, uid)
        edit = decide(node)
        if not edit.is_empty:
            access.ask(Call(Verb.PATCH, NODES, name=name, body=edit.patch(node))).content()

    def again(error: ExoscalerError) -> bool:
        changed_meanwhile = isinstance(error, Conflict) and not isinstance(error, MarkedByOthers)
        return changed_meanwhile or is_transient(error)

    access.patience.repeat(one_round, attempts=ROUNDS, again=again)


def _read(access: Access, name: str, uid: str) -> MarkedNode:
    call = Call(Verb.GET, NODES, name=name)
    content = access.ask(call).content()
    try:
        node = msgspec.json.decode(content, type=MarkedNode)
    except msgspec.DecodeError as error:
        raise malformed(call, error) from error
    if node.metadata.uid != uid:
        raise NotFound(call.operation, name, detail=f"another node, of uid {node.metadata.uid}, has its name now")
    return node
