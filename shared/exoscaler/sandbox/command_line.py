"""The sandbox from a shell: what to run is the first word, where it listens comes back as JSON lines."""

from __future__ import annotations

import argparse
import json
import logging
import os
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import yaml
from pydantic import SecretStr

from exoscaler.sandbox.clock import SandboxClock
from exoscaler.sandbox.controllers import CONTROLLER_GROUPS
from exoscaler.sandbox.exoscale import DEFAULT_SCENARIO, ExoscaleSandbox, RemoteMachineView, Scenario, ScenarioError
from exoscaler.sandbox.kubernetes import HttpObjectClient, KubeconfigError, KubernetesSandbox
from exoscaler.sandbox.objects import JsonObject, ObjectError
from exoscaler.sandbox.world import LOOPBACK, SANDBOX_KEY, SANDBOX_SECRET, Addresses, SandboxWorld

FAILED = 2
MAX_PORT = 65_535
EPILOG = f"""\
The Exoscale API checks signatures. Its key and secret are taken from EXOSCALE_API_KEY and EXOSCALE_API_SECRET; without
them they are {SANDBOX_KEY} and {SANDBOX_SECRET}. The Kubernetes API asks for no credentials.
SIGTERM and SIGINT end the sandbox."""


class _Refused(Exception):
    """The command cannot be carried out; the message is for the user."""


def main(arguments: Sequence[str]) -> int:
    """Run until a signal comes. Returns the exit status: 0 after a signal, 2 when it could not run."""
    options = _parser().parse_args(arguments)
    logging.basicConfig(
        level=options.log_level.upper(), stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s"
    )
    try:
        _run(options)
    except _Refused as refusal:
        sys.stderr.write(f"exoscaler.sandbox: {' '.join(str(refusal).split())}\n")
        return FAILED
    return 0


def _run(options: argparse.Namespace) -> None:
    with ExitStack() as connections:
        world = _world(options, connections)
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        _live(world, options, stop)
    _tell(event="stopped")


def _live(world: SandboxWorld, options: argparse.Namespace, stop: threading.Event) -> None:
    try:
        world.start()
    except OSError as error:
        ports = f"{options.exoscale_port} (Exoscale) or {options.kubernetes_port} (Kubernetes)"
        reason = error.strerror or error
        raise _Refused(f"cannot listen on {options.host}, port {ports}: {reason}; choose another port") from error
    except RuntimeError as error:
        raise _Refused(str(error)) from error
    try:
        _seed(world, options)
        _tell_where(world, options)
        stop.wait()
    finally:
        world.stop()


def _world(options: argparse.Namespace, connections: ExitStack) -> SandboxWorld:
    clock = SandboxClock(options.speed)
    mode = options.mode
    cloud = _cloud(options, clock) if mode in ("exoscale", "all") else None
    cluster = KubernetesSandbox(clock) if mode in ("kubernetes", "all") else None
    client = connections.enter_context(_client(options.kubeconfig)) if options.kubeconfig else None
    view = connections.enter_context(RemoteMachineView(options.machines_url)) if options.machines_url else None
    if mode == "exoscale":
        only: Sequence[str] = ()
    else:
        only = options.only.split(",") if options.only else CONTROLLER_GROUPS
    try:
        return SandboxWorld(
            clock,
            cloud=cloud,
            cluster=cluster,
            client=client,
            view=view,
            only=only,
            listen=Addresses(options.host, options.exoscale_port, options.kubernetes_port),
        )
    except ValueError as error:
        raise _Refused(str(error)) from error


def _cloud(options: argparse.Namespace, clock: SandboxClock) -> ExoscaleSandbox:
    try:
        scenario = Scenario.load(options.scenario) if options.scenario else DEFAULT_SCENARIO
    except ScenarioError as error:
        raise _Refused(str(error)) from error
    secret = SecretStr(os.environ.get("EXOSCALE_API_SECRET") or SANDBOX_SECRET)
    return ExoscaleSandbox(clock, key=_key(), secret=secret, scenario=scenario)


def _key() -> str:
    return os.environ.get("EXOSCALE_API_KEY") or SANDBOX_KEY


def _client(path: Path) -> HttpObjectClient:
    try:
        return HttpObjectClient.from_kubeconfig(path)
    except KubeconfigError as error:
        raise _Refused(str(error)) from error


