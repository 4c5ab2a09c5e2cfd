"""The account of a run, read from the state: what is proven, what is not and why, what it cost. For screens; read-only.

Only plain SQL and plain values: a status screen must be there at once, so nothing heavy is imported here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.late import late_module
from agent_fox.core.ledger.gates import Gate, is_enough
from agent_fox.core.values import dataclass, to_object
from agent_fox.core.verdicts.known import added, counts_of
from agent_fox.store import account as rows
from agent_fox.store.issue_view import IssueCounts, IssueView, read_issue_counts, read_issues
from agent_fox.store.known import words_known
from agent_fox.store.ledger.ledger import Tip, tip_of
from agent_fox.store.waivers import Asked, asked, has_waivers
from agent_fox.system import clock

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.store.ledger import journal
else:
    journal = late_module("agent_fox.store.ledger.journal")

PROVEN = frozenset({"verified", "waived"})
"""Standings of a spec whose verdict stands."""
RUNNING, WAITING = "running", "waiting"
DISBELIEVED = "not believed"
"""The standing of every spec while the rows of the state are not those of the ledger."""
ELSEWHERE = "environment changed"
"""The standing of a spec that was completed, with a PASS that was given in another environment than this one."""
PASSED = ("PASS", ELSEWHERE)
WAIVER_ENDED = "waiver ended"
"""The standing of a spec that was completed with waivers, one of which does not count any more."""


Holds = Callable[[str, str, str], bool]
"""Whether a PASS of a spec's requirement, given on an older tree, counts for the tip: its spec, id, and tree."""


def on_its_tree(spec: str, part: str, tree: str) -> bool:
    """A PASS counts for the tree that it was given on, and for no other."""
    return False


REPORT = "report.json"
LARGEST = 1024 * 1024
"""Bytes; a larger file is not read."""


@dataclass(frozen=True, slots=True)
class Activity:
    """One agent at work. Cost in US dollars, None where not known yet; `silent` in seconds, about a second old."""

    cli: str
    model: str
    turns: int
    cost_usd: float | None
    last: str
    silent: float


def activity_in(folder: Path) -> Activity | None:
    """The agent at work in a launch's folder; of several judges, the one whose turn it is. None: nobody tells."""
    places = (folder, *sorted(folder.glob("judge-*"), reverse=True))
    activities = (_activity(place / REPORT) for place in places)
    return next((activity for activity in activities if activity is not None), None)


def _activity(path: Path) -> Activity | None:
    """What a runner wrote; anything else that may stand there is nothing."""
    try:
        raw = path.read_bytes() if path.stat().st_size <= LARGEST else b""
        report = json.loads(raw)
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(report, dict) or report.get("ending") != RUNNING:
        return None
    return Activity(
        cli=str(report.get("cli", "")),
        model=str(report.get("model", "")),
        turns=int(_number_in(report, "turns") or 0),
        cost_usd=_number_in(report, "cost_usd"),
        last=str(report.get("last", "")),
        silent=_number_in(report, "silent") or 0.0,
    )


def _number_in(report: Mapping[str, object], key: str) -> float | None:
    value = report.get(key)
    return float(value) if isinstance(value, int | float) else None


