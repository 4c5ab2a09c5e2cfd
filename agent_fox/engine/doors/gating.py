"""A task judged outside of a session: from a run's own records, or from the files and the change that it left.

Nothing that is asked for here can override a finding: neither an option nor a variable of the environment.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing as closed
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.config import FILE, ConfigError, Settings, load, parse
from agent_fox.core.ids import Archetype
from agent_fox.core.ledger.close_out import CloseOut, Contract, Finding, FindingWaiver, Severity, judge
from agent_fox.core.ledger.close_out_scope import Boundary, ScopeReport, Touched, scope_of
from agent_fox.core.ledger.evidence import RunContext
from agent_fox.core.values import dataclass
from agent_fox.core.words import listed, quote
from agent_fox.engine.doors.verifying import base_of
from agent_fox.engine.launching.closing import LARGEST_DESIGN, contract_of, note_used, reports_in, waivers_for
from agent_fox.evidence import witness
from agent_fox.evidence.close_outs import Damaged
from agent_fox.evidence.waivers import grounds_of
from agent_fox.evidence.witness import WitnessBroken
from agent_fox.review.close_out.change import base_commit, is_committed, touched_since
from agent_fox.review.close_out.files import NAMES, Files, read_files, trouble
from agent_fox.review.close_out.record import edited, given_of, keep, task_in
from agent_fox.review.close_out.report import (
    Judged,
    document_of,
    file_name,
    only_judge,
    refuse_links,
    reports_of,
    write_report,
)
from agent_fox.review.task_gate import commit_findings, is_review_task, review_findings
from agent_fox.review.tasks import ADVISORY
from agent_fox.specs.places import USUAL_PLACES
from agent_fox.store.ledger import journal
from agent_fox.store.plan import node_by_id, nodes_of_spec
from agent_fox.store.state import open_state, transaction
from agent_fox.system import clock, git
from agent_fox.system.git import GitError
from agent_fox.system.redaction.masking import redact
from agent_fox.system.state_folders import STATE

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.store.ledger.ledger import Kept

OUTPUTS = Path("outputs") / "verification"
LONGEST_TASK = 400
UNCOMMITTED = "some of the files that were judged are not committed"
SETTINGS_CHANGED = (
    f"{FILE} is part of the change: the settings of the base commit count here, the changed ones from the next task on"
)


class GateRefused(Exception):
    """What was asked for makes no sense. The message says what, and what to do."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One task to be judged. `root` is the repository's, `where` the folder that relative paths count from.

    commit: judge what is committed there, not the files as they are.
    """

    task_id: str
    root: Path
    where: Path
    environ: Mapping[str, str]
    input_dir: Path | None = None
    output_dir: Path | None = None
    base: str | None = None
    commit: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The judgement, where its report is, whether a run's own record was judged, and whether a waiver could count: none
    does while the ledger cannot be believed.
    """

    judged: Judged
    path: Path
    is_recorded: bool
    can_be_waived: bool = True


@dataclass(frozen=True, slots=True)
class Material:
    """What a task is judged from, and about which files."""

    given: CloseOut
    tree: str = ""
    commit: str = ""
    limitation: str = ""


def close(asked: Asked) -> Answer:
    """Judge, append to the ledger where there is one, and put the report in its place.

    Raises GateRefused, ReportTrouble, StateError.
    """
    if not asked.task_id.strip() or len(asked.task_id) > LONGEST_TASK or not asked.task_id.isprintable():
        raise GateRefused(f"--task-id: allowed is a printable name of at most {LONGEST_TASK} characters")
    with _state(asked.root) as db:
        kept = task_in(db, asked.task_id) if db is not None else None
        folder = asked.where / (asked.output_dir or OUTPUTS)
        if is_review_task(asked.task_id):
            _refuse_change(asked)
            folder = _hidden(asked, folder)
            return _judged(asked, db, asked.task_id, folder, lambda: _from_review(asked, db))
        if kept is None:
            _refuse_unclosed(asked, db, folder)
            return _judged(asked, db, asked.task_id, folder, lambda: _from_files(asked, folder))
        _refuse_files(asked, kept)
        folder = _hidden(asked, folder)
        answer = _judged(asked, db, kept.address, folder, lambda: _from_record(kept))
        return replace(answer, is_recorded=True)


