"""One process of one function: it takes a request apart, runs the use case, and answers in the sender's terms."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from exoscaler import logs
from exoscaler.adapters import web
from exoscaler.adapters.events import Reply, come_again, decode, done, dropped, refused
from exoscaler.app.evaluate import Recollection, evaluate
from exoscaler.app.invocation import Invocation, begin
from exoscaler.app.outcome import Outcome, OutcomeKind
from exoscaler.app.refresh import refresh
from exoscaler.app.scale_down import scale_down
from exoscaler.app.scale_up import scale_up
from exoscaler.app.status import not_ready, report
from exoscaler.errors import BudgetExhausted, EventError, RateLimited, RemoteError, SettingsError, StateError
from exoscaler.ports.events import FunctionName, Relevance, Wakeup
from exoscaler.settings import LoadedSettings, installed_providers, load_settings, process_environment
from exoscaler.wiring.outside import Outside, running

SOON = timedelta(seconds=5)
"""When a sender should come again after trouble that names no time of its own."""

log = logs.get("exoscaler.wiring.service")


@dataclass(frozen=True, slots=True)
class EventRequest:
    """An HTTP request, as far as it matters."""

    method: str
    headers: Mapping[str, str]
    body: bytes


class Service:
    """Answers requests for any of the functions. Safe to use from several threads."""

    def __init__(self, loaded: LoadedSettings) -> None:
        self.outside = Outside(loaded.settings)
        self._recollection = Recollection()
        self._use_cases: dict[FunctionName, Callable[[Invocation, Wakeup], Outcome]] = {
            FunctionName.REFRESH: lambda invocation, _: refresh(invocation),
            FunctionName.EVALUATE: lambda invocation, wakeup: evaluate(invocation, wakeup, self._recollection),
            FunctionName.SCALE_UP: lambda invocation, _: scale_up(invocation),
            FunctionName.SCALE_DOWN: lambda invocation, _: scale_down(invocation),
        }

    def close(self) -> None:
        """Give back every connection; the service is not used afterwards."""
        self.outside.close()

    def answer(self, function: FunctionName, request: EventRequest) -> Reply:
        """Run the function for what the request says.

        Never raises: a source that meets a crash loses its event, so whatever goes wrong is answered with "come again".
        """
        try:
            wakeup = decode(request.method, request.headers, request.body)
        except EventError as error:
            log.warning("a request is not an event", function=function.value, detail=str(error))
            return refused(error)
        relevance = wakeup.relevance_to(function)
        if relevance is not Relevance.RELEVANT:
            return dropped(relevance)
        return self._run(function, wakeup)

    def show(self, method: str, path: str) -> web.WebAnswer:
        """Show the state; never raises, and never writes."""
        try:
            return web.answer(method, path, self._shown)
        except (RemoteError, StateError) as error:
            log.warning("the state could not be shown", function="status", detail=str(error))
            return web.WebAnswer(b"the state cannot be read now\n", 503, {"Retry-After": "5"})
        except Exception as error:  # noqa: BLE001 - a page that fails is logged whole and must not kill the probe
            log.error("the state could not be shown", error=error, function="status")
            return web.WebAnswer(b"an unexpected failure; the log holds its details\n", 500)

    def _shown(self) -> web.Shown:
        outside = self.outside
        policy, now = outside.policy, outside.clock.now()
        state = outside.shown_state.load().state
        return web.Shown(state, report(state, now), not_ready(state, policy, now))

    def _run(self, function: FunctionName, wakeup: Wakeup) -> Reply:
        invocation_id = uuid.uuid4().hex[:12]
        bound = log.bind(function=function.value, decision_id=invocation_id)
        try:
            invocation = begin(invocation_id, self.outside.ports, self.outside.policy)
            token = running.set(invocation)
            try:
                outcome = self._use_cases[function](invocation, wakeup)
            finally:
                running.reset(token)
        except RateLimited as error:
            bound.warning("rate limited", detail=str(error))
            return come_again(error.retry_after or SOON, str(error))
        except (RemoteError, StateError, BudgetExhausted) as error:
            bound.error("the function could not finish", detail=str(error))
            return come_again(SOON, str(error))
        except Exception as error:  # noqa: BLE001 - a crash would lose the event; it is logged whole and tried again
            bound.error("the function failed unexpectedly", error=error)
            return come_again(SOON, "an unexpected failure; the log holds its details")
        bound.info("finished", wakeup=wakeup.kind.value, outcome=outcome.kind.value, reason=outcome.reason or None)
        return _reply(outcome)


def _reply(outcome: Outcome) -> Reply:
    match outcome.kind:
        case OutcomeKind.DONE:
            return done(outcome.facts)
        case OutcomeKind.DROPPED:
            return dropped(outcome.reason)
        case OutcomeKind.COME_AGAIN:
            return come_again(outcome.retry_after, outcome.reason)


def start(argv: tuple[str, ...] = ()) -> Service:
    """Load the settings and set up logging. Opens nothing yet.

    Raises:
        SystemExit: the settings do not allow a start; the message names every mistake.
    """
    try:
        loaded = load_settings(argv, process_environment(), installed_providers=installed_providers())
    except SettingsError as error:
        raise SystemExit(f"exoscaler cannot start: {error}") from None
    settings = loaded.settings
    logs.configure(settings.log_level, settings.log_format, settings.secret_values)
    for warning in loaded.warnings:
        log.warning("settings", detail=warning)
    return Service(loaded)
