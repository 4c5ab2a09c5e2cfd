"""A format of lines out of somebody's file: what it has to hold, and whether it does what its examples say.

Nothing of it is believed before it was tried: a file with one mistake is refused whole, and the row is named.
"""

from __future__ import annotations

import re
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from itertools import product
from pathlib import Path, PurePosixPath
from string import Formatter
from typing import Any

from agent_fox.core.values import to_object
from agent_fox.core.words import did_you_mean
from agent_fox.verifier.ground.results import FailureKind, Parsed
from agent_fox.verifier.logs.decode import LONGEST_LINE, without_colours
from agent_fox.verifier.logs.kinds import DATA, with_parts, written
from agent_fox.verifier.logs.parsers import read_block
from agent_fox.verifier.logs.protocol import Workspace
from agent_fox.verifier.logs.row_reader import LineFormat, format_of
from agent_fox.verifier.logs.rows import GIVES, GROUPS, PLACES, SAID, Row, Rows, texts_of
from agent_fox.verifier.logs.status import line_of

SLOWEST = 0.8
"""Seconds of the processor that a pattern may take for the longest line there is, whatever stands in it."""

SIZES = (*range(4, 64, 2), 64, 96, 144, 216, 324, 486, 730, 1_100, 1_650, 2_500, 3_700, 5_500, LONGEST_LINE)
MOST_PLACES = 24

Types = Mapping[str, tuple[type, ...]]
_TEXTS: tuple[type, ...] = (str, list)
_TYPES: Types = {"bool": (bool,), "int": (int,), "tuple[str, ...]": _TEXTS}
"""What a file has for the fields of a format and its rows by their types, where that is no text."""
_ROW: Types = {
    "pattern": _TEXTS,
    **{each.name: _TYPES.get(str(each.type), (str,)) for each in fields(Row) if each.name != "patterns"},
}
_FORMAT: Types = {
    **{each.name: _TYPES.get(str(each.type), (str,)) for each in fields(Rows) if each.name != "rows"},
    **{"turned": (dict,), "words": (dict,), "kind": (str,), "parts": (dict,), "row": (list,), "example": (list,)},
}
_EXAMPLE: Types = {"log": (str,), "gives": (list,)}
_TURNED: Types = {"kind": (str,), "code": (str,)}
_TABLES = ("row", "example")
_WORDS: Mapping[str, Callable[[], tuple[str, ...]]] = {
    "kind": lambda: tuple(FailureKind),
    "gives": lambda: GIVES,
    "place": lambda: PLACES,
    "kinds": lambda: tuple(filter("parts".__ne__, written(DATA / "kinds.toml"))),
    "reads": lambda: tuple(written(DATA / "tools.toml")["readers"]),
    "inner": lambda: tuple(sorted(file.name.partition(".")[0] for file in DATA.glob("*.lines.toml"))),
}
_PIECE = re.compile(r"[A-Za-z]+|\d+|\s+|.")


class BadFormat(ValueError):
    """A file that is no usable format; the message says which, what is wrong in it, and where."""


def outside_format(path: Path) -> LineFormat:
    """The format that a file describes. Raises BadFormat."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadFormat(f"{path}: it cannot be read ({error.strerror}); name a file with a format of lines") from error
    except ValueError as error:
        raise BadFormat(f"{path}: it is no TOML: {error}") from error
    if problem := next(problems(document), None):
        raise BadFormat(f"{path}: {problem}")
    return format_of(document)


def problems(document: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with a format; what comes later is only looked at where all before it is right."""
    for look in (_written, _patterns):
        if problem := next(look(document), None):
            yield problem
            return
    yield from _examples(document)


def _written(document: Mapping[str, Any]) -> Iterator[str]:
    """Whether keys, types and words are those of a format."""
    yield from _table(document, "", _FORMAT, ("tools", "row", "example"))
    for n, row in enumerate(document["row"], 1):
        yield from _table(row, f"row {n}: ", _ROW, ("pattern",))
    for n, example in enumerate(document["example"], 1):
        yield from _table(example, f"example {n}: ", _EXAMPLE, ("log", "gives"))
    yield from _table(document.get("turned", {}), "turned: ", _TURNED, ())


def _table(table: Mapping[str, object], where: str, keys: Types, needed: tuple[str, ...]) -> Iterator[str]:
    for key, value in table.items():
        if key not in keys:
            yield f"{where}there is no key {key!r}{did_you_mean(key, [*keys], '; there are: ' + ', '.join(keys))}"
        elif not isinstance(value, keys[key]) or (
            isinstance(value, list) and not all(isinstance(each, dict if key in _TABLES else str) for each in value)
        ):
            yield f"{where}{key} is of the wrong type: {value!r}"
        elif key in _WORDS and isinstance(value, str) and value not in _WORDS[key]():
            yield f"{where}{key} is {value!r}; it has to be one of: {', '.join(_WORDS[key]())}"
    for key in needed:
        if key not in table or (table[key] == [] and key != "gives"):
            yield f"{where}{key} is missing"


