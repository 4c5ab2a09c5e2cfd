"""A run as one document with a schema version: all that a page, an issue or a program may show of it.

Made from the state alone, beside logs and the repository's commits where these are still there. The property that every
number in it is that of the account is tested in `tests/engine/account/test_run_document.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core import markdown
from agent_fox.core.ids import Archetype
from agent_fox.core.plan.blame import ownership
from agent_fox.core.retry.standing import Status
from agent_fox.core.values import dataclass, to_object
from agent_fox.core.words import listed
from agent_fox.engine.account.document import account_document
from agent_fox.engine.account.explanation import budgets
from agent_fox.engine.account.stories import (
    CostPoint,
    Costs,
    Cut,
    DecisionStory,
    Edge,
    NodeStory,
    Reading,
    RequirementStory,
    SessionStory,
    Spend,
    WaitStory,
)
from agent_fox.session import order
from agent_fox.session.agents.runner.trace import trace_beside
from agent_fox.store import account as rows
from agent_fox.store import history, traces
from agent_fox.store.plan import load_nodes, load_spec
from agent_fox.store.values import NOT_TAKEN
from agent_fox.system import git
from agent_fox.system.files import last_lines
from agent_fox.system.git import GitError

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.core.policy import Policy
    from agent_fox.engine.account.account import RunAccount, SpecAccount
    from agent_fox.engine.account.explanation import Spent
    from agent_fox.engine.account.overview import Overview
    from agent_fox.store.history import Ruling

SCHEMA = "agent-fox.run/1"
LOG_LINES = 200
LONGEST_LOG = 12_000
LONGEST_TEXT = 24_000
"""Characters of one brief, one difference, or one reading's evidence."""
MOST_EVENTS = 300
"""Events of one session, the last ones."""
MOST_STEPS = 100
"""Steps of one session's trace, the last ones."""
MOST_DEAREST = 10
TEXTS = ("log", "events", "diff", "brief")
"""What is cut for size, in this order."""
COUNTED = ("ended", "running", "interrupted")
LOST = ("infrastructure", "lost", "interrupted")
"""Launches that count with what is assumed for their session, where they told no cost."""


@dataclass(frozen=True, slots=True)
class RunDocument:
    """See the module. `account` is what `status --json` prints; `runs` are all runs of the state, oldest first."""

    made_at: str
    is_alive: bool
    account: Mapping[str, object]
    overview: Overview
    requirements: tuple[RequirementStory, ...]
    nodes: tuple[NodeStory, ...]
    edges: tuple[Edge, ...]
    sessions: tuple[SessionStory, ...]
    decisions: tuple[DecisionStory, ...]
    costs: Costs
    waits: tuple[WaitStory, ...] = ()
    cuts: tuple[Cut, ...] = ()
    schema: str = field(default=SCHEMA)

    def document(self, *, without: Iterable[str] = ()) -> dict[str, object]:
        """As JSON; sessions `without` some of TEXTS."""
        sessions = [to_object(session, without=tuple(without)) for session in self.sessions]
        first = {"schema": self.schema, **to_object(self, only=("made_at", "is_alive"))}
        rest = to_object(self, without=("schema", "made_at", "is_alive", "account", "overview", "sessions"))
        return {
            **first,
            "account": dict(self.account),
            **to_object(self.overview, only=("banner", "needs_you", "next")),
            "sessions": sessions,
            **rest,
        }


