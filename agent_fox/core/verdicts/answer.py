"""A verifier's answer, read from whatever it printed. Only an exact PASS about an expected id can pass it.

Finding the answer is in `answer_scan`, its rows are in `answer_rows`, what they amount to in `judgement`.
Source of the rules: `docs/semantics.md`, "Verdicts".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from agent_fox.core.json_text import DoubledObject
from agent_fox.core.regex import regex
from agent_fox.core.signals import normalise_line
from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.answer_rows import Row, is_answer, is_bare_row, plain, rows_of
from agent_fox.core.verdicts.answer_scan import OVERALL_KEYS, WORD_KEYS, Broken, Whole, scan
from agent_fox.core.verdicts.expectations import Expectation
from agent_fox.core.verdicts.proof import Trials, Tried, bounded
from agent_fox.core.verdicts.scope import Scope
from agent_fox.core.verdicts.verdict import Disposition, Report, RunTest, Signal, Unproven, Verdict, Word

MOST_NOTES = 20
LONGEST_NOTE = 200
MOST_DIGITS = 9
MOST_TESTS = 10
"""Tests that one verdict names."""

NO_ANSWER = "no complete answer was found"
CUT_OFF = "an answer is broken or cut off, and no complete one follows it"
BARE_ROW = "a verdict stands outside the answer, after it"
OVERALL_FAILS = "the answer as a whole says FAIL, but no expected id does"

_SAYS_FAIL = regex(r"\W*fail", re.IGNORECASE)
_MEANS_FAIL = regex(r"fail|false", re.IGNORECASE)
_DISPOSITIONS: dict[str, Disposition | Unproven] = {known.value: known for known in (*Disposition, *Unproven)}


@dataclass(frozen=True, slots=True)
class _Claim:
    """What the rows about one id say together. `fails` holds if any of them says FAIL."""

    row: Row
    word: Word
    note: str
    fails: bool


def read_report(text: str, requirements: Mapping[str, tuple[str, ...]], *, trusted: bool = False) -> Report:
    """Read a verifier's output. Never raises, whatever the text.

    `requirements`: requirement id -> ids of its criteria and edge cases; with none, the requirement itself is
    expected. The last complete answer counts, unless something like an answer that is broken or cut off
    follows it. Expected ids without a row get no verdict. `trusted` is for our own checks alone: command,
    first error, failing tests and disposition are taken over from the rows, and what was proven about them.
    """
    known = frozenset(requirements).union(*requirements.values())
    answer, problem = _last_answer(text, known)
    if answer is None:
        return Report(notes=(problem,), is_readable=False)
    rows = tuple(rows_of(answer, known))
    claims = _claims(rows)
    verdicts = {verdict.requirement_id: verdict for verdict in _verdicts(claims, requirements, trusted)}
    fields = answer if isinstance(answer, dict) else {}
    contradiction = _contradiction(fields, rows, verdicts)
    if contradiction:
        verdicts = {part: _unproven(verdict, contradiction) for part, verdict in verdicts.items()}
    return Report(
        verdicts,
        overall=next((plain(value) for value in _overall(fields)), "")[:LONGEST_NOTE],
        summary=plain(fields.get("summary")),
        notes=_notes(rows, claims, contradiction),
    )


def _last_answer(text: str, known: frozenset[str]) -> tuple[object | None, str]:
    """The answer that counts, or None with the reason why none does."""
    answer: object | None = None
    problem = NO_ANSWER
    for piece in scan(text):
        match piece:
            case Broken():
                answer, problem = None, CUT_OFF
            case Whole(DoubledObject() as value) if is_answer(value):
                answer, problem = None, CUT_OFF
            case Whole(value) if is_answer(value):
                answer = value
            case Whole(value) if is_bare_row(value, known):
                answer, problem = None, BARE_ROW
    return answer, problem


def _verdicts(
    claims: Mapping[str, _Claim], requirements: Mapping[str, tuple[str, ...]], trusted: bool
) -> Iterable[Verdict]:
    for requirement, parts in requirements.items():
        whole = claims.get(requirement)
        for part in parts or (requirement,):
            claim = _rolled_up(claims.get(part), whole, requirement)
            if claim is not None:
                yield _verdict(part, claim, trusted)


def _claims(rows: tuple[Row, ...]) -> dict[str, _Claim]:
    by_id: dict[str, list[Row]] = {}
    for row in rows:
        for known_id in row.ids:
            by_id.setdefault(known_id, []).append(row)
    return {known_id: _claim(about) for known_id, about in by_id.items()}


def _claim(rows: list[Row]) -> _Claim:
    """Rows that agree count once; rows that disagree are UNKNOWN."""
    words = {row.word for row in rows}
    fails = any(Word.FAIL in row.definite for row in rows)
    if len(words) > 1:
        return _Claim(rows[0], Word.UNKNOWN, f"{len(rows)} rows disagree: {', '.join(sorted(words))}", fails)
    note = rows[0].trouble or (f"said in {len(rows)} rows" if len(rows) > 1 else "")
    return _Claim(rows[0], rows[0].word, note, fails)


def _rolled_up(own: _Claim | None, whole: _Claim | None, requirement: str) -> _Claim | None:
    """A FAIL of the requirement as a whole fails each part; a PASS of it proves none."""
    if whole is None:
        return own
    if own is None:
        word = Word.FAIL if whole.word is Word.FAIL else Word.UNKNOWN
        return replace(whole, word=word, note=f"said only of {requirement} as a whole")
    if whole.word is Word.FAIL and own.word is not Word.FAIL:
        return replace(
            own,
            row=replace(own.row, fields=whole.row.fields),
            word=Word.FAIL,
            note=f"{requirement} fails as a whole",
        )
    if whole.fails and own.word is Word.PASS:
        return replace(own, word=Word.UNKNOWN, note=f"rows about {requirement} as a whole disagree")
    return own


def _verdict(part: str, claim: _Claim, trusted: bool) -> Verdict:
    row = claim.row
    verdict = Verdict(part, claim.word, row.said, row.evidence, claim.note)
    return _with_findings(verdict, row.fields) if trusted else verdict


def _with_findings(verdict: Verdict, fields: Mapping[str, object]) -> Verdict:
    """What our own checks found beside the word."""
    return replace(
        verdict,
        note="; ".join(filter(None, (verdict.note, plain(fields.get("note"))))),
        signal=_signal(fields),
        failing_tests=_count(fields.get("failing_tests")),
        disposition=_DISPOSITIONS.get(str(fields.get("disposition")), Disposition.REPAIRABLE),
        is_proven=fields.get("disposition_proven") is True,
        needs_person=fields.get("needs_person") is True,
        how=plain(fields.get("how")),
        expectation=_expectation(fields.get("expectation")),
        tests=_texts(fields.get("test_files")),
        trials=read_trials(fields.get("trials")),
        rests_on=scope_of(fields.get("rests_on")),
        command=plain(fields.get("command") or fields.get("check")),
        ran=read_tests(fields.get("ran")),
    )


def _expectation(value: object) -> Expectation | None:
    if not isinstance(value, dict):
        return None
    committed, changed, reason, before, after = (
        plain(value.get(name)) for name in ("committed", "changed", "reason", "before", "after")
    )
    return Expectation(
        plain(value.get("test")), _texts(value.get("files")), committed, changed, reason, before, after,
        value.get("is_asked") is True,
    )  # fmt: skip


def read_trials(value: object) -> Trials | None:
    """What was tried to see tests fail, as our own judge or a record tells it; None where nothing was."""
    if not isinstance(value, dict):
        return None
    rows = value.get("tried")
    objects = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    tried, cut = bounded([_tried(row) for row in objects])
    word, before, base = (plain(value.get(name)) for name in ("word", "before", "base"))
    runs, left_out = (_count(value.get(name)) or 0 for name in ("runs", "left_out"))
    return Trials(word, before, base, runs, value.get("is_recalled") is True, tried, left_out + cut)


def _tried(row: Mapping[str, object]) -> Tried:
    how, effect, what, file, test = (plain(row.get(name)) for name in ("how", "effect", "what", "file", "test"))
    return Tried(how, effect, what, file, _count(row.get("line")) or 0, test)


def scope_of(value: object) -> Scope | None:
    """What a verdict rests on, as it was recorded; None where nothing was."""
    if not isinstance(value, dict):
        return None
    files, folders, below, names = (_texts(value.get(name)) for name in ("files", "folders", "below", "names"))
    return Scope(files, folders, below, names, plain(value.get("whole")))


def read_tests(value: object) -> tuple[RunTest, ...]:
    """Tests that our own judge ran, the first MOST_TESTS; what has no name or no command line is none."""
    rows = [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []
    tests = [run_test(row) for row in rows[:MOST_TESTS]]
    return tuple(test for test in tests if test.line and test.name)


def run_test(row: Mapping[str, object]) -> RunTest:
    line, file, name, known = (plain(row.get(key)) for key in ("line", "file", "name", "id"))
    return RunTest(line, file, _texts(row.get("classes")), name, known)


def _texts(value: object) -> tuple[str, ...]:
    return tuple(plain(text) for text in value) if isinstance(value, list) else ()


def _signal(fields: Mapping[str, object]) -> Signal | None:
    command = plain(fields.get("check") or fields.get("command"))
    first_error = normalise_line(plain(fields.get("first_error")))
    return Signal(command, first_error) if command and first_error else None


def _count(value: object) -> int | None:
    """A count given as a number, which the scan leaves as text and a record does not, or as a list of names."""
    if isinstance(value, list):
        return len(value)
    text = str(value) if isinstance(value, str) or type(value) is int else ""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS else None


def _overall(fields: Mapping[str, object]) -> Iterable[object]:
    """What the answer says of itself as a whole; it can take a PASS away, never give one."""
    words = [fields[key] for key in OVERALL_KEYS if fields.get(key) is not None]
    return words + [fields[key] for key in WORD_KEYS if isinstance(fields.get(key), str)]


def _contradiction(fields: Mapping[str, object], rows: tuple[Row, ...], verdicts: Mapping[str, Verdict]) -> str:
    """Why no PASS can be believed, or nothing: something is said to fail, and no expected id is."""
    if any(verdict.word is Word.FAIL for verdict in verdicts.values()):
        return ""
    if any(_is_failing(value) for value in _overall(fields)):
        return OVERALL_FAILS
    nameless = any(not row.named and Word.FAIL in row.definite for row in rows)
    return "a row without an id says FAIL" if nameless else ""


def _is_failing(overall: object) -> bool:
    if isinstance(overall, str):
        return _SAYS_FAIL.match(overall) is not None
    return _MEANS_FAIL.search(plain(overall)) is not None


def _unproven(verdict: Verdict, why: str) -> Verdict:
    return replace(verdict, word=Word.UNKNOWN, note=why) if verdict.word is Word.PASS else verdict


def _notes(rows: tuple[Row, ...], claims: Mapping[str, _Claim], contradiction: str) -> tuple[str, ...]:
    """What was odd, each thing once, and no more than a person would read."""
    odd = [contradiction] if contradiction else []
    odd += [_odd(row) for row in rows if row.trouble or not row.ids]
    odd += [f"{known_id}: {claim.note}" for known_id, claim in claims.items() if claim.note]
    notes = [note[:LONGEST_NOTE] for note in dict.fromkeys(odd)]
    left_out = len(notes) - MOST_NOTES
    return (*notes[:MOST_NOTES], *((f"and {left_out} more",) if left_out > 0 else ()))


def _odd(row: Row) -> str:
    if not row.named:
        return f"a row without an id says {row.said or 'nothing'}"
    return f"{row.named}: {row.trouble}" if row.ids else f"{row.named} is not expected"
