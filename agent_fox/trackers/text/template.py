"""The text of an issue in a project's own words: `[tracker] template`, a file with `$names` for the sections.

What the sections say is not here. Source of the syntax: `string.Template`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from errno import EISDIR
from os import strerror
from pathlib import Path
from string import Template

from agent_fox.core.markdown import one_line
from agent_fox.core.regex import regex
from agent_fox.system.files import read_regular

LONGEST_TEMPLATE = 20_000

WORDS = ("title", "spec", "node", "cause", "run", "commit")
"""Names for a few words, which may stand anywhere."""

PARTS = (
    *("what_happened", "next_step", "specs", "failing", "unknown", "repaired", "places", "blocked", "known"),
    *("waivers", "attempts", "evidence"),
)
"""Names for whole sections, each on a line of its own."""

NEEDED = "failing"

_NAME = regex(r"\$(?:\$|\{(?P<braced>[^}\n]*)\}|(?P<plain>[A-Za-z_][A-Za-z0-9_]*)|(?P<wrong>))")
_ALONE = regex(r"\$(?:[a-z_]+|\{[a-z_]+\})\s*")
_FENCE = regex(r" {0,3}(?P<marks>`{3,}|~{3,})(?P<info>.*)")


class TemplateTrouble(ValueError):
    """A template that cannot be used: which, what is wrong with it, and what to do."""


def read_template(path: Path) -> str:
    """The text of a template that can be used. Raises TemplateTrouble."""
    try:
        start = read_regular(path.resolve(strict=True), LONGEST_TEMPLATE * 4 + 1)
        if start is None:
            raise OSError(EISDIR, strerror(EISDIR) if path.is_dir() else "it is no file")
    except (OSError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "a link that leads to itself"
        raise _trouble(path, reason or type(error).__name__, "name a file that can be read") from error
    try:
        text = start.decode("utf-8").removeprefix("\ufeff").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        is_long = len(start) > LONGEST_TEMPLATE * 4
        what = _too_long() if is_long else f"byte {error.start:,} is not UTF-8"
        raise _trouble(path, what, "shorten it" if is_long else "save it as UTF-8") from error
    for what, remedy in problems(text):
        raise _trouble(path, what, remedy)
    return text


def problems(text: str) -> Iterator[tuple[str, str]]:
    """What keeps a template from being used, each with what to do."""
    if len(text) > LONGEST_TEMPLATE:
        yield _too_long(), "shorten it"
        return
    code = ""
    names = []
    for number, line in enumerate(text.split("\n"), start=1):
        code = fence_after(code, line)
        for name in _names(line):
            names.append(name)
            yield from _bad_name(name, number, line, code)
    if NEEDED not in names:
        yield f"it has no ${NEEDED}", f"put ${NEEDED} on a line of its own, or nobody is told what fails"


def filled(template: str, values: Mapping[str, str]) -> str:
    """The template with `values` for its names. What is filled in is not looked at again."""
    return Template(template).safe_substitute(values)


def uses(template: str, name: str) -> int:
    return sum(used == name for line in template.split("\n") for used in _names(line))


def fence_after(fence: str, line: str) -> str:
    """The marks of the code block that is open after `line`, where `fence` was open before it; empty for none."""
    match = _FENCE.match(line)
    if match is None:
        return fence
    marks, info = match["marks"], match["info"]
    if not fence:
        return "" if marks.startswith("`") and "`" in info else marks
    return "" if marks.startswith(fence) and not info.strip() else fence


def _names(line: str) -> list[str]:
    """Every name on a line; what follows a `$` and is none is given as it stands. `$$` is a dollar."""
    matches = (match for match in _NAME.finditer(line) if match[0] != "$$")
    return [match["braced"] if match["braced"] is not None else (match["plain"] or "") for match in matches]


def _bad_name(name: str, number: int, line: str, code: str) -> Iterator[tuple[str, str]]:
    if name not in (*WORDS, *PARTS):
        known = ", ".join(f"${known}" for known in (*WORDS, *PARTS))
        yield f"line {number}: ${one_line(name, 40)} is no name", f"write $$ for a dollar, or one of {known}"
    elif name in PARTS and (code or not _ALONE.fullmatch(line)):
        yield f"line {number}: ${name} is a whole section", "put it at the start of a line of its own, outside of code"


def _too_long() -> str:
    return f"it is longer than {LONGEST_TEMPLATE:,} characters"


def _trouble(path: Path, what: str, remedy: str) -> TemplateTrouble:
    return TemplateTrouble(f"{path}: [tracker] template: {what}; {remedy}, or unset [tracker] template")