def read_run(
    db: Database, root: Path, account: RunAccount, overview: Overview, *, made_at: str, is_alive: bool,
    ceiling_usd: float | None = None, most: int = 0, policy: Policy | None = None,
) -> RunDocument:  # fmt: skip
    """The run of the account, with the whole plan and the sessions of all runs. `policy` has the limits of budgets.

    `most` bounds the characters of logs, events, differences and briefs together (0: none); what is over it is left
    out, logs first, and counted.
    """
    rulings = history.rulings(db)
    nodes, names = _nodes(db, budgets_of(db, rulings, policy) if policy else {})
    sessions = tuple(_sessions(db, root, account.run))
    requirements = tuple(_requirements(db, account, sessions))
    near = f"{root.resolve().as_uri()}/"  # an issue's file is named from the repository's root
    needs = tuple(replace(card, issue=card.issue.replace(near, "")) for card in overview.needs_you)
    whole = RunDocument(
        made_at=made_at,
        is_alive=is_alive,
        account=account_document(root, account),
        overview=replace(overview, needs_you=needs),
        requirements=requirements,
        nodes=nodes,
        edges=tuple(Edge(names[s], names[t], kind) for s, t, kind in rows.edge_rows(db)),
        sessions=sessions,
        decisions=tuple(map(_decision, rulings)),
        costs=_costs(db, account, sessions, ceiling_usd),
        waits=tuple(WaitStory(*row) for row in rows.wait_rows(db)),
    )
    return cut(whole, most) if most else whole


def cut(whole: RunDocument, most: int) -> RunDocument:
    """The document with at most so many characters of TEXTS, the sessions of what is not proven keep theirs longest."""
    wanted = {requirement.spec for requirement in whole.requirements if requirement.is_open}
    sessions = {session.id: session for session in whole.sessions}
    size = sum(len_of(session, name) for session in sessions.values() for name in TEXTS)
    cuts: list[Cut] = []
    for name in TEXTS:
        order = sorted(sessions.values(), key=lambda session: (session.spec in wanted, session.id))
        count = characters = 0
        for session in order:
            length = len_of(session, name)
            if size <= most or not length:
                continue
            sessions[session.id] = without(session, name)
            count, characters, size = count + 1, characters + length, size - length
        if count:
            cuts.append(Cut({"events": "session events"}.get(name, f"{name}s"), count, characters))
    return replace(whole, sessions=tuple(sessions.values()), cuts=(*whole.cuts, *cuts))


def without(session: SessionStory, name: str) -> SessionStory:
    """The session without one of its TEXTS."""
    match name:
        case "log":
            return replace(session, log="")
        case "events":
            return replace(session, events=())
        case "diff":
            return replace(session, diff="")
        case _:
            return replace(session, brief="")


def len_of(session: SessionStory, name: str) -> int:
    """Characters of one of a session's TEXTS."""
    value = getattr(session, name)
    return len(value) if isinstance(value, str) else sum(len(json.dumps(each)) for each in value)


def budgets_of(db: Database, rulings: Sequence[Ruling], policy: Policy) -> dict[str, tuple[Spent, ...]]:
    """By node, by its name: its budgets, as `explain` shows them."""
    blamed: dict[str, dict[str, None]] = {}
    for ruling in rulings:
        blamed.setdefault(ruling.about, {}).update(dict.fromkeys(ruling.blamed))
    return {
        planned.node.id: tuple(budgets(db, planned, blamed.get(planned.node.id, ()), policy))
        for planned in load_nodes(db)
        if planned.standing.status is not Status.WITHDRAWN
    }


def _nodes(
    db: Database, budgets: Mapping[str, tuple[Spent, ...]]
) -> tuple[tuple[NodeStory, ...], dict[str, str]]:  # fmt: skip
    """The nodes of the plan, and their names by uid."""
    recorded = rows.all_node_rows(db)
    names = {row[0]: row[1] for row in recorded}
    sources: dict[str, list[str]] = {}
    for source, target, _ in rows.edge_rows(db):
        sources.setdefault(target, []).append(source)
    levels: dict[str, int] = {}
    for row in recorded:  # in plan order: what a node waits for comes before it, or is not counted
        levels[row[0]] = 1 + max((levels.get(source, 0) for source in sources.get(row[0], ())), default=-1)
    return tuple(
        NodeStory(
            id=name, spec=spec, archetype=archetype, mode=mode, title=title, status=status, outcome=outcome,
            attempt=attempt, reading=reading, level=levels[uid], because=because,
            waits_for=tuple(dict.fromkeys(names[source] for source in sources.get(uid, ()))),
            budgets=budgets.get(name, ()),
        )
        for uid, name, spec, _, archetype, mode, title, status, outcome, attempt, reading, because in recorded
    ), names  # fmt: skip


