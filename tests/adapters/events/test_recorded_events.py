"""Every request recorded from Knative's real adapters is understood, in either content mode."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from cloudevents.http import from_http

from exoscaler.ports.events import ChangeKind, Relevance, Wakeup, WakeupKind
from tests.adapters.events.requests import Request, recorded

KINDS = {"Pod": WakeupKind.POD, "Node": WakeupKind.NODE, "Event": WakeupKind.KUBERNETES_EVENT}
CHANGES = {"add": ChangeKind.ADDED, "update": ChangeKind.UPDATED, "delete": ChangeKind.DELETED}
EVERY = pytest.mark.parametrize(
    "request_", [pytest.param(request, id=f"{line} {request.name}") for line, request in enumerate(recorded(), 1)]
)


def relevance_of(name: str) -> list[Relevance]:
    return [request.decoded().relevance for request in recorded() if request.name == name]


@EVERY
def test_kind_and_change_are_those_of_the_adapter(request_: Request) -> None:
    wakeup = request_.decoded()

    words = re.fullmatch(r"\w+ dev\.knative\.apiserver\.\w+\.(\w+) (\w+)(?: \w+)?", request_.name)
    if words is None:
        assert (wakeup.kind, wakeup.change) == (WakeupKind.TICK, None)
    else:
        assert (wakeup.kind, wakeup.change) == (KINDS[words[2]], CHANGES[words[1]])


@EVERY
def test_the_same_event_in_structured_mode_is_the_same_wakeup(request_: Request) -> None:
    assert request_.as_structured().decoded() == request_.decoded()


@EVERY
def test_the_official_sdk_reads_the_same_id_source_and_time(request_: Request) -> None:
    wakeup = request_.decoded()

    attributes = from_http({k.lower(): v for k, v in request_.headers.items()}, request_.body).get_attributes()
    assert (wakeup.id, wakeup.source) == (attributes["id"], attributes["source"])
    assert wakeup.occurred_at is not None
    seconds, _, rest = attributes["time"].partition(".")
    assert wakeup.occurred_at.isoformat() == f"{seconds}.{rest.removesuffix('Z')[:6].ljust(6, '0')}+00:00"


@EVERY
def test_subject_is_named_as_in_the_attributes_unless_it_is_an_enclosed_cluster_event(request_: Request) -> None:
    wakeup = request_.decoded()

    if wakeup.kind is WakeupKind.TICK:
        assert (wakeup.subject_namespace, wakeup.subject_name) == ("", "")
    elif wakeup.kind is not WakeupKind.KUBERNETES_EVENT or "reference" in request_.name:
        told = (request_.headers["Ce-Namespace"], request_.headers["Ce-Name"])
        assert (wakeup.subject_namespace, wakeup.subject_name) == told
    else:
        # the Event web.18ed02d319d6b214 is about the Deployment web
        assert wakeup.subject_name == request_.headers["Ce-Name"].rpartition(".")[0]


def test_a_recorded_wakeup_in_full() -> None:
    node = next(r for r in recorded() if r.name == "resource dev.knative.apiserver.resource.add Node")

    assert node.decoded() == Wakeup(
        kind=WakeupKind.NODE,
        id=node.headers["Ce-Id"],
        source="https://10.96.0.1:443",
        occurred_at=datetime(2026, 12, 1, 3, 15, 38, 764407, tzinfo=UTC),
        subject_namespace="",
        subject_name="pool-b-0",
        change=ChangeKind.ADDED,
        relevance=Relevance.RELEVANT,
    )


def test_a_life_of_a_pod_shows_something_only_when_the_scheduler_failed_to_place_it() -> None:
    # R14
    assert set(relevance_of("resource dev.knative.apiserver.resource.add Pod")) == {Relevance.POD_NOT_TRIED_YET}
    assert set(relevance_of("resource dev.knative.apiserver.resource.update Pod")) == {Relevance.POD_ALREADY_BOUND}
    assert set(relevance_of("resource dev.knative.apiserver.resource.update Pod Unschedulable")) == {Relevance.RELEVANT}
    assert set(relevance_of("resource dev.knative.apiserver.resource.delete Pod")) == {Relevance.POD_DELETED}


def test_of_cluster_events_only_failed_scheduling_shows_something() -> None:
    assert set(relevance_of("resource dev.knative.apiserver.resource.add Event FailedScheduling")) == {
        Relevance.RELEVANT
    }
    assert set(relevance_of("resource dev.knative.apiserver.resource.add Event")) == {
        Relevance.EVENT_NOT_ABOUT_SCHEDULING
    }


def test_references_hide_what_changed_and_so_show_something_unless_the_object_is_gone() -> None:
    for request in recorded():
        if "reference" in request.name:
            wakeup = request.decoded()
            gone = wakeup.change is ChangeKind.DELETED
            assert wakeup.relevance is (Relevance.POD_DELETED if gone else Relevance.RELEVANT)
