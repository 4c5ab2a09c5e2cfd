"""What a project says itself to its agents: steering and templates of its own, read from the person's repository.

Never from a workspace: an agent could have written it there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import resources
from pathlib import Path, PurePosixPath

from agent_fox.core.markdown import printable
from agent_fox.session.briefs.template import LONGEST_TEMPLATE, TemplateError, problems

TEMPLATES = ("coder", "conflict", "reviewer", "verifier")
PROMPTS_FOLDER = Path(".agent-fox/prompts")
STEERING_FILE = Path(".agent-fox/steering.md")
LONGEST_STEERING = 8_000

CHAT_FILES = ("CLAUDE.md", "AGENTS.md", "GEMINI.md")
"""What a project tells agents in a chat. No session reads them: in a workspace anybody may have written them."""

_SUFFIX = ".md"
_MOST_BYTES_A_LETTER = 4


def packaged(name: str) -> str:
    """The template of this name that ships with the package. Raises FileNotFoundError for an unknown one."""
    file = resources.files("agent_fox.session").joinpath("templates", f"{name}{_SUFFIX}")
    return file.read_text(encoding="utf-8")


def read_overrides(root: Path) -> Mapping[str, str]:
    """The project's own templates by name. `root` is the person's repository; no folder, no templates.

    Raises TemplateError for a file that cannot be read; whether it can be used, `check_templates` says.
    """
    files = {name: root / PROMPTS_FOLDER / f"{name}{_SUFFIX}" for name in TEMPLATES}
    return {name: _text_of(path, LONGEST_TEMPLATE) for name, path in files.items() if path.exists()}


def read_steering(root: Path) -> str:
    """The project's steering file, whole or cut with a note; empty where there is none.

    Raises TemplateError where it is there and cannot be read.
    """
    path = root / STEERING_FILE
    if not path.exists():
        return ""
    text = printable(_text_of(path, LONGEST_STEERING)).strip()
    if len(text) <= LONGEST_STEERING:
        return text
    return (
        f"{text[:LONGEST_STEERING].rstrip()}\n\n(Cut: {STEERING_FILE} is longer than {LONGEST_STEERING:,} characters.)"
    )


def unread_words(root: Path, committed: Iterable[str] = ()) -> tuple[str, ...]:
    """The project's files for agents in a chat, where no steering file says to sessions what they say: those at the
    root, and then those among the committed paths elsewhere, as in the packages of a large repository.
    """
    if (root / STEERING_FILE).exists():
        return ()
    here = [name for name in CHAT_FILES if (root / name).is_file()]
    return (*here, *sorted(path for path in committed if "/" in path and PurePosixPath(path).name in CHAT_FILES))


def check_templates(root: Path) -> list[str]:
    """What is wrong with the project's own templates and steering, one sentence each with file and remedy."""
    return [*_wrong_names(root), *_wrong_templates(root), *_wrong_steering(root)]


def _wrong_names(root: Path) -> Iterator[str]:
    folder = root / PROMPTS_FOLDER
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.suffix == _SUFFIX and path.stem not in TEMPLATES:
            known = ", ".join(f"{name}{_SUFFIX}" for name in TEMPLATES)
            yield f"{PROMPTS_FOLDER / path.name}: no prompt has this name; rename it to one of {known}, or remove it"


def _wrong_templates(root: Path) -> Iterator[str]:
    for name in TEMPLATES:
        path = PROMPTS_FOLDER / f"{name}{_SUFFIX}"
        if (root / path).exists():
            try:
                yield from (f"{path}: {problem}" for problem in problems(_text_of(root / path, LONGEST_TEMPLATE)))
            except TemplateError as error:
                yield str(error)


def _wrong_steering(root: Path) -> Iterator[str]:
    try:
        text = read_steering(root)
    except TemplateError as error:
        yield str(error)
        return
    if len(text) > LONGEST_STEERING:
        yield f"{STEERING_FILE}: only its first {LONGEST_STEERING:,} characters are given to agents; shorten it"


def _text_of(path: Path, most: int) -> str:
    """The text of a file, or somewhat more than `most` characters of it."""
    most_bytes = (most + 1) * _MOST_BYTES_A_LETTER
    try:
        with path.open("rb") as file:
            raw = file.read(most_bytes)
        return raw.decode("utf-8", "strict" if len(raw) < most_bytes else "ignore").removeprefix("\ufeff")
    except OSError as error:
        raise TemplateError(f"{path}: cannot be read ({error.strerror}); make it readable or remove it") from error
    except UnicodeDecodeError as error:
        raise TemplateError(f"{path}: is not UTF-8 (byte {error.start}); save it as UTF-8") from error