@contextmanager
def _state(root: Path) -> Iterator[Database | None]:
    path = root / STATE
    if not path.exists() or not path.stat().st_size:
        yield None
        return
    with closed(open_state(path)) as db:
        yield db


def _hidden(asked: Asked, folder: Path) -> Path:
    """Where a report goes that must be no change of the files it is about: where git does not see it, unless said."""
    return folder if asked.output_dir else reports_in(asked.root)


def _refuse_unclosed(asked: Asked, db: Database | None, folder: Path) -> None:
    """A node of the plan without a close-out is most likely a slip, unless there are files about it."""
    name = asked.task_id.partition("@")[0]
    node = node_by_id(db, name) if db is not None else None
    places = (asked.where / asked.input_dir,) if asked.input_dir else (asked.where, folder)
    if db is None or any((place / known).exists() for place in places for known in NAMES):
        return
    if node is None:
        _refuse_spec(db, name)
        return
    last = task_in(db, name)
    if node.node.archetype is not Archetype.CODER:
        raise GateRefused(f"{name} is no coder: what it said is its record, see `agent-fox explain {quote(name)}`")
    raise GateRefused(
        f"{asked.task_id}: no close-out of it is recorded; "
        + (f"the last of {name} is {last.address}" if last else f"no session of {name} came to its close-out yet")
    )


def _refuse_spec(db: Database, name: str) -> None:
    """A spec is no task: it has several, and none of them would be judged."""
    coders = [planned.node.id for planned in nodes_of_spec(db, name) if planned.node.archetype is Archetype.CODER]
    if coders:
        raise GateRefused(f"{name} is a spec and no task; name one of its tasks: {listed(coders)}")


def _refuse_change(asked: Asked) -> None:
    """A review has its own base, and no files about it: to leave out what was said about them would mislead."""
    given = {"--input-dir": asked.input_dir, "--base": asked.base}
    named = ", ".join(option for option, value in given.items() if value is not None)
    if named:
        raise GateRefused(f"{asked.task_id} is a review task and is judged by what was reviewed; leave out {named}")


def _refuse_files(asked: Asked, kept: Kept) -> None:
    """A task of a run has records: files about it would be a second truth."""
    given = {"--input-dir": asked.input_dir, "--base": asked.base, "--commit": asked.commit}
    named = ", ".join(option for option, value in given.items() if value is not None)
    if named:
        raise GateRefused(f"{kept.address} is a task of a run and is judged by its own records; leave out {named}")


def _judged(asked: Asked, db: Database | None, task_id: str, folder: Path, read: Callable[[], Material]) -> Answer:
    refuse_links(asked.root, folder)
    with only_judge(folder):
        material = read()
        given, waivers = material.given, _waivers(asked, db, task_id)
        unbelieved = _rewritten(asked, db)
        own = edited(db, folder, task_id) if db is not None else ()
        given = replace(given, troubles=(*given.troubles, *unbelieved, *own))
        judged = Judged(
            judge(given, waivers), clock.now(), material.tree, material.commit, limitation=material.limitation
        )
        if db is not None:
            judged = _kept(db, given, judged)
            with suppress(WitnessBroken):  # it has blocked the task already
                witness.advance(db, witness.path_of(asked.environ, asked.root))
        path = write_report(folder, document_of(judged))
        return Answer(judged, path, is_recorded=False, can_be_waived=not unbelieved)


def _kept(db: Database, given: CloseOut, judged: Judged) -> Judged:
    with transaction(db):
        note_used(db, judged.verification, judged.timestamp)
        context = RunContext(command="; ".join(record.command for record in given.feedback))
        return keep(db, given, judged, context)


def _rewritten(asked: Asked, db: Database | None) -> tuple[Finding, ...]:
    """A ledger that is not the one whose head was noted outside of it can show nothing; nor can one that is gone."""
    if db is None:
        return _gone(asked)
    why = witness.trouble(db, witness.path_of(asked.environ, asked.root)) or journal.why_others(db)
    return (trouble(f"the ledger cannot be believed: {why}"),) if why else ()


