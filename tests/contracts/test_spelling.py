"""Documents keep every byte: names, order, nulls and words of records, briefs, reports and answers.

`PROMISED=write pytest tests/contracts/test_spelling.py` writes the file anew. Read the difference before it is
committed: a record is named by the hash of its text, so nothing of a record may move. What accounts hold is
`test_promised`'s.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from pydantic import BaseModel

from agent_fox.cli.issues import lines as issue_lines
from agent_fox.cli.specs import red_lines
from agent_fox.core.formal.specification import Change as LibraryChange
from agent_fox.core.graph import Plan
from agent_fox.core.ledger.close_out import CloseOut
from agent_fox.core.ledger.evidence import Evidence, Link, Repository, canonical, content_of
from agent_fox.core.ledger.waivers import AboutExpectation, AboutFinding, AboutHidden, AboutRequirement, Statement
from agent_fox.core.values import to_document
from agent_fox.core.verdicts.red import RedWord
from agent_fox.core.verdicts.verdict import Verdict, Word
from agent_fox.engine.doors.red_tests import RedSpec
from agent_fox.engine.planning.forecast import Forecast
from agent_fox.engine.record import review_persistence
from agent_fox.evidence import library
from agent_fox.evidence.exports import checkpoints, statements
from agent_fox.evidence.fold import Fold, FoldedGate, Planned
from agent_fox.evidence.signing.dsse import Envelope, Signature
from agent_fox.evidence.walk import Entry
from agent_fox.mcp import documents as served
from agent_fox.review.close_out.report import Judged, document_of
from agent_fox.review.repositories import Registered
from agent_fox.session.briefs.facts import BriefFacts, brief_json
from agent_fox.specs.lint.rules import finding_document
from agent_fox.specs.lint.values import Finding as LintFinding
from agent_fox.specs.plan_json import plan_document
from agent_fox.store import library as library_rows
from agent_fox.store.issue_view import EffectView, IssueView
from agent_fox.verifier.ground.results import Parsed, VerificationResult
from agent_fox.verifier.judging import checks
from agent_fox.verifier.judging.verdicts import Finding
from agent_fox.verifier.lanes.results import LaneResult
from agent_fox.verifier.logs.status import Outcome, outcome_document
from agent_fox.verifier.projects.systems import Detection
from agent_fox.verifier.reporting import documents, projection
from agent_fox.verifier.reporting.report import VerificationReport
from agent_fox.verifier.suites.suite import SuiteRun
from tests.contracts.filled import filled
from tests.contracts.promised import GOLDEN

ROOT = Path("/root")
PERSONS = (AboutRequirement, AboutFinding, AboutExpectation, AboutHidden)


def spellings() -> dict[str, Callable[[], object]]:
    """By name, what makes each document of a value with all its fields."""
    result, report = filled(VerificationResult), filled(VerificationReport)
    finding = filled(Finding)
    folded = filled(FoldedGate)
    sealed = Envelope("type", b"payload", (Signature("key", b"sig"), Signature("key", b"sig", "sshsig")))
    made: dict[str, Callable[[], object]] = {
        "record": lambda: _canonical(filled(Evidence)),
        "record of the old format": lambda: _canonical(filled(Evidence, repository=Repository())),
        "checkpoint's gates": lambda: [
            one.model_dump(mode="json") for one in checkpoints.gate_lines(_fold(folded), [("", "")])
        ],
        "statement of a record": lambda: statements.statement_of(Entry(filled(Link), "{}"), filled(Evidence)),
        "envelope": lambda: json.loads(sealed.to_json()),
        "adoption": lambda: json.loads(filled(library.Statement).payload()),
        "library's record": lambda: _canonical(library_rows.record_of(1, filled(LibraryChange), "at")),
        "lane's record": lambda: _canonical(
            review_persistence.record_of(filled(LaneResult), filled(review_persistence.LaneRun))
        ),
        "close-out": lambda: document_of(filled(Judged)),
        "close-out's ground": lambda: to_document(filled(CloseOut)),
        "brief": lambda: brief_json(filled(BriefFacts)),
        "least brief": lambda: brief_json(
            filled(
                BriefFacts,
                conflict=None,
                change=None,
                bound=(),
                cut_off=None,
                mode=None,
                is_short=False,
                remembered=(),
                not_named=0,
            )
        ),
        "plan": lambda: plan_document(filled(Plan)),
        "finding of the linter": lambda: finding_document(filled(LintFinding)),
        "answer": lambda: checks.answer(checks.CheckReport((finding,), (filled(SuiteRun),))),
        "least answer": lambda: checks.answer(
            checks.CheckReport((replace(finding, run=None, verdict=Verdict("id", Word.PASS)),), ())
        ),
        "outcome of a log": lambda: outcome_document(filled(Outcome)),
        "outcome without counts": lambda: outcome_document(filled(Outcome, parsed=Parsed())),
        "result": lambda: documents.result_document(result),
        "result without its parts": lambda: documents.result_document(
            replace(result, test_summary=None, dispositions=(), artifacts=(), scope=None)
        ),
        "report": lambda: documents.report_document(report),
        "report without a base": lambda: documents.report_document(replace(report, comparison=None)),
        "projected result": lambda: projection.as_document(result),
        "detection": lambda: served.detection_document(filled(Detection), "profile"),
        "served report": lambda: served.report_document(report),
        "registered repository": lambda: to_document(filled(Registered)),
        "issue": lambda: issue_lines.issue_document(ROOT, filled(IssueView, remote="open")),
        "effect": lambda: issue_lines.effect_document(filled(EffectView)),
        "red tests": lambda: red_lines.red_document([filled(RedSpec)]),
        "red test": lambda: red_lines.red_document([filled(RedSpec, told=(filled(RedWord),))]),
        "forecast": lambda: filled(Forecast).document(),
    }
    subjects = {f"statement about {kind.__name__}": _statement(kind) for kind in PERSONS}
    return made | subjects


def _canonical(record: Evidence) -> object:
    return json.loads(canonical(content_of(record)))


def _statement(kind: type) -> Callable[[], object]:
    return lambda: filled(Statement, subject=filled(kind)).content()


def _fold(gate: FoldedGate) -> Fold:
    return Fold({(gate.spec, gate.requirement): gate}, {gate.spec: Planned({gate.requirement: gate.version}, 1, "at")})


def spelled(document: object) -> object:
    """The document as it is read back from its JSON, in the order in which it was written."""
    if isinstance(document, BaseModel):
        return json.loads(document.model_dump_json())
    return json.loads(json.dumps(document))


def text_of(document: object) -> str:
    return json.dumps(spelled(document), ensure_ascii=False, indent=1)


FILE = GOLDEN / "spelled.json"


def test_a_document_keeps_its_names_its_order_and_its_values() -> None:
    written = text_of({name: spelled(make()) for name, make in spellings().items()}) + "\n"
    if os.environ.get("PROMISED") == "write":
        FILE.write_text(written, encoding="utf-8")
    assert written == FILE.read_text(encoding="utf-8")