@dataclass(frozen=True, slots=True)
class SpecAccount:
    """One spec. Its expected ids are each in one of the lists.

    `proven`: a PASS that counts, for the spec's verdict stands, or nothing that it rests on has changed. `stale`: any
    other PASS on an older tree of a spec that is not proven. `elsewhere`: one that was given in another environment.
    `short`: a PASS without the review or the proof that the run asked for. `unclear`: the last word was UNKNOWN.
    `unread`: no verdict yet. `how`: how each one that passed or is waived is known, by a word of `core.known.How`.
    `standing` is verified, waived, waiver ended, environment changed, escalated, blocked, running, waiting, without
    verifier, or left out (`problem` says why): nothing of such a spec is proven, and where it could never be read, not
    `is_counted`, nobody knows its ids.
    """

    name: str
    verifier: str | None
    standing: str
    proven: tuple[str, ...] = ()
    waived: tuple[str, ...] = ()
    failing: tuple[str, ...] = ()
    unclear: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    short: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    commit: str | None = None
    nodes_done: int = 0
    nodes: int = 0
    problem: str = ""
    is_counted: bool = True
    how: Mapping[str, str] = field(default_factory=dict)

    @property
    def known(self) -> dict[str, int]:
        """How many of its proven and waived requirements are known in which way."""
        return counts_of(self.how.get(part, "") for part in (*self.proven, *self.waived))

    @property
    def is_proven(self) -> bool:
        return self.standing in PROVEN and not self.short

    @property
    def open_ids(self) -> tuple[str, ...]:
        return (*self.failing, *self.unclear, *self.stale, *self.unread, *self.short, *self.elsewhere)

    @property
    def expected(self) -> int:
        return len(self.proven) + len(self.waived) + len(self.open_ids)


@dataclass(frozen=True, slots=True)
class BlockedNode:
    """A node that cannot go on until a person acts, and the nodes that wait for it."""

    node: str
    cause: str
    reason: str
    waiting: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunningSession:
    """A session under way. `since` is ISO 8601, UTC."""

    node: str
    archetype: str
    attempt: int
    reading: int
    since: str
    activity: Activity | None = None


@dataclass(frozen=True, slots=True)
class Waiting:
    """A session that was lost to infrastructure and is launched again at a time: `kind` is what was broken.

    Times are ISO 8601, UTC.
    """

    node: str
    kind: str
    reason: str
    since: str
    until: str


@dataclass(frozen=True, slots=True)
class Undelivered:
    """An effect on the outside world that has not been carried out yet; `note` says why."""

    kind: str
    title: str
    state: str
    note: str


@dataclass(frozen=True, slots=True)
class WaiverNote:
    """A waiver that counts now. `spec` is empty for one about a finding of the close-out gate."""

    id: str
    spec: str
    address: str
    signer: str
    expires_at: str
    reason: str
    line: str


def nothing_waived() -> tuple[WaiverNote, ...]:
    """For who cannot check signatures: then nothing is waived."""
    return ()


@dataclass(frozen=True, slots=True)
class Cost:
    """Dollars of one run: those that sessions told, and those assumed for sessions that did not (or not yet).

    `running_usd` is what of the latter is assumed for sessions under way: it goes when they tell what they cost.
    """

    known_usd: float = 0.0
    assumed_usd: float = 0.0
    running_usd: float = 0.0

    @property
    def total_usd(self) -> float:
        return self.known_usd + self.assumed_usd


@dataclass(frozen=True, slots=True)
class RunAccount:
    """One run as the state has it now. `left`: sessions that were under way when it ended. `retries` are sessions that
    coders were sent back for, `rereads` readings that gave no clear verdict."""

    run: int | None
    status: str
    exit_code: int | None
    reason: str
    started_at: str
    seconds: float
    tip: str | None
    specs: tuple[SpecAccount, ...]
    sessions: int
    retries: int
    rereads: int
    cost: Cost
    running: tuple[RunningSession, ...]
    blocked: tuple[BlockedNode, ...]
    issues: tuple[IssueView, ...]
    """Every issue by its number, those without one first."""
    undelivered: tuple[Undelivered, ...]
    nodes: dict[str, int] = field(default_factory=dict)
    waivers: tuple[WaiverNote, ...] = ()
    asked: tuple[Asked, ...] = ()
    gates: dict[str, int] = field(default_factory=dict)
    ledger: Tip = field(default_factory=Tip)
    issue_counts: IssueCounts = field(default_factory=IssueCounts)
    disbelieved: str = ""
    """Why nothing counts as proven: the rows that say so are not those of the ledger. Empty where they are."""
    elsewhere: tuple[str, ...] = ()
    """In what the environments that PASSes were given in differ from this one."""
    left: tuple[RunningSession, ...] = ()
    waits: tuple[Waiting, ...] = ()

    @property
    def proven(self) -> int:
        return sum(len(spec.proven) for spec in self.specs)

    @property
    def uncounted(self) -> int:
        """Specs whose requirements nobody knows: they could not be read."""
        return sum(not spec.is_counted for spec in self.specs)

    @property
    def waived(self) -> int:
        return sum(len(spec.waived) for spec in self.specs)

    @property
    def known(self) -> dict[str, int]:
        """How many requirements are known in which way, over all specs."""
        return added(spec.known for spec in self.specs)

    @property
    def not_proven(self) -> int:
        return sum(len(spec.open_ids) for spec in self.specs)

    def at_rest(self) -> RunAccount:
        """The same where no process is at work: nothing runs, and what was under way waits for the next `run`."""
        specs = tuple(replace(spec, standing=WAITING) if spec.standing == RUNNING else spec for spec in self.specs)
        nodes = dict(self.nodes)
        left = nodes.pop("running", 0)
        if left:
            nodes["pending"] = nodes.get("pending", 0) + left
        cost = replace(self.cost, running_usd=0.0)
        return replace(self, specs=specs, nodes=nodes, cost=cost, running=(), left=self.running, waits=())