def _requirements(
    db: Database, account: RunAccount, sessions: Sequence[SessionStory]
) -> Iterator[RequirementStory]:  # fmt: skip
    readings: dict[tuple[str, str], list[Reading]] = {}
    for spec, part, *row in rows.reading_rows(db):
        readings.setdefault((spec, part), []).append(_reading(row))
    states = {spec.name: states_of(spec) for spec in account.specs}
    known = {spec.name: spec.how for spec in account.specs}
    landings: dict[str, list[SessionStory]] = {}
    for session in sessions:
        if session.landed and session.archetype == Archetype.CODER:
            landings.setdefault(session.spec, []).append(session)
    for spec, parts in groupby(rows.text_rows(db), key=lambda row: row[0]):
        if spec not in states:
            continue
        owners = _owners(db, spec)
        for _, part, text, gate in parts:
            read = tuple(compared(readings.get((spec, part), []), landings.get(spec, ())))
            state = states[spec].get(part, "unread")
            story = RequirementStory(
                spec, part, text, state, known[spec].get(part, ""), gate, owners.get(part, ()), read,
            )  # fmt: skip
            yield replace(story, changed_since_pass=tuple(_changed_since(story, sessions)))


def states_of(spec: SpecAccount) -> dict[str, str]:
    """In which list of the account each requirement of a spec is."""
    lists = {
        "proven": spec.proven, "waived": spec.waived, "failing": spec.failing, "unclear": spec.unclear,
        "stale": spec.stale, "unread": spec.unread, "short": spec.short, "elsewhere": spec.elsewhere,
    }  # fmt: skip
    return {part: state for state, parts in lists.items() for part in parts}


def _owners(db: Database, spec_name: str) -> dict[str, tuple[str, ...]]:
    """The coders' nodes of each requirement, by the blame map; none where the spec cannot be read."""
    try:
        spec = load_spec(db, spec_name)
    except KeyError:
        return {}
    owned = ownership(spec)
    parts = [part.id for requirement in spec.requirements for part in requirement.parts]
    return {part: tuple(f"{spec_name}:{group}" for group in owned.of(part)) for part in parts}


def _reading(row: Sequence[object]) -> Reading:
    number, word, stated, evidence, note, command, disposition, attempt, reading, session, *rest = row
    commit, at, how, is_current, record, trials = rest
    return Reading(
        id=int(str(number)), at=str(at), attempt=int(str(attempt)), reading=int(str(reading)), word=str(word),
        said=str(stated), note=str(note), evidence=markdown.cut(str(evidence), LONGEST_TEXT), command=str(command),
        disposition=str(disposition), commit=str(commit), session=int(str(session or 0)), how=str(how),
        record=str(record), is_current=bool(is_current), trials=json.loads(str(trials)) if trials else None,
    )  # fmt: skip


def compared(readings: Sequence[Reading], landings: Sequence[SessionStory]) -> Iterator[Reading]:
    """Each reading beside the one before it: whether it lost a PASS, and whose work had landed between."""
    last, since = "", ""
    for reading in readings:
        landed = tuple(session.id for session in landings if since < session.ended_at <= reading.at)
        yield replace(reading, is_regression=last == "PASS" != reading.word, landed=landed)
        last, since = reading.word, reading.at


def _changed_since(story: RequirementStory, sessions: Iterable[SessionStory]) -> Iterator[int]:
    passes = [reading.at for reading in story.readings if reading.word == "PASS"]
    if story.is_open and passes:
        yield from (session.id for session in sessions if session.landed and session.ended_at > passes[-1])


