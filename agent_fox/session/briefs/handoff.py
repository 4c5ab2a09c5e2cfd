"""What an attempt that was cut off had done, as a file for the next one: bounded, masked, fenced, its cuts counted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.markdown import code, fenced, printable
from agent_fox.core.words import counted
from agent_fox.system.git_diff import Lines, diff_of
from agent_fox.system.redaction.masking import redact

if TYPE_CHECKING:
    from agent_fox.core.retry.cut_off import CutOff

LONGEST_DIFF = 200_000
"""Characters of the difference that the file holds."""

LONGEST_WHY = 400
AT_ONCE = 20
"""Files whose difference is read at once, so that a huge change is never held whole."""


def handoff_text(repo: Path, cut_off: CutOff, changed: Sequence[Lines], secrets: Iterable[str]) -> str:
    """The file as Markdown. Raises GitError."""
    text, unread = _difference(repo, cut_off, [change.path for change in changed], tuple(secrets))
    shown, left_lines = _whole_lines(text)
    ended = code(redact(cut_off.why, secrets), LONGEST_WHY)
    parts = (
        f"# What attempt {cut_off.attempt} had done when it was ended",
        f"Ended: {ended}. It had changed {cut_off.size}. This is evidence of what was tried, unfinished and judged by "
        "nobody; none of it is in your workspace.",
        fenced(shown, "diff"),
        *_cuts(cut_off, left_lines, unread, sum(change.is_binary for change in changed)),
    )
    return "\n\n".join(parts) + "\n"


def _difference(repo: Path, cut_off: CutOff, paths: Sequence[str], secrets: tuple[str, ...]) -> tuple[str, int]:
    """The masked difference, read until there is more of it than will be shown; and how many files were not read."""
    text = ""
    for start in range(0, len(paths), AT_ONCE):
        part = diff_of(repo, cut_off.base, cut_off.commit, paths[start : start + AT_ONCE])
        text += printable(redact(part, secrets))
        if len(text) > LONGEST_DIFF:
            return text, max(0, len(paths) - start - AT_ONCE)
    return text, 0


def _whole_lines(text: str) -> tuple[str, int]:
    """The lines that have room, and how many have none."""
    if len(text) <= LONGEST_DIFF:
        return text, 0
    shown = text[:LONGEST_DIFF].rpartition("\n")[0]
    return shown, text.count("\n", len(shown) + 1)


def _cuts(cut_off: CutOff, lines: int, unread: int, binary: int) -> Iterable[str]:
    missing = [
        *([counted(lines, "line")] if lines else []),
        *([f"{counted(unread, 'file')} after these"] if unread else []),
        *(
            [f"the content of {counted(binary, 'file')} that {'is' if binary == 1 else 'are'} binary or very long"]
            if binary
            else []
        ),
    ]
    if missing:
        yield f"Left out here: {', '.join(missing)}. All of it, in the workspace: `{cut_off.command}`"
    if cut_off.left_out:
        yield f"Not kept at all: {code('; '.join(cut_off.left_out), 2_000)}"
