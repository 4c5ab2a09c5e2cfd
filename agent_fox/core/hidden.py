"""Checks that no coder sees: what of a failing one is told, and what a requirement comes to with them. Pure.

Source of the rules: `docs/proof.md`, "Hidden checks".
"""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum

from agent_fox.core.known import How
from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.core.verdict import Signal, Unproven, Verdict, Word

COMMAND = "hidden checks"
"""What stands in place of the command that shows a hidden check again."""

_ERROR = regex(r"\b((?:[A-Za-z_]\w*\.)*\w*(?:Error|Exception|Failure))\b")
LONGEST_LINE = 200


class Reveal(StrEnum):
    """What a failing hidden check tells a coder (`[verify] reveal`)."""

    CRITERION = "criterion"
    ASSERTION = "assertion"
    TEST = "test"


@dataclass(frozen=True, slots=True)
class HiddenChecks:
    """What hidden checks said of one requirement. `digest`: SHA-256 of all of them; `text`: the requirement's."""

    verdict: Verdict
    text: str
    digest: str


def kind_of(verdict: Verdict) -> str:
    """The kind of a failure, in words that tell nothing of the test."""
    if verdict.disposition is Unproven.VACUOUS_TEST:
        return "it cannot fail: what it executes was broken, and it did not notice"
    if verdict.word is Word.UNKNOWN:
        return "it did not run, or could not be judged"
    if verdict.signal is None:
        return "it fails"
    found = _ERROR.search(verdict.signal.first_error)
    name = found[1].rpartition(".")[2] if found else ""
    return f"it ends with {name}" if name and "Assertion" not in name else "what it asserts does not hold"


def told(found: HiddenChecks, reveal: Reveal) -> Verdict:
    """The verdict of hidden checks with as much of them as may be shown."""
    verdict, kind = found.verdict, kind_of(found.verdict)
    note = f"{COMMAND} sha256:{found.digest}"
    if reveal is Reveal.TEST:
        return replace(verdict, note="; ".join(filter(None, (verdict.note, note))))
    first = verdict.signal.first_error if verdict.signal and reveal is Reveal.ASSERTION else ""
    lines = (
        f"a hidden check of {verdict.requirement_id}: {kind}",
        f"the criterion: {found.text}",
        first[:LONGEST_LINE],
    )
    return Verdict(
        verdict.requirement_id, verdict.word, verdict.said, "\n".join(filter(None, lines)), note,
        Signal(COMMAND, f"{verdict.requirement_id}: {first[:LONGEST_LINE] or kind}") if verdict.signal else None,
        verdict.failing_tests, verdict.disposition, verdict.is_proven, verdict.needs_person, COMMAND,
    )  # fmt: skip


def with_hidden(seen: Verdict, found: HiddenChecks, reveal: Reveal, *, is_untested: bool) -> Verdict:
    """One verdict of what the coder's tests and the hidden ones say: the worse of the two.

    `is_untested`: no test that the coder can see is about it, so that the hidden ones speak alone.
    """
    hidden = told(by_person(found), reveal)
    match hidden.word:
        case Word.PASS if seen.word is Word.PASS or is_untested:
            evidence = "\n".join(filter(None, ("" if is_untested else seen.evidence, "its hidden checks pass")))
            how = seen.how if seen.expectation else How.HIDDEN
            passed = replace(hidden if is_untested else seen, how=how, evidence=evidence, command=seen.command)
            return replace(passed, note="; ".join(filter(None, (seen.note, f"{COMMAND} sha256:{found.digest}"))))
        case Word.PASS:
            return seen
        case Word.UNKNOWN if seen.word is Word.FAIL and not is_untested:
            return seen
        case Word.FAIL if seen.word is Word.FAIL and not is_untested:
            return replace(seen, evidence=f"{seen.evidence}\n{hidden.evidence}")
        case _:
            return hidden


def by_person(found: HiddenChecks) -> HiddenChecks:
    """A hidden check that cannot fail is no coder's fault: who wrote it must mend it."""
    verdict = found.verdict
    if verdict.disposition is not Unproven.VACUOUS_TEST:
        return found
    unknown = replace(verdict, word=Word.UNKNOWN, said=Word.UNKNOWN.value, needs_person=True)
    return replace(found, verdict=unknown)
