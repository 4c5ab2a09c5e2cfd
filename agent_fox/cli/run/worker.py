"""`agent-fox worker`: run sessions that an engine hands out, for runs on other hosts."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent_fox.cli.errors import UserError
from agent_fox.cli.place import here
from agent_fox.cli.screen import json_option, plain, print_json
from agent_fox.cli.version import installed
from agent_fox.core.late import late_module

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from agent_fox import config, plugins
    from agent_fox.cluster import sessions as held
    from agent_fox.cluster import ssh_host
    from agent_fox.cluster.worker import Worker
    from agent_fox.engine.planning import extensions
    from agent_fox.evidence.signing import keys
    from agent_fox.system import state_folders
else:
    config = late_module("agent_fox.config")
    held = late_module("agent_fox.cluster.sessions")
    ssh_host = late_module("agent_fox.cluster.ssh_host")
    plugins = late_module("agent_fox.plugins")
    keys = late_module("agent_fox.evidence.signing.keys")
    extensions = late_module("agent_fox.engine.planning.extensions")
    state_folders = late_module("agent_fox.system.state_folders")

OWN_KEY = "worker"
MISSING = "sessions on other hosts need an extra: pip install 'agent-fox[cluster]'"


@click.command("worker", short_help="Run sessions of runs on other hosts.")
@click.option("--engine", metavar="ADDRESS", help="Who hands sessions out: temporal://HOST:PORT. Unset: as configured.")
@click.option(
    "--serve", "serves", multiple=True, metavar="TAG=N",
    help="Take up to N sessions of this tag at the same time: coder, verifier, reviewer, or a place. Repeatable.",
)  # fmt: skip
@click.option(
    "--folder", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
    help="Where repositories of sessions stand while they run. Unset: in the state folder of this user.",
)  # fmt: skip
@click.option("--once", is_flag=True, help="Hold one session that comes in on standard input, as over ssh.")
@click.option("--key", metavar="KEY", help="Sign what is handed in with this key. Unset: `worker`, where there is one.")
@json_option
def command(
    engine: str | None, serves: tuple[str, ...], folder: Path | None, once: bool, key: str | None, as_json: bool
) -> None:
    """Run sessions of runs on other hosts, with the agents' programs and keys of this one, until it is ended.

    SIGTERM or Ctrl-C takes no more sessions and waits for those that run; a second one leaves them to other workers.
    """
    sessions = held.Sessions(
        folder or state_folders.default_state(os.environ) / "worker", installed(),
        extensions.backends_of(plugins.load_plugins()), identity_of(installed()), key=own_key(key),
    )  # fmt: skip
    if once:
        raise SystemExit(0 if ssh_host.serve(sessions) else 1)
    if not serves:
        raise UserError("nothing is to be served: --serve TAG=N, such as --serve coder=4")
    if find_spec("temporalio") is None:
        raise UserError(MISSING)
    from agent_fox.cluster import engine as engines  # noqa: PLC0415 - of an extra
    from agent_fox.cluster.connection import Connection, EngineAway  # noqa: PLC0415 - of an extra
    from agent_fox.cluster.worker import Worker  # noqa: PLC0415 - of an extra

    settings = config.load(here(), os.environ).cluster
    address = engine or settings.engine
    if not address:
        raise UserError("no engine is named: --engine temporal://HOST:PORT, or `engine` in [cluster]")
    try:
        place = engines.engine_of(address, settings, os.environ)
        connection = Connection(place, sessions.identity)
        sessions = replace(sessions, remote=engines.remote_of(settings))
        worker = Worker(connection, dict(map(slots_of, serves)), sessions, teller(as_json=as_json))
        signs = (
            "signed" if sessions.key else "signed by nobody: `agent-fox keys new worker --no-passphrase` makes a key"
        )
        worker.tell(f"{worker.identity} serves {', '.join(serves)} of {place.name}; what it hands in is {signs}")
        serve(worker)
    except (engines.EngineError, EngineAway) as error:
        raise UserError(str(error)) from error


def identity_of(version: str) -> str:
    """As it stands at the engine: which program, which version, which host, which process."""
    return f"agent-fox/{version} {socket.gethostname()} {os.getpid()}"


def own_key(name: str | None) -> Ed25519PrivateKey | None:
    """The key that is named, else the one of that name that is there. Raises KeyTrouble."""
    path = Path(name).expanduser() if name and os.sep in name else keys.folder(os.environ) / f"{name or OWN_KEY}.pem"
    return keys.load_key(path, None) if name or path.exists() else None


def slots_of(text: str) -> tuple[str, int]:
    tag, _, number = text.partition("=")
    if not tag or not number.isdecimal() or int(number) < 1:
        raise UserError(f"--serve {text!r}: write TAG=N, such as coder=4")
    return tag, int(number)


def teller(*, as_json: bool) -> Callable[[str], None]:
    def tell(text: str) -> None:
        if as_json:
            print_json({"text": text})
        else:
            click.echo(plain(f"worker: {text}"))

    return tell


def serve(worker: Worker) -> None:
    """Until a person ends it; the engine is reached in a thread of its own, so that signals are heard here."""
    stopped = asyncio.Event()
    loop = worker.connection.loop

    def stop(number: int, frame: object) -> None:
        if stopped.is_set():
            loop.call_soon_threadsafe(worker.leave_all)
        loop.call_soon_threadsafe(stopped.set)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    worker.connection.begin(worker.serve(stopped)).result()