def read_account(
    db: Database, *, run_id: int | None = None, tip_tree: str | None = None, only: Iterable[str] | None = None,
    in_force: Callable[[], tuple[WaiverNote, ...]] = nothing_waived, lost: str = "",
    elsewhere: Mapping[str, tuple[str, ...]] | None = None, is_counted_elsewhere: bool = False,
    untouched: Holds = on_its_tree,
) -> RunAccount:  # fmt: skip
    """The last run, or the one named.

    `tip_tree` is the tree of the integration branch now, and `untouched` says which PASSes that were given on another
    one count for it; `only` names the specs in scope (None: all); `in_force`
    looks up the waivers that count, and is asked only where there are any; `lost` why the history does not hold
    together, so that nothing is proven; `elsewhere` the environments that are not the present one, each with what
    differs: a PASS given there does not count, unless `is_counted_elsewhere`. Raises KeyError for a run that there
    is none of.
    """
    row = rows.run_row(db, run_id)
    if row is None and run_id is not None:
        raise KeyError(run_id)
    number, status, exit_code, reason, started, seconds, tip = row or (None, "never", None, "", "", 0.0, None)
    waivers = in_force() if has_waivers(db) else ()
    why = lost or journal.why_others(db)
    away = frozenset() if is_counted_elsewhere else frozenset(elsewhere or {})
    specs = tuple(_specs(db, tip_tree, None if only is None else frozenset(only), waivers, away, untouched))
    sessions, retries, rereads = rows.counts_of_run(db, number)
    return RunAccount(
        run=number,
        status=status,
        exit_code=exit_code,
        reason=reason,
        started_at=started,
        seconds=seconds,
        tip=tip,
        specs=tuple(map(_disbelieved, specs)) if why else specs,
        sessions=sessions,
        retries=retries,
        rereads=rereads,
        cost=Cost(*rows.costs_of_run(db, number)),
        running=tuple(_running(db)),
        waits=tuple(Waiting(*row) for row in rows.open_wait_rows(db, number)),
        blocked=tuple(_blocked(db)),
        issues=tuple(sorted(read_issues(db), key=lambda issue: issue.number != "")),
        undelivered=tuple(Undelivered(*row) for row in rows.undelivered_rows(db)),
        nodes=rows.node_counts(db),
        waivers=waivers,
        asked=tuple(asked(db)),
        gates=rows.gate_counts(db),
        ledger=tip_of(db),
        issue_counts=read_issue_counts(db, clock.now()),
        disbelieved=why,
        elsewhere=tuple(
            dict.fromkeys(environment for differs in (elsewhere or {}).values() for environment in differs)
        ),
    )