def _sessions(db: Database, root: Path, run: int | None) -> Iterator[SessionStory]:
    launches: dict[int, list[rows.Row]] = {}
    for row in rows.launch_rows(db):
        launches.setdefault(row[0], []).append(row)
    bare = [_session(row, launches.get(row[0], []), root) for row in rows.session_rows(db)]
    slots = slots_of(bare)
    critical = critical_chain([session for session in bare if session.run == run])
    for session in bare:
        steps = steps_of(db, session.id)
        yield replace(
            session, slot=slots[session.id], is_critical=session.id in critical, steps=steps[-MOST_STEPS:],
            steps_left_out=max(0, len(steps) - MOST_STEPS),
            broke=tuple(finding.words for finding in traces.onsets_in(db, session.id)),
        )  # fmt: skip


def steps_of(db: Database, session: int) -> tuple[str, ...]:
    """What a session did to the files, step by step."""
    trace = traces.trace_of(db, session)
    states = [node for node in trace.nodes if node.is_state and node.step] if trace else []
    return tuple(f"step {node.step}: {node.action} ({', '.join(node.files)})" for node in states)


def _session(row: rows.Row, launches: Sequence[rows.Row], root: Path) -> SessionStory:
    number, run, node, _uid, spec, archetype, attempt, reading, status, end, reason, summary, *rest = row
    started, ended, seconds, _, assumed, backend, agents, rung, pinned, base, landed, is_landed, log = rest
    lost = (f"{row[3] or row[2]}" for row in launches if row[2] in LOST and not row[3].startswith(NOT_TAKEN))
    costs = [row[4] for row in launches if row[4] is not None]
    untold = sum(row[4] is None and row[2] in COUNTED for row in launches)
    events, events_left_out = events_beside(Path(log)) if log else ((), 0)
    return SessionStory(
        id=number, run=run, node=node, spec=spec, archetype=archetype, attempt=attempt, reading=reading, status=status,
        end=end, reason=reason, summary=summary, started_at=started, ended_at=ended, seconds=seconds,
        cost_usd=sum(costs) if costs else None, assumed_usd=assumed * untold, agent=agent_words(backend, agents),
        rung=rung, pinned=pinned, base=base, landed=landed if is_landed else "", slot=0, is_critical=False,
        lost=tuple(lost), diff=diff_text(root, base, landed) if landed and base else "",
        log=log_text(Path(log)) if log else "", events=events, events_left_out=events_left_out,
        brief=kept_brief(Path(log)) if log else "",
    )  # fmt: skip


def agent_words(backend: str, agents: str) -> str:
    """`claude 2.1 (opus)`, of what a session told of who worked; several with commas."""
    words = [
        f"{agent.get('backend') or backend} {agent.get('version', '')}".strip()
        + (f" ({agent['model']})" if agent.get("model") else "")
        for agent in json.loads(agents or "[]")
    ]
    return ", ".join(words) or backend


def log_text(path: Path) -> str:
    """The end of a session's log, which is masked already; empty where it is gone."""
    try:
        size, lines = path.stat().st_size, last_lines(path, LOG_LINES)
    except OSError:
        return ""
    end = "\n".join(lines)[-LONGEST_LOG:]
    left_out = size - len(end.encode()) - 1  # the last line's end
    return f"… {left_out:,} bytes before this are left out\n{end}" if left_out > 0 else end


def events_beside(log: Path) -> tuple[tuple[Mapping[str, object], ...], int]:
    """What the session's tools did, as recorded beside its log: the last MOST_EVENTS, and how many are left out."""
    try:
        lines = trace_beside(log).read_text("utf-8", "replace").splitlines()
    except OSError:
        return (), 0
    events = tuple(event for line in lines[-MOST_EVENTS:] if (event := _object(line)))
    return events, len(lines) - len(events)


def _object(line: str) -> Mapping[str, object] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def kept_brief(log: Path) -> str:
    """The brief that the session was given, kept beside its log; empty where it is not there."""
    try:
        return markdown.cut(order.brief_beside(log).read_text("utf-8", "replace"), LONGEST_TEXT)
    except OSError:
        return ""


def diff_text(root: Path, base: str, landed: str) -> str:
    """What a session's landing changed; empty where the commits are gone."""
    try:
        return markdown.cut(
            git.call(root, "diff", "--no-color", "--no-ext-diff", base, landed, "--").text, LONGEST_TEXT
        )
    except GitError:
        return ""


