"""Checks that no coder sees: what of a failing one is told, and what a requirement comes to with them. Pure.

Source of the rules: `docs/proof.md`, "Hidden checks".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.answer_scan import Broken, Whole, scan
from agent_fox.core.verdicts.known import How
from agent_fox.core.verdicts.verdict import Signal, Unproven, Verdict, Word

COMMAND = "hidden checks"
"""What stands in place of the command that shows a hidden check again."""

_ERROR = regex(r"\b((?:[A-Za-z_]\w*\.)*\w*(?:Error|Exception|Failure))\b")
LONGEST_LINE = 200
MOST_NAMED = 5


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


@dataclass(frozen=True, slots=True)
class Question:
    """What a reader of proposed checks is asked: whether a file asks just what a requirement says. `requirement`: empty
    for a file that names none, such as a helper.
    """

    file: str
    requirement: str

    def __str__(self) -> str:
        return f"{self.file} about {self.requirement}" if self.requirement else self.file


YES = "yes"
_VENDORS = {
    "Anthropic": regex(r"\b(?:claude|anthropic)"),
    "OpenAI": regex(r"\b(?:gpt|chatgpt|codex|openai|o[1-9])\b"),
    "Google": regex(r"\b(?:gemini|gemma|google)"),
    "Meta": regex(r"\b(?:llama|meta)\b"),
    "Mistral": regex(r"\b(?:mi[sx]tral|codestral|devstral|magistral)"),
    "DeepSeek": regex(r"\bdeepseek"),
    "Alibaba": regex(r"\b(?:qwen|qwq)"),
    "xAI": regex(r"\b(?:grok|xai)\b"),
    "Moonshot": regex(r"\b(?:kimi|moonshot)"),
    "Zhipu": regex(r"\b(?:glm|zhipu|z-ai)\b"),
}
_OF_BACKEND = {"claude": "Anthropic", "codex": "OpenAI", "gemini": "Google"}


def vendor_of(backend: str, model: str) -> str:
    """Who made the model that an agent works with: by the model's name, else by a program that has one vendor's alone.

    Empty where neither tells: two agents are then not known to differ.
    """
    named = model.rpartition("/")[2].lower()
    by_program = "" if model else _OF_BACKEND.get(backend, "")
    return next((vendor for vendor, words in _VENDORS.items() if words.search(named.replace("_", "-"))), by_program)


def why_not_accepted(asked: Sequence[Question], printed: str) -> str:
    """Why what a reader printed accepts nothing; empty where each question has exactly one answer, which is yes.

    The last answer counts, as everywhere; one that is cut off or doubled is none.
    """
    rows = _rows_of(printed)
    if rows is None:
        return "no complete answer was found"
    answers = [(_question(row), row.get("answer")) for row in rows]
    missing = [each for each in asked if sum(question == each for question, _ in answers) != 1]
    if missing:
        return f"not answered exactly once: {_named(missing)}"
    foreign = [str(question or "a row without both names") for question, _ in answers if question not in asked]
    if foreign:
        return f"answered, but not asked: {', '.join(foreign[:MOST_NAMED])}"
    refused = [f"{question}: {str(answer)[:LONGEST_LINE]}" for question, answer in answers if answer != YES]
    return f"not accepted: {'; '.join(refused[:MOST_NAMED])}" if refused else ""


def _rows_of(printed: str) -> list[dict[str, object]] | None:
    last: list[dict[str, object]] | None = None
    for piece in scan(printed):
        match piece:
            case Broken():
                last = None
            case Whole(dict() as value) if "checks" in value:
                rows = value["checks"]
                is_whole = isinstance(rows, list) and all(type(row) is dict for row in rows)
                last = list(rows) if is_whole and type(value) is dict and isinstance(rows, list) else None
    return last


def _question(row: Mapping[str, object]) -> Question | None:
    file, requirement = row.get("file"), row.get("requirement")
    return Question(file, requirement) if isinstance(file, str) and isinstance(requirement, str) else None


def _named(asked: Sequence[Question]) -> str:
    more = f" and {len(asked) - MOST_NAMED} more" if len(asked) > MOST_NAMED else ""
    return ", ".join(map(str, asked[:MOST_NAMED])) + more


def kind_of(verdict: Verdict) -> str:
    """The kind of a failure, in words that tell nothing of the test."""
    if verdict.disposition is Unproven.VACUOUS_TEST:
        return "it cannot fail: what it executes was broken, and it did not notice"
    if verdict.word is Word.UNKNOWN:
        return "it did not run, or could not be judged"
    if verdict.signal is None:
        return "it fails"
    match = _ERROR.search(verdict.signal.first_error)
    name = match[1].rpartition(".")[2] if match else ""
    return f"it ends with {name}" if name and "Assertion" not in name else "what it asserts does not hold"


def revealed(found: HiddenChecks, reveal: Reveal) -> Verdict:
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
    hidden = revealed(by_person(found), reveal)
    match hidden.word:
        case Word.PASS if seen.word is Word.PASS or is_untested:
            evidence = "\n".join(filter(None, ("" if is_untested else seen.evidence, "its hidden checks pass")))
            how = seen.how if seen.expectation else How.HIDDEN
            passed = replace(hidden if is_untested else seen, how=how, evidence=evidence, command=seen.command)
            note = "; ".join(filter(None, (seen.note, f"{COMMAND} sha256:{found.digest}")))
            return replace(passed, note=note, rests_on=None)  # what hidden checks rest on is not measured, nor told
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
