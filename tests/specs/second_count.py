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
