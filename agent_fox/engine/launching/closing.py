"""A coder's close-out in the engine: what its work is held to, and its judgement in the ledger and as a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.ledger.close_out import Contract, FindingWaiver, Severity, Verification
from agent_fox.core.ledger.close_out_scope import Boundary, paths_named
from agent_fox.core.ledger.evidence import RunContext
from agent_fox.evidence.granting import note_use
from agent_fox.evidence.waivers import Grounds, finding_waivers
from agent_fox.review.close_out.record import keep, newest, report_of
from agent_fox.review.close_out.report import Judged, ReportTrouble, only_judge, refuse_links, write_report
from agent_fox.session.order import ClosedOut, Closing
from agent_fox.store.waivers import events_of
from agent_fox.system import git
from agent_fox.system.files import read_regular

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.config import GateSettings, Settings
    from agent_fox.core.spec import Spec
    from agent_fox.store.sessions import SessionRow

REPORTS = Path(".agent-fox") / "verification"
"""The folder of the engine's own reports, in the repository's root; git does not see it."""

MIB = 1024**2
LARGEST_DESIGN = 4 * MIB


def closing_of(
    settings: Settings, repo: Path, pinned: str, spec: Spec, waivers: Iterable[FindingWaiver] = ()
) -> Closing:
    """What a coder of this spec is held to when it ends. `waivers` are those that hold for its node now."""
    verify = settings.verify
    return Closing(
        contract=contract_of(settings.gate, designs(repo, pinned, spec), needs_feedback=False),
        waivers=tuple(waivers),
        timeout=settings.gate.timeout,
        network=verify.network,
        memory=verify.memory_mib * MIB,
        processes=verify.processes,
    )


def contract_of(gate: GateSettings, texts: Iterable[str], *, needs_feedback: bool) -> Contract:
    """The contract of a task: by settings, and by the paths that the design of its spec names."""
    named = tuple(dict.fromkeys(path for text in texts for path in paths_named(text)))
    boundary = Boundary(tuple(gate.allowed), named, tuple(gate.forbidden))
    return Contract(boundary, tuple(gate.commands), Severity(gate.off_scope), needs_feedback)


def designs(repo: Path, commit: str, spec: Spec) -> Iterator[str]:
    """The texts of a spec's design documents: as committed, else as they lie there."""
    for name, where in spec.documents.items():
        if name.startswith("design"):
            yield design_text(repo, commit, where)


def design_text(repo: Path, commit: str, where: str) -> str:
    """One document; empty where it is nowhere, since what it names can only allow."""
    raw = git.show(repo, commit, where)
    if raw is None:
        with suppress(OSError):
            raw = read_regular(repo / where, LARGEST_DESIGN)
    return (raw or b"")[:LARGEST_DESIGN].decode("utf-8", "replace")


def waivers_for(db: Database, grounds: Grounds, at: str, task_id: str) -> tuple[FindingWaiver, ...]:
    """What a person signed for about findings of a task, or of its node, and what of it counts now."""
    counting = finding_waivers(db, grounds, at, task_id)
    return tuple(FindingWaiver(*key, waiver.id, waiver.signer, waiver.reason) for key, waiver in counting.items())


def note_used(db: Database, found: Verification, at: str) -> None:
    """Note once for each waiver which task it served, in the open transaction."""
    for waiver in found.waivers:
        served = (event.kind == "used" and event.subject == found.task_id for event in events_of(db, waiver.id))
        if not any(served):
            note_use(db, at, waiver.id, found.task_id)


def record_close_out(db: Database, session: SessionRow, closed: ClosedOut, at: str) -> Judged:
    """Keep a session's close-out in the ledger, in the open transaction of its result."""
    judged = Judged(closed.verification, at, closed.tree, closed.commit)
    context = RunContext(
        command="; ".join(closed.given.contract.expected), run=session.run_id, session=session.id,
        ticket=f"{session.node_id}@{session.ticket.attempt}.{session.ticket.reading}",
    )  # fmt: skip
    note_used(db, closed.verification, at)
    return keep(db, closed.given, judged, context)


def publish_last(db: Database, repo: Path, closed: ClosedOut | None) -> None:
    """Write the report of a close-out for people, after the commit: of its newest judgement, whoever asked for it.

    The ledger has it: `agent-fox gate` writes a lost one again.
    """
    if closed is None:
        return
    with suppress(ReportTrouble):
        refuse_links(repo, repo / REPORTS)
        with only_judge(reports_in(repo)):
            kept = newest(db, closed.given.task_id)
            if kept is not None:
                write_report(repo / REPORTS, report_of(kept))


def reports_in(repo: Path) -> Path:
    """The engine's folder of reports, hidden from git."""
    folder = repo / REPORTS
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        ignore = folder / ".gitignore"
        if not (folder.is_symlink() or ignore.exists()):
            ignore.write_text("*\n", encoding="ascii")
    return folder
