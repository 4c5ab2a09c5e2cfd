"""A desk whose sessions end in their rows too, so that what was read last can be told. No test is here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from agent_fox.core.policy import Policy
from agent_fox.core.spec import SourceIssue, Spec
from agent_fox.engine.record.docket import Docket, Handled
from agent_fox.store.state import transaction
from tests.engine.desk import Desk, small_spec

PARTS = ("01-REQ-1.1", "01-REQ-1.2", "01-REQ-1.3")
A, B, C = PARTS
CALC = small_spec("01_calc", {1: ("1.1", "1.2", "1.3")})


@dataclass
class ReadingDesk(Desk):
    """`waived` counts as waived by a person."""

    waived: frozenset[str] = frozenset()

    def docket(self) -> Docket:
        lines = tuple(f"{part} waived by alice until 2030-01-01T00:00Z: later" for part in sorted(self.waived))
        return replace(super().docket(), waived=lambda name: self.waived, waiver_lines=lambda name: lines)

    def read(self, words: Mapping[str, str], node_id: str = "01_calc:2") -> Handled:
        """The verifier's session ends with these words, after whatever its coder has to do first."""
        coder = self.node(f"{node_id.partition(':')[0]}:1")
        if not coder.standing.is_settled:
            self.end(coder.node.id)
        session = self.session(self.node(node_id))
        handled = self.report(node_id, words)
        with transaction(self.db):
            self.db.execute("UPDATE sessions SET status = 'completed' WHERE id = ?", [session])
        return handled

    def next_run(self) -> None:
        with transaction(self.db):
            self.db.execute("UPDATE runs SET status = 'ended' WHERE id = ?", [self.run_id])
            self.db.execute("INSERT INTO runs (started_at) VALUES ('2026-03-02T12:00:00.000Z')")
        self.run_id += 1


def reading_desk(folder: Path, specs: Iterable[Spec], policy: Policy | None = None) -> ReadingDesk:
    opened = ReadingDesk.open(folder, specs, policy or Policy(attempts=1, readings=1))
    assert isinstance(opened, ReadingDesk)
    return opened


def from_issue(spec: Spec, issue: SourceIssue | None) -> Spec:
    return replace(spec, source=issue)
