"""The facts of a brief, gathered from the state. How a brief looks is not here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.ids import Archetype, Mode
from agent_fox.core.late import late_module
from agent_fox.core.memory import DEFAULT_LIMITS, Limits
from agent_fox.core.plan.corrections import doubt
from agent_fox.core.spec import Criterion, Group
from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.hidden import COMMAND as HIDDEN
from agent_fox.core.verdicts.verdict import Word
from agent_fox.engine.handlers.final_review import asked_in
from agent_fox.engine.launching.required_checks import bound_facts
from agent_fox.engine.launching.reviewed_change import change_of
from agent_fox.engine.record.best_tree import FACT, STAY, undone
from agent_fox.engine.record.convergence import own_failures, touched_by
from agent_fox.session.briefs.text import (
    AskedExpectation,
    BriefFacts,
    Conflict,
    CutOff,
    Failure,
    Since,
    Tried,
    without_secrets,
)
from agent_fox.store import sessions
from agent_fox.store.ledger import memory as remembered
from agent_fox.store.records import DecisionRow, decisions_of_spec, failing_after, verdicts_now

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.core.formal.specification import Specification
    from agent_fox.core.retry.replay import Replay
    from agent_fox.engine.launching import remembering
    from agent_fox.engine.record.docket import SpecFile
    from agent_fox.store.plan import PlannedNode
    from agent_fox.store.sessions import SessionRow
else:
    remembering = late_module("agent_fox.engine.launching.remembering")


@dataclass(frozen=True, slots=True)
class Current:
    """The current verdict of one requirement, as the brief needs it."""

    part: str
    word: Word
    evidence: str
    command: str
    session_id: int | None


def brief_facts(
    db: Database,
    planned: PlannedNode,
    session: SessionRow,
    file: SpecFile,
    *,
    repo: Path | None = None,
    secrets: Iterable[str] = (),
    conflict: Conflict | None = None,
    questions: Iterable[str] = (),
    adopted: Iterable[Specification] = (),
    cut_off: CutOff | None = None,
    replay: Replay | None = None,
    memory: Limits = DEFAULT_LIMITS,
) -> BriefFacts:
    """What the session of this ticket is told, without secrets. The same state gives the same brief.

    `repo`, where there is one, is asked which files the last attempt changed. `secrets` are values to be masked, such
    as keys in the environment; what looks like a secret is masked in any case. With a `conflict`, that is the task.
    `questions` are those of checklists, for a final review. `adopted` is what binds requirements of the spec beside
    their text; a coder is told what binds its own. `cut_off` is what its last session had done where that was cut off,
    `replay` what is known of where its work broke. `memory`: how much of regression memory is named.
    """
    facts = replace(facts_of(db, planned, session, file), conflict=conflict, cut_off=cut_off, replay=replay)
    if facts.archetype is Archetype.CODER:
        facts = replace(facts, bound=bound_facts(facts, adopted))
    if repo is not None and facts.archetype is Archetype.CODER:
        facts = replace(facts, changed=changed_files(db, planned, session, repo))
    if facts.archetype is Archetype.CODER and remembered.has_items(db):
        facts = with_memory(db, facts, memory)
    if repo is not None and facts.mode is Mode.FINAL_REVIEW:
        change = change_of(db, repo, session, questions)
        asked = tuple(expectations_asked(db, planned.node.spec_name, file))
        facts = replace(facts, change=replace(change, expectations=asked))
    base = planned.standing.attempt_base if facts.archetype is Archetype.CODER else 0
    is_short = sessions.was_too_long(db, planned.node.uid, session.id, base)
    return without_secrets(replace(facts, is_short=is_short), secrets)


def expectations_asked(db: Database, spec_name: str, file: SpecFile) -> Iterator[AskedExpectation]:
    """The changed expectations that a final review is asked about."""
    for question in asked_in(db, spec_name):
        change, text = question.expectation, file.texts.get(question.requirement, "")
        yield AskedExpectation(question.requirement, text, change.test, change.reason, change.before, change.after)


def facts_of(db: Database, planned: PlannedNode, session: SessionRow, file: SpecFile) -> BriefFacts:
    match planned.node.archetype:
        case Archetype.CODER:
            return coder_facts(db, planned, session, file)
        case Archetype.VERIFIER:
            return verifier_facts(db, planned, session, file)
        case Archetype.REVIEWER:
            return reviewer_facts(db, planned, session, file)


def coder_facts(db: Database, planned: PlannedNode, session: SessionRow, file: SpecFile) -> BriefFacts:
    node = planned.node
    group = group_of(file, node.group)
    past = decisions_of_spec(db, node.spec_name)
    current = current_of(db, file)
    failing = failing_for(planned, past, current, file)
    green = tuple(row.part for row in current if row.word is Word.PASS)
    return BriefFacts(
        node=node.id,
        spec=node.spec_name,
        archetype=node.archetype,
        attempt=session.ticket.attempt,
        title=node.title,
        tasks=group.text if group else "",
        requirements=owned(file, node.group),
        failing=tuple(failure(row, file, past, node.uid) for row in failing),
        fixed=fixed_since(past, green, node.uid),
        must_stay_green=green,
        tried=tuple(tried(db, planned, session, frozenset(green), past, file)),
        reason=reason_of(past, node.uid),
        documents=documents(file),
        commands=commands(file),
    )


def with_memory(db: Database, facts: BriefFacts, limits: Limits) -> BriefFacts:
    """The facts with what failed once and holds now: of the requirements of these tasks, and of the files that the last
    attempt changed or the tasks name."""
    parts = [f"{facts.spec}/{part.id}" for part in facts.requirements]
    files = (*facts.changed, *re.findall(PATHS, facts.tasks))
    named, left_out = remembering.to_name(db, parts, files, limits)
    return replace(facts, remembered=named, not_named=left_out)


PATHS = r"[\w.-]+(?:/[\w.-]+)*\.\w+"
"""What looks like the path of a file in a text."""


def group_of(file: SpecFile, number: int) -> Group | None:
    return next((group for group in file.spec.groups if group.number == number), None)


def owned(file: SpecFile, number: int) -> tuple[Criterion, ...]:
    """The requirements of a group: those it is blamed for, and those its own lines name."""
    group = group_of(file, number)
    named = {*group.requirements, *(r for task in group.subtasks for r in task.requirements)} if group else set()
    return tuple(
        Criterion(part.id, part.text)
        for part in file.parts
        if number in file.ownership.of(part.id) or part.id in named or part.requirement_id in named
    )


def current_of(db: Database, file: SpecFile) -> list[Current]:
    """The current verdicts in the order of the spec."""
    now = verdicts_now(db, file.spec.name)
    known = ((part, now[part]) for part in file.expected if part in now)
    return [Current(part, row.word, row.evidence, row.command, row.session) for part, row in known]


def failing_for(planned: PlannedNode, past: list[DecisionRow], current: list[Current], file: SpecFile) -> list[Current]:
    """The open FAILs this coder must repair: those it owns, and those it was blamed for in another's place.

    What was waived at the last round is open too, but nobody's task.
    """
    last = next((d for d in reversed(past) if d.kind == "Recode" and planned.node.uid in strings(d, "blamed")), None)
    lent = set(strings(last, "failing")) if last else set()
    waived = set(strings(last, "waived")) if last else set()
    others = {uid for uid in strings(last, "blamed") if uid != planned.node.uid} if last else set()
    busy = set(others_groups(others))
    failing = (row for row in current if row.word is Word.FAIL and row.part not in waived)
    return [row for row in failing if is_mine(row.part, planned, lent, busy, file)]


def others_groups(uids: set[str]) -> list[int]:
    """Group numbers of coders by their uids, which end in the number (or in `number~count`)."""
    return [int(uid.rpartition(":")[2].partition("~")[0]) for uid in uids]


def is_mine(part: str, planned: PlannedNode, lent: set[str], busy: set[int], file: SpecFile) -> bool:
    owners = set(file.ownership.of(part))
    return planned.node.group in owners or (part in lent and not owners & busy)


def strings(decision: DecisionRow, key: str) -> list[str]:
    values = decision.facts.get(key, [])
    return [str(item) for item in values] if isinstance(values, list) else []


def rounds_before(past: list[DecisionRow], uid: str) -> list[DecisionRow]:
    """The rounds that sent this coder back, oldest first, without the one that it is sent back by now."""
    return [d for d in past if d.kind == "Recode" and uid in strings(d, "blamed")][:-1]


def failure(row: Current, file: SpecFile, past: list[DecisionRow], uid: str) -> Failure:
    seen = [row.part in strings(d, "failing") for d in rounds_before(past, uid)]
    since = Since.FIRST if not seen else Since.STILL if seen[-1] else Since.NEWLY
    command = "" if row.command == HIDDEN else row.command
    guessed = doubt(file.spec, file.ownership.grounds.get(row.part), "your group")
    return Failure(row.part, file.texts.get(row.part, ""), row.evidence, command, since, guessed)


def fixed_since(past: list[DecisionRow], green: tuple[str, ...], uid: str) -> tuple[str, ...]:
    """What failed when this coder was sent back the time before, and passes now."""
    rounds = rounds_before(past, uid)
    failed = set(strings(rounds[-1], "failing")) if rounds else set()
    return tuple(part for part in green if part in failed)


def tried(
    db: Database, planned: PlannedNode, session: SessionRow, green: frozenset[str], past: list[DecisionRow],
    file: SpecFile,
) -> Iterator[Tried]:  # fmt: skip
    """Earlier sessions of this node, oldest first, each with what of its own work failed after it. What passes now is
    not told as failing, but of work that was taken off the branch again all that failed is told.
    """
    gone = undone(past)
    for row in sessions_before(db, planned, session):
        failed = own_failures(planned.node.uid, failing_after(db, row.spec_name, row.id), file.ownership, past)
        ended = taken_off(failed) if row.id in gone else outcome(row, failed, green)
        yield Tried(row.ticket.attempt, row.summary or "no summary", ended)


def taken_off(failed: tuple[str, ...]) -> str:
    then = f"then failing: {', '.join(failed)}; " if failed else ""
    return f"landed; {then}taken off the branch again, do not repeat it"


def sessions_before(db: Database, planned: PlannedNode, session: SessionRow) -> list[SessionRow]:
    return sessions.sessions_where(db, "node_uid = ? AND id < ?", [planned.node.uid, session.id])


def outcome(row: SessionRow, failed: tuple[str, ...], green: frozenset[str]) -> str:
    if row.reason:
        return row.reason
    open_still = [part for part in failed if part not in green]
    landed = "landed" if row.landed else "changed nothing"
    if open_still:
        return f"{landed}; then failing: {', '.join(open_still)}"
    return f"{landed}; what failed then is repaired" if failed else landed


def changed_files(db: Database, planned: PlannedNode, session: SessionRow, repo: Path) -> tuple[str, ...]:
    """The files that the last attempt whose work is on the branch changed; none where its commits are gone."""
    gone = undone(decisions_of_spec(db, planned.node.spec_name))
    landed = (row for row in reversed(sessions_before(db, planned, session)) if row.base and row.landed)
    last = next((row for row in landed if row.id not in gone), None)
    if last is None or last.base is None or last.landed is None:
        return ()
    return tuple(sorted(touched_by(repo, last.base, last.landed)))


def reason_of(past: list[DecisionRow], uid: str) -> str:
    """Why the last try did not count, or what a reviewer found critical: from the last decision about the node."""
    last = next((d for d in reversed(past) if any(step["uid"] == uid for step in d.steps)), None)
    if last is None:
        return ""
    if last.kind == "SendBack":
        return "\n".join(findings(last))
    if last.kind == "Recode":
        return best_words(last, past)
    if last.kind not in {"Retry", "Reread"}:
        return ""
    return str(last.facts.get("failure", "")) or "; ".join(strings(last, "notes"))


def best_words(decision: DecisionRow, past: list[DecisionRow]) -> str:
    """Where the branch stands, and so the session starts, when the last attempt was worse than an earlier one."""
    stayed = next((d.note for d in past if d.kind == STAY and d.session_id == decision.session_id), "")
    if stayed:
        return stayed
    fact = decision.facts.get(FACT)
    return str(fact.get("told", "")) if isinstance(fact, dict) else ""


def findings(decision: DecisionRow) -> Iterable[str]:
    rows = decision.facts.get("findings", [])
    assert isinstance(rows, list)
    return (f"{severity}: {f'{part}: ' if part else ''}{text}" for severity, text, part in rows)


def documents(file: SpecFile) -> tuple[str, ...]:
    return tuple(file.spec.documents.values())


def commands(file: SpecFile) -> tuple[tuple[str, str], ...]:
    """The spec's test commands as (label, command line)."""
    return tuple(file.spec.test_commands.items())


