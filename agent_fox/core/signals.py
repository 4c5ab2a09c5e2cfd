"""Deterministic signs of a cause: an error line without what changes from run to run. Joins nothing."""

from __future__ import annotations

from agent_fox.core.regex import regex

LONGEST_LINE = 200
ESCAPE = "\x1b"

_ANSI = regex(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_UUID = regex(r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b")
_PATH = regex(r"(?:\b[A-Za-z]:)?(?:[\w.~+@-]+)?(?:[/\\][\w.~+@-]+)+[/\\]?(?::\d+)*")
_ADDRESS = regex(r"\b0[xX][0-9a-fA-F]+\b")
_HASH = regex(r"\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64}\b")
_TIME = regex(
    r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)?"
    r"|\b\d\d?:\d\d:\d\d(?:[.,]\d+)?"
)
_NUMBER = regex(r"\d+(?:[.,_]\d+)*")

_REPLACEMENTS = (
    (_UUID, "<hex>"),
    (_TIME, "<time>"),
    (_PATH, "<path>"),
    (_ADDRESS, "<hex>"),
    (_HASH, "<hex>"),
    (_NUMBER, "#"),
)


def normalise_line(text: str) -> str:
    """The first line of `text` that says anything, without numbers, hexadecimal, paths, times and colours.

    Normalising twice changes nothing. Two failures with the same result and the same failing command are
    taken to have one cause. The result has at most LONGEST_LINE characters; it is empty where the text is.
    """
    line = _first_line(_ANSI.sub("", text).replace(ESCAPE, ""))
    for pattern, word in _REPLACEMENTS:
        line = pattern.sub(word, line)
    return " ".join(line.split())[:LONGEST_LINE].rstrip()


def _first_line(text: str) -> str:
    lines = (line.strip() for line in text.splitlines())
    return next((line[: LONGEST_LINE * 5] for line in lines if line), "")
