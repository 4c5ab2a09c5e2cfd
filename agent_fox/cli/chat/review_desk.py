"""How a review desk is put together for a server: whose project, which reviewer, where the state lies.

The reviewer is told by a person: by the options that stand in the client's settings, or in the person's own
`review.toml`. Nothing here is read from a file of the workspace, for the agent under review can write all of those.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from agent_fox.cli.errors import UserError
from agent_fox.cli.place import OWN, find_root
from agent_fox.config import REVIEW_FILE, ReviewSettings, load_review, own_folder
from agent_fox.core.values import dataclass
from agent_fox.engine.doors.reviewing import Desk, known_secrets
from agent_fox.evidence import witness
from agent_fox.review.clearing import FILE as PASSWORD_FILE
from agent_fox.review.reviewer import Reviewer, ReviewerTrouble, is_within, resolved
from agent_fox.system.state_folders import IGNORED, default_state, folder_of

STATE_FILE = "state.db"
PROJECT = "CLAUDE_PROJECT_DIR"
SESSION = "CLAUDE_CODE_SESSION_ID"
IGNORE_FILE = ".gitignore"


@dataclass(frozen=True, slots=True)
class DeskWish:
    """What the options of a server say."""

    repos: tuple[Path, ...] = ()
    project: Path | None = None
    timeout: float | None = None
    reviewer: tuple[str, ...] = ()


def desk_of(wish: DeskWish, environ: Mapping[str, str]) -> Desk:
    """The desk that these options and the person's settings ask for. Raises UserError, ConfigError."""
    root = project_of(wish.project, environ)
    settings = _settings(wish, environ)
    folders = [
        root,
        *(Path(project_dir) for project_dir in (*settings.project_dirs, settings.project_dir or "") if project_dir),
    ]
    for name in (REVIEW_FILE, PASSWORD_FILE):
        if (own_folder(environ) / name).exists():
            refuse_inside(own_folder(environ) / name, folders)
    reviewer = _reviewer(settings, environ, folders)
    prepare_state(root)
    return Desk(
        state=root / OWN / STATE_FILE,
        witness=witness.path_of(environ, root),
        home=folder_of(default_state(environ), root) / "reviews",
        password=own_folder(environ) / PASSWORD_FILE,
        settings=settings,
        reviewer=reviewer,
        project=str(wish.project) if wish.project else environ.get(PROJECT),
        here=Path.cwd(),
        session=environ.get(SESSION, ""),
        secrets_known=known_secrets(environ),
    )


def undecided_desk() -> Desk:
    """A desk that only describes its server: nothing is read, found or made for it."""
    nowhere = Path("/nonexistent")
    return Desk(nowhere, nowhere, nowhere, nowhere, ReviewSettings(), Reviewer((), (), {}, 1.0), None, nowhere)


def project_of(named: Path | None, environ: Mapping[str, str]) -> Path:
    """The root of the project that keeps the tasks."""
    named = named or (Path(environ[PROJECT]) if environ.get(PROJECT) else None)
    if named is not None and not named.is_dir():
        raise UserError(f"{PROJECT}={named}: there is no such folder; correct it, or name the project by --project")
    return find_root((named or Path.cwd()).resolve())


def _settings(wish: DeskWish, environ: Mapping[str, str]) -> ReviewSettings:
    """The person's settings, with what the options say over them."""
    settings: dict[str, object] = {}
    if wish.repos:
        settings["project_dirs"] = [str(repo.resolve()) for repo in wish.repos]
    if wish.timeout is not None:
        settings["timeout"] = wish.timeout
    if wish.reviewer:
        settings["command"] = list(wish.reviewer)
    return load_review(environ).model_copy(update=settings)


def refuse_inside(file: Path, folders: list[Path]) -> None:
    """Settings that an agent could write are none."""
    if is_within(file, tuple(folder.resolve() for folder in folders)):
        raise UserError(f"{file}: lies in the workspace under review; set XDG_CONFIG_HOME to a folder outside of it")


def _reviewer(settings: ReviewSettings, environ: Mapping[str, str], folders: list[Path]) -> Reviewer:
    if not settings.command:
        raise UserError(
            'no reviewer is set; put a table [review] with command = ["claude", "--print", "--tools", ""] or '
            f"another program into {own_folder(environ) / REVIEW_FILE}, or name it behind `--`: agent-fox mcp review "
            "-- PROGRAM ARGUMENT... (what was changed is sent to it; a file of the workspace cannot name it)"
        )
    try:
        return resolved(settings.command, environ, folders, seconds=settings.timeout, inherit=settings.inherit)
    except ReviewerTrouble as error:
        raise UserError(str(error)) from error


def prepare_state(root: Path) -> None:
    """Our folder in the project, with its .gitignore as `init` writes it; what is there stays."""
    file = root / OWN / IGNORE_FILE
    if file.exists():
        return
    try:
        file.parent.mkdir(exist_ok=True)
        file.write_text("".join(f"{name}\n" for name in IGNORED), encoding="utf-8")
    except OSError as error:
        raise UserError(f"{error.filename}: {error.strerror}; the review keeps its tasks there") from error
