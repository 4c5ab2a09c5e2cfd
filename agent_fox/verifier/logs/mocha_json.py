"""What mocha's `json` reporter writes: counts, and the tests that failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed, TestSummary
from agent_fox.verifier.logs.decode import pieces
from agent_fox.verifier.logs.frames import first_line
from agent_fox.verifier.logs.gathering import Gathering
from agent_fox.verifier.logs.javascript import exception_of, thrown_at
from agent_fox.verifier.logs.json_stream import EACH, JsonCut, parts, start_of
from agent_fox.verifier.logs.opening import stands_first
from agent_fox.verifier.logs.records import Record, number, record, text

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

_STATS, _FAILURES = ("stats",), ("failures", EACH)
_BEGINS = regex(r'\{\s*"stats"\s*:\s*\{\s*"suites"')


class MochaJson:
    """Reads the counts, and the failures with what was thrown."""

    tools = ("mocha",)

    def recognises(self, head: str) -> bool:
        at = start_of(head)
        return at is not None and bool(_BEGINS.match(head, at)) and stands_first(head, at)

    def parse_document(self, file: BinaryIO, workspace: Workspace) -> Parsed:
        gathering, summary, is_complete = Gathering(), None, True
        try:
            for path, value in parts(pieces(file), (_STATS, _FAILURES)):
                if path == _STATS:
                    summary = _summary(record(value))
                else:
                    gathering.fail(_failure(record(value), workspace))
        except JsonCut:
            is_complete = False
        return gathering.parsed(summary, is_complete=is_complete)


def _summary(stats: Record) -> TestSummary:
    """A hook that failed is a failure beside the tests."""
    passed, failed, skipped = (number(stats.get(word)) or 0 for word in ("passes", "failures", "pending"))
    return TestSummary(passed + failed + skipped, passed, failed, 0, skipped)


def _failure(test: Record, workspace: Workspace) -> Failure:
    thrown = record(test.get("err"))
    thrown_text = text(thrown.get("stack")) or text(thrown.get("message"))
    place, message = thrown_at(thrown_text, workspace), first_line(thrown_text) or "the test failed"
    return Failure(
        FailureKind.TEST_FAILURE,
        message,
        file=place.file if place else workspace.relative(text(test.get("file"))) or None,
        line=place.line if place else None,
        column=place.column if place else None,
        test_name=_name(text(test.get("fullTitle")), text(test.get("title"))),
        evidence=thrown_text,
        exception=exception_of(message) or text(thrown.get("name")) or None,
    )


def _name(full: str, title: str) -> str | None:
    """mocha joins the titles of groups by spaces: only the last one can be recognised."""
    groups = full.removesuffix(title).strip()
    return " > ".join(part for part in (groups, title) if part) or None
