"""`agent-fox mcp`: servers for coding agents. What they offer is in `agent_fox.mcp`; here is how one is started."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent_fox.cli.errors import UserError
from agent_fox.cli.screen import json_option, plain, print_json
from agent_fox.cli.verifier.options import VerifierOptions, context_of, verifier_options
from agent_fox.core.late import late_module

if TYPE_CHECKING:
    from agent_fox import plugins
    from agent_fox.cli import version
    from agent_fox.cli.verifier import late as late_verifier
    from agent_fox.verifier.profiles import model as profiles
else:
    late_verifier = late_module("agent_fox.cli.verifier.late")
    plugins = late_module("agent_fox.plugins")
    version = late_module("agent_fox.cli.version")
    profiles = late_module("agent_fox.verifier.profiles.model")

TOKEN = "AGENT_FOX_VERIFIER_TOKEN"
SHORTEST_TOKEN = 16
REMEDY = "`agent-fox mcp` needs the extra `mcp`; install it: pip install 'agent-fox[mcp]'"
_EXTRA = ("mcp", "mcp_types", "anyio", "starlette", "uvicorn")


@click.group("mcp", short_help="Serve tools to coding agents over MCP.")
def command() -> None:
    """Serve tools to coding agents over the Model Context Protocol. Needs the extra `mcp`."""


@command.command("verifier", short_help="Serve build, test, lint and format of a workspace as controlled tools.")
@verifier_options
@click.option("--http", is_flag=True, help="Serve streamable HTTP instead of standard input and output.")
@click.option("--host", default="127.0.0.1", show_default=True, help="With --http: the address to listen at.")
@click.option("--port", default=8765, show_default=True, type=click.IntRange(0, 65535), help="With --http: the port.")
@click.option(
    "--name", "names", multiple=True, metavar="HOST", help="With --http: another host name that clients may use."
)
@click.option(
    "--token-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help=f"With --http: a file with the token, which only its owner may read. Unset: the variable {TOKEN}.",
)
@click.option(
    "--state",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Let clients read the evidence in this state file (.agent-fox/state.db): specifications, gates, records.",
)
@json_option
def verifier(
    options: VerifierOptions,
    http: bool,
    host: str,
    port: int,
    names: tuple[str, ...],
    token_file: Path | None,
    state: Path | None,
    as_json: bool,
) -> None:
    """Serve build, test, lint and format of one workspace as controlled tools.

    Workspace, profile and what is allowed come from these options or their variables, never from a client. With
    --json, print what clients see of the server, and exit.
    """
    with _the_extra():
        from agent_fox.mcp import serving  # noqa: PLC0415 - the extra `mcp` may not be installed
    box = late_verifier.LateVerifier(context_of(options), options.formats)
    if options.formats or plugins.load_plugins().list_name_plugin():
        box.ready()  # what is wrong with a format or a plugin is said at once, and no edit changes it later
    if box.profile().policy.network is not profiles.NetworkProfile.NONE and not as_json:
        fetched = box.ready().resolve()
        click.echo(f"fetching dependencies: {plain(fetched.summary)}", err=True)
    if as_json:
        print_json(serving.describe_server(box, version.installed(), state))
    elif http:
        _serve_http(box, _token(token_file), host, port, names, state)
    else:
        serving.serve_stdio(box, version.installed(), state)


@command.command(
    "review", short_help="Serve independent review: register a task, have it reviewed, before it counts as done."
)
@click.option(
    "--repo",
    "repos",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A folder under review, instead of the client's roots. Repeatable.",
)
@click.option(
    "--project",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The project that keeps the tasks. Unset: CLAUDE_PROJECT_DIR, else the repository around the current folder.",
)
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), help="Time limit for the reviewer, in seconds.")
@click.argument("reviewer", nargs=-1, type=click.UNPROCESSED)
@json_option
def review(
    repos: tuple[Path, ...], project: Path | None, timeout: float | None, reviewer: tuple[str, ...], as_json: bool
) -> None:
    """Serve independent review of one project over standard input and output.

    The reviewer is a program that reads a prompt on its standard input and answers JSON: named here behind `--`, as in
    `agent-fox mcp review -- claude --print --model sonnet`, or by `command` in the table `[review]` of your own
    review.toml. What was changed is sent to it. With --json, print what clients see of the server, and exit.
    """
    from agent_fox.cli.chat.review_desk import (  # noqa: PLC0415 - brings the engine, which the verifier has no use for
        DeskWish,
        desk_of,
        undecided_desk,
    )

    with _the_extra():
        from agent_fox.mcp.review import server as review_server  # noqa: PLC0415 - the extra `mcp` may not be installed
    if as_json:
        print_json(review_server.describe_review(undecided_desk(), version.installed()))
    else:
        desk = desk_of(DeskWish(repos, project, timeout, reviewer), os.environ)
        review_server.serve_review(desk, version.installed())


def _serve_http(
    box: late_verifier.LateVerifier, token: str, host: str, port: int, names: tuple[str, ...], state: Path | None
) -> None:
    from agent_fox.mcp.http import Door, address, listen, serve_http  # noqa: PLC0415 - slow, and of the extra

    door = Door(token, host, port, names)
    try:
        listening = listen(door)
    except OSError as error:
        raise UserError(f"cannot listen at {host}:{port}: {error.strerror or error}") from error
    with listening:
        click.echo(f"the verifier listens at {address(host, listening.getsockname()[1])}", err=True)
        serve_http(box, version.installed(), door, listening, state)


@contextmanager
def _the_extra() -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] in _EXTRA:
            raise UserError(REMEDY) from missing
        raise


def _token(file: Path | None) -> str:
    """From a file of its owner's or from the environment; never from the command line, which everybody can read."""
    where = str(file) if file else TOKEN
    token = _read_private(file) if file else os.environ.pop(TOKEN, "")
    if not token:
        raise UserError(f"--http needs a token: put one into {TOKEN}, or name a file by --token-file")
    if len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise UserError(f"{where}: a token has at least {SHORTEST_TOKEN} printable characters and no space")
    return token


def _read_private(file: Path) -> str:
    with file.open(encoding="utf-8") as opened:
        if os.fstat(opened.fileno()).st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise UserError(f"{file}: others may read the token; run: chmod 600 {file}")
        return opened.read().strip()
