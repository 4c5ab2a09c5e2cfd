"""A draft of a spec from an issue, in the plain dialect: what reads as a criterion becomes one, the rest is quoted.

A person must look at it: a comment at its top says so, and what is missing is said. Reads no files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from agent_fox.core.markdown import one_line
from agent_fox.core.values import dataclass
from agent_fox.specs.lines import scan
from agent_fox.specs.word_tables import patterns_in

if TYPE_CHECKING:
    from agent_fox.specs.lines import Line

_LIKE = patterns_in(__file__)

LONGEST_TITLE = 200
LONGEST_CRITERION = 1_000
LONGEST_QUOTE = 20_000
MOST_CRITERIA = 100
LONGEST_NAME = 50


NO_CRITERIA = "no list of the issue reads as criteria: write at least one below Requirements"
NO_COMMANDS = "nothing says how it is tested: name the commands below Test commands"


@dataclass(frozen=True, slots=True)
class Draft:
    """The file's text, its criteria, and in sentences what a person must add. `left_out` counts criteria too many."""

    text: str
    criteria: tuple[str, ...]
    missing: tuple[str, ...]
    left_out: int = 0


def draft_of(title: str, body: str, source: str) -> Draft:
    """`source` is the issue, as OWNER/NAME#NUMBER. Comments in its text, which nobody sees there, are dropped."""
    lines = scan(body.replace("\r\n", "\n")).lines
    every = list(dict.fromkeys(criteria_in(lines)))
    criteria = tuple(every[:MOST_CRITERIA])
    missing = (*([] if criteria else [NO_CRITERIA]), NO_COMMANDS)
    ids = ", ".join(f"1.{number}" for number in range(1, len(criteria) + 1))
    named = f"\n  - _Requirements: {ids}_" if criteria else ""
    heading = one_line(title, LONGEST_TITLE).lstrip("#").strip() or "Untitled"
    text = "\n\n".join(
        (
            f"# Spec: {heading}",
            f"> Source: {source}",
            "<!-- A draft from that issue, which nobody has checked yet. Comments such as this one are not read.\n"
            f"     Everything about this form: docs/plain.md. Missing: {'; '.join(missing)}. -->",
            quoted(lines),
            "## Requirements",
            f"### {heading}",
            "\n".join(f"- {criterion}" for criterion in criteria)
            or "<!-- - WHEN something happens, THE program SHALL do something that a test can see. -->",
            "## Tasks",
            f"- [ ] Write failing tests{named}\n- [ ] {heading}{named}",
            "## Test commands",
            "<!-- - all tests: `python -m pytest -q` -->",
        )
    )
    return Draft(f"{text}\n", criteria, missing, len(every) - len(criteria))


def criteria_in(lines: Sequence[Line]) -> Iterator[str]:
    """Items of lists that demand something, or stand below words such as `Acceptance criteria`."""
    is_below = False
    for place, line in enumerate(lines):
        item = _LIKE["issue_item"].fullmatch(line.text.strip()) if not line.is_code else None
        if item is None:
            is_title = line.heading is not None or line.text.rstrip(" *_").endswith(":")
            is_below = bool(_LIKE["lists"].search(line.text)) if is_title and not line.is_code else is_below
            continue
        text = " ".join((item["text"], *continued(lines[place + 1 :], line.indent)))
        if is_below or _LIKE["demands"].search(text):
            yield one_line(text, LONGEST_CRITERION)


def continued(lines: Sequence[Line], indent: int) -> Iterator[str]:
    """The lines that go on with an item."""
    for line in lines:
        if line.is_blank or line.is_code or line.indent <= indent or _LIKE["issue_item"].fullmatch(line.text.strip()):
            return
        yield line.text.strip()


def quoted(lines: Sequence[Line]) -> str:
    """The issue's own words, which are no part of the spec's structure."""
    text = "\n".join(f"> {line.text}".rstrip() for line in lines).strip("\n> ")
    shown = text[:LONGEST_QUOTE]
    more = f"\n> ({len(text) - len(shown):,} more characters in the issue)" if len(shown) < len(text) else ""
    return f"> {shown}{more}" if shown else "> (the issue has no text)"


def name_for(title: str, number: int) -> str:
    """A name for the spec's file, without its ending: `issue-7-greet-people`."""
    words = _LIKE["not_name"].sub("-", title.lower()).strip("-")[:LONGEST_NAME].strip("-")
    return f"issue-{number}" + (f"-{words}" if words else "")
