"""What a linter says, as values: rules, findings, edits. No rule is here, and nothing reads files."""

from __future__ import annotations

import re
import tomllib
from enum import StrEnum
from functools import cache
from pathlib import Path

from agent_fox.core.ids import digest_of
from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass

_AT = regex(r"(.*):(\d{1,9})", re.DOTALL)
_LINE_NUMBERS = regex(r"\blines? \d+(?:(?:,| and) \d+)*|(?<=:)\d+")
_PRINT_DIGITS = 32
_RULES = Path(__file__).with_name("rules.toml")


class Level(StrEnum):
    """How much a finding weighs. An error is certain; a note is for a reader with time."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """One line of a file, by its number, as it stands (`old`) and as it should (`new`). Neither has a line end.

    `new` is None where the line goes away; a `\\n` in it is a line end of the file's own kind.
    """

    path: str
    line: int
    old: str
    new: str | None


@dataclass(frozen=True, slots=True)
class Found:
    """What a rule found: `where` is `path` or `path:line`. `level` is set where it is not the rule's own."""

    where: str
    what: str
    edits: tuple[Edit, ...] = ()
    level: Level | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule found, ready to be shown. `line` is 0 where the whole file or folder is meant."""

    path: str
    line: int
    rule: str
    level: Level
    spec: str | None
    what: str
    remedy: str
    edits: tuple[Edit, ...] = ()

    @property
    def where(self) -> str:
        return f"{self.path}:{self.line}" if self.line else self.path

    @property
    def fingerprint(self) -> str:
        """The same for the same finding after lines were moved: line numbers don't count."""
        named = "\0".join((self.rule, self.spec or "", self.path, _LINE_NUMBERS.sub("", self.what)))
        return digest_of(named, digits=_PRINT_DIGITS)


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule with its id, what it means, and what to do. Some need the repository that the specs speak of.

    `says` is the sentence of reading or planning by which a rule is known that finds nothing itself; `is_note`: such a
    warning only tells.
    """

    id: str
    level: Level
    meaning: str
    remedy: str
    is_fixable: bool = False
    needs_repository: bool = False
    says: str = ""
    is_note: bool = False

    def finding(self, found: Found, spec: str | None) -> Finding:
        path, line = split_place(found.where)
        return Finding(path, line, self.id, found.level or self.level, spec, found.what, self.remedy, found.edits)


@cache
def rules() -> dict[str, Rule]:
    """All rules by their ids, in the order in which they are asked."""
    rows = tomllib.loads(_RULES.read_text(encoding="utf-8"))["rule"]
    return {row["id"]: Rule(**row | {"level": Level(row["level"])}) for row in rows}


def split_place(where: str) -> tuple[str, int]:
    """`path:line` as its two parts; a place without a line has line 0."""
    match = _AT.fullmatch(where)
    return (match[1], int(match[2])) if match else (where, 0)
