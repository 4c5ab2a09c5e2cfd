"""What a session must not have touched in the person's repository: looked at when it ends.

What is agent-fox's own is put back, and the session does not count. What is the person's is never changed: they may be
at work there themselves, so it is told, loudly, and nothing more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from agent_fox.engine.launching import conflicts, tip
from agent_fox.engine.launching.judges import NO_RESULT, PanelEnd
from agent_fox.engine.record.watch import RunEvent, Watch
from agent_fox.session.order import EndKind, Kept
from agent_fox.system.git_refs import OURS, Picture, differences, picture

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.session.workspaces.landing import Integration
    from agent_fox.store.plan import PlannedNode

DIGITS = 12


@dataclass
class RepositoryGuard:
    """Keeps the last picture of the repository. `strange`: settings and hooks that changed since the run began."""

    db: Database
    integration: Integration
    watch: Watch
    seen: Picture
    strange: list[str] = field(default_factory=list)

    @classmethod
    def begin(cls, db: Database, integration: Integration, watch: Watch) -> RepositoryGuard:
        return cls(db, integration, watch, picture(integration.repo))

    def after(self, planned: PlannedNode, ended: PanelEnd) -> PanelEnd:
        """The end of a session, refused where something of ours was touched while it ran. Raises GitError."""
        refusals, notes = self.look(f"while {planned.node.id} ran")
        for text in (*refusals, *notes):
            self.watch(RunEvent("note", planned, text=text))
        if not refusals and not notes:
            return ended
        end = ended.end
        summary = "; ".join(filter(None, (end.summary, *refusals, *notes)))
        noted = replace(end, summary=summary, notes=(*end.notes, *refusals, *notes))
        if refusals and end.kind not in NO_RESULT:
            kept = end.kept or (Kept(end.work.commit) if end.work and not end.work.is_unchanged else None)
            noted = replace(noted, kind=EndKind.REFUSED, reason="; ".join(refusals), work=None, kept=kept)
        return replace(ended, end=noted)

    def last(self) -> str:
        """The end of a run: the commit that the branch stands at, or was put back to. Raises GitError."""
        refusals, notes = self.look("at the end of the run")
        for text in (*refusals, *notes):
            self.watch(RunEvent("note", text=text))
        return tip.expected(self.db, self.integration)

    def tip(self) -> str:
        """The commit that the next session starts from, with the branch there. Raises GitError."""
        moved = tip.hold(self.db, self.integration)
        if moved is not None:
            self.watch(RunEvent("note", text=moved.told))
        return tip.expected(self.db, self.integration)

    def look(self, when: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What makes a session not count, and what is only to be told, in sentences."""
        moved = tip.hold(self.db, self.integration)
        now = picture(self.integration.repo)
        refusals = [f"{moved.told} {when}"] if moved and not moved.is_kept else []
        put_back = conflicts.tend(self.db, self.integration.repo, now.refs)
        refusals += [f"{ref} was moved by somebody else {when}; it was put back" for ref in put_back]
        notes = [f"{moved.told} {when}"] if moved and moved.is_kept else []
        notes += [*self._of_refs(now, when), *self._of_files(now, when)]
        self.seen = now
        return tuple(refusals), tuple(notes)

    def _of_refs(self, now: Picture, when: str) -> Iterator[str]:
        for name, old, new in differences(self.seen.refs, now.refs):
            if not name.startswith(OURS) and name != self.integration.ref:
                yield f"{_changed(name, old, new)} {when}; it is yours, so it was left as it is"

    def _of_files(self, now: Picture, when: str) -> Iterator[str]:
        for name, old, new in differences(self.seen.files, now.files):
            what = "is new" if old is None else "is gone" if new is None else "was changed"
            self.strange.append(name)
            yield f"{name!r} in the folder .git {what} {when}; look at it before you run git there"


def _changed(name: str, old: str | None, new: str | None) -> str:
    if old is None:
        return f"{name} is new"
    if new is None:
        return f"{name} is gone; it stood at {old[:DIGITS] if not old.startswith('->') else old}"
    return f"{name} was moved from {_short(old)} to {_short(new)}"


def _short(place: str) -> str:
    return place if place.startswith("->") else place[:DIGITS]