def verifier_facts(db: Database, planned: PlannedNode, session: SessionRow, file: SpecFile) -> BriefFacts:
    node = planned.node
    past = decisions_of_spec(db, node.spec_name)
    return BriefFacts(
        node=node.id,
        spec=node.spec_name,
        archetype=node.archetype,
        attempt=session.ticket.attempt,
        reading=session.ticket.reading,
        title=node.title,
        requirements=tuple(Criterion(part.id, part.text) for part in file.parts),
        expected=file.expected,
        unclear=unclear(past, node.uid),
        reason=reason_of(past, node.uid),
        documents=documents(file),
        commands=commands(file),
    )


def unclear(past: list[DecisionRow], uid: str) -> tuple[str, ...]:
    """What the last reading left open, if the last thing decided about the verifier was to read again."""
    last = next((d for d in reversed(past) if any(step["uid"] == uid for step in d.steps)), None)
    return tuple(strings(last, "unknown")) if last is not None and last.kind == "Reread" else ()


def reviewer_facts(db: Database, planned: PlannedNode, session: SessionRow, file: SpecFile) -> BriefFacts:
    node = planned.node
    group = group_of(file, node.group)
    return BriefFacts(
        node=node.id,
        spec=node.spec_name,
        archetype=node.archetype,
        mode=node.mode,
        attempt=session.ticket.attempt,
        reading=session.ticket.reading,
        title=node.title,
        tasks=group.text if group else "\n\n".join(each.text for each in file.spec.groups),
        requirements=tuple(Criterion(part.id, part.text) for part in file.parts),
        reason=reason_of(decisions_of_spec(db, node.spec_name), node.uid),
        documents=documents(file),
    )