def _disbelieved(spec: SpecAccount) -> SpecAccount:
    """The same where its rows cannot be believed: what they have as proven is unknown."""
    unclear = (*spec.proven, *spec.waived, *spec.elsewhere, *spec.unclear)
    return replace(spec, standing=DISBELIEVED, proven=(), waived=(), elsewhere=(), unclear=unclear, how={})


def read_spec(db: Database, name: str, waived: Iterable[str], tip_tree: str | None = None) -> SpecAccount | None:
    """One spec alone; None where it is not in the plan. `waived` are its ids with a waiver that counts now."""
    notes = tuple(WaiverNote("", name, part, "", "", "", "") for part in waived)
    return next(_specs(db, tip_tree, frozenset([name]), notes), None)


@dataclass(slots=True)
class _Verifier:
    """A spec's verifier as a row of the plan."""

    id: str
    status: str
    outcome: str | None


def _specs(
    db: Database, tip_tree: str | None, only: frozenset[str] | None, waivers: tuple[WaiverNote, ...],
    away: frozenset[str] = frozenset(), untouched: Holds = on_its_tree,
) -> Iterator[SpecAccount]:  # fmt: skip
    """`away`: the environments in which a PASS does not count now; `untouched` as in `read_account`."""
    parts = _parts(db, only, away)
    nodes = {name: (done, count, frozenset(every.split(","))) for name, done, count, every in rows.node_rows(db, only)}
    verifiers = {spec: _Verifier(*rest) for spec, *rest in rows.verifier_rows(db, only)}
    required, short = _short(db, only)
    signed = {(waiver.spec, waiver.address) for waiver in waivers}
    known = words_known(db, lambda spec, part: (spec, part) in signed, _one_of(only))
    for name, commit, problem, is_read in rows.spec_rows(db, only):
        done, count, statuses = nodes.get(name, (0, 0, frozenset()))
        verifier = verifiers.get(name)
        standing = "left out" if problem else _standing(verifier, statuses)
        tree, waived = (
            (None, frozenset()) if problem else (tip_tree, frozenset(w.address for w in waivers if w.spec == name))
        )
        if standing == "waived" and any(
            word not in PASSED and part not in waived for part, word, _ in parts.get(name, [])
        ):
            standing = WAIVER_ENDED
        is_proven = standing in PROVEN
        if is_proven and any(word == ELSEWHERE and part not in waived for part, word, _ in parts.get(name, [])):
            standing = ELSEWHERE
        # A gate moves with the verdict on its whole spec: until then a PASS on the tip is all there can be.
        lacking = short.get(name, frozenset()) if is_proven or required is not Gate.TESTED else frozenset()
        if standing == "escalated" and all(word in PASSED for _, word, _ in parts.get(name, [])):
            tree = None  # no report that passes everything escalates its verifier: these PASSes are not believed
        on_tip = partial(counts_on, tree, partial(untouched, name))
        lists = _sorted(parts.get(name, []), waived, lacking, is_proven=is_proven, on_tip=on_tip)
        yield SpecAccount(
            name=name,
            verifier=verifier.id if verifier else None,
            standing=standing,
            proven=tuple(lists["proven"]),
            waived=tuple(lists["waived"]),
            failing=tuple(lists["FAIL"]),
            unclear=tuple(lists["UNKNOWN"]),
            stale=tuple(lists["stale"]),
            unread=tuple(lists["unread"]),
            short=tuple(lists["short"]),
            elsewhere=tuple(lists[ELSEWHERE]),
            commit=commit,
            nodes_done=done,
            nodes=count,
            problem=problem,
            is_counted=bool(is_read or parts.get(name)),
            how={} if problem else known.get(name, {}),
        )


def _one_of(only: frozenset[str] | None) -> str | None:
    """The spec in scope where it is one alone."""
    return next(iter(only)) if only is not None and len(only) == 1 else None