def _gone(asked: Asked) -> tuple[Finding, ...]:
    """Files cannot speak for a task where a ledger was, which may say otherwise."""
    path = witness.path_of(asked.environ, asked.root)
    try:
        note = witness.read(path)
    except WitnessBroken as error:
        return (trouble(f"the ledger cannot be believed: {error}"),)
    reason = f"the ledger of this repository is gone: restore {STATE}, or move {path} away if you removed it yourself"
    return (trouble(reason),) if note and note.position else ()


def _waivers(asked: Asked, db: Database | None, task_id: str) -> tuple[FindingWaiver, ...]:
    """Whose waivers count is settled outside of the repository; where its settings lie is not needed for that."""
    if db is None:
        return ()
    try:
        settings = load(asked.root, {})
    except ConfigError:
        return ()
    return waivers_for(db, grounds_of(asked.root, settings, asked.environ), clock.now(), task_id)


def _from_review(asked: Asked, db: Database | None) -> Material:
    """A review task has no files of its own: it is closed where a reviewer said OK to what is there now, and to what
    the commit has, if one is named.
    """
    findings = tuple(review_findings(db, asked.root / STATE, asked.task_id))
    given = CloseOut(asked.task_id, contract=Contract(needs_feedback=False), troubles=findings)
    if findings or db is None or asked.commit is None:
        return Material(given, limitation=ADVISORY)
    commit = _commit(asked.root, asked.commit)
    if commit is None:
        unknown = trouble(f"{asked.commit} names no commit; give --commit a branch, tag or commit that is here")
        return Material(replace(given, troubles=(unknown,)), limitation=ADVISORY)
    apart = tuple(commit_findings(db, asked.root, asked.task_id, commit))
    return Material(replace(given, troubles=apart), git.tree_of(asked.root, commit), commit, ADVISORY)


def _commit(root: Path, name: str) -> str | None:
    try:
        return git.commit_of(root, name)
    except GitError:
        return None


def _from_record(kept: Kept) -> Material:
    document = kept.document
    artifact = document["artifact"]
    about = artifact if isinstance(artifact, dict) else {}
    try:
        given = given_of(kept)
    except Damaged as error:
        given = CloseOut(kept.address, contract=Contract(needs_feedback=False), troubles=(trouble(str(error)),))
    return Material(given, str(about.get("tree", "")), str(about.get("commit", "")))


def _from_files(asked: Asked, folder: Path) -> Material:
    troubles: list[Finding] = []
    inputs = _inputs(asked, folder, troubles)
    files = read_files(inputs, asked.task_id)
    own = own_files(asked, inputs, folder)
    base = base_at(asked, troubles, own)
    touched = touched_at(asked, base, own, troubles) if base else ()
    contract = contract_at(asked, base, touched, troubles)
    scope = _with_change(files, contract, touched)
    given = CloseOut(asked.task_id, files.feedback, scope, files.rules, contract, (*troubles, *files.troubles))
    return _located(asked, given, own)


def _inputs(asked: Asked, folder: Path, troubles: list[Finding]) -> Path:
    """Where the files are: the folder that was named, else the one of two usual ones that has any."""
    if asked.input_dir is not None:
        return asked.where / asked.input_dir
    places = list(dict.fromkeys((asked.where, folder)))
    filled = [place for place in places if any((place / name).exists() for name in NAMES)]
    if len(filled) > 1:
        troubles.append(trouble("there are input files both here and in the output folder; say which with --input-dir"))
    return filled[0] if filled else places[0]


def base_at(asked: Asked, troubles: list[Finding], own: frozenset[str]) -> str:
    """The commit that the change is counted from; empty where there is none, which is a trouble."""
    try:
        wanted = asked.base or base_of(asked.root, None)
        if not wanted:
            raise GitError("there is no commit to compare with; commit first, in a git repository")
        return base_commit(asked.root, wanted, asked.commit, own)
    except GitError as error:
        troubles.append(trouble(f"the change cannot be read: {error}"))
        return ""


