"""A second, stupid count of what specs hold: list items that oblige, and boxes, by regexes over lines.

It shares no code with the readers, so that what they lose silently is seen. What it finds must stand in some text of
the spec, or in a line that a problem names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from agent_fox.core.spec import Problem, Spec

_OBLIGES = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s+(?P<text>.*\b(?:SHALL|MUST)\b.*)$")
_BOX = re.compile(r"\s*[-*+]\s+\[[ xX~/-]?\]\*?\s+(?P<text>.+)$")
_DEMANDS = re.compile(r"(?<![\"'`“‘\w])(?:SHALL|MUST)\b")
_WORDS = re.compile(r"\w+")
_SHOWN = 8
"""Words by which a line is known again: marks, ids and wrapped ends differ."""


def lost(spec: Spec, root: Path, problems: tuple[Problem, ...]) -> Iterator[str]:
    """`path:line text` of what the documents hold and neither the spec nor a problem about it does."""
    held = _words(_texts(spec))
    said = _words(problem.what for problem in problems)
    named = {problem.where for problem in problems if problem.spec == spec.name}
    lines_said = {int(n) for problem in problems if problem.spec == spec.name for n in re.findall(r"\d+", problem.what)}
    for name, pattern in (("requirements.md", _OBLIGES), ("spec.md", _OBLIGES), ("tasks.md", _BOX)):
        for document, path in spec.documents.items():
            if Path(document).name == name:
                for number, text in _found(root / path, pattern):
                    is_said = f"{path}:{number}" in named or number in lines_said
                    if not (_is_in(text, held) or _is_in(text, said) or is_said):
                        yield f"{path}:{number} {text[:100]}"


def count(root: Path, spec: Spec) -> int:
    """How many there are."""
    patterns = {"requirements.md": _OBLIGES, "spec.md": _OBLIGES, "tasks.md": _BOX}
    return sum(
        1
        for document, path in spec.documents.items()
        if Path(document).name in patterns
        for _ in _found(root / path, patterns[Path(document).name])
    )


def items(text: str) -> set[tuple[int, str]]:
    """The line and kind of every heading, item, box, row, and line with SHALL or MUST: by regexes over lines alone."""
    text = re.sub(r"<!--.*?--!?>", lambda found: "\n" * found[0].count("\n"), text.lstrip("\ufeff"), flags=re.DOTALL)
    lines = [re.sub(r"^\s*(?:> ?)+", "", line.rstrip()) for line in text.split("\n")]
    samples = _between(lines, r"\s*(?:[-*+] +)?(?:```|~~~)", r"\s*(?:`{3,}|~{3,})\s*$")
    front = {*range(_end_of_front_matter(lines))}
    found = ((at, _kind(lines, at, at in front)) for at in range(len(lines)) if at not in samples)
    return {(at + 1, kind) for at, kind in found if kind}


def _kind(lines: list[str], at: int, is_front: bool) -> str:
    line = lines[at]
    demands = "sentence" if _DEMANDS.search(line) else ""
    if is_front or re.fullmatch(r"\s*(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})", line):
        return demands
    if re.match(r" {0,3}#{1,6}(?:\s|$)", line):
        return "heading"
    if re.fullmatch(r"(\*\*|__)(?:(?!\1).)+\1\s*[:：]?", line) and not "".join(lines[at - 1 : at]).strip():
        return "heading"
    if re.match(r"\s*(?:(?:\*\*|__)\d{1,4}[.)](?:\*\*|__)|[-*+]|\d{1,9}[.)])(?:\s|$)", line):
        return "box" if re.match(r"\s*(?:[-*+]|\d{1,9}[.)])\s+\[[ xX~/-]?\](?!\()", line) else "item"
    if "|" in line:
        return _kind_in_table(lines, at) or demands
    return demands


def _kind_in_table(lines: list[str], at: int) -> str:
    """A row below a table's rule; its rule and its header are neither rows nor sentences."""
    first = at
    while first > 0 and "|" in lines[first - 1]:
        first -= 1
    rules = [here for here in range(first, len(lines)) if here <= at + 1 and _is_rule(lines[here])]
    if not rules:
        return ""
    return "row" if at > rules[0] and not _is_rule(lines[at]) else " "


def _is_rule(line: str) -> bool:
    return "-" in line and "|" in line and set(line) <= set("|:- ")


def _between(lines: list[str], begins: str, ends: str) -> set[int]:
    inside: set[int] = set()
    start: int | None = None
    for at, line in enumerate(lines):
        if start is None and re.match(begins, line):
            start = at
        elif start is not None and re.match(ends, line):
            inside |= {*range(start, at + 1)}
            start = None
    return inside | ({start} if start is not None else set())


def _end_of_front_matter(lines: list[str]) -> int:
    return lines.index("---", 1) + 1 if lines[:1] == ["---"] and "---" in lines[1:] else 0


def _found(path: Path, pattern: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    text = re.sub(r"<!--.*?-->", lambda found: "\n" * found[0].count("\n"), path.read_text("utf-8"), flags=re.DOTALL)
    is_code = False
    for number, line in enumerate(text.split("\n"), 1):
        is_code ^= line.lstrip().startswith("```")
        match = None if is_code else pattern.match(line)
        if match is not None:
            yield number, match["text"]


def _texts(spec: Spec) -> Iterator[str]:
    for requirement in spec.requirements:
        yield from (requirement.title, requirement.text, *(part.text for part in requirement.parts))
        yield from requirement.details
    for group in spec.groups:
        yield from (group.title, group.text)
        for subtask in group.subtasks:
            yield from (f"{subtask.number} {subtask.title}", *subtask.details)


def _words(texts: Iterator[str]) -> str:
    return "\n".join(f" {' '.join(_WORDS.findall(text))} " for text in texts)


def _is_in(text: str, held: str) -> bool:
    """By its last words, which no id and no mark stands before."""
    words = _WORDS.findall(text)
    return any(f" {' '.join(words[at : at + _SHOWN])} " in held for at in range(min(len(words), 8)))
