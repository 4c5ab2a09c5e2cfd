"""From one answer to its rows: which ids a row names and which word it says. Not what the rows amount to."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from agent_fox.core.json_text import DoubledObject
from agent_fox.core.markdown import cut, printable
from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.answer_scan import ID_KEYS, WORD_KEYS, WRAPPER_KEYS
from agent_fox.core.verdicts.verdict import Word, read_word

EVIDENCE_KEYS = ("evidence", "reason", "details", "notes", "explanation")
LONGEST_WORD = 100
LONGEST_TEXT = 4_000
DECORATIONS = " \t\r\n`*[]"
_CALLS = frozenset({"requirement", "criterion", "scenario"})


@dataclass(frozen=True, slots=True)
class Row:
    """One row as written.

    `ids` are the known ids that it names, `named` the first id as written (empty where there is none),
    `definite` the PASS and FAIL that stand under any of its keys, and `trouble` why it counts as UNKNOWN
    where it should not be taken at its word.
    """

    ids: tuple[str, ...]
    named: str
    word: Word
    said: str
    definite: frozenset[Word]
    trouble: str
    fields: Mapping[str, object]

    @property
    def evidence(self) -> str:
        return next((text for text in (plain(self.fields.get(key)) for key in EVIDENCE_KEYS) if text), "")


def is_answer(value: object) -> bool:
    """Whether a value is an answer: an object that wraps rows, or a list of rows. A single row is not."""
    if isinstance(value, list):
        return all(isinstance(row, dict) for row in value) and any(_has(row, WORD_KEYS) for row in value)
    return isinstance(value, dict) and any(isinstance(value.get(key), list | dict) for key in WRAPPER_KEYS)


def is_bare_row(value: object, known: frozenset[str]) -> bool:
    """Whether a value is a verdict about a known id that stands outside any answer."""
    return isinstance(value, dict) and _has(value, WORD_KEYS) and bool(_read_row(value, known).ids)


def rows_of(answer: object, known: frozenset[str]) -> Iterator[Row]:
    """The rows of an answer. Beside the first wrapper, only rows with a word of their own count."""
    if isinstance(answer, list):
        yield from _list_rows(answer, known)
    elif isinstance(answer, dict):
        wrapped = [answer[key] for key in WRAPPER_KEYS if isinstance(answer.get(key), list | dict)]
        yield from _wrapped_rows(wrapped[0], known)
        for more in wrapped[1:]:
            yield from (row for row in _wrapped_rows(more, known) if row.said or row.definite)


def plain(value: object) -> str:
    """A value as printable text of bounded length; a list of texts becomes lines, None nothing."""
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        value = "\n".join(value)
    return cut(printable(value if isinstance(value, str) else _as_json(value)), LONGEST_TEXT)


def _as_json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "(nested too deep)"


def _has(row: Mapping[str, object], keys: Iterable[str]) -> bool:
    return not row.keys().isdisjoint(keys)


def _wrapped_rows(value: object, known: frozenset[str]) -> Iterator[Row]:
    if isinstance(value, list):
        yield from _list_rows(value, known)
    elif isinstance(value, dict) and _has(value, (*ID_KEYS, *WORD_KEYS)):
        yield _read_row(value, known)
    elif isinstance(value, dict):  # `id: word` or `id: {row}`
        for key, entry in _pairs(value):
            yield _read_row(entry if isinstance(entry, dict) else {"verdict": entry}, known, key)


def _list_rows(rows: list[object], known: frozenset[str]) -> Iterator[Row]:
    return (_read_row(row, known) for row in rows if isinstance(row, dict))


def _pairs(value: Mapping[str, object]) -> list[tuple[str, object]]:
    return value.pairs if isinstance(value, DoubledObject) else list(value.items())


def _read_row(fields: Mapping[str, object], known: frozenset[str], key: str = "") -> Row:
    written = (name for name in (key, *map(fields.get, ID_KEYS)) if isinstance(name, str))
    names = [_meant(printable(name).strip(DECORATIONS), known) for name in written]
    named = next((name for name in names if name), "")
    ids = tuple(dict.fromkeys(name for name in names if name in known))
    words = [word for name, word in _pairs(fields) if name in WORD_KEYS]
    definite = frozenset(map(read_word, words)) - {Word.UNKNOWN}
    first = next((fields[k] for k in WORD_KEYS if k in fields), None)
    trouble = _trouble(fields, ids, definite)
    word = Word.UNKNOWN if trouble else read_word(first)
    return Row(ids, named, word, plain(first)[:LONGEST_WORD], definite, trouble, fields)


def _meant(name: str, known: frozenset[str]) -> str:
    """The id that is named, `Requirement 1.2` for `1.2` too; what is no known id stays as it is written."""
    word, _, rest = name.partition(" ")
    return rest if word.lower() in _CALLS and rest in known and name not in known else name


def _trouble(fields: Mapping[str, object], ids: tuple[str, ...], definite: frozenset[Word]) -> str:
    if isinstance(fields, DoubledObject):
        return "a key stands twice in the row"
    if len(definite) > 1:
        return "the row says both PASS and FAIL"
    if len(ids) > 1:
        return f"the row names {' and '.join(ids)}"
    return "" if _has(fields, WORD_KEYS) else "the row has no verdict"
