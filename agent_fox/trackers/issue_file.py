"""One issue as a Markdown file: front matter, then text. What a person wrote into it stays as it is.

Where files lie and what is written when is not here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from agent_fox.core.markdown import one_line, printable
from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass

FENCE = "---"
LONGEST_VALUE = 300

Value = str | Sequence[str]

_ENTRY = regex(r"^(?P<key>[a-z_]+):[ \t]*(?P<value>.*)$")


@dataclass(frozen=True, slots=True)
class IssueFile:
    """A file taken apart: the lines of its front matter as they stand, and everything after it."""

    header: tuple[str, ...]
    text: str

    def value(self, key: str) -> str:
        """A value as text; empty where the key is absent."""
        value = _as_json(self._written(key))
        return value if isinstance(value, str) else ""

    def values(self, key: str) -> tuple[str, ...]:
        """A list of texts; empty where the key is absent or holds something else."""
        value = _as_json(self._written(key))
        return tuple(map(str, value)) if isinstance(value, list) else ()

    @property
    def title(self) -> str:
        """Its heading; empty where a person took it away."""
        heading = next((line for line in self.text.splitlines() if line.strip()), "")
        return heading.removeprefix("# ").strip() if heading.startswith("# ") else ""

    @property
    def is_open(self) -> bool:
        return self.value("state") != "closed"

    def with_values(self, values: Mapping[str, Value]) -> IssueFile:
        """The same file with these keys set; other lines of the front matter stay where they are."""
        left = dict(values)
        header = []
        for line in self.header:
            key = _key_of(line)
            header.append(_line(key, left.pop(key)) if key in left else line)
        return IssueFile((*header, *(_line(key, value) for key, value in left.items())), self.text)

    def with_more(self, heading: str, body: str) -> IssueFile:
        """The same file with a section at its end."""
        section = f"## {one_line(heading, LONGEST_VALUE)}\n\n{printable(body).strip()}\n"
        return IssueFile(self.header, f"{self.text.rstrip()}\n\n{section}")

    def __str__(self) -> str:
        return "\n".join((FENCE, *self.header, FENCE, self.text))

    def _written(self, key: str) -> str:
        entries = (_ENTRY.match(line) for line in self.header)
        return next((entry["value"].strip() for entry in entries if entry is not None and entry["key"] == key), "")


def new_issue_file(values: Mapping[str, Value], title: str, body: str) -> IssueFile:
    """An issue that is not there yet."""
    return IssueFile((), f"\n# {title}\n\n{printable(body).strip()}\n").with_values(values)


def parse_issue_file(text: str) -> IssueFile | None:
    """Take a file apart; None where it does not begin with front matter."""
    lines = text.removeprefix("\ufeff").split("\n")
    if not lines or lines[0].rstrip() != FENCE:
        return None
    end = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() == FENCE), None)
    return None if end is None else IssueFile(tuple(lines[1:end]), "\n".join(lines[end + 1 :]))


def _key_of(line: str) -> str:
    entry = _ENTRY.match(line)
    return entry["key"] if entry is not None else ""


def _line(key: str, value: Value) -> str:
    """`state: open` as it stands, everything else as JSON, which is YAML too."""
    if isinstance(value, str):
        line = one_line(value, LONGEST_VALUE)
        return f"{key}: {line}" if line.isalnum() else f"{key}: {json.dumps(line, ensure_ascii=False)}"
    return f"{key}: {json.dumps([one_line(part, LONGEST_VALUE) for part in value], ensure_ascii=False)}"


def _as_json(written: str) -> object:
    """A value as it stands in the file: JSON where it is, else the text itself, as a person types it."""
    try:
        value: object = json.loads(written)
    except (ValueError, RecursionError):
        return written
    return value if isinstance(value, str | list) else written
