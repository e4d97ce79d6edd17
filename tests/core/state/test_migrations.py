"""There is one version so far; the mechanism is tried with a made-up version 0."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping

import pytest

from exoscaler.core.state import Payload, UnreadableState, decode, encode
from exoscaler.core.state.documents import VERSION
from exoscaler.core.state.migrations import MIGRATIONS, Documents, Migration
from tests.core.state.states import simple_state


def version_0(evaluations: object = 7) -> Payload:
    """In the made-up version 0 the number of evaluations was kept with the operations."""
    documents = {key: json.loads(text) for key, text in encode(simple_state()).text.items()}
    for document in documents.values():
        document["version"] = 0
    del documents["observations.json"]["evaluations"]
    if evaluations is not None:
        documents["operations.json"]["evaluation-count"] = evaluations
    return Payload(text={key: json.dumps(document) for key, document in documents.items()})


def move_the_count(documents: Documents) -> Documents:
    operations = dict(documents["operations"])
    count = operations.pop("evaluation-count")
    return {
        **documents,
        "operations": operations,
        "observations": {**documents["observations"], "evaluations": count},
    }


FROM_0: Mapping[int, Migration] = {0: move_the_count}


def test_state_of_an_older_version_is_migrated() -> None:
    state = decode(version_0(), migrations=FROM_0)
    assert state == simple_state(evaluations=7)
    assert state.operations.version == VERSION


def test_migrated_state_is_stored_in_the_current_version() -> None:
    migrated = decode(version_0(), migrations=FROM_0)
    assert {json.loads(text)["version"] for text in encode(migrated).text.values()} == {VERSION}


def test_compressed_state_of_an_older_version_is_migrated() -> None:
    binary = {f"{key}.gz": gzip.compress(text.encode()) for key, text in version_0().text.items()}
    assert decode(Payload(binary=binary), migrations=FROM_0) == simple_state(evaluations=7)


def test_what_a_migration_makes_is_checked_like_anything_else() -> None:
    with pytest.raises(UnreadableState, match="observations: evaluations"):
        decode(version_0(evaluations="many"), migrations=FROM_0)


def test_migration_that_does_not_find_what_it_expects_leaves_the_state_unreadable() -> None:
    with pytest.raises(UnreadableState, match="migration from version 0 failed: KeyError"):
        decode(version_0(evaluations=None), migrations=FROM_0)


def test_migration_that_loses_a_document_leaves_the_state_unreadable() -> None:
    with pytest.raises(UnreadableState, match="node-groups: document: Input should be an object"):
        decode(version_0(), migrations={0: lambda documents: {"observations": documents["observations"]}})


def test_version_without_a_way_to_the_current_one_is_unreadable() -> None:
    with pytest.raises(UnreadableState, match="version 0 is older than this release can migrate"):
        decode(version_0(), migrations={})
    with pytest.raises(UnreadableState, match="version -3 is older"):
        decode(at_version(-3), migrations=FROM_0)


def at_version(version: int) -> Payload:
    documents = {key: json.loads(text) for key, text in encode(simple_state()).text.items()}
    return Payload(text={key: json.dumps({**doc, "version": version}) for key, doc in documents.items()})


def test_newer_version_is_unreadable_and_never_guessed_at() -> None:
    with pytest.raises(UnreadableState, match=rf"version {VERSION + 1} is newer than this release knows \({VERSION}\)"):
        decode(at_version(VERSION + 1))


def test_every_older_version_since_the_first_can_be_migrated() -> None:
    assert set(MIGRATIONS) == set(range(1, VERSION))
