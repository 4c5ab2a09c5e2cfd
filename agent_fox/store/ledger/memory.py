"""Items of regression memory and what happened to them: rows, each move with its record in the ledger. Nothing here
believes a person's word, and nothing is decided: see `evidence.memory` and `core.memory`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from agent_fox.core.ledger.evidence import (
    Artifact,
    Evidence,
    Json,
    Kind,
    Outcome,
    ReviewerDecision,
    RunContext,
    SpecRef,
)
from agent_fox.core.memory import (
    SIGNED,
    Birth,
    Item,
    Life,
    Move,
    Reading,
    Remembered,
    Sketch,
    Status,
    Step,
    Watch,
    born,
    moved,
)
from agent_fox.core.retry.clusters import fingerprint_of
from agent_fox.core.values import dataclass, to_object
from agent_fox.core.verdicts.answer import read_tests, read_trials, scope_of
from agent_fox.core.verdicts.verdict import RunTest, Signal, Word
from agent_fox.store.ledger import ledger
from agent_fox.store.values import insert_many, to_json

if TYPE_CHECKING:
    from sqlite_utils import Database

ITEM_COLUMNS = (
    "id, at, spec_name, requirement_id, version, line, file, classes, name, test, born, files, counterexample, "
    "first_error, cause, joins, note, envelope"
)
MOVE_COLUMNS = (
    "id, item, at, step, file, is_touched, commit_id, note, envelope, session_id, decision_id, status, watch, life"
)


ITEMS = (
    f"SELECT {', '.join(f'i.{column}' for column in ITEM_COLUMNS.split(', '))}, m.life FROM memory_items AS i "
    "JOIN memory_moves AS m ON m.id = (SELECT max(id) FROM memory_moves WHERE item = i.id)"
)


@dataclass(frozen=True, slots=True)
class Origin:
    """What a move came with: the session that read, and the decision that it belongs to; neither of a person's."""

    session: int | None = None
    decision: int | None = None


NOBODY = Origin()


@dataclass(frozen=True, slots=True)
class KeptMove:
    """A move as it is kept, with where the item stood after it."""

    id: int
    item: str
    move: Move
    origin: Origin
    status: str
    watch: str


def items(db: Database, spec_name: str | None = None, *, living: bool = False) -> list[Remembered]:
    """The items of a spec, or all, the oldest first, each where it stands; `living`: without those that are over."""
    sql = f"{ITEMS} WHERE (?1 IS NULL OR i.spec_name = ?1) AND (NOT ?2 OR m.watch <> 'never') ORDER BY i.at, i.id"
    return [Remembered(item_of(row[:-1]), life_in(row[-1])) for row in db.execute(sql, [spec_name, living])]


AT_ONCE = 500
"""Values that one statement is given."""


def sketches(db: Database, parts: frozenset[str], files: frozenset[str]) -> Iterator[Sketch]:
    """The items that hold now and are not lost, of these requirements (`SPEC/REQ`) or with one of these files. Where an
    item stands is asked only of those."""
    rows = db.execute("SELECT id, spec_name || '/' || requirement_id, files FROM memory_items")
    near = [
        Sketch(number, address, frozenset(own))
        for number, address, text in rows
        if not files.isdisjoint(own := json.loads(text)) or address in parts
    ]
    for at in range(0, len(near), AT_ONCE):
        some = near[at : at + AT_ONCE]
        sql = (
            "SELECT m.item FROM memory_moves AS m WHERE m.id IN (SELECT max(id) FROM memory_moves "
            f"WHERE item IN ({', '.join('?' * len(some))}) GROUP BY item) "
            "AND m.status = 'fixed' AND m.watch <> 'never' AND m.step <> 'lost'"
        )
        holding = {number for (number,) in db.execute(sql, [each.id for each in some])}
        yield from (each for each in some if each.id in holding)


def items_named(db: Database, ids: Sequence[str]) -> list[Remembered]:
    """The items with these ids, in their order."""
    marks = ", ".join("?" * len(ids))
    rows = db.execute(f"{ITEMS} WHERE i.id IN ({marks})", list(ids)).fetchall()
    known = {row[0]: Remembered(item_of(row[:-1]), life_in(row[-1])) for row in rows}
    return [known[number] for number in ids if number in known]


