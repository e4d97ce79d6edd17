"""Every way in which a call can fail, as the error that says how to react."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from exoscaler.adapters.kubernetes import transport
from exoscaler.adapters.kubernetes.access import Access
from exoscaler.adapters.kubernetes.calls import DISRUPTION_BUDGETS, EVENTS, NODES, PODS, Call, Verb
from exoscaler.adapters.kubernetes.cluster import KubernetesCluster
from exoscaler.errors import (
    Conflict,
    Denied,
    ExoscalerError,
    NotFound,
    RateLimited,
    Rejected,
    RemoteError,
    TimedOut,
    Unavailable,
)
from tests.adapters.kubernetes.stub import Reply, Stub, failure, open_access, success, write_config
from tests.fakes.clock import FakeClock

LIST_PODS = Call(Verb.LIST, PODS)
EVICT = Call(Verb.CREATE, PODS, namespace="default", name="web-1", subresource="eviction", body={})


def error_of(access: Access, call: Call = LIST_PODS) -> RemoteError:
    with pytest.raises(RemoteError) as raised:
        access.ask(call).content()
    return raised.value


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, Rejected),
        (401, Denied),
        (403, Denied),
        (404, NotFound),
        (405, Rejected),
        (408, TimedOut),
        (409, Conflict),
        (410, Unavailable),
        (413, Rejected),
        (415, Rejected),
        (422, Rejected),
        (429, RateLimited),
        (500, Unavailable),
        (502, Unavailable),
        (503, Unavailable),
        (504, Unavailable),
        (302, Unavailable),
    ],
)
def test_status_says_how_to_react(access: Access, stub: Stub, status: int, kind: type[RemoteError]) -> None:
    stub.answers(failure(status, "the server says why"))
    error = error_of(access)
    assert type(error).__mro__.index(kind) <= 1
    assert (error.operation, error.target, error.status) == ("list pods", "", status)
    assert "the server says why" in str(error)


def test_redirect_is_not_followed(access: Access, stub: Stub) -> None:
    stub.answers(Reply(302, "", {"Location": f"{stub.url}/elsewhere"}))
    assert isinstance(error_of(access), Unavailable)
    assert [request.path for request in stub.requests] == ["/api/v1/pods"]


def test_error_names_the_object(access: Access, stub: Stub) -> None:
    stub.answers(failure(404, 'pods "web-1" not found'))
    error = error_of(access, EVICT)
    assert str(error) == 'create pods/eviction default/web-1: not found (HTTP 404): pods "web-1" not found'


@pytest.mark.parametrize(
    ("call", "advice"),
    [
        (LIST_PODS, 'RBAC must allow verb "list" on resource "pods": pods is forbidden'),
        (EVICT, 'RBAC must allow verb "create" on resource "pods/eviction": '),
        (Call(Verb.PATCH, NODES, name="a"), 'RBAC must allow verb "patch" on resource "nodes": '),
        (
            Call(Verb.LIST, DISRUPTION_BUDGETS),
            'RBAC must allow verb "list" on resource "poddisruptionbudgets" of API group "policy": ',
        ),
    ],
)
def test_refusal_names_the_missing_right(access: Access, stub: Stub, call: Call, advice: str) -> None:
    stub.answers(failure(403, 'pods is forbidden: User "x" cannot do it', reason="Forbidden"))
    assert advice in str(error_of(access, call))


def test_credentials_that_are_not_accepted_are_not_a_missing_right(access: Access, stub: Stub) -> None:
    stub.answers(failure(401, "Unauthorized"))
    error = error_of(access)
    assert "does not accept the credentials" in str(error)
    assert "RBAC" not in str(error)


def test_namespace_that_is_going_is_a_conflict_and_no_missing_right(access: Access, stub: Stub) -> None:
    stub.answers(failure(403, "being terminated", reason="Forbidden", causes=("NamespaceTerminating",)))
    error = error_of(access, Call(Verb.CREATE, EVENTS, namespace="going", name="e", body={}))
    assert isinstance(error, Conflict)


@pytest.mark.parametrize(
    ("reply", "retry_after"),
    [
        (failure(429, retry_after="7"), timedelta(seconds=7)),
        (failure(429, retryAfterSeconds=3), timedelta(seconds=3)),
        (failure(429), None),
        (failure(429, retry_after="Wed, 21 Oct 2026 07:28:00 GMT"), None),
        (failure(429, retry_after="-5"), None),
        (failure(429, retry_after="99999999999"), timedelta(hours=1)),
        (Reply(429, "Too many requests, please try again later.", {"Retry-After": "1"}), timedelta(seconds=1)),
    ],
)
def test_rate_limit_tells_when_to_come_back(
    access: Access, stub: Stub, reply: Reply, retry_after: timedelta | None
) -> None:
    stub.answers(reply)
    error = error_of(access)
    assert isinstance(error, RateLimited)
    assert error.retry_after == retry_after


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>", "502 Bad Gateway nginx"),
        ("upstream connect error", "upstream connect error"),
        ("", ""),
        ('{"message": 5}', '{"message": 5}'),
        ("[" * 5000, "["),
        ('"text"', '"text"'),
    ],
)
def test_failure_that_is_not_the_api_servers_own_is_told_as_text(
    access: Access, stub: Stub, body: str, told: str
) -> None:
    stub.answers(Reply(502, body))
    error = error_of(access)
    assert isinstance(error, Unavailable)
    assert error.detail.startswith(told)
    assert len(error.detail) <= 300


@pytest.mark.parametrize("reply", [Reply(reset=True), Reply(body="x", cut=True), Reply(503, "x", cut=True)])
def test_answer_that_breaks_off_is_unavailability(access: Access, stub: Stub, reply: Reply) -> None:
    stub.answers(reply)
    error = error_of(access, EVICT)
    assert isinstance(error, Unavailable)
    assert error.took_effect, "the change may have been made"
    assert len(stub.requests) == 1, "a change is not repeated behind the caller's back"


def test_answer_that_does_not_come_is_a_time_out(access: Access, stub: Stub) -> None:
    stub.answers(Reply(hangs=True))
    error = error_of(access, EVICT)
    assert isinstance(error, TimedOut)
    assert error.took_effect
    assert len(stub.requests) == 1


def test_answer_that_drips_is_a_time_out(access: Access, stub: Stub) -> None:
    stub.answers(Reply(body="x" * 100, drips=0.05))
    error = error_of(access)
    assert isinstance(error, TimedOut)
    assert "not complete in time" in str(error)
    stub.answers(Reply(body="{}"))
    assert access.ask(LIST_PODS).ok, "the connection with the rest of the answer in it is not used again"


def test_answer_of_an_absurd_size_is_cut_off(access: Access, stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "MAX_BODY", 1000)
    stub.answers(Reply(body="x" * 5000))
    assert "larger than 1,000 bytes" in str(error_of(access))


@pytest.fixture
def dead_port() -> Iterator[int]:
    """A port that nobody listens on, kept so that nobody else takes it."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


