"""The outbox and the issues it is about: effects on the outside world, written with the decision that wants them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agent_fox.core.ids import digest_of
from agent_fox.core.values import dataclass
from agent_fox.store.values import change, insert, storable, to_json

if TYPE_CHECKING:
    from sqlite_utils import Database


@dataclass(frozen=True, slots=True)
class OutboxRow:
    """One effect to be carried out. `payload` is what the tracker is handed."""

    id: str
    kind: str
    fingerprint: str
    spec_name: str
    payload: Mapping[str, object]
    state: str
    tries: int
    note: str
    witness: str | None
    number: str | None
    sent_at: str = ""
    readings: int = 0
    is_in_doubt: bool = False
    remote: str = ""
    episode: int = 1
    parent: str = ""
    parent_number: str | None = None
    url: str = ""


def effect_id(decision_id: int, kind: str, fingerprint: str, at: str) -> str:
    """The id that the tracker knows an effect by: a decision wants the same effect only once.

    `at` is when it was decided: a state file that was restored from a copy counts its decisions anew.
    """
    return digest_of(str(decision_id), kind, fingerprint, at, digits=24)


def put(
    db: Database,
    decision_id: int,
    kind: str,
    fingerprint: str,
    spec_name: str,
    payload: Mapping[str, object],
    at: str,
) -> str:
    number = effect_id(decision_id, kind, fingerprint, at)
    row = {"id": number, "decision_id": decision_id, "kind": kind, "fingerprint": fingerprint}
    more = {"spec_name": spec_name, "payload": to_json(payload), "created_at": at, "updated_at": at}
    insert(db, "outbox", {**row, **more})
    return number


def put_current(
    db: Database, kind: str, fingerprint: str, payload: Mapping[str, object], at: str, spec_name: str = ""
) -> str | None:
    """Put what is to stand in the outside world now, under the newest decision that has none of it yet.

    None where the last one says the same and was not moot, or where there is no such decision.
    """
    last = db.execute(
        "SELECT payload, state FROM outbox WHERE fingerprint = ? ORDER BY position DESC LIMIT 1", [fingerprint]
    ).fetchone()
    if last and last[1] != "moot" and {**json.loads(last[0]), "at": at} == {**payload, "at": at}:
        return None
    sql = (
        "SELECT id FROM decisions WHERE NOT EXISTS (SELECT 1 FROM outbox WHERE decision_id = decisions.id "
        "AND kind = ? AND fingerprint = ?) ORDER BY id DESC LIMIT 1"
    )
    row = db.execute(sql, [kind, fingerprint]).fetchone()
    return None if row is None else put(db, int(row[0]), kind, fingerprint, spec_name, payload, at)


SELECT = (
    "SELECT outbox.id, outbox.kind, outbox.fingerprint, outbox.spec_name, outbox.payload, outbox.state, outbox.tries, "
    "outbox.note, outbox.witness, issues.number, coalesce(outbox.sent_at, ''), outbox.readings, outbox.is_in_doubt, "
    "coalesce(issues.remote, ''), coalesce(issues.episode, 1), coalesce(issues.parent, ''), parents.number, "
    "coalesce(issues.url, '') "
    "FROM outbox LEFT JOIN issues USING (fingerprint) "
    "LEFT JOIN issues AS parents ON parents.fingerprint = issues.parent"
)


def undelivered(db: Database, at: str) -> list[OutboxRow]:
    """What is to be sent at the time `at`, in the order in which it was decided."""
    sql = (
        f"{SELECT} WHERE outbox.state IN ('pending', 'inflight', 'unknown') "
        "AND coalesce(not_before, '') <= ? ORDER BY decision_id, position"
    )
    return [_row(row) for row in db.execute(sql, [at])]


def due(db: Database, at: str) -> list[OutboxRow]:
    """What may be sent at the time `at`: of each issue the oldest effect that is not settled, unless it must wait.

    One that is held holds back what follows about the same issue; a part waits for the issue that it is a part of, as
    long as anything about that is to be sent.
    """
    sql = (
        f"{SELECT} WHERE outbox.state IN ('pending', 'inflight', 'unknown') AND coalesce(not_before, '') <= ? "
        "AND NOT EXISTS (SELECT 1 FROM outbox AS earlier WHERE earlier.fingerprint = outbox.fingerprint "
        "AND earlier.position < outbox.position AND earlier.state NOT IN ('done', 'moot')) "
        "AND (coalesce(issues.parent, '') = '' OR parents.number IS NOT NULL OR NOT EXISTS "
        "(SELECT 1 FROM outbox AS whole WHERE whole.fingerprint = issues.parent "
        "AND whole.state NOT IN ('done', 'moot'))) ORDER BY decision_id, position"
    )
    return [_row(row) for row in db.execute(sql, [at])]


def last_payload(db: Database, fingerprint: str, slot: str) -> dict[str, object]:
    """What was last told in a comment of this slot; empty where nothing was."""
    sql = (
        "SELECT payload FROM outbox WHERE fingerprint = ? AND json_extract(payload, '$.slot') = ? "
        "ORDER BY position DESC LIMIT 1"
    )
    row = db.execute(sql, [fingerprint, slot]).fetchone()
    payload: dict[str, object] = json.loads(row[0]) if row else {}
    return payload


def statuses_of(db: Database, effects: Sequence[str]) -> list[dict[str, object]]:
    """What the top of each issue says that these effects tell of as failing."""
    sql = (
        f"SELECT json_extract(payload, '$.status') FROM outbox WHERE id IN ({', '.join('?' * len(effects))}) "
        "AND json_extract(payload, '$.says') = 'failing' AND json_extract(payload, '$.status') IS NOT NULL "
        "ORDER BY position"
    )
    return [json.loads(status) for (status,) in db.execute(sql, [*effects])]


def next_time(db: Database) -> str | None:
    """When the first effect that waits for a time may be sent; None where none does."""
    sql = "SELECT min(not_before) FROM outbox WHERE state IN ('pending', 'inflight', 'unknown')"
    first: str | None = db.execute(sql).fetchone()[0]
    return first


def followers(db: Database, row: OutboxRow) -> list[OutboxRow]:
    """What was decided later about the same issue and is not settled yet, oldest first."""
    sql = (
        f"{SELECT} WHERE outbox.fingerprint = ? AND outbox.state NOT IN ('done', 'moot') "
        "AND outbox.position > (SELECT position FROM outbox WHERE id = ?) ORDER BY outbox.position"
    )
    return [_row(follower) for follower in db.execute(sql, [row.fingerprint, row.id])]


def held(db: Database) -> list[OutboxRow]:
    """What waits for a person: nothing is dropped."""
    return [_row(row) for row in db.execute(f"{SELECT} WHERE outbox.state = 'held' ORDER BY position")]


def waiting(db: Database) -> int:
    """How many effects have not been delivered yet, those that wait for a person too."""
    return int(db.execute("SELECT count(*) FROM outbox WHERE state NOT IN ('done', 'moot')").fetchone()[0])


def _row(row: tuple[Any, ...]) -> OutboxRow:
    number, kind, fingerprint, spec_name, payload, *rest = row
    state, tries, note, witness, issue, sent_at, readings, is_in_doubt, *issues = rest
    return OutboxRow(
        number, kind, fingerprint, spec_name, json.loads(payload), state, tries, note, witness, issue, sent_at,
        readings, bool(is_in_doubt), *issues,
    )  # fmt: skip


def set_outbox(
    db: Database, number: str, state: str, at: str, note: str = "", not_before: str | None = None, *,
    is_in_doubt: bool = False, readings: int = 0,
) -> None:  # fmt: skip
    """Note what came of sending it. `not_before` (ISO 8601, UTC): when to try again at the earliest. `readings`: how
    many should have shown it and did not, where it is in doubt."""
    about = {"is_in_doubt": int(is_in_doubt), "readings": readings}
    change(db, "outbox", number, {"state": state, "note": note, "updated_at": at, "not_before": not_before, **about})


def send_outbox(db: Database, number: str, witness: str, at: str) -> bool:
    """Note that it is being sent, so that a crash leaves it in doubt; False where it is settled meanwhile.

    While an earlier try is in doubt, its witness and its time stay: that try may be out already.
    """
    changed = db.execute(
        "UPDATE outbox SET state = 'inflight', tries = tries + 1, updated_at = :at, "
        "witness = CASE WHEN is_in_doubt = 1 THEN coalesce(witness, :witness) ELSE :witness END, "
        "sent_at = CASE WHEN is_in_doubt = 1 THEN coalesce(sent_at, :at) ELSE :at END, is_in_doubt = 1 "
        "WHERE id = :id AND state NOT IN ('done', 'moot')",
        {"at": at, "witness": witness, "id": number},
    )
    return changed.rowcount == 1


def is_settled(db: Database, number: str) -> bool:
    """Whether it was delivered, or is not needed any more."""
    sql = "SELECT 1 FROM outbox WHERE id = ? AND state IN ('done', 'moot')"
    return db.execute(sql, [number]).fetchone() is not None


def wake(db: Database, at: str) -> None:
    """Forget when to try again: a new run or a person asks for it now. What was held is tried again, too."""
    db.execute("UPDATE outbox SET not_before = NULL WHERE not_before IS NOT NULL AND state NOT IN ('done', 'moot')")
    release_held(db, at)


def release_held(db: Database, at: str) -> int:
    """A person has acted: what was held is tried again."""
    sql = "UPDATE outbox SET state = iif(is_in_doubt, 'unknown', 'pending'), updated_at = ? WHERE state = 'held'"
    changed = db.execute(sql, [at])
    return int(changed.rowcount)


def issue_state(db: Database, fingerprint: str) -> str | None:
    row = db.execute("SELECT state FROM issues WHERE fingerprint = ?", [fingerprint]).fetchone()
    return str(row[0]) if row else None


def open_issue(
    db: Database, fingerprint: str, title: str, cause: str, spec_name: str, members: Iterable[str], at: str
) -> None:
    """Note the issue as open, with what it is about. An empty member stands for the spec as a whole."""
    db.execute(
        "INSERT INTO issues (fingerprint, title, cause, state, updated_at) VALUES (?, ?, ?, 'open', ?) "
        "ON CONFLICT (fingerprint) DO UPDATE SET state = 'open', cause = excluded.cause, "
        "flaps = flaps + (state = 'closed' AND proofs > 0), proofs = 0, updated_at = excluded.updated_at",
        [fingerprint, storable(title), cause, at],
    )
    db.conn.executemany(
        "INSERT INTO issue_members (fingerprint, spec_name, requirement_id, is_open) VALUES (?, ?, ?, 1) "
        "ON CONFLICT (fingerprint, spec_name, requirement_id) DO UPDATE SET is_open = 1",
        [(fingerprint, spec_name, member) for member in members],
    )


def issues_of_spec(db: Database, spec_name: str) -> list[str]:
    """Fingerprints of open issues that a spec has an open part in."""
    sql = (
        "SELECT DISTINCT issues.fingerprint FROM issues JOIN issue_members USING (fingerprint) "
        "WHERE issues.state = 'open' AND issue_members.is_open = 1 AND spec_name = ? ORDER BY 1"
    )
    return [str(row[0]) for row in db.execute(sql, [spec_name])]


def settle_members(db: Database, fingerprint: str, spec_name: str) -> int:
    """The spec is proven: its part in the issue is done. Gives how many other parts are still open."""
    db.execute(
        "UPDATE issue_members SET is_open = 0 WHERE fingerprint = ? AND spec_name = ?",
        [fingerprint, spec_name],
    )
    sql = "SELECT count(*) FROM issue_members WHERE fingerprint = ? AND is_open = 1"
    return int(db.execute(sql, [fingerprint]).fetchone()[0])


def close_issue(db: Database, fingerprint: str, at: str) -> None:
    db.execute("UPDATE issues SET state = 'closed', updated_at = ? WHERE fingerprint = ?", [at, fingerprint])


def members_of(db: Database, fingerprint: str) -> list[tuple[str, str, bool]]:
    """What an issue is about: spec, requirement (empty: the spec as a whole), and whether that is still open."""
    sql = (
        "SELECT spec_name, requirement_id, is_open FROM issue_members WHERE fingerprint = ? "
        "ORDER BY spec_name, requirement_id"
    )
    return [(str(spec), str(part), bool(is_open)) for spec, part, is_open in db.execute(sql, [fingerprint])]


def open_members(db: Database, fingerprint: str) -> list[tuple[str, str]]:
    return [(spec, part) for spec, part, is_open in members_of(db, fingerprint) if is_open]


def title_of(db: Database, fingerprint: str) -> str:
    """The title that an issue was last given."""
    return str(db.execute("SELECT title FROM issues WHERE fingerprint = ?", [fingerprint]).fetchone()[0])


def retitle(db: Database, fingerprint: str, title: str) -> None:
    db.execute("UPDATE issues SET title = ? WHERE fingerprint = ?", [storable(title), fingerprint])


def can_be_told(db: Database, fingerprint: str) -> bool:
    """Whether an issue is open, and people there want to hear of it."""
    sql = (
        "SELECT 1 FROM issues WHERE fingerprint = ? AND state = 'open' "
        "AND remote NOT IN ('refused by a person', 'moved', 'deleted')"
    )
    return db.execute(sql, [fingerprint]).fetchone() is not None


def filed_in_run(db: Database, run_id: int) -> int:
    """How many issues were filed in a run, without their parts."""
    sql = (
        "SELECT count(DISTINCT fingerprint) FROM outbox JOIN issues USING (fingerprint) "
        "JOIN decisions ON decisions.id = decision_id WHERE outbox.kind = 'file' AND parent = '' AND run_id = ?"
    )
    return int(db.execute(sql, [run_id]).fetchone()[0])


def settle_member(db: Database, fingerprint: str, spec_name: str, requirement_id: str) -> None:
    db.execute(
        "UPDATE issue_members SET is_open = 0 WHERE fingerprint = ? AND spec_name = ? AND requirement_id = ?",
        [fingerprint, spec_name, requirement_id],
    )


def open_parts(db: Database, fingerprint: str, spec_name: str, parts: Iterable[str]) -> None:
    db.conn.executemany(
        "UPDATE issue_members SET is_open = 1 WHERE fingerprint = ? AND spec_name = ? AND requirement_id = ?",
        [(fingerprint, spec_name, part) for part in parts],
    )


def flaps_of(db: Database, fingerprint: str) -> int:
    """How often it failed again after it had been closed with proof."""
    return int(db.execute("SELECT flaps FROM issues WHERE fingerprint = ?", [fingerprint]).fetchone()[0])


def issues_about(db: Database, spec_name: str, requirement_id: str) -> list[str]:
    """Fingerprints of issues, open or closed, that this requirement was ever a part of, the latest first."""
    sql = (
        "SELECT fingerprint FROM issues JOIN issue_members USING (fingerprint) "
        "WHERE spec_name = ? AND requirement_id = ? AND parent = '' ORDER BY updated_at DESC, fingerprint"
    )
    return [str(row[0]) for row in db.execute(sql, [spec_name, requirement_id])]


def note_proof(db: Database, fingerprint: str) -> tuple[int, int]:
    """One more report proves all of it. Gives how many in a row by now, and how often it failed again after such."""
    db.execute("UPDATE issues SET proofs = proofs + 1 WHERE fingerprint = ?", [fingerprint])
    proofs, flaps = db.execute("SELECT proofs, flaps FROM issues WHERE fingerprint = ?", [fingerprint]).fetchone()
    return int(proofs), int(flaps)


def forget_proofs(db: Database, fingerprint: str) -> None:
    """It is closed for another reason than proof: failing again is no flapping."""
    db.execute("UPDATE issues SET proofs = 0 WHERE fingerprint = ?", [fingerprint])


def awaits_second_proof(db: Database, spec_name: str) -> bool:
    """Whether an open issue of the spec was proven once and, since it has flapped, is to be proven once more."""
    sql = (
        "SELECT 1 FROM issues JOIN issue_members USING (fingerprint) WHERE state = 'open' AND proofs > 0 AND flaps > 0 "
        "AND is_open = 1 AND spec_name = ? LIMIT 1"
    )
    return db.execute(sql, [spec_name]).fetchone() is not None


def set_parent(db: Database, fingerprint: str, parent: str) -> None:
    db.execute("UPDATE issues SET parent = ? WHERE fingerprint = ?", [parent, fingerprint])


def name_issue(db: Database, fingerprint: str, number: str, url: str, remote: str = "", at: str = "") -> None:
    """Note where an issue is. One with another number than before is a new episode; the earlier one is kept."""
    db.execute(
        "INSERT OR IGNORE INTO issue_episodes (fingerprint, episode, number, url, ended_at) "
        "SELECT fingerprint, episode, number, url, ? FROM issues WHERE fingerprint = ? AND number <> ?",
        [at, fingerprint, number],
    )
    db.execute(
        "UPDATE issues SET episode = episode + (coalesce(number, '') NOT IN ('', :number)), "
        "number = :number, url = :url WHERE fingerprint = :print",
        {"number": number, "url": url, "print": fingerprint},
    )
    if remote:
        note_remote(db, fingerprint, remote, at)


def note_remote(db: Database, fingerprint: str, remote: str, at: str) -> None:
    """Note how the tracker was left, or seen."""
    db.execute("UPDATE issues SET remote = ?, seen_at = ? WHERE fingerprint = ?", [remote, at, fingerprint])


def last_failing(db: Database, fingerprint: str) -> tuple[str, dict[str, object]] | None:
    """The spec and the newest text that says that a cause fails; None where there is none."""
    sql = (
        "SELECT spec_name, payload FROM outbox WHERE fingerprint = ? AND kind <> 'close' "
        "AND coalesce(json_extract(payload, '$.says'), 'failing') = 'failing' ORDER BY position DESC LIMIT 1"
    )
    row = db.execute(sql, [fingerprint]).fetchone()
    return (str(row[0]), json.loads(row[1])) if row else None


def room_to_file(db: Database, fingerprint: str, spec_name: str) -> tuple[int, str] | None:
    """A decision, of this spec if possible, under which the issue can be filed once more, and as what."""
    sql = (
        "SELECT decisions.id, kinds.column1 FROM decisions, (VALUES ('file'), ('reopen')) AS kinds "
        "WHERE NOT EXISTS (SELECT 1 FROM outbox WHERE decision_id = decisions.id AND kind = kinds.column1 "
        "AND fingerprint = ?) ORDER BY decisions.spec_name = ? DESC, decisions.id DESC, kinds.column1 LIMIT 1"
    )
    row = db.execute(sql, [fingerprint, spec_name]).fetchone()
    return (int(row[0]), str(row[1])) if row else None


def settle_waiting(db: Database, fingerprint: str, note: str, at: str) -> None:
    """What was to be said of an issue, and is said by its filing anew."""
    db.execute(
        "UPDATE outbox SET state = 'moot', note = ?, updated_at = ?, is_in_doubt = 0 "
        "WHERE fingerprint = ? AND state NOT IN ('done', 'moot')",
        [note, at, fingerprint],
    )


def leave_issue(db: Database, fingerprint: str, at: str) -> None:
    """The issue is to be filed elsewhere: the one that is there is an earlier episode."""
    db.execute(
        "INSERT OR IGNORE INTO issue_episodes (fingerprint, episode, number, url, ended_at) "
        "SELECT fingerprint, episode, number, url, ? FROM issues WHERE fingerprint = ?",
        [at, fingerprint],
    )
    db.execute(
        "UPDATE issues SET episode = episode + 1, number = NULL, url = '', remote = '', updated_at = ? "
        "WHERE fingerprint = ?",
        [at, fingerprint],
    )


def named_issues(db: Database) -> list[tuple[str, str, str]]:
    """Fingerprint, number and last known remote state of every issue that was filed, the oldest first."""
    sql = "SELECT fingerprint, number, remote FROM issues WHERE number <> '' ORDER BY CAST(number AS INTEGER)"
    return [(str(print_), str(number), str(remote)) for print_, number, remote in db.execute(sql)]


def known_numbers(db: Database) -> tuple[int, ...]:
    """Numbers of issues that should be there, as far as we know, the newest first."""
    sql = "SELECT CAST(number AS INTEGER) FROM issues WHERE number <> '' AND remote NOT IN ('deleted', 'moved')"
    return tuple(sorted((int(row[0]) for row in db.execute(sql)), reverse=True))


def was_put(db: Database, decision_id: int, kind: str, fingerprint: str) -> bool:
    """Whether a decision has an effect of this kind on an issue."""
    sql = "SELECT 1 FROM outbox WHERE decision_id = ? AND kind = ? AND fingerprint = ?"
    return db.execute(sql, [decision_id, kind, fingerprint]).fetchone() is not None