def _seed(world: SandboxWorld, options: argparse.Namespace) -> None:
    if not options.workload:
        return
    try:
        text = options.workload.read_text(encoding="utf-8")
        manifests: list[JsonObject] = [document for document in yaml.safe_load_all(text) if document]
        world.apply(manifests)
    except (OSError, UnicodeDecodeError, yaml.YAMLError, ValueError, ObjectError) as error:
        raise _Refused(f"the workload {options.workload} cannot be created: {error}") from error


def _tell_where(world: SandboxWorld, options: argparse.Namespace) -> None:
    if world.cloud is not None:
        with world.cloud.cloud.at_present() as account:
            zone = account.zone
        _tell(event="exoscale", url=world.exoscale_url, zone=zone, key=_key())
    if world.cluster is not None:
        where = {"event": "kubernetes", "url": world.kubernetes_url}
        if options.kubeconfig_out:
            try:
                where["kubeconfig"] = str(world.write_kubeconfig(options.kubeconfig_out))
            except OSError as error:
                raise _Refused(f"the kubeconfig cannot be written to {options.kubeconfig_out}: {error}") from error
        _tell(**where)
    _tell(event="ready", mode=options.mode, speed=options.speed)


def _tell(**facts: object) -> None:
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m exoscaler.sandbox",
        description="A local Exoscale account and a local Kubernetes cluster, over real HTTP.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--speed", type=_speed, default=1.0, metavar="N", help="how much faster than the wall things go"
    )
    common.add_argument("--host", default=LOOPBACK, help="the address to listen on (default: %(default)s)")
    common.add_argument("--log-level", choices=("debug", "info", "warning", "error"), default="warning")
    common.set_defaults(
        exoscale_port=0,
        kubernetes_port=0,
        scenario=None,
        kubeconfig=None,
        kubeconfig_out=None,
        only="",
        workload=None,
        machines_url="",
    )
    cloud = argparse.ArgumentParser(add_help=False)
    cloud.add_argument("--exoscale-port", type=_port, default=0, metavar="PORT", help="0 takes a free one (default)")
    cloud.add_argument("--scenario", type=Path, metavar="FILE", help="what the account holds, as YAML or JSON")
    cluster = argparse.ArgumentParser(add_help=False)
    cluster.add_argument(
        "--kubernetes-port", type=_port, default=0, metavar="PORT", help="0 takes a free one (default)"
    )
    cluster.add_argument("--kubeconfig-out", type=Path, metavar="FILE", help="write a kubeconfig for the cluster there")
    cluster.add_argument("--workload", type=Path, metavar="FILE", help="manifests to create at the start, as YAML")
    groups = argparse.ArgumentParser(add_help=False)
    names = ",".join(CONTROLLER_GROUPS)
    groups.add_argument(
        "--only", default="", metavar="NAMES", help=f"which controllers to run, of {names} (default: all)"
    )
    elsewhere = argparse.ArgumentParser(add_help=False)
    elsewhere.add_argument(
        "--machines-url",
        default="",
        metavar="URL",
        help="let the machines of the Exoscale sandbox at URL join the cluster",
    )
    modes = parser.add_subparsers(dest="mode", required=True, metavar="MODE")
    exoscale = modes.add_parser("exoscale", parents=[common, cloud], help="the Exoscale API, and its machines")
    exoscale.add_argument(
        "--kubeconfig", type=Path, metavar="FILE", help="a cluster, real or local, in which the machines register nodes"
    )
    modes.add_parser(
        "kubernetes",
        parents=[common, cluster, groups, elsewhere],
        help="the Kubernetes API, and the cluster's controllers",
    )
    modes.add_parser("all", parents=[common, cloud, cluster, groups], help="both in one process")
    controllers = modes.add_parser(
        "controllers", parents=[common, groups, elsewhere], help="the controllers alone, for a cluster that lacks them"
    )
    controllers.add_argument("--kubeconfig", type=Path, metavar="FILE", required=True, help="the cluster")
    return parser


def _speed(text: str) -> float:
    speed = float(text)
    if not 0 < speed < float("inf"):
        raise argparse.ArgumentTypeError(f"a speed is a number above 0, not {text}")
    return speed


def _port(text: str) -> int:
    port = int(text)
    if not 0 <= port <= MAX_PORT:
        raise argparse.ArgumentTypeError(f"a port is a number from 0 to {MAX_PORT}, not {text}")
    return port