def own_files(asked: Asked, inputs: Path, folder: Path) -> frozenset[str]:
    """The gate's own files as paths of the repository: its inputs and its reports are no part of the change."""
    root = asked.root.resolve()
    others = reports_of(folder) if folder.resolve() != root else ()
    own = (*(inputs / name for name in NAMES), folder / file_name(asked.task_id), *others)
    places = (path.parent.resolve() / path.name for path in own)
    return frozenset(place.relative_to(root).as_posix() for place in places if place.is_relative_to(root))


def touched_at(asked: Asked, base: str, own: frozenset[str], troubles: list[Finding]) -> tuple[Touched, ...]:
    try:
        return touched_since(asked.root, base, asked.commit, own)
    except (GitError, OSError) as error:
        reason = str(error).rpartition(": ")[2]
        troubles.append(trouble(f"the change cannot be read: {reason}; make it readable to git, and judge again"))
        return ()


def contract_at(asked: Asked, base: str, touched: tuple[Touched, ...], troubles: list[Finding]) -> Contract:
    """What the task is held to: as the base commit says, so that a change cannot loosen its own contract."""
    settings = _settings(asked, base, touched, troubles)
    texts = (_committed(asked.root, base, where) for where in _designs(asked, settings)) if base else ()
    contract = contract_of(settings.gate, texts, needs_feedback=True)
    return replace(contract, expected=tuple(map(redact, contract.expected)))


def _committed(root: Path, base: str, where: str) -> str:
    """A design as the base commit has it: one that the change brings along cannot widen what a person allowed."""
    return (git.show(root, base, where) or b"")[:LARGEST_DESIGN].decode("utf-8", "replace")


def _settings(asked: Asked, base: str, touched: tuple[Touched, ...], troubles: list[Finding]) -> Settings:
    text = git.show(asked.root, base, FILE.as_posix()) if base else None
    try:
        if text is None:
            return _strict(load(asked.root, {}))
        if any(path.path == FILE.as_posix() for path in touched):
            troubles.append(trouble(SETTINGS_CHANGED, Severity.WARN))
        return parse(text.decode("utf-8-sig"))
    except (ConfigError, UnicodeDecodeError) as error:
        troubles.append(trouble(f"the settings cannot be read: {error}"))
        return Settings()


def _strict(settings: Settings) -> Settings:
    """Settings that nobody committed before the change can only add to what is asked for."""
    return settings.model_copy(update={"gate": settings.gate.model_copy(update={"off_scope": "block"})})


def _designs(asked: Asked, settings: Settings) -> Iterator[str]:
    """Where the design of the task's spec may be, if its name begins with one (`SPEC:2`)."""
    spec = re.split("[:@]", asked.task_id, maxsplit=1)[0]
    if re.fullmatch(r"[\w-]+", spec):
        for place in settings.plan.places or USUAL_PLACES:
            yield f"{place}/{spec}/design.md"


def _with_change(files: Files, contract: Contract, touched: tuple[Touched, ...]) -> ScopeReport:
    """What the scope report says, and what the change itself shows. The report cannot widen what a person allowed."""
    declared, limits = files.scope, contract.boundary
    named = limits.named if limits.allowed else (*limits.named, *declared.allowed_files)
    seen = scope_of(Boundary(limits.allowed, named, limits.forbidden, is_closed=True), touched)
    forbidden = dict.fromkeys((*declared.forbidden_writes, *seen.forbidden_writes))
    off_scope = dict.fromkeys((*declared.off_scope_writes, *seen.off_scope_writes))
    return replace(seen, forbidden_writes=tuple(forbidden), off_scope_writes=tuple(off_scope))


def _located(asked: Asked, given: CloseOut, own: frozenset[str]) -> Material:
    """The material with the commit it is about, as far as there is one."""
    try:
        commit = git.commit_of(asked.root, asked.commit or "HEAD")
        if commit is None:
            return Material(given)
        is_whole = asked.commit is not None or is_committed(asked.root, own)
        return Material(given, git.tree_of(asked.root, commit), commit, "" if is_whole else UNCOMMITTED)
    except GitError:
        return Material(given)
