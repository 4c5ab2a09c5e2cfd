"""`agent-fox view`: the page of a run in a browser, live."""

from __future__ import annotations

import os
import webbrowser
from importlib.util import find_spec
from pathlib import Path

import click

from agent_fox.cli.errors import UserError
from agent_fox.cli.opening import reading, state_file
from agent_fox.cli.page.whole import whole_run
from agent_fox.cli.place import here
from agent_fox.cli.screen import json_option, print_json
from agent_fox.config import ConfigError
from agent_fox.store.state import StateError, is_locked
from agent_fox.system.git import GitError
from agent_fox.system.redaction.masking import secret_values
from agent_fox.system.state_folders import LOCK
from agent_fox.web.page import MOST_TEXT, page

MISSING = "`agent-fox view` needs its extra: pip install 'agent-fox[view]'; `agent-fox report` works without"


@click.command("view", short_help="Show the page of a run in a browser, live, on this machine only.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="The port. Unset: any that is free."
)
@click.option("--open/--no-open", "is_opened", default=None, help="Open a browser. Unset: where there is a screen.")
@json_option
def command(port: int, is_opened: bool | None, as_json: bool) -> None:
    """Serve the page of `agent-fox report` on 127.0.0.1 and keep it current while a run goes on; end it by Ctrl-C.

    It can only be looked at: nothing can be done through it. The address that it prints holds a token, without which
    it answers nobody.
    """
    if find_spec("starlette") is None or find_spec("uvicorn") is None:
        raise UserError(MISSING)
    from agent_fox.web.server import Unavailable, View, listening, serve  # noqa: PLC0415 - of an extra

    root = here()
    with reading(root):
        pass  # what is wrong with the state is told here, not in the browser
    try:
        own = listening(port)
    except OSError as error:
        raise UserError(f"port {port}: {error.strerror}; --port 0 takes any that is free") from None
    secrets = secret_values(os.environ)

    def make() -> str:
        try:
            return page(whole_run(root, most=MOST_TEXT), secrets=secrets, is_live=True)
        except (StateError, ConfigError, GitError, OSError) as error:
            raise Unavailable(str(error)) from error

    view = View(make, lambda: stamp(root))

    def ready() -> None:
        if as_json:
            print_json({"address": view.address, "port": view.port})
        else:
            click.echo(f"view: {view.address} (Ctrl-C ends it)")
        if has_screen() if is_opened is None else is_opened:
            webbrowser.open(view.address)

    serve(view, own, ready)


def has_screen() -> bool:
    return os.name == "nt" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def stamp(root: Path) -> object:
    """What changes when the state does, and when a run ends without a word: file, log of writes, lock."""
    path = state_file(root)
    files = []
    for each in (path, path.with_name(f"{path.name}-wal")):
        try:
            status = each.stat()
            files.append((status.st_ino, status.st_mtime_ns, status.st_size))
        except OSError:
            files.append((0, 0, 0))
    try:
        is_running = is_locked(root / LOCK)
    except (OSError, StateError):
        is_running = False
    return (*files, is_running)
