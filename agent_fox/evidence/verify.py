"""Whether the ledger in a state file is the one that was written, and the tables beside it say the same.

Hashes first, then what the database should have enforced, then what other places remember: the rows of runs, and the
witness outside of the repository. An export is checked in `verify_export`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent_fox.core.late import late_module
from agent_fox.core.ledger.evidence import GENESIS, Evidence, Json, Kind, Repository
from agent_fox.core.ledger.waivers import reference
from agent_fox.core.retry.standing import TRANSITIONS, Step
from agent_fox.core.spec import text_version
from agent_fox.core.words import counted
from agent_fox.evidence.documents import at_path, document
from agent_fox.evidence.faults import Fault, Findings
from agent_fox.evidence.fold import Fold, Granted
from agent_fox.evidence.rows import NOT_RECORDED, ROW_CHANGED, ROW_GONE, Rows, differences
from agent_fox.evidence.signing import keys
from agent_fox.evidence.waivers import signed
from agent_fox.evidence.walk import Entry, Walk, step
from agent_fox.store.ledger import audit, ledger
from agent_fox.store.ledger.ledger import repository_of
from agent_fox.store.plan import load_parts
from agent_fox.store.values import storable
from agent_fox.system import git

if TYPE_CHECKING:
    from pathlib import Path

    from sqlite_utils import Database

    from agent_fox.evidence.signing import workers
    from agent_fox.evidence.signing.keys import Signer
    from agent_fox.evidence.witness import Witness
    from agent_fox.store.ledger.audit import Pair, WorkersSession
    from agent_fox.store.ledger.ledger import Kept
else:
    workers = late_module("agent_fox.evidence.signing.workers")

NAME_BYTES = 16
STEPS = frozenset(step.value for step in TRANSITIONS)
CUT = "records were cut off or rewritten, and the chain was made anew"
FOREIGN = "records of another repository were put in, or the state was brought from there"
OLD_LEDGER = (
    "this ledger is of version 0.1, or begins with it: what stood in the plan, in sessions, issues and the outbox "
    "{when} is in no record"
)


@dataclass(slots=True)
class Checked:
    """What a ledger comes to: how far the chain goes, what was found, where gates and tasks stand by it."""

    walk: Walk = field(default_factory=Walk)
    count: int = 0
    findings: Findings = field(default_factory=Findings)
    fold: Fold = field(default_factory=Fold)
    rows: Rows = field(default_factory=Rows)
    whose: Repository = field(default_factory=Repository)
    """Whose records these are, by the first that says it."""
    passed: dict[str, int] = field(default_factory=dict)
    """Heads that somebody remembers, or where runs begin and end, with their position, as far as the chain has them."""
    began: dict[int, str] = field(default_factory=dict)
    """By run: the head in front of the record that it was opened."""
    ended: dict[int, int] = field(default_factory=dict)
    """By run: the position of the last record that it ended."""
    events: set[bytes] = field(default_factory=set)
    """The identities of the records, by the beginning of their hash."""

    def take(self, entry: Entry, wanted: set[str]) -> Evidence | None:
        """One record further; the record, where it could be read. `wanted`: heads that somebody remembers."""
        taken = step(self.walk, entry)
        self.walk = taken.walk
        self.findings.add(*taken.faults)
        self.note(entry, taken.record, wanted)
        return taken.record

    def note(self, entry: Entry, record: Evidence | None, wanted: set[str]) -> None:
        """Keep what a record says, beside its place in the chain."""
        position, head = entry.link.position, entry.link.head
        self.count += 1
        if record is not None:
            self.findings.add(*self._twice(position, record), *self._foreign(position, record.repository))
            self.findings.add(*self.fold.add(position, record))
        if record is not None and record.kind is Kind.LOSS:
            self.findings.remarks.append(f"record {position}: {record.limitation}")
        if record is not None and record.kind is Kind.ROWS:
            self.findings.add(*self.rows.add(position, record))
        if head in wanted:
            self.passed[head] = position
        if record is not None and record.kind in (Kind.RUN, Kind.ROWS):  # a run ends behind the rows that it left
            self.passed.update({entry.link.previous: position - 1, head: position})
        if record is not None and record.kind is Kind.RUN:
            self._note_run(entry, record)

    def _note_run(self, entry: Entry, record: Evidence) -> None:
        run = record.context.run or 0
        if record.outcome.status == "begun":
            self.began[run] = entry.link.previous
        elif record.outcome.status == "ended":
            self.ended[run] = entry.link.position

    def _foreign(self, position: int, repository: Repository) -> Iterator[Fault]:
        """All records are of one repository; those of version 0.1, at the beginning, name none."""
        if not self.whose.id or (repository.id == self.whose.id and not self.whose.root):
            self.whose = repository
        elif repository.id != self.whose.id:
            named = f"of the repository {repository.id[:12]}" if repository.id else "of version 0.1"
            yield Fault(position, f"it is a record {named}, behind one of {self.whose.id[:12]}", FOREIGN)
        elif repository.root != self.whose.root:
            what = f"it names the first commit {repository.root[:12]}, and one before it {self.whose.root[:12]}"
            yield Fault(position, what, FOREIGN)

    def _twice(self, position: int, record: Evidence) -> Iterator[Fault]:
        name = hashlib.sha256(record.identity.encode("utf-8", "surrogatepass")).digest()[:NAME_BYTES]
        if name in self.events:
            yield Fault(position, f"the event {record.identity} is recorded already", "old evidence was used again")
        self.events.add(name)


def verify(
    db: Database, *, witness: Witness | None, signers: tuple[Signer, ...] | None, now: str, asks_witness: bool = True,
    root: Path | None = None,
) -> Checked:  # fmt: skip
    """Check everything, in one snapshot of the file (the caller's transaction).

    `witness` None: there is no note about this ledger; `asks_witness`: then it is not known whether its end was cut
    off. `signers`: whom a person trusts, for waivers and for workers; None: it is not asked who signed what. `root`:
    the repository that the state lies in; None: it is not asked whether the records are of it.
    """
    unlike = audit.unlike_tables(db)
    if unlike:
        checked = Checked()
        checked.findings.add(
            *_guards(db), Fault(0, f"not our tables any more: {', '.join(unlike)}", "nothing is asked of it")
        )
        return checked
    run_heads = audit.run_heads(db)
    checked = read_chain(db, run_heads, witness)
    findings = checked.findings
    findings.add(
        *checked.rows.disputes,
        *_plan(db, checked.fold),
        *_guards(db),
        *remembered_by_runs(checked, run_heads),
        *_rows(db, findings.remarks),
        *(Fault(at, f"there is no row any more for {identity}", ROW_GONE) for at, identity in audit.gone(db)),
        *_standings(db),
        *differences(db, checked.rows),
        *_repository(db, checked.whose),
    )
    findings.remarks.extend(_old(checked))
    if asks_witness:
        _remembered_by_witness(checked, witness)
    if root is not None:
        _rooted(checked, root)
    if signers is not None:
        check_waivers(checked, trusted_for(keys.WAIVERS, signers))
        check_workers(db, checked, trusted_for(keys.WORKERS, signers))
    if checked.walk.at > now:
        findings.remarks.append(f"the clock stands at {now}, before the last record ({checked.walk.at})")
    return checked


def read_chain(db: Database, noted: Iterable[audit.RunHeads] = (), witness: Witness | None = None) -> Checked:
    """Every record, held against the one before it and against its own columns. `heads` and `witness` are remembered
    as far as the chain has them."""
    wanted = {head for run in noted for head in (run.begin, run.end) if head} | ({witness.head} if witness else set())
    checked = Checked(passed={GENESIS: 0})
    for identity, kept in audit.ledger_rows(db):
        record = checked.take(Entry(kept.link, kept.content), wanted)
        if record is not None:
            checked.findings.add(*_columns(identity, kept, record))
    return checked


def _columns(identity: str, kept: Kept, record: Evidence) -> Iterator[Fault]:
    """Columns are for asking; what counts is the content that is hashed."""
    context = record.context
    pairs = (
        ("identity", identity, record.identity), ("kind", kept.kind, record.kind.value),
        ("address", kept.address, record.about.address), ("version", kept.version, record.about.version),
        ("status", kept.status, record.outcome.status), ("tree", kept.tree, record.artifact.tree),
        ("decision_id", kept.decision_id, context.decision), ("session_id", kept.session_id, context.session),
        ("at", kept.at, record.timestamp),
    )  # fmt: skip
    for column, stands, recorded in pairs:
        if stands != storable(recorded):
            what = f"its column {column} is {stands!r}, and its content says {recorded!r}"
            yield Fault(kept.link.position, what, ROW_CHANGED)
    owner = _spec_of(record)
    if (owner or record.kind in (Kind.ROWS, Kind.RUN)) and (owner or None) != kept.spec_name:
        yield Fault(
            kept.link.position, f"its column spec_name is {kept.spec_name!r}, and it is of {owner}", ROW_CHANGED
        )


def _spec_of(record: Evidence) -> str:
    """The spec that a record names itself; empty where it names none."""
    match record.about.kind:
        case "requirement":
            return record.about.address.partition("/")[0]
        case "node":
            return record.about.address.partition(":")[0]
    return ""


def _repository(db: Database, recorded: Repository) -> Iterator[Fault]:
    """What the state says of itself is what its records say."""
    own = repository_of(db) or Repository()
    if own != recorded:
        yield Fault(0, "the state names another repository, or another first commit of it, than its records", FOREIGN)


def _rooted(checked: Checked, root: Path) -> None:
    """Records name the first commit of the work; a repository that has not its whole history cannot tell."""
    first = checked.whose.root
    if first and not git.is_complete(root):
        why = "this clone has not the whole history (`git fetch --unshallow`)"
        checked.findings.unknown("whether the ledger is of this repository", why)
    elif first and first not in git.first_commits(root):
        what = f"the records are of the repository that begins with {first[:12]}, and this one does not"
        checked.findings.add(Fault(0, what, FOREIGN))


def _old(checked: Checked) -> Iterator[str]:
    """What a ledger that began with version 0.1 cannot vouch for."""
    if checked.count and not checked.rows.first:
        yield OLD_LEDGER.format(when="at any time")
    elif checked.rows.is_bound_late:
        yield OLD_LEDGER.format(when=f"before record {checked.rows.first}")
    for fault in checked.rows.settled:
        yield f"record {fault.position}: {fault.what}; the state was made anew from the records since"


def _plan(db: Database, fold: Fold) -> Iterator[Fault]:
    """What the plan expects is what was recorded: a requirement cannot be taken out, or reworded, past the engine."""
    seen = set[tuple[str, str]]()
    for part in load_parts(db):
        seen.add((part.spec_name, part.id))
        plan = fold.plans.get(part.spec_name)
        if text_version(part.text) != part.version:
            yield Fault(0, f"the text of {part.spec_name}/{part.id} is not that of its version", ROW_CHANGED)
        if plan and plan.parts.get(part.id) != part.version:
            yield Fault(
                plan.position, f"the plan has {part.spec_name}/{part.id} otherwise than was recorded", ROW_CHANGED
            )
    for spec in sorted(({spec for spec, _ in seen} | audit.planned_specs(db)) & fold.plans.keys()):
        for part_id in sorted(fold.plans[spec].parts.keys() - {part for owner, part in seen if owner == spec}):
            yield Fault(fold.plans[spec].position, f"the plan has not {spec}/{part_id} any more", ROW_GONE)


def _guards(db: Database) -> Iterator[Fault]:
    damage = audit.is_whole(db)
    if damage:
        yield Fault(0, f"the state file is damaged: {damage}", "what it says cannot be relied on; restore a backup")
    missing = audit.missing_guards(db)
    if missing:
        named = ", ".join(missing[:5]) + (f" and {len(missing) - 5} more" if len(missing) > 5 else "")
        yield Fault(
            0, f"guards of the state file are gone or changed: {named}", "somebody took them away to write past them"
        )
    for table in audit.changed_tables(db):
        yield Fault(0, f"the fixed table {table} is not ours", "somebody allowed changes that are not legal")
    for name in audit.foreign_triggers(db):
        yield Fault(0, f"the trigger {name} is not ours", "somebody has the state file changed whenever we write")


def remembered_by_runs(checked: Checked, runs: list[audit.RunHeads]) -> Iterator[Fault]:
    last = 0
    for run in runs:
        for moment, head in (("began", run.begin), ("ended", run.end)):
            position = checked.passed.get(head) if head else last
            if position is None:
                yield Fault(0, f"the head noted when run {run.run} {moment} is not in the chain", CUT)
            elif position < last:
                yield Fault(position, f"run {run.run} {moment} at record {position}, after record {last}", CUT)
            last = max(last, position or 0)
        if run.run in checked.began and run.begin != checked.began[run.run]:
            yield Fault(0, f"the head noted when run {run.run} began is not that of its record", CUT)
        is_reported = bool(run.end) and run.end not in checked.passed
        if not is_reported and checked.passed.get(run.end, 0) < checked.ended.get(run.run, 0):
            yield Fault(0, f"the head noted when run {run.run} ended is not that of its record, or a later one", CUT)


def _remembered_by_witness(checked: Checked, witness: Witness | None) -> None:
    if witness is None:
        if checked.count:
            why = "no head of this ledger was noted outside of the repository"
            checked.findings.unknown("whether the end of the ledger was cut off, or an older one put back", why)
    elif checked.passed.get(witness.head) != witness.position:
        what = f"record {witness.position} had the head {witness.head[:16]} at {witness.at}, and now it has not"
        checked.findings.add(Fault(0, what, CUT))


def _rows(db: Database, remarks: list[str]) -> Iterator[Fault]:
    """Every row has its record, and both say the same. Rows that are older than the ledger are counted only."""
    first, older = ledger.begun_at(db), 0
    for table in audit.TABLES:
        is_recorded = False
        for pair in audit.pairs(db, table):
            is_recorded = is_recorded or pair.content is not None
            if is_recorded or (first is not None and pair.at > first):
                yield from _compare(pair)
            else:
                older += 1
    if older:
        remarks.append(f"{older} rows are older than the ledger: nothing here vouches for them")


def _compare(pair: Pair) -> Iterator[Fault]:
    where = f"row {pair.id} of {pair.table}"
    if pair.content is None or pair.position is None:
        yield Fault(0, f"{where} has no record", NOT_RECORDED)
        return
    try:
        record = document(pair.content)
    except ValueError:
        return  # found already: it is no record at all
    for path, stands in pair.facts.items():
        recorded = at_path(record, path.split("."))
        if recorded != stands:
            what = f"{where} and its record differ in {path}: {_short(stands)} and {_short(recorded)}"
            yield Fault(pair.position, what, ROW_CHANGED)


def _short(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _standings(db: Database) -> Iterator[Fault]:
    """What counts now is what was recorded last: where a node stands, and the verdict of a requirement."""
    for node_row in audit.node_rows(db):
        recorded = _stands(node_row)
        stands = node_row.outcome or ("pending" if node_row.status == "running" else node_row.status)
        if stands != recorded:
            yield Fault(
                0, f"the plan has {node_row.node} as {stands}, and its last decision made it {recorded}", ROW_CHANGED
            )
    for number, address in audit.overtaken(db):
        yield Fault(0, f"row {number} of verification_results counts for {address}, and is not the last", ROW_CHANGED)


def _stands(row: audit.NodeRow) -> str:
    """Where the last step that a decision made of it left a node; one that had none entered the plan so."""
    if row.step in STEPS:
        _, end, outcome = TRANSITIONS[Step(row.step)]
        return outcome or end
    return "ticked" if row.outcome == "ticked" else "pending"


def trusted_for(namespace: str, signers: tuple[Signer, ...]) -> tuple[Signer, ...]:
    return tuple(signer for signer in signers if namespace in signer.namespaces)


def check_workers(db: Database, checked: Checked, signers: tuple[Signer, ...]) -> None:
    """Sessions that workers on other hosts did: what each handed in was signed, by whom a person trusts, about it."""
    unsigned = 0
    for session in audit.sessions_of_workers(db):
        if not session.signed:
            unsigned += 1
        elif not signers:
            checked.findings.unknown("who signed what workers handed in", "nobody is known here whose worker counts")
        else:
            checked.findings.add(*workers_signature(session, signers))
    if unsigned:
        checked.findings.remarks.append(f"{counted(unsigned, 'session')} of workers on other hosts: signed by nobody")


def workers_signature(session: WorkersSession, signers: tuple[Signer, ...]) -> Iterator[Fault]:
    what = f"session {session.number} ({session.node}, attempt {session.attempt}) of worker {session.worker}"
    try:
        statement, trusted = workers.read(session.signed), workers.signers_of(session.signed, signers)
    except ValueError as error:
        yield Fault(0, f"{what}: {error}", ROW_CHANGED)
        return
    if not trusted:
        yield Fault(0, f"{what}: signed by no key that is trusted for workers", "somebody else may have made it up")
    about = (statement.node, statement.attempt, statement.reading, statement.pinned)
    if about != (session.node, session.attempt, session.reading, session.pinned):
        yield Fault(0, f"{what}: its signature is about {statement.node}, attempt {statement.attempt}", ROW_CHANGED)


def check_waivers(checked: Checked, signers: tuple[Signer, ...]) -> None:
    """Whoever waived is known by a signature, or it is not known that anybody did. What has ended is passed over."""
    for name, granted in checked.fold.waivers.items():
        if granted.is_over:
            continue
        if signers:
            checked.findings.add(*_unsigned(name, granted, signers))
        else:
            checked.findings.unknown("who signed the waivers", "nobody is known here who may waive")


def _unsigned(name: str, granted: Granted, signers: tuple[Signer, ...]) -> Iterator[Fault]:
    statement, why = signed(granted.envelope, signers)
    if statement is None:
        what = f"the waiver {name[:12]} of {granted.address} is not signed by anybody trusted ({why})"
        yield Fault(granted.position, what, "it was granted by nobody who may")
    elif (statement.id, reference(statement.subject)) != (name, granted.about):
        yield Fault(granted.position, f"what was signed is not the waiver {name[:12]}", ROW_CHANGED)
