"""What a reviewer's output says: OK, NOK, or nothing that can be trusted. What is not plainly OK is not OK."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from agent_fox.core.late import late_module
from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass

if TYPE_CHECKING:
    from agent_fox.core import json_text
else:
    json_text = late_module("agent_fox.core.json_text")

LONGEST_FEEDBACK = 8000

_FENCE = regex(r"^[ \t]*(?P<marks>`{3,}|~{3,})[ \t]*(?P<info>\S*)[^\n]*$", re.MULTILINE)
_LONE_FENCE = regex(r"\A(?:`{3,}|~{3,})(?:json|JSON)?[ \t]*\n(?P<body>.*)\n[ \t]*(?:`{3,}|~{3,})\Z", re.DOTALL)
_CLOSING_FENCE = regex(r"`{3,}|~{3,}")
_STATUS = regex(r"\"status\"\s*:", re.IGNORECASE)
_SAYS_OK = regex(r"\\?\"status\\?\"\s*:\s*\\?\"\s*ok\s*\\?\"", re.IGNORECASE)
_DECODER = json.JSONDecoder(object_pairs_hook=lambda pairs: json_text.object_of(pairs))


@dataclass(frozen=True, slots=True)
class Ok:
    """The reviewer found everything there."""


@dataclass(frozen=True, slots=True)
class Nok:
    """The reviewer found something missing or wrong."""

    feedback: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """No answer that counts, and why."""

    why: str


Answer = Ok | Nok | Unreadable


def read_answer(output: str, material: str, mark: str) -> Answer:
    """The answer: a JSON object alone, or the last thing in the output, standing on lines of its own.

    `material` is what the reviewer was sent, `mark` its fence: what is quoted from between the fences is no answer. An
    OK behind other text does not count where the material holds such an OK itself: it could be a quotation.
    """
    text = output.removeprefix("\ufeff").strip()
    if not text:
        return Unreadable("it printed nothing")
    alone = _object(_unfenced(text))
    if alone is not None:
        return _answer(alone)
    spoken = _without_quotations(text, mark)
    objects = list(_objects(spoken))
    if not objects:
        return Unreadable("it printed no JSON object with a status on lines of its own")
    *former_answers, (last, end) = objects
    if not _is_end(spoken[end:]):
        return Unreadable("its JSON object is not the last thing that it printed")
    answer = _answer(last)
    if any(type(_answer(former)) is not type(answer) for former, _ in former_answers) or _disagrees(spoken, answer):
        return Unreadable("it gave answers that disagree")
    if isinstance(answer, Ok) and _SAYS_OK.search(material):
        return Unreadable(
            "its OK stands behind other text, and could be quoted from the change, which holds such an OK"
        )
    return answer


def _unfenced(text: str) -> str:
    """The inside of a code block that is all there is."""
    lone = _LONE_FENCE.match(text)
    return lone["body"].strip() if lone else text


def _object(text: str) -> dict[str, object] | None:
    """The object that the whole text is; None for anything else."""
    try:
        value: object = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _answer(found: dict[str, object]) -> Answer:
    status, feedback = found.get("status"), found.get("feedback", "")
    if isinstance(found, json_text.DoubledObject):
        return Unreadable("a key stands twice in its JSON object")
    if not isinstance(status, str) or not isinstance(feedback, str | None):
        return Unreadable("its JSON object has no status of OK or NOK")
    beside = {key: value for key, value in found.items() if key not in ("status", "feedback") and value}
    words = (feedback or "").strip()[:LONGEST_FEEDBACK]
    match status.strip().upper():
        case "OK" if words or beside:
            remark = (words or json.dumps(beside, ensure_ascii=False))[:200]
            return Unreadable(f"it says OK and has a remark beside it, and an OK with findings is none: {remark!r}")
        case "OK":
            return Ok()
        case "NOK":
            return Nok(words or "the reviewer gave no reason")
    return Unreadable(f"its status is {status[:40]!r}, neither OK nor NOK")


def _without_quotations(text: str, mark: str) -> str:
    """The text without what stands between fences of ours, and without code blocks that are not JSON."""
    marked = re.escape(mark)
    text = re.sub(rf"<\w+\b[^<>\n]*{marked}>.*?(?:</\w+ {marked}>|\Z)", "\n", text, flags=re.DOTALL)
    kept, at, opened = [], 0, ""
    for fence in _FENCE.finditer(text):
        if not opened:
            kept.append(text[at : fence.start()])
            opened, is_json, at = fence["marks"], fence["info"].lower() in ("", "json"), fence.end()
        elif fence["marks"].startswith(opened) and not fence["info"]:
            kept += [text[at : fence.start()]] if is_json else []
            opened, at = "", fence.end()
    return "".join(kept) + ("" if opened else text[at:])


def _objects(text: str) -> Iterator[tuple[dict[str, object], int]]:
    """Objects with a status that begin a line, each with where it ends."""
    at = 0
    while (start := re.compile(r"^[ \t]*\{", re.MULTILINE).search(text, at)) is not None:
        begin = start.end() - 1
        try:
            value, at = _DECODER.raw_decode(text, begin)
        except (ValueError, RecursionError):
            at = start.end()
            continue
        if isinstance(value, dict) and "status" in value:
            yield value, at


def _is_end(rest: str) -> bool:
    """Whether nothing follows but the end of a code block, on a line of its own."""
    last = rest.strip()
    return not last or (_CLOSING_FENCE.fullmatch(last) is not None and "\n" in rest[: rest.index(last)])


def _disagrees(text: str, answer: Answer) -> bool:
    """Whether another answer stands anywhere in the text, quoted in a sentence or not."""
    other = "nok" if isinstance(answer, Ok) else "ok"
    return re.search(rf"\"status\"\s*:\s*\"\s*{other}\s*\"", text, re.IGNORECASE) is not None
