"""Made-up identities: the same seed and the same order of requests give the same ids, names and boot times."""

from __future__ import annotations

import itertools
import random
import string
import uuid
from ipaddress import IPv4Network

ADDRESSES = IPv4Network("198.18.0.0/15")
"""Reserved for benchmarks (RFC 2544): never somebody's real address."""

SUFFIX_LENGTH = 5


class Names:
    """Makes ids, names and addresses, none of them twice."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._random = random.Random(seed)
        self._taken: set[str] = set()
        self._addresses = itertools.count(10)

    def uuid(self) -> str:
        """A new UUID."""
        return str(uuid.UUID(int=self._random.getrandbits(128), version=4))

    def member(self, prefix: str, pool_id: str) -> str:
        """A name as Instance Pools give it to a member: prefix, start of the pool's id, five random letters."""
        while True:
            suffix = "".join(self._random.choices(string.ascii_lowercase, k=SUFFIX_LENGTH))
            name = f"{prefix}-{pool_id[:SUFFIX_LENGTH]}-{suffix}"
            if name not in self._taken:
                self._taken.add(name)
                return name

    def address(self) -> str:
        """An IPv4 address; unique among the last 131,000 ones."""
        return str(ADDRESSES[next(self._addresses) % ADDRESSES.num_addresses])

    def mac(self) -> str:
        """A locally administered MAC address."""
        tail = self._random.getrandbits(32).to_bytes(4, "big")
        return ":".join(f"{octet:02x}" for octet in (0x06, 0x00, *tail))

    def jitter(self, instance_id: str) -> float:
        """How an instance differs from the average: from -1 to 1, always the same for the same id."""
        return random.Random(f"{self._seed}/{instance_id}").uniform(-1, 1)