def slots_of(sessions: Iterable[SessionStory]) -> dict[int, int]:
    """The lane of each session: the first that is free when it begins. One that runs keeps its lane."""
    free_at: list[str] = []
    slots: dict[int, int] = {}
    for session in sorted(sessions, key=attrgetter("started_at", "id")):
        end = session.ended_at or "9"
        slot = next((n for n, until in enumerate(free_at) if until <= session.started_at), len(free_at))
        free_at[slot : slot + 1] = [end]
        slots[session.id] = slot
    return slots


def critical_chain(sessions: Sequence[SessionStory]) -> frozenset[int]:
    """From the session that ended last backwards: each time the one that ended last before it began."""
    ended = sorted((session for session in sessions if session.ended_at), key=attrgetter("ended_at", "id"))
    chain: list[SessionStory] = []
    while ended:
        chain.append(ended.pop())
        ended = [session for session in ended if session.ended_at <= chain[-1].started_at]
    return frozenset(session.id for session in chain)


def _decision(ruling: Ruling) -> DecisionStory:
    return DecisionStory(
        id=ruling.id, at=ruling.at, node=ruling.about, kind=ruling.kind, row=ruling.row, cause=ruling.cause or "",
        attempt=ruling.attempt, reading=ruling.reading, failing=ruling.failing, unknown=ruling.unknown,
        blamed=ruling.blamed, words=in_words(ruling), session=ruling.session_id or 0, moved=ruling.moved,
    )  # fmt: skip


TRENDS = {"first": "", "progress": " (improving)", "no progress": " (not improving)", "": ""}


def in_words(ruling: Ruling) -> str:
    """What a decision came to, for a person: `sent back to coder 03_split:2 (improving)`."""
    trend = TRENDS.get(ruling.progress, f" ({ruling.progress})")
    note = f": {ruling.note}" if ruling.note else ""
    match ruling.kind:
        case "Accept":
            return "accepted"
        case "Recode":
            return "; ".join((f"sent back to coder {listed(ruling.blamed)}{trend}", *ruling.chosen))
        case "SendBack":
            return f"sent back by the review to coder {listed(ruling.blamed)}{note}"
        case "Reread":
            return "read again: no clear verdict"
        case "Retry":
            return f"tried again{note}"
        case "Land":
            return "landed"
        case "Block":
            return f"stopped: {ruling.note or ruling.cause}"
        case "Reopen":
            return f"read again{note}"
        case "Prove":
            return "to be proved formally"
        case _:
            return f"{ruling.kind.lower()}{note}"


def _costs(db: Database, account: RunAccount, sessions: Sequence[SessionStory], ceiling: float | None) -> Costs:
    by_archetype = sorted(_spends(sessions, attrgetter("archetype")), key=attrgetter("name"))
    by_node = sorted(_spends(sessions, attrgetter("node")), key=lambda s: (-(s.known_usd + s.assumed_usd), s.name))
    good = account.proven
    return Costs(
        ceiling_usd=ceiling,
        per_proven_usd=account.cost.total_usd / good if good and account.cost.total_usd else None,
        by_archetype=tuple(by_archetype),
        dearest=tuple(spend for spend in by_node[:MOST_DEAREST] if spend.known_usd + spend.assumed_usd > 0),
        points=tuple(_points(db, account.run)),
    )


def _spends(sessions: Iterable[SessionStory], key: attrgetter[str]) -> Iterator[Spend]:
    for name, group in groupby(sorted(sessions, key=key), key=key):
        members = list(group)
        known = sum(session.cost_usd or 0.0 for session in members)
        yield Spend(str(name), known, sum(session.assumed_usd for session in members), len(members))


def _points(db: Database, run: int | None) -> Iterator[CostPoint]:
    """What launches of a run had cost by the end of each."""
    known = assumed = 0.0
    for at, cost, guessed in rows.launch_costs(db, run):
        known, assumed = known + (cost or 0.0), assumed + (guessed if cost is None else 0.0)
        yield CostPoint(at, round(known, 6), round(assumed, 6))