def test_server_that_is_not_there_is_unavailable(dead_port: int, clock: FakeClock, tmp_path: Path) -> None:
    kubeconfig = write_config(tmp_path / "config", f"http://127.0.0.1:{dead_port}")
    with open_access(kubeconfig, clock) as access:
        error = error_of(access)
    assert isinstance(error, Unavailable)
    assert "refused" in str(error)


def test_server_that_speaks_no_tls_is_unavailable(stub: Stub, clock: FakeClock, tmp_path: Path) -> None:
    kubeconfig = write_config(tmp_path / "config", stub.url.replace("http:", "https:"))
    with open_access(kubeconfig, clock) as access:
        error = error_of(access)
    assert isinstance(error, Unavailable)
    assert "SSL" in str(error)
    assert "\n" not in str(error)


def test_error_hides_no_cause_and_shows_no_token(stub: Stub, clock: FakeClock, tmp_path: Path) -> None:
    kubeconfig = write_config(tmp_path / "config", stub.url, {"token": "very-secret-token"})
    stub.answers(Reply(reset=True))
    with open_access(kubeconfig, clock) as access:
        error = error_of(access)
    assert stub.requests[0].headers["authorization"] == "Bearer very-secret-token"
    chain: BaseException | None = error
    assert error.__cause__ is not None
    while chain is not None:
        assert "very-secret-token" not in f"{chain} {chain!r}"
        chain = chain.__cause__ or chain.__context__


class TestReading:
    """A read is repeated while it fails for a passing reason, with pauses that grow, and not for ever."""

    def test_passing_failure_is_bridged(self, access: Access, stub: Stub, clock: FakeClock) -> None:
        stub.answers(failure(503), Reply(reset=True), failure(429, retry_after="2"), success({"items": 1}))
        assert access.read(LIST_PODS) == b'{"items": 1}'
        assert len(stub.requests) == 4
        assert len(clock.pauses) == 3
        assert all(pause > timedelta(0) for pause in clock.pauses)
        assert clock.pauses[2] > timedelta(seconds=2), "the server is not asked again before it wants to be"

    def test_lasting_failure_is_raised_after_a_few_attempts(self, access: Access, stub: Stub) -> None:
        stub.answers(failure(503, "etcd has no leader"))
        with pytest.raises(Unavailable, match="etcd has no leader"):
            access.read(LIST_PODS)
        assert len(stub.requests) == 4

    @pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 410, 422])
    def test_failure_that_will_not_pass_is_raised_at_once(
        self, access: Access, stub: Stub, clock: FakeClock, status: int
    ) -> None:
        stub.answers(failure(status))
        with pytest.raises(RemoteError):
            access.read(LIST_PODS)
        assert len(stub.requests) == 1
        assert clock.pauses == []

    def test_server_that_wants_a_long_pause_is_left_to_the_next_tick(
        self, access: Access, stub: Stub, clock: FakeClock
    ) -> None:
        stub.answers(failure(429, retry_after="60"))
        with pytest.raises(RateLimited):
            access.read(LIST_PODS)
        assert (len(stub.requests), clock.pauses) == (1, [])


@pytest.mark.parametrize(
    "body", ["", "<html>Sign in</html>", "[]", "{}", '{"metadata": {}}', '{"metadata": {"name": 1}}']
)
def test_success_that_is_not_what_was_asked_for_is_unavailability(access: Access, stub: Stub, body: str) -> None:
    stub.answers(Reply(200, body))
    cluster = KubernetesCluster(access)
    with pytest.raises(Unavailable, match="get nodes a: unavailable: the answer is not understood"):
        cluster.node("a")
    with pytest.raises(Unavailable, match="list nodes: unavailable: the answer is not understood"):
        cluster.nodes()


def test_everything_raised_is_an_error_of_exoscaler(access: Access, stub: Stub) -> None:
    cluster = KubernetesCluster(access)
    for reply in (
        Reply(reset=True),
        Reply(500, "x"),
        Reply(200, "{"),
        Reply(418, ""),
        Reply(204, ""),
    ):
        stub.answers(reply)
        for read in (cluster.nodes, cluster.snapshot, lambda: cluster.node("a"), lambda: cluster.pods_on("a")):
            with pytest.raises(ExoscalerError):
                read()