def roots_of(db: Database) -> dict[str, str]:
    """By cause: the item that others of it join."""
    sql = "SELECT cause, id FROM memory_items WHERE cause <> '' AND joins IS NULL ORDER BY at DESC, id DESC"
    return dict(db.execute(sql).fetchall())


def session_before(db: Database, spec_name: str, session: int | None) -> int:
    """The number of the verifier's session on a spec before this one; 0 where there was none."""
    sql = (
        "SELECT coalesce(max(id), 0) FROM sessions WHERE spec_name = ?1 AND archetype = 'verifier' "
        "AND (?2 IS NULL OR id < ?2)"
    )
    (last,) = db.execute(sql, [spec_name, session]).fetchone()
    return int(last)


def has_items(db: Database, spec_name: str | None = None) -> bool:
    """Whether anything is remembered of a spec, or at all."""
    sql = "SELECT 1 FROM memory_items WHERE ?1 IS NULL OR spec_name = ?1 LIMIT 1"
    return db.execute(sql, [spec_name]).fetchone() is not None


def signed_moves(db: Database) -> list[KeptMove]:
    """The moves that rest on a person's word."""
    return _moves(db, "step IN ('accepted', 'forgotten')", [])


def by_prefix(db: Database, prefix: str) -> list[Remembered]:
    """The items whose id begins so."""
    return [each for each in items(db) if each.item.id.startswith(prefix)]


def moves_of(db: Database, item: str) -> list[KeptMove]:
    """What happened to an item, oldest first."""
    return _moves(db, "item = ?", [item])


def _moves(db: Database, where: str, values: Sequence[object]) -> list[KeptMove]:
    sql = (
        "SELECT id, item, step, at, file, is_touched, commit_id, note, envelope, session_id, decision_id, status, "
        f"watch FROM memory_moves WHERE {where} ORDER BY id"
    )
    return [kept_move(*row) for row in db.execute(sql, values)]


def kept_move(
    number: int, item: str, step: str, at: str, file: str, is_touched: int, commit: str, note: str, envelope: str,
    session: int | None, decision: int | None, status: str, watch: str,
) -> KeptMove:  # fmt: skip
    move = Move(Step(step), at, file, bool(is_touched), commit, note, envelope)
    return KeptMove(number, item, move, Origin(session, decision), status, watch)


def item_of(row: Sequence[str]) -> Item:
    number, at, spec, part, version, line, file, classes, name, test, birth, files, counterexample, *rest = row
    first_error, cause, joins, note, envelope = rest
    return Item(
        number, spec, part, version, RunTest(line, file, tuple(json.loads(classes)), name, test), Birth(birth), at,
        tuple(json.loads(files)), counterexample, first_error, cause, joins or "", note, envelope,
    )  # fmt: skip


def life_in(text: str) -> Life:
    fields = json.loads(text)
    return Life(**{**fields, "status": Status(fields["status"]), "watch": Watch(fields["watch"])})


def remember(db: Database, item: Item, origin: Origin = NOBODY, commit: str = "") -> Remembered:
    """Keep a new item and its birth, in the open transaction. Raises sqlite3.IntegrityError for one that is there."""
    test = item.test
    row = (
        item.id, item.first_seen, item.spec, item.requirement, item.version, test.line, test.file,
        to_json(test.classes), test.name, test.id, item.born.value, to_json(item.files), item.counterexample,
        item.first_error, item.cause, item.joins or None, item.note, item.envelope,
    )  # fmt: skip
    insert_many(db, "memory_items", ITEM_COLUMNS, [row])
    move = Move(Step.BORN, item.first_seen, commit=commit, note=item.born.in_words)
    life = born(item, commit)
    _write(db, [(item, move, life)], origin)
    return Remembered(item, life)


def move(db: Database, moves: Iterable[tuple[Remembered, Move]], origin: Origin = NOBODY) -> list[Remembered]:
    """Keep what happened to items, in the open transaction. What is over does not move, and is left out. Gives those
    that moved, where they stand now."""
    steps = [(known.item, step, moved(known.life, step)) for known, step in moves if not known.life.is_over]
    _write(db, steps, origin)
    return [Remembered(item, life) for item, _, life in steps]


