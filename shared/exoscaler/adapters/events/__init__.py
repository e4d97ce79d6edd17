"""CloudEvents in and out: what wakes a function, what a function tells the next, what senders are answered."""

from exoscaler.adapters.events.decode import decode
from exoscaler.adapters.events.encode import ContentMode, EncodedEvent, encode
from exoscaler.adapters.events.envelope import MAX_BODY_BYTES, EventTooLarge, MethodNotAllowed
from exoscaler.adapters.events.responses import JsonValue, Reply, come_again, done, dropped, refused
from exoscaler.adapters.events.sink import HttpEventSink, NoEventSink

__all__ = [
    "MAX_BODY_BYTES",
    "ContentMode",
    "EncodedEvent",
    "EventTooLarge",
    "HttpEventSink",
    "JsonValue",
    "MethodNotAllowed",
    "NoEventSink",
    "Reply",
    "come_again",
    "decode",
    "done",
    "dropped",
    "encode",
    "refused",
]
