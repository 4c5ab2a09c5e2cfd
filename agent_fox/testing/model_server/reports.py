"""A verifier's report, made from the brief that the prompt holds. Judges nothing: the script says the words."""

from __future__ import annotations

import re

from pydantic import JsonValue

from agent_fox.core.regex import regex
from agent_fox.testing.scripted.script import Verdicts

_ASKED = regex(r"^#+ *Give one verdict for each of these ids\s+(.+?)(?:\n\s*\n|\Z)", re.MULTILINE | re.DOTALL)
_LISTED = regex(r"^- \*\*([^*\s]+)\*\*", re.MULTILINE)


def ids_asked_for(prompt: str) -> list[str]:
    """The ids of the brief: those that it asks a verdict for, else those whose text it tells, in its order."""
    asked = _ASKED.search(prompt)
    listed = [part.strip() for part in asked[1].split(",")] if asked else _LISTED.findall(prompt)
    return list(dict.fromkeys(part for part in listed if part and " " not in part))


def report(action: Verdicts, prompt: str) -> dict[str, JsonValue]:
    """One verdict for each id of the brief, and for each that the action names; as the scripted backend reports."""
    words = {"*": action.verdicts} if isinstance(action.verdicts, str) else action.verdicts
    ids = ids_asked_for(prompt)
    given = [
        (requirement, words.get(requirement, words.get("*"))) for requirement in [*ids, *(set(words) - {"*", *ids})]
    ]
    rows: list[JsonValue] = [
        {"requirement_id": requirement, "verdict": word, "evidence": action.evidence}
        for requirement, word in given
        if word is not None
    ]
    is_passed = bool(rows) and all(word == "PASS" for _, word in given if word is not None)
    return {
        "verdicts": rows,
        "overall_verdict": "PASS" if is_passed else "FAIL",
        "summary": f"{len(rows)} verdicts",
    }