def _patterns(document: Mapping[str, Any]) -> Iterator[str]:
    """Whether each pattern can be compiled, names only known groups, and is fast on lines made to be slow."""
    parts = document.get("parts", {})
    lines = [line for example in document["example"] for line in example["log"].splitlines() if line.strip()]
    for n, row in enumerate(document["row"], 1):
        for text in texts_of(row["pattern"]):
            yield from _pattern(with_parts(text, parts), f"row {n}: ", lines, row)
        for name in ("above", "spot", "symbol"):
            if name in row:
                yield from _pattern(with_parts(row[name], parts), f"row {n}: {name}: ", lines, {})


def _pattern(pattern: str, where: str, lines: list[str], row: Mapping[str, Any]) -> Iterator[str]:
    try:
        compiled = re.compile(pattern)
        templates = row.get("message", "") + row.get("code", "")
        said = {name for _, name, _, _ in Formatter().parse(templates) if name is not None}
    except re.error as error:
        yield f"{where}the pattern {pattern!r} cannot be compiled: {error}"
        return
    except ValueError as error:
        yield f"{where}message {row['message']!r} cannot be read: {error}"
        return
    if unknown := sorted(set(compiled.groupindex) - set(GROUPS) - said):
        yield f"{where}nothing is made of a group {unknown[0]!r}; the groups are: {', '.join(GROUPS)}"
    elif missing := sorted(said - {SAID} - set(compiled.groupindex)):
        yield f"{where}message {row['message']!r} names {missing[0]!r}, and the pattern {pattern!r} has no such group"
    elif row.get("gives") == "heading" and "file" not in compiled.groupindex:
        yield f"{where}a heading has to name a file by the group `file`"
    elif slow := slow_on(compiled, lines):
        advice = "make repeats that may take the same text possessive (`++`, `*+`), or give them an end"
        yield f"{where}the pattern {pattern!r} takes far longer the longer a line is ({slow}); {advice}"


def slow_on(pattern: re.Pattern[str], lines: list[str]) -> str:
    """How a line looks that the pattern takes too long for; empty where none was found.

    Lines that fit are stretched at each place, by little at first: time that doubles with every letter is noticed long
    before it is a burden.
    """
    near = next((line for line in lines if pattern.match(line)), lines[0] if lines else "a")
    pieces, before = _PIECE.findall(near[:200])[:MOST_PLACES], ""
    for piece, following in zip(pieces, [*pieces[1:], ""], strict=True):
        for pump, size in product(dict.fromkeys((piece[:1], piece[:1] + following[:1])), SIZES):
            times, start = size // len(pump), time.process_time()
            pattern.match(before + pump * times + "\x00")
            if (seconds := time.process_time() - start) > (SLOWEST if size == LONGEST_LINE else SLOWEST / 4):
                return f"{seconds:.1f} s where {pump!r} comes {times} times after {before[-20:]!r}"
        before += piece
    return ""


def _examples(document: Mapping[str, Any]) -> Iterator[str]:
    """Whether each example gives what it says, and every pattern has a line in one."""
    of, used = format_of(document), set[tuple[int, str]]()
    for n, example in enumerate(document["example"], 1):
        reader = of.reader(Workspace(PurePosixPath("/workspace")))
        reader.used = used
        read_block(without_colours(example["log"]).rstrip("\n") + "\n", reader)
        given, expected = [*describe(reader.parsed())], example["gives"]
        if given != expected:
            yield f"example {n} gives {given}, and not {expected}"
    for n, row in enumerate(of.rows, 1):
        for pattern in row.patterns:
            if (id(row), pattern.pattern) not in used:
                yield f"row {n}: no example has a line that {pattern.pattern!r} takes; add one, or remove the pattern"


def describe(parsed: Parsed) -> Iterator[str]:
    """What was found, a line each, as `parse-log` prints it and with the code in parentheses."""
    for failure in parsed.failures:
        yield line_of(failure) + (f" ({failure.code})" if failure.code else "")
    if counts := parsed.summary and to_object(parsed.summary):
        yield "counts: " + ", ".join(f"{number} {name}" for name, number in counts.items() if number or name == "tests")
    for warning in parsed.warnings:
        yield f"warning: {line_of(warning)}" + (f" ({warning.code})" if warning.code else "")
