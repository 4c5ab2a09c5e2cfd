"""The branch comes back to the best tree of a spec: a commit that takes the spec's later work off the tip.

It is built before the result's transaction, recorded in it, and moved to after it, as a landing is.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.ids import Archetype
from agent_fox.core.retry.decision import Cause
from agent_fox.core.verdicts.verdict import Word
from agent_fox.engine.issues.escalation import file_issues
from agent_fox.engine.launching import tip
from agent_fox.engine.launching.reviewed_change import changed
from agent_fox.engine.record import best_tree, blocking_history
from agent_fox.engine.record.best_tree import Behind, WayBack
from agent_fox.engine.record.docket import Handled
from agent_fox.engine.record.review_persistence import VerifierResult, judge_result
from agent_fox.session.workspaces.landing import Conflict, Integration, Landing, build_reversal
from agent_fox.store import sessions
from agent_fox.store.plan import node_by_uid
from agent_fox.store.records import decisions_of_spec
from agent_fox.store.state import transaction
from agent_fox.system import clock, git

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sqlite_utils import Database

    from agent_fox.core.verdicts.judgement import Judged
    from agent_fox.core.verdicts.verdict import Report
    from agent_fox.engine.record.docket import Docket
    from agent_fox.store.plan import PlannedNode
    from agent_fox.store.records import DecisionRow
    from agent_fox.store.sessions import SessionRow


def way_back(
    tx: Docket, integration: Integration, planned: PlannedNode, report: Report | None, tree: str
) -> WayBack | None:
    """Where a verifier's report says that the last round lost something; None where the branch stays without a word.

    Builds the commit, moves nothing, records nothing. Raises GitError.
    """
    is_asked = tx.policy.keep_best and planned.node.archetype is Archetype.VERIFIER
    if not is_asked or report is None or all(verdict.word is not Word.FAIL for verdict in report.verdicts.values()):
        return None
    past = decisions_of_spec(tx.db, planned.node.spec_name)
    result = VerifierResult(planned.standing.ticket, None, tree, report=report)
    judged = judge_result(tx, planned, report, result)
    behind = best_tree.behind(tx, planned, judged, past, partial(size_of, integration.repo))
    if behind is None:
        return None
    return _built(integration, tip.expected(tx.db, integration), planned, behind)


def size_of(repo: Path, made: tuple[SessionRow, ...], commit: str) -> int:
    """How many lines differ in `commit` from before the first of these sessions, in the files that they changed; 0
    where commits are gone.
    """
    spans = landings_of(made)
    files = sorted({path for span in spans for path in changed(repo, span.base, span.commit)})
    if not files:
        return 0
    options = ("--literal-pathspecs", "diff", "--numstat", "--no-renames", "--no-ext-diff", "--no-textconv")
    answer = git.call(repo, *options, "--end-of-options", spans[0].base, commit, "--", *files, allowed=(0, 128))
    counts = (word for line in answer.text.splitlines() for word in line.split("\t")[:2])
    return 0 if answer.status else sum(int(count) for count in counts if count.isdecimal())


def _built(integration: Integration, at: str, planned: PlannedNode, behind: Behind) -> WayBack | None:
    """None where the spec's later work is on the branch no more, or amounts to nothing: somebody else undid it."""
    repo, best = integration.repo, behind.best
    own = [row for row in behind.own if row.landed and git.is_ancestor(repo, row.landed, at)]
    if not own or not git.is_ancestor(repo, best.commit, at):
        return None
    landing = build_reversal(repo, at, landings_of(own), message_of(planned, behind))
    numbers = tuple(row.id for row in own)
    if isinstance(landing, Conflict):
        return WayBack(best, behind.lost, numbers, obstacle=conflict_words(landing))
    if landing.commit == landing.base:
        return None
    is_beside_others = git.tree_of(repo, landing.commit) != git.tree_of(repo, best.commit)
    return WayBack(best, behind.lost, numbers, landing, is_beside_others=is_beside_others)


def conflict_words(conflict: Conflict) -> str:
    return f"later work of others changed the same lines in {', '.join(conflict.files)}"


def landings_of(rows: Iterable[SessionRow]) -> list[Landing]:
    return [Landing(row.base, row.landed) for row in rows if row.base and row.landed]


def message_of(planned: PlannedNode, behind: Behind) -> str:
    undone = "\n".join(f"- {row.node_id}, attempt {row.ticket.attempt} ({row.landed})" for row in behind.own)
    subject = f"{planned.node.spec_name}: back to attempt {behind.best.attempt}"
    return f"{subject}\n\nThe verifier found that later work lost what passed there. Reverted:\n\n{undone}\n"


def build_again(
    docket_of: Callable[[Database, str], Docket], db: Database, integration: Integration, session: SessionRow
) -> Handled | None:
    """The way back once more where the tip is another one now. What was decided where it can't be gone any more."""
    at = tip.expected(db, integration)
    if at == session.base:
        return None
    past = decisions_of_spec(db, session.spec_name)
    decision = next(d for d in reversed(past) if d.session_id == session.id and best_tree.undone_by(d))
    rows = [sessions.session_by_id(db, number) for number in best_tree.undone_by(decision)]
    subject = git.call(integration.repo, "log", "-1", "--format=%B", "--end-of-options", str(session.landed)).text
    again = build_reversal(integration.repo, at, landings_of(rows), subject)
    if isinstance(again, Conflict):
        return stay(docket_of, db, session, decision, conflict_words(again))
    with transaction(db):
        sessions.record_landing(db, session.id, again.base, again.commit, clock.now())
    return None


def stay(
    docket_of: Callable[[Database, str], Docket], db: Database, session: SessionRow, decision: DecisionRow, why: str
) -> Handled:
    """A way back that was recorded can't be gone: the branch stays, and the last report's verdicts count again."""
    with transaction(db):
        desk, planned = docket_of(db, clock.now()), node_by_uid(db, decision.node_uid)
        sessions.set_session(db, session.id, {"landed_commit": None, "base_commit": None})
        note = f"the branch stays at the last attempt: {why}"
        facts: dict[str, object] = {"undone": list(best_tree.undone_by(decision))}
        number, moved = desk.record(planned, best_tree.STAY, (), session_id=session.id, facts=facts, note=note)
        judged = best_tree.stay(desk, planned, decision, number)
        return Handled(None, number, moved, told_anew(desk, planned, decision, number, judged, note))


def told_anew(
    tx: Docket, planned: PlannedNode, decision: DecisionRow, number: int, judged: Judged, note: str
) -> tuple[str, ...]:
    """Where the decision was a Block: what it said of the branch and of what fails is said again, as it is now."""
    if decision.cause is None:
        return ()
    cause = Cause(decision.cause)
    blocking_history.write_history(tx, number, planned, (), cause, f"{cause}; {note}", judged.failing)
    return file_issues(tx, planned, number, cause, judged, decision.commit, ())
