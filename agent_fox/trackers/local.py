"""The local tracker: one Markdown file an issue, for people to read and edit. It needs no account.

Every write replaces a whole file at once, and the ids of the effects it holds stand in the file itself: an
effect delivered again changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.ids import digest_of
from agent_fox.core.late import late_module
from agent_fox.core.markdown import one_line
from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.trackers.issue_file import IssueFile, Value, new_issue_file, parse_issue_file
from agent_fox.trackers.protocol import Delivery, Done, Effect, EffectKind, Held, StateReason

if TYPE_CHECKING:
    import tempfile

    from agent_fox.system import files
    from agent_fox.trackers import status_block
    from agent_fox.trackers.text import pages
else:
    status_block = late_module("agent_fox.trackers.status_block")
    files = late_module("agent_fox.system.files")
    pages = late_module("agent_fox.trackers.text.pages")
    tempfile = late_module("tempfile")

LONGEST_SLUG = 50
LONGEST_TITLE = 200
WITHDRAWN = "withdrawn"
"""When we closed it as not planned ourselves, since nobody asked for it any more: no person's no."""

EDITED = "edited"
"""What of title and block a person has edited, as far as that was told."""

SEAL_DIGITS = 12

HEADINGS = {
    EffectKind.FILE: "Still failing",
    EffectKind.COMMENT: "Comment",
    EffectKind.CLOSE: "Closed",
    EffectKind.REOPEN: "Reopened",
}

