"""Objects as clients send them: which fields a kind has, and the protobuf form that kubectl prefers to write in."""

from exoscaler.sandbox.kubernetes.wire.conformity import Conformed, conform
from exoscaler.sandbox.kubernetes.wire.protobuf import PROTOBUF, decode_protobuf
from exoscaler.sandbox.kubernetes.wire.zero_values import fill_zero_values

__all__ = ["PROTOBUF", "Conformed", "conform", "decode_protobuf", "fill_zero_values"]
