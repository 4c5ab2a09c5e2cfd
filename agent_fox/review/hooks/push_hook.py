"""The pre-push hook put into a repository; a person's own is never touched. What it does is in `pre-push.sh`."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.late import late_module
from agent_fox.core.values import dataclass
from agent_fox.system import git

if TYPE_CHECKING:
    from agent_fox.system import files
else:
    files = late_module("agent_fox.system.files")

MARK = "# agent-fox pre-push hook:"
EXECUTABLE = 0o755


class HookTrouble(Exception):
    """A hook that cannot be put in place. The message says where, why, and what to do."""


@dataclass(frozen=True, slots=True)
class Installed:
    """Where the hook is, and whether this call changed it."""

    path: Path
    is_new: bool


def hook_text() -> str:
    """The hook as it is shipped."""
    return resources.files("agent_fox.review.hooks").joinpath("pre-push.sh").read_text(encoding="utf-8")


def install_hook(root: Path) -> Installed:
    """Put the hook where git looks for it, or bring our own up to date. Raises HookTrouble, GitError."""
    if not git.is_repository(root):
        raise HookTrouble(f"{root} is not in a git repository; there is nothing that is pushed from here")
    path, text = hooks_folder(root) / "pre-push", hook_text()
    before = _text_of(path)
    if before is not None and MARK not in before:
        raise HookTrouble(
            f"{path}: there is a hook of yours already, and it stays as it is; "
            "call `agent-fox gate --task-id TASK --base COMMIT --commit COMMIT` in it"
        )
    if before != text:
        try:
            files.replace_file(path, text, EXECUTABLE)
        except OSError as error:
            raise HookTrouble(f"{path}: cannot be written ({error.strerror}); check its permissions") from error
    return Installed(path, before != text)


def hooks_folder(root: Path) -> Path:
    """Where git looks for hooks here: `core.hooksPath`, else the repository's own folder."""
    *others, _ours = git.call(root, "config", "--type=path", "--get-all", "core.hooksPath").text.splitlines()
    if others:
        return (git.root_of(root) or root) / others[-1]
    return git.common_folder(root) / "hooks"


def _text_of(path: Path) -> str | None:
    if path.is_symlink() or (path.exists() and not path.is_file()):
        return ""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise HookTrouble(f"{path}: cannot be read ({error.strerror}); check what is there") from error