def _write(db: Database, steps: Sequence[tuple[Item, Move, Life]], origin: Origin) -> None:
    if not steps:
        return
    (last,) = db.execute("SELECT coalesce(max(id), 0) FROM memory_moves").fetchone()
    rows = [
        (
            number, item.id, step.at, step.step.value, step.file, int(step.is_touched), step.commit, step.note,
            step.envelope, origin.session, origin.decision, life.status.value, life.watch.value, to_json(life),
        )
        for number, (item, step, life) in enumerate(steps, last + 1)
    ]  # fmt: skip
    insert_many(db, "memory_moves", MOVE_COLUMNS, rows)
    for number, (item, step, life) in enumerate(steps, last + 1):
        ledger.append(db, [record_of(number, item, step, life, origin)], item.spec)


def record_of(number: int, item: Item, step: Move, life: Life, origin: Origin) -> Evidence:
    """A move as a record of the ledger; a birth has the whole item."""
    body: dict[str, Json] = {
        "item": item.id, "note": step.note, "status": life.status.value, "watch": life.watch.value,
        "is_touched": step.is_touched, "envelope": step.envelope,
        **({"born": to_object(item)} if step.step is Step.BORN else {}),
    }  # fmt: skip
    is_signed = step.step in SIGNED or (step.step is Step.BORN and item.born is Birth.PERSON)
    return Evidence(
        Kind.MEMORY, f"memory:{number}", step.at, Outcome(step.step.value, counterexample=item.counterexample),
        SpecRef("requirement", item.address, item.version),
        RunContext(item.test.line, session=origin.session, decision=origin.decision),
        Artifact(commit=step.commit),
        reviewer_decision=ReviewerDecision.ACCEPTED if is_signed else ReviewerDecision.PENDING,
        body=body,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Standing:
    """How a requirement of the plan is known now. `verdict`: empty where there is none; `commit`: what it is about;
    `is_current`: it is about the present text."""

    address: str
    verdict: str
    how: str
    commit: str
    at: str
    is_current: bool

    @property
    def in_words(self) -> str:
        if not self.verdict:
            return "no verdict yet"
        about = "" if self.is_current else ", about an older text"
        return f"{self.verdict}{f', {self.how}' if self.how else ''}, read on {self.commit[:12]} at {self.at}{about}"


def standings(db: Database) -> list[Standing]:
    """Every requirement of the plan, in its order."""
    sql = (
        "SELECT p.spec_name || '/' || p.id, coalesce(v.verdict, ''), coalesce(v.how, ''), coalesce(v.commit_id, ''), "
        "coalesce(v.at, ''), v.text_version IS p.version FROM plan_parts AS p LEFT JOIN verification_results AS v "
        "ON v.spec_name = p.spec_name AND v.requirement_id = p.id AND v.superseded_by IS NULL "
        "ORDER BY p.spec_name, p.position"
    )
    rows = db.execute(sql)
    return [Standing(part, word, how, on, at, bool(is_current)) for part, word, how, on, at, is_current in rows]


def readings_now(db: Database, spec_name: str) -> dict[str, tuple[str, Reading]]:
    """By requirement: the version, and the current verdict on it with the tests that it rests on, as its record has
    them."""
    sql = (
        "SELECT v.requirement_id, v.text_version, v.verdict, v.how, v.evidence, v.command, v.first_error, l.content "
        "FROM verification_results AS v LEFT JOIN ledger AS l ON l.identity = 'verdict:' || coalesce(v.restores, v.id) "
        "WHERE v.spec_name = ? AND v.superseded_by IS NULL"
    )
    return {part: (version, reading_of(spec_name, *rest)) for part, version, *rest in db.execute(sql, [spec_name])}


def reading_of(
    spec_name: str, word: str, how: str | None, evidence: str, command: str | None, first_error: str | None,
    content: str | None,
) -> Reading:  # fmt: skip
    body: Mapping[str, object] = json.loads(content)["body"] if content else {}
    signal = Signal(command, first_error) if command and first_error else None
    cause = fingerprint_of(signal, spec_name) if signal else ""
    tests, trials = read_tests(body.get("ran")), read_trials(body.get("trials"))
    scope = scope_of(body.get("rests_on"))
    return Reading(Word(word), tests, trials, how or "", evidence, cause, first_error or "", scope)
