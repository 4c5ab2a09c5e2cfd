"""Which dialect a folder is written in, told from its name, its place and what its documents begin with.

One table for all built-in dialects, so that they can't claim one folder by accident: where two do, it holds two.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from agent_fox.core.regex import regex
from agent_fox.specs.files import head_of

AGENT_FOX, KIRO, SPEC_KIT, OPENSPEC = "agent-fox", "kiro", "spec-kit", "openspec"
NUMBERED = regex(r"(\d{1,9})_(.+)", re.DOTALL)

_OWN_IDS = regex(r"(?<![\w-])(?:\d{1,9}-)?REQ-\d")
_DELTA = r"^#{1,3}[ \t]*(?:ADDED|MODIFIED|REMOVED|RENAMED)[ \t]+Requirements"
_DELTA_HEADING = regex(_DELTA, re.MULTILINE | re.IGNORECASE)
_OPENSPEC_HEADING = regex(
    rf"^#{{2,5}}[ \t]*(?:Requirement|Scenario)[ \t]*[:\uff1a]|{_DELTA}", re.MULTILINE | re.IGNORECASE
)
_NUMBERED_TASK = regex(
    r"^(?:#{2,6}[ \t]+|[ \t]*[-*+][ \t]+)(?:\[[^\[\]]?\][ \t]*)?\*{0,2}\[?T-?\d{1,5}\b", re.MULTILINE
)
_REQUIREMENTS = frozenset({"requirements.md", "requirements.json"})
_OF_A_CHANGE = frozenset({"tasks.md", "design.md", ".openspec.yaml", "specs"})
_BESIDE_DELTAS = frozenset({"proposal.md", "tasks.md", "design.md", ".openspec.yaml"})
_OF_A_REPOSITORY = frozenset({"changes", ".specify", ".kiro", "openspec"})
_OURS_ALONE = frozenset({"requirements.json", "tasks.json", "test_spec.json", "test_spec.md", "prd.md"})
_OUR_PLACES = (".agent-fox/specs", ".specs")


@dataclass(frozen=True)
class Folder:
    """A folder that may be a spec. Nothing raises here: what can't be listed or read holds nothing."""

    path: Path

    @cached_property
    def names(self) -> frozenset[str]:
        try:
            with os.scandir(self.path) as entries:
                return frozenset(entry.name for entry in entries)
        except OSError:
            return frozenset()

    def head(self, name: str) -> str:
        """How a document begins, as far as it is text."""
        return head_of(self.path / name) if name in self.names else ""

    @cached_property
    def holds_deltas(self) -> bool:
        """Whether it has `specs/NAME/spec.md`, as a change of OpenSpec has: so has a repository of spec-kit's."""
        if "specs" not in self.names or self.names & _OF_A_REPOSITORY:
            return False
        deltas = [*self.path.glob("specs/*/spec.md"), *self.path.glob("specs/*/*/spec.md")]
        is_change = self.path.parent.name == "changes" or bool(self.names & _BESIDE_DELTAS)
        return bool(deltas) and (is_change or any(_DELTA_HEADING.search(head_of(path)) for path in deltas))

    @cached_property
    def is_openspec(self) -> bool:
        names, is_change = self.names, self.path.parent.name == "changes"
        if self.holds_deltas or ("proposal.md" in names and not names & _REQUIREMENTS):
            return True
        lies_there = is_change or "openspec" in self.path.parts[-4:-1]
        if "spec.md" in names:
            return lies_there or _OPENSPEC_HEADING.search(self.head("spec.md")) is not None
        is_begun = names & (_OF_A_CHANGE if is_change else {"tasks.md"})
        return lies_there and bool(is_begun) and not names & _REQUIREMENTS

    @cached_property
    def has_own_ids(self) -> bool:
        return any(_OWN_IDS.search(self.head(name)) for name in ("requirements.md", "tasks.md"))

    @cached_property
    def is_spec_kit(self) -> bool:
        if self.is_openspec or "spec.md" in self.names:
            return not self.is_openspec
        has_tasks = "tasks.md" in self.names and not self.names & (_REQUIREMENTS | _OURS_ALONE)
        return has_tasks and ("plan.md" in self.names or _NUMBERED_TASK.search(self.head("tasks.md")) is not None)


def claims(path: Path) -> frozenset[str]:
    """The names of the built-in dialects whose documents the folder holds. More than one: it holds two dialects."""
    folder = Folder(path)
    dialects = {OPENSPEC} if folder.is_openspec else {SPEC_KIT} if folder.is_spec_kit else set()
    if _is_ours_or_kiro(folder, bool(dialects)):
        dialects.add(AGENT_FOX if _is_ours(folder) else KIRO)
    return frozenset(dialects)


def _is_ours_or_kiro(folder: Folder, is_claimed: bool) -> bool:
    """Both have requirements and tasks in files of their own; tasks alone may be of any dialect."""
    names = folder.names
    if NUMBERED.fullmatch(folder.path.name) and not is_claimed:
        return bool(names & {*_REQUIREMENTS, "tasks.md", "tasks.json"})
    if names & {"tasks.json", "bugfix.md"} or ("tasks.md" in names and not is_claimed):
        return True
    return "requirements.md" in names and (is_claimed or not _is_ours(folder))


def _is_ours(folder: Folder) -> bool:
    if NUMBERED.fullmatch(folder.path.name) or folder.names & _OURS_ALONE:
        return True
    lies_here = any(folder.path.parent.as_posix().endswith(place) for place in _OUR_PLACES)
    return lies_here or (folder.has_own_ids and ".kiro" not in folder.path.parts)