_NAME = regex(r"^(?P<number>\d{4,})-.*\.md$")
_NOT_WORD = regex(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class LocalTracker:
    """Issues as `folder/NNNN-slug.md`. The folder is made when the first one is filed."""

    folder: Path
    name: str = "local"

    def newest(self) -> str:
        try:
            return str(self._last() or "")
        except OSError:
            return ""  # a folder that cannot be read: delivering will say so, with the remedy

    def _last(self) -> int:
        return max((number for number, _ in self._numbered()), default=0)

    def deliver(self, effect: Effect) -> Delivery:
        try:
            return self._deliver(effect)
        except OSError as error:
            where = error.filename or self.folder
            remedy = f"make {self.folder} a folder that can be written, with space left, then run again"
            return Held(f"{where}: {error.strerror or error}", remedy)

    def _deliver(self, effect: Effect) -> Delivery:
        filed = self._find(effect.fingerprint)
        if filed is None:
            return self._unreadable(effect) or self._create(effect)
        number, path, issue = filed
        if effect.id in issue.values("effects"):
            return _done(number, path)
        changed, edited = _kept_current(_changed(issue, effect), effect)
        _replace(path, changed)
        return _done(number, path, status_block.told_edits(edited))

    def _find(self, fingerprint: str) -> tuple[int, Path, IssueFile] | None:
        """The issue of a fingerprint; should there be several, the one with the lowest number."""
        for number, path in sorted(self._numbered()):
            issue = parse_issue_file(read_whole(path))
            if issue is not None and issue.value("fingerprint") == fingerprint:
                return number, path, issue
        return None

    def _unreadable(self, effect: Effect) -> Held | None:
        """The issue's own file, where a person has broken its front matter: a second one would be wrong."""
        for number, path in self._numbered():
            if str(number) == effect.number and parse_issue_file(read_whole(path)) is None:
                line = f'"fingerprint: {effect.fingerprint}" between two lines "---"'
                return Held(f"{path} has lost its front matter", f"put {line} at its start, or delete the file")
        return None

    def _numbered(self) -> Iterator[tuple[int, Path]]:
        if not self.folder.is_dir():
            return
        for path in self.folder.iterdir():
            name = _NAME.match(path.name)
            if name is not None and path.is_file():
                yield int(name["number"]), path

    def _create(self, effect: Effect) -> Delivery:
        self.folder.mkdir(parents=True, exist_ok=True)
        number = self._last() + 1
        path = self.folder / f"{number:04d}-{_slug(effect.status.title if effect.status else effect.title)}.md"
        _replace(path, _created(effect))
        return _done(number, path)


def _created(effect: Effect) -> IssueFile:
    """A new issue. A closing whose issue was deleted leaves a closed one: the proof is not lost."""
    values: dict[str, Value] = {
        "state": "open",
        "fingerprint": effect.fingerprint,
        "cause": effect.cause,
        "spec": effect.spec,
        "members": effect.members,
        "opened": effect.at,
        **_changes(effect, ()),
    }
    lines = {key: value for key, value in values.items() if value}
    if effect.status is None:
        return new_issue_file(lines, one_line(effect.title, LONGEST_TITLE), effect.body)
    title, block = pages.plain_status(effect.status)
    return new_issue_file(lines, title, f"{status_block.framed(title, block, _seal)}\n{effect.body}")


def _kept_current(issue: IssueFile, effect: Effect) -> tuple[IssueFile, tuple[str, ...]]:
    """The issue with title and block as they should be now, and what of them a person has edited, if that is news."""
    if effect.status is None:
        return issue, ()
    title, block = pages.plain_status(effect.status)
    now = status_block.current(issue.text, issue.title, title, block, _seal)
    text = issue.text if now.body is None else now.body
    if now.title is not None:
        text = text.replace(f"# {issue.title}", f"# {now.title}", 1)
    edited = tuple(name for name in now.edited if name not in issue.values(EDITED))
    kept = IssueFile(issue.header, text)
    return (kept.with_values({EDITED: now.edited}) if edited else kept), edited


def _seal(text: str) -> str:
    return digest_of(text, digits=SEAL_DIGITS)


def _changed(issue: IssueFile, effect: Effect) -> IssueFile:
    """What the effect makes of an issue that is there. A person's no is never reopened."""
    changes = _changes(effect, issue.values("effects"))
    is_withdrawn = bool(issue.value(WITHDRAWN))
    is_refused = not issue.is_open and issue.value("state_reason") == StateReason.NOT_PLANNED and not is_withdrawn
    if is_refused and effect.kind is not EffectKind.COMMENT:
        changes = {"effects": changes["effects"], "updated": effect.at}
    elif is_withdrawn and changes.get("state", issue.value("state")) == "open":
        changes[WITHDRAWN] = ""
    heading = f"{HEADINGS[effect.kind]}, {effect.at}" if effect.at else HEADINGS[effect.kind]
    return issue.with_values(changes).with_more(heading, effect.body)


def _changes(effect: Effect, delivered: tuple[str, ...]) -> dict[str, Value]:
    changes: dict[str, Value] = {"updated": effect.at, "effects": (*delivered, effect.id)}
    match effect.kind:
        case EffectKind.COMMENT:
            return changes
        case EffectKind.CLOSE:
            reason = effect.state_reason or StateReason.COMPLETED
            ours: dict[str, Value] = {WITHDRAWN: effect.at} if reason is StateReason.NOT_PLANNED else {}
            return {"state": "closed", "state_reason": reason.value, "closed": effect.at, **ours, **changes}
        case EffectKind.FILE | EffectKind.REOPEN:
            members = {"members": effect.members} if effect.members else {}
            return {"state": "open", "state_reason": "", **members, **changes}


def _done(number: int, path: Path, note: str = "") -> Done:
    return Done(str(number), path.resolve().as_uri(), note=note)


def read_whole(path: Path) -> str:
    """A file's text, line ends and bytes that are no UTF-8 kept, so that writing it again changes neither."""
    with path.open(encoding="utf-8", errors="surrogateescape", newline="") as file:
        return file.read()


def _slug(title: str) -> str:
    return _NOT_WORD.sub("-", title.lower())[:LONGEST_SLUG].strip("-") or "issue"


def _replace(path: Path, issue: IssueFile) -> None:
    """Write the whole file or nothing of it. Raises OSError."""
    files.replace_file(path, str(issue), 0o644)