def _parts(
    db: Database, only: frozenset[str] | None, away: frozenset[str]
) -> dict[str, list[tuple[str, str, str | None]]]:
    """Expected ids by spec, each with its current verdict and the tree it was given on. A PASS from `away` is named
    `ELSEWHERE`; specs that were left out have only ids."""
    by_spec: dict[str, list[tuple[str, str, str | None]]] = {}
    for spec, part, word, tree, environment in rows.part_rows(db, only):
        stands = ELSEWHERE if word == "PASS" and environment in away else word
        by_spec.setdefault(spec, []).append((part, stands, tree))
    planned = frozenset(by_spec)
    for spec, part in rows.unplanned_rows(db, only):
        if spec not in planned:
            by_spec.setdefault(spec, []).append((part, "unread", None))
    return by_spec


def _standing(verifier: _Verifier | None, statuses: frozenset[str]) -> str:
    if verifier is None:
        return "without verifier"
    if verifier.status == "completed":
        return verifier.outcome or "completed"
    return next((status for status in ("blocked", RUNNING) if status in statuses), WAITING)


def _short(db: Database, only: frozenset[str] | None) -> tuple[Gate, dict[str, frozenset[str]]]:
    """The gate that the last run asked for, and by spec the ids whose gate is not that."""
    required = Gate(rows.required_state(db) or Gate.TESTED)
    by_spec: dict[str, set[str]] = {}
    for spec, part, state, proved in rows.gate_rows(db, only):
        if not is_enough(required, Gate(state), was_proved=bool(proved)):
            by_spec.setdefault(spec, set()).add(part)
    return required, {spec: frozenset(ids) for spec, ids in by_spec.items()}


def counts_on(tip_tree: str | None, untouched: Callable[[str, str], bool], part: str, tree: str | None) -> bool:
    """Whether a PASS that was given on a tree counts for that of the tip."""
    if tip_tree is None or tree is None:
        return False
    return tree == tip_tree or untouched(part, tree)


def _sorted(
    parts: Iterable[tuple[str, str, str | None]], waived: frozenset[str], short: frozenset[str], *, is_proven: bool,
    on_tip: Callable[[str, str | None], bool],
) -> dict[str, list[str]]:  # fmt: skip
    """The ids as proven, short, waived, FAIL, UNKNOWN, stale, unread, elsewhere. What passes needs no waiver."""
    kinds = ("proven", "short", "waived", "FAIL", "UNKNOWN", "stale", "unread", ELSEWHERE)
    lists: dict[str, list[str]] = {kind: [] for kind in kinds}
    for part, word, tree in parts:
        if word != "PASS":
            lists["waived" if part in waived else word].append(part)
            continue
        holds = "proven" if is_proven or on_tip(part, tree) else "stale"
        if holds == "proven" and part in short:
            holds = "waived" if part in waived else "short"
        lists[holds].append(part)
    return lists


def _running(db: Database) -> Iterator[RunningSession]:
    return (
        RunningSession(node, archetype, attempt, reading, since, activity_in(Path(folder)))
        for node, archetype, attempt, reading, since, folder in rows.running_rows(db)
    )


def _blocked(db: Database) -> Iterator[BlockedNode]:
    """The roots, in plan order, with what waits for each."""
    held = rows.held_rows(db)
    waiting: dict[str, list[str]] = {}
    for node, _, _, root in held:
        if root != node:
            waiting.setdefault(root, []).append(node)
    roots = [(node, cause, reason) for node, cause, reason, root in held if root == node]
    return (BlockedNode(*root, tuple(waiting.get(root[0], ()))) for root in roots)


@dataclass(frozen=True, slots=True)
class SessionLog:
    """Where the log of a session is: `path` is empty until it has ended. `launch` and `folder`: the one under way."""

    node: str
    attempt: int
    reading: int
    status: str
    path: str
    launch: str = ""
    folder: str = ""

    def document(self) -> dict[str, object]:
        return {**to_object(self, only=("node", "attempt", "reading", "status"))}


def read_session_logs(db: Database, node_id: str) -> Iterator[SessionLog]:
    """Sessions of the node with this name, now or when they were launched, oldest first."""
    return (SessionLog(*row) for row in rows.log_rows(db, node_id))
