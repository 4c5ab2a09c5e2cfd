"""`agent-fox init`: the settings file with every default as a comment, what git ignores, and a first spec."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent_fox.cli.errors import UserError
from agent_fox.cli.place import OWN, here
from agent_fox.cli.screen import json_option, print_json
from agent_fox.cli.setup.settings_tables import Row, tables
from agent_fox.cli.setup.skills import KINDS, install
from agent_fox.config import FILE
from agent_fox.core.late import late_module
from agent_fox.core.regex import regex
from agent_fox.engine.planning.extensions import backends_of
from agent_fox.plugins import load_plugins
from agent_fox.session.agents.registry import ACP, NAMES
from agent_fox.specs.places import USUAL_PLACES, taken_by
from agent_fox.specs.plain.dialect import example, is_reserved
from agent_fox.system.state_folders import IGNORED, IGNORED_BY_ITSELF

if TYPE_CHECKING:
    from agent_fox.core import words
    from agent_fox.session.briefs import project_words
else:
    words = late_module("agent_fox.core.words")
    project_words = late_module("agent_fox.session.briefs.project_words")

EXAMPLE = "agent-fox init --agent command -- PROGRAM ARGUMENT..."
INTRO = """# Settings of agent-fox for this repository. A line such as `# attempts = 3` shows a default;
# take the `#` away to change it. Each is also an environment variable: AGENT_FOX__RETRY__ATTEMPTS=5.
#
# A session finds what it is to do in the file that its variable AGENT_FOX_BRIEF names. An agent that wants
# its task as an argument gets it through a shell of your own:
#   command = ["sh", "-c", 'exec my-agent --prompt "$(cat "$AGENT_FOX_BRIEF")"']
"""
SPECS = Path(OWN) / "specs"
FIRST_SPEC = "example"
_SPEC_NAME = regex(r"(?P<stem>[A-Za-z0-9][A-Za-z0-9_-]{0,99})(?P<suffix>\.md|\.toml)?")
_COLUMN = 40  # where the comment behind a setting starts
Chosen = Mapping[str, Mapping[str, object]]  # path of a table -> its keys and values


@click.command("init", short_help="Set up a repository: a commented settings file, and what git ignores.")
@click.option(
    "--agent",
    "backend",
    metavar="BACKEND",
    help="Who codes and reviews: claude, codex, gemini, opencode, mini, `acp` or `command`.",
)
@click.option(
    "--skill",
    "skills",
    multiple=True,
    type=click.Choice(KINDS),
    help="Also teach agents in a chat: a Claude Code skill, or a part of AGENTS.md. Repeatable.",
)
@click.option(
    "--spec",
    "spec",
    metavar="[NAME]",
    is_flag=False,
    flag_value=FIRST_SPEC,
    help=f"Also write a small spec to begin with, {SPECS}/NAME.md (NAME.toml for TOML). NAME is `{FIRST_SPEC}`.",
)
@click.option(
    "--steering",
    "steering",
    metavar="FILE",
    help="Also give sessions a file of yours, such as CLAUDE.md: it is copied to .agent-fox/steering.md.",
)
@click.argument("argv", nargs=-1, type=click.UNPROCESSED)
@json_option
def command(
    backend: str | None,
    skills: tuple[str, ...],
    spec: str | None,
    steering: str | None,
    argv: tuple[str, ...],
    as_json: bool,
) -> None:
    """Write `.agent-fox/config.toml` and `.agent-fox/.gitignore`. What is there already stays as it is; only settings
    that nobody has changed yet take an agent.

    With `--agent claude` (or codex, gemini, opencode, mini) that program is the coder and the reviewer, and judges
    beside the spec's own tests. With `--agent acp -- PROGRAM ARGUMENT...` any program that speaks the Agent Client
    Protocol does. With `--agent command -- PROGRAM ARGUMENT...` your own program is the coder and the
    reviewer; the verifier is then the spec's own tests, without any model.
    """
    root = here()
    chosen = _agents(backend, argv)
    is_untouched = _holds(root / FILE, config_text({}))
    if chosen and (root / FILE).exists() and not is_untouched:
        raise UserError(f"{FILE} exists already and stays as it is; set [agents.coder] there")
    files = {FILE: config_text(chosen), Path(OWN) / ".gitignore": "".join(f"{name}\n" for name in IGNORED)}
    first = _first_spec(root, spec)
    files |= first | _steering(root, steering)
    if chosen and is_untouched:
        (root / FILE).unlink()
    if _holds(root / OWN / ".gitignore", IGNORED_BY_ITSELF):
        (root / OWN / ".gitignore").unlink()
    written = {str(name): _write_new(root / name, text) for name, text in files.items()}
    written |= {str(path): is_new for path, is_new in (install(root, kind) for kind in skills)}
    if as_json:
        return print_json({"root": str(root), "written": [name for name, is_new in written.items() if is_new]})
    for name, is_new in written.items():
        click.echo(f"{'wrote' if is_new else 'kept '} {name}")
    for name in project_words.unread_words(root):
        click.echo(f"sessions do not read {name}; to give it to them: agent-fox init --steering {name}")
    click.echo(_next(root, first))


def _steering(root: Path, name: str | None) -> dict[Path, str]:
    """The steering file, as a copy of a file in the repository. Raises UserError where that cannot be read."""
    if name is None:
        return {}
    try:
        return {project_words.STEERING_FILE: (root / name).read_text(encoding="utf-8")}
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UserError(f"--steering {name}: it cannot be read ({why})") from error


def _first_spec(root: Path, name: str | None) -> dict[Path, str]:
    """The spec to write, if one is asked for. Raises UserError where a spec has that name already."""
    if name is None:
        return {}
    match = _SPEC_NAME.fullmatch(name)
    if match is None:
        raise UserError(f"{name!r} is no name for a spec: letters, digits, - and _, then .md or .toml if you like")
    suffix = match["suffix"] or ".md"
    if is_reserved(f"{match['stem']}{suffix}"):
        raise UserError(f"{match['stem']}{suffix} is the name of another kind of file; name it for what it asks for")
    there = taken_by(root, match["stem"])
    if there is not None:
        raise UserError(f"{there} is there already and stays as it is; name another: init --spec NAME")
    return {SPECS / f"{match['stem']}{suffix}": example(suffix)}


def _next(root: Path, first: Mapping[Path, str]) -> str:
    if first:
        names = ", ".join(map(str, first))
        return f"next: write what you want into {names}, then run `agent-fox plan` and `agent-fox lint`"
    if any((root / place).is_dir() for place in USUAL_PLACES):
        return "next: run `agent-fox doctor`, `agent-fox plan` and `agent-fox lint`"
    return (
        "next: put specs into .agent-fox/specs (begin with `agent-fox init --spec`), "
        "look with `agent-fox doctor` and `agent-fox plan`"
    )


def _agents(backend: str | None, argv: tuple[str, ...]) -> Chosen:
    if backend is None:
        if argv:
            raise UserError("a program needs its backend: agent-fox init --agent command -- PROGRAM ARGUMENT...")
        return {}
    if backend == "command" and not argv:
        raise UserError("the backend `command` needs a program: agent-fox init --agent command -- PROGRAM ARGUMENT...")
    known = backends_of(load_plugins())
    if backend not in known:
        hint = words.did_you_mean(backend, known)
        raise UserError(f"there is no backend {backend!r}{hint} (known: {', '.join(sorted(known))})")
    if backend == ACP:
        if not argv:
            raise UserError("the backend `acp` needs a program: agent-fox init --agent acp -- PROGRAM ARGUMENT...")
        agent: dict[str, object] = {"backend": backend, "command": list(argv)}
        judge = {"backend": ["checks", backend], "command": list(argv)}
        return {"agents.coder": agent, "agents.reviewer": agent, "agents.verifier": judge}
    if backend in NAMES and argv:
        raise UserError(f"the backend `{backend}` knows its program; set further arguments as [agents.coder] arguments")
    if backend in NAMES:
        agent = {"backend": backend}
        return {"agents.coder": agent, "agents.reviewer": agent, "agents.verifier": {"backend": ["checks", backend]}}
    agent = {"backend": backend, "command": list(argv)}
    return {"agents.coder": agent, "agents.reviewer": agent, "agents.verifier": {"backend": "checks"}}


def config_text(chosen: Chosen) -> str:
    """The settings file: what is chosen stands as it is, every other default as a comment."""
    own = (table for table in tables() if not table.inherits)
    sections = ([f"\n# {table.about}", table.header, *_lines(table.rows, chosen.get(table.path, {}))] for table in own)
    return INTRO + "".join(f"{line}\n" for section in sections for line in section)


def _lines(rows: tuple[Row, ...], chosen: Mapping[str, object]) -> Iterator[str]:
    for row in rows:
        is_chosen = row.key in chosen
        value = json.dumps(chosen[row.key], ensure_ascii=False) if is_chosen else row.default
        yield f"{'' if is_chosen else '# '}{row.key} = {value}".ljust(_COLUMN) + f"  # {row.description}"


def _holds(file: Path, text: str) -> bool:
    try:
        return file.read_text(encoding="utf-8") == text
    except (OSError, UnicodeDecodeError):
        return False


def _write_new(file: Path, text: str) -> bool:
    """Write a file that is not there yet; False where one is."""
    if file.exists():
        return False
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8") as new:
            new.write(text)
    except OSError as error:
        raise UserError(f"{error.filename}: {error.strerror}") from error
    return True
