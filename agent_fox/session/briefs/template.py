"""The syntax of a prompt template: `${name}`, and lines from `${when NAME}` to `${end}`. Files are not read here.

Only `${...}` is special; `$${` stands for `${` itself. What is filled in is never looked at again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from agent_fox.core.ids import Mode
from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass

BRIEF = "brief"
NAMES = (BRIEF, "node", "spec", "archetype", "mode", "attempt", "reading", "tools", "steering")
CONDITIONS = ("tools", "steering", "retry", *(mode.value for mode in Mode))

LONGEST_TEMPLATE = 32_000

_PLACE = regex(r"\$(?P<escaped>\$\{)|\$\{(?P<name>[^}\n]*)(?P<closed>\})?")
_WHEN = regex(r"\$\{when (?P<name>[^}]*)\}\s*")
_END = regex(r"\$\{end\}\s*")
_ONLY_BRIEF = regex(r"^[ \t]*\$\{brief\}[ \t]*$", re.MULTILINE)
_GAP = regex(r"\n{3,}")


class TemplateError(ValueError):
    """A prompt template cannot be used. The message says which one, what is wrong and what is allowed."""


@dataclass(frozen=True, slots=True)
class Halves:
    """A filled template: what stands above the line of the brief, and the rest with the brief."""

    above: str
    rest: str


def problems(text: str) -> list[str]:
    """What is wrong with a template, one sentence each; nothing where it can be used."""
    if len(text) > LONGEST_TEMPLATE:
        return [f"it is longer than {LONGEST_TEMPLATE:,} characters; shorten it"]
    lines = text.splitlines()
    return [*_bad_blocks(lines), *_bad_names(lines), *_bad_brief(text)]


def filled(text: str, values: Mapping[str, str], conditions: Iterable[str]) -> Halves:
    """The template with `values` for its names and only the blocks whose condition holds.

    Raises TemplateError, with the first problem, for a template that cannot be used.
    """
    wrong = problems(text)
    if wrong:
        raise TemplateError(wrong[0])
    kept = _without_blocks(text.splitlines(), frozenset(conditions))
    above, rest = _ONLY_BRIEF.split(kept, maxsplit=1)
    return Halves(_substituted(above, values), _substituted(f"${{{BRIEF}}}{rest}", values))


def _substituted(text: str, values: Mapping[str, str]) -> str:
    """Gaps that empty blocks left are closed first, so that no value is touched."""
    tidy = _GAP.sub("\n\n", text).strip()
    return _PLACE.sub(lambda place: "${" if place["escaped"] else values[place["name"]], tidy)


def _without_blocks(lines: Sequence[str], conditions: frozenset[str]) -> str:
    kept, is_kept = [], True
    for line in lines:
        if (when := _WHEN.fullmatch(line)) is not None:
            is_kept = when["name"] in conditions
        elif _END.fullmatch(line):
            is_kept = True
        elif is_kept:
            kept.append(line)
    return "\n".join(kept)


def _bad_blocks(lines: Sequence[str]) -> Iterable[str]:
    opened = 0
    for number, line in enumerate(lines, 1):
        if (when := _WHEN.fullmatch(line)) is not None:
            if opened:
                yield f"line {number}: ${{when}} within the ${{when}} of line {opened}; close that with ${{end}} first"
            if when["name"] not in CONDITIONS:
                yield f"line {number}: unknown condition {when['name']!r}; known are {', '.join(CONDITIONS)}"
            opened = number
        elif _END.fullmatch(line):
            if not opened:
                yield f"line {number}: ${{end}} without a ${{when}}"
            opened = 0
    if opened:
        yield f"line {opened}: ${{when}} is never closed; add a line ${{end}}"


def _bad_names(lines: Sequence[str]) -> Iterable[str]:
    for number, line in enumerate(lines, 1):
        if _WHEN.fullmatch(line) or _END.fullmatch(line):
            continue
        for place in _PLACE.finditer(line):
            if not place["escaped"] and not (place["closed"] and place["name"] in NAMES):
                known = ", ".join(f"${{{name}}}" for name in NAMES)
                yield f"line {number}: unknown placeholder {place[0]!r}; known are {known}; write $${{ for ${{ itself"


def _bad_brief(text: str) -> Iterable[str]:
    count = len(_ONLY_BRIEF.findall(_without_blocks(text.splitlines(), frozenset())))
    if count != 1 or text.replace("$${brief}", "").count("${brief}") != 1:
        yield "the line ${brief} must be there exactly once, on a line of its own, outside of any ${when}"
