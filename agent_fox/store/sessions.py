"""Runs, sessions and their launches in the state file; what they cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_fox.core.ids import Archetype, Mode, Ticket
from agent_fox.core.late import late_module
from agent_fox.core.values import dataclass
from agent_fox.store.ledger import evidence, ledger
from agent_fox.store.state import within_transaction
from agent_fox.store.values import TOLD_USD, change, insert

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.core.ledger.evidence import Json
    from agent_fox.store.ledger import journal
else:
    journal = late_module("agent_fox.store.ledger.journal")


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One session, by its ticket."""

    id: int
    run_id: int
    node_id: str
    spec_name: str
    archetype: Archetype
    mode: Mode | None
    ticket: Ticket
    status: str
    end_kind: str
    reason: str
    rung: int
    pinned: str | None
    tree: str | None
    base: str | None
    landed: str | None
    cost_usd: float | None
    assumed_cost_usd: float
    summary: str
    log: str
    started_at: str
    ended_at: str | None
    seconds: float | None
    backend: str
    agents: str
    """JSON: one object for each agent, with its backend and model, and what its runner told."""


SESSION_COLUMNS = (
    "id, run_id, node_id, spec_name, archetype, mode, node_uid, attempt, reading, status, end_kind, reason, rung, "
    f"pinned_commit, tree, base_commit, landed_commit, {TOLD_USD}, assumed_cost_usd, summary, log, started_at, "
    "ended_at, seconds, backend, agents"
)


LONGEST_STATED = 20_000


@dataclass(frozen=True, slots=True)
class LaunchRow:
    """One process for a ticket; `pid` and `pid_start` name the process so that a recycled pid is not taken for it.

    `runner` names who was asked to run it; empty: this machine.
    """

    id: str
    session_id: int
    number: int
    status: str
    pinned: str
    folder: str
    pid: int | None
    pid_start: str | None
    runner: str = ""


UNDER_WAY = "status = 'running' AND ended_at IS NULL"
"""Of a launch. One that has ended, and is called running, is a candidate that waits to be compared with others."""

LAUNCH_COLUMNS = "id, session_id, number, status, pinned_commit, folder, pid, pid_start, runner"


def start_run(db: Database, at: str, head: str) -> int:
    """Open a run; gives its number."""
    number = insert(db, "runs", {"started_at": at, "head_commit": head, "ledger_begin": ledger.tip_of(db).head})
    evidence.record_run(db, number, at, "begun", {"head_commit": head})
    return number


def open_run(db: Database) -> int | None:
    """The run that can be continued: the last one, if it was paused, interrupted or killed."""
    row = db.execute("SELECT id, status FROM runs ORDER BY id DESC LIMIT 1").fetchone()
    return int(row[0]) if row and row[1] != "ended" else None


def resume_run(db: Database, run_id: int, required_state: str, at: str) -> None:
    """A run begins or goes on; from now on its requirements must come to this gate."""
    sql = "UPDATE runs SET status = 'running', ended_at = NULL, exit_code = NULL, required_state = ? WHERE id = ?"
    db.execute(sql, [required_state, run_id])
    end_waits(db, "run_id", run_id, at)


def end_run(db: Database, run_id: int, at: str, status: str, exit_code: int, reason: str, tip: str | None) -> None:
    """Note how a run ended. `status` is `ended`, or `paused` or `interrupted`, which can be continued."""
    end = {"status": status, "ended_at": at, "exit_code": exit_code, "reason": reason, "tip_commit": tip}
    change(db, "runs", run_id, end)
    (required,) = db.execute("SELECT required_state FROM runs WHERE id = ?", [run_id]).fetchone()
    body: dict[str, Json] = {
        "exit_code": exit_code, "reason": reason, "tip_commit": tip, "status": status, "required_state": required,
    }  # fmt: skip
    evidence.record_run(db, run_id, at, "ended", body)
    end_waits(db, "run_id", run_id, at)
    if status != "ended":
        begin_wait(db, run_id, None, status, reason, at, None)
    journal.flush(db)
    change(db, "runs", run_id, {"ledger_head": ledger.tip_of(db).head})


def begin_wait(
    db: Database, run_id: int, session_id: int | None, kind: str, reason: str, at: str, until: str | None
) -> None:
    """Nothing of a session is launched from now on, until a time; without a session, nothing of the whole run."""
    row = {"run_id": run_id, "session_id": session_id, "kind": kind, "reason": reason, "began_at": at, "until": until}
    insert(db, "waits", row)


def end_waits(db: Database, column: str, number: int, at: str) -> None:
    """End the open waits of a run (`run_id`) or a session (`session_id`). One whose process was killed ended no later
    than it was to."""
    sql = (
        f"UPDATE waits SET ended_at = max(began_at, min(?, coalesce(until, ?))) WHERE {column} = ? AND ended_at IS NULL"
    )
    db.execute(sql, [at, at, number])


def add_run_seconds(db: Database, run_id: int, seconds: float) -> None:
    db.execute("UPDATE runs SET seconds = seconds + ? WHERE id = ?", [seconds, run_id])


def run_seconds(db: Database, run_id: int) -> float:
    return float(db.execute("SELECT seconds FROM runs WHERE id = ?", [run_id]).fetchone()[0])


def stated(db: Database, spec_name: str) -> str:
    """What the coders of a spec said in their summaries, oldest first, the newest `LONGEST_STATED` characters of it."""
    sql = "SELECT summary FROM sessions WHERE spec_name = ? AND archetype = 'coder' AND summary <> '' ORDER BY id"
    return "\n".join(summary for (summary,) in db.execute(sql, [spec_name]).fetchall())[-LONGEST_STATED:]


def session_by_ticket(db: Database, ticket: Ticket) -> SessionRow | None:
    sql = f"SELECT {SESSION_COLUMNS} FROM sessions WHERE node_uid = ? AND attempt = ? AND reading = ?"
    row = db.execute(sql, [ticket.node_uid, ticket.attempt, ticket.reading]).fetchone()
    return session_of(row) if row else None


def session_by_id(db: Database, session_id: int) -> SessionRow:
    """Raises KeyError."""
    row = db.execute(f"SELECT {SESSION_COLUMNS} FROM sessions WHERE id = ?", [session_id]).fetchone()
    if row is None:
        raise KeyError(session_id)
    return session_of(row)


def was_too_long(db: Database, uid: str, before: int | None, attempt_base: int) -> bool:
    """Whether a session of the node before this one did not fit into its model's context, since the node's last reset.

    From then on its briefs are short.
    """
    sql = (
        "SELECT 1 FROM sessions WHERE node_uid = ? AND end_kind = 'context too long' AND attempt > ? "
        "AND (? IS NULL OR id < ?) LIMIT 1"
    )
    return db.execute(sql, [uid, attempt_base, before, before]).fetchone() is not None


class Worked(NamedTuple):
    """A coder's session that ended: by which agent, as the settings named it, and its dollars (None: not told)."""

    id: int
    uid: str
    agent: str
    end_kind: str
    cost_usd: float | None


def coder_work(db: Database) -> list[Worked]:
    """Of all coders, oldest first."""
    condition = "archetype = 'coder' AND ended_at IS NOT NULL"
    sql = f"SELECT id, node_uid, verifier, end_kind, {TOLD_USD} FROM sessions WHERE {condition} ORDER BY id"
    return [Worked(*row) for row in db.execute(sql).fetchall()]


def sessions_where(db: Database, condition: str, values: list[object]) -> list[SessionRow]:
    """Sessions by a condition of ours, oldest first."""
    rows = db.execute(f"SELECT {SESSION_COLUMNS} FROM sessions WHERE {condition} ORDER BY id", values)
    return [session_of(row) for row in rows]


def session_of(row: tuple[Any, ...]) -> SessionRow:
    number, run, name, spec, archetype, mode, uid, attempt, reading, *rest = row
    ticket = Ticket(uid, attempt, reading)
    return SessionRow(
        number, run, name, spec, Archetype(archetype), Mode(mode) if mode else None, ticket, *rest
    )  # fmt: skip


def set_session(db: Database, session_id: int, changes: Mapping[str, object]) -> None:
    """Change columns of a session that has not ended; the schema refuses the rest."""
    change(db, "sessions", session_id, changes)


def record_landing(db: Database, session_id: int, base: str, commit: str, at: str) -> None:
    """The commit that the branch is to be moved to for this session, and the tip that it was built on."""
    set_session(db, session_id, {"base_commit": base, "landed_commit": commit})
    evidence.record_session(db, session_id, at)


def set_landed(db: Database, session_id: int) -> None:
    """The branch has what the session recorded as landed; committed at once where no transaction is open."""
    with within_transaction(db):
        db.execute("UPDATE sessions SET is_landed = 1 WHERE id = ?", [session_id])


def start_launch(db: Database, row: Mapping[str, object]) -> None:
    """Note a launch; what its session waited for is over."""
    insert(db, "launches", row)
    end_waits(db, "session_id", int(str(row["session_id"])), str(row["started_at"]))


def launch_number(db: Database, session_id: int) -> int:
    sql = "SELECT coalesce(max(number), 0) + 1 FROM launches WHERE session_id = ?"
    return int(db.execute(sql, [session_id]).fetchone()[0])


def set_launch(db: Database, launch: str, changes: Mapping[str, object]) -> None:
    """Change columns of a launch that is under way; the schema refuses the rest."""
    change(db, "launches", launch, changes)


def open_launches(db: Database) -> list[LaunchRow]:
    """Launches that were under way when the orchestrator was last alive, oldest first."""
    rows = db.execute(f"SELECT {LAUNCH_COLUMNS} FROM launches WHERE {UNDER_WAY} ORDER BY started_at, id")
    return [LaunchRow(*row) for row in rows]


def held_launches(db: Database, session_id: int | None = None) -> list[LaunchRow]:
    """The candidates' launches that ended and of which none was chosen yet, oldest first; of one session, or all."""
    sql = (
        f"SELECT {LAUNCH_COLUMNS} FROM launches WHERE status = 'running' AND ended_at IS NOT NULL "
        "AND session_id = coalesce(?, session_id) ORDER BY started_at, number"
    )
    return [LaunchRow(*row) for row in db.execute(sql, [session_id])]


def launch_by_id(db: Database, launch: str) -> LaunchRow:
    """Raises KeyError."""
    row = db.execute(f"SELECT {LAUNCH_COLUMNS} FROM launches WHERE id = ?", [launch]).fetchone()
    if row is None:
        raise KeyError(launch)
    return LaunchRow(*row)


def launch_cost(db: Database, launch: str) -> float | None:
    """Dollars that a launch told so far."""
    row = db.execute("SELECT cost_usd FROM launches WHERE id = ?", [launch]).fetchone()
    return row[0] if row else None


def infrastructure_losses(db: Database, session_id: int, run_id: int) -> int:
    """How often this ticket was lost to infrastructure in this run."""
    sql = "SELECT count(*) FROM launches WHERE session_id = ? AND run_id = ? AND status = 'infrastructure'"
    return int(db.execute(sql, [session_id, run_id]).fetchone()[0])


# A launch costs what it said; one that ended without saying, or has not reported yet, counts as assumed. Launches
# that were lost with the orchestrator or to infrastructure count what they said, else nothing: they are repeated.
COST = (
    "CASE WHEN launches.cost_usd IS NOT NULL THEN launches.cost_usd "
    "WHEN launches.status IN ('ended', 'running', 'interrupted') THEN sessions.assumed_cost_usd ELSE 0 END"
)
SPENT = f"SELECT coalesce(sum({COST}), 0) FROM launches JOIN sessions ON sessions.id = launches.session_id"


def run_cost(db: Database, run_id: int) -> float:
    """Dollars of one run, unknown ones as assumed, launches under way included."""
    return float(db.execute(f"{SPENT} WHERE launches.run_id = ?", [run_id]).fetchone()[0])


def spec_cost(db: Database, run_id: int, spec_name: str) -> float:
    sql = f"{SPENT} WHERE launches.run_id = ? AND sessions.spec_name = ?"
    return float(db.execute(sql, [run_id, spec_name]).fetchone()[0])


def node_cost(db: Database, run_id: int, uid: str) -> float:
    sql = f"{SPENT} WHERE launches.run_id = ? AND sessions.node_uid = ?"
    return float(db.execute(sql, [run_id, uid]).fetchone()[0])


def session_counts(db: Database, run_id: int) -> int:
    """Sessions of a run, whatever their end."""
    return int(db.execute("SELECT count(*) FROM sessions WHERE run_id = ?", [run_id]).fetchone()[0])


def count_sessions(db: Database, run_id: int, column: str, value: str) -> int:
    """Sessions of a run of one spec (`spec_name`) or one node (`node_uid`)."""
    sql = f"SELECT count(*) FROM sessions WHERE run_id = ? AND {column} = ?"
    return int(db.execute(sql, [run_id, value]).fetchone()[0])


def recorded_tip(db: Database) -> str | None:
    """The commit that the integration branch was last known at; None before the first run."""
    row = db.execute("SELECT tip_commit FROM runs WHERE tip_commit IS NOT NULL ORDER BY id DESC LIMIT 1").fetchone()
    return str(row[0]) if row else None


def note_tip(db: Database, commit: str) -> None:
    """Write down where the integration branch stands now; committed at once where no transaction is open."""
    with within_transaction(db):
        db.execute("UPDATE runs SET tip_commit = ? WHERE id = (SELECT max(id) FROM runs)", [commit])


def is_under_way(db: Database) -> bool:
    """Whether a launch has not ended, or work is recorded that the branch does not have yet."""
    launches = f"SELECT 1 FROM launches WHERE {UNDER_WAY}"
    return bool(db.execute(f"SELECT EXISTS ({launches})").fetchone()[0] or open_landings(db))


def open_landings(db: Database) -> list[tuple[int, str, str]]:
    """Session, commit and base of what is recorded as landed and was not moved to yet."""
    sql = "SELECT id, landed_commit, base_commit FROM sessions WHERE landed_commit IS NOT NULL AND is_landed = 0"
    return db.execute(f"{sql} ORDER BY id").fetchall()


def head_at_start(db: Database, run_id: int) -> str:
    """The commit of the person's checkout when a run began; empty where that is not known."""
    row = db.execute("SELECT head_commit FROM runs WHERE id = ?", [run_id]).fetchone()
    return str(row[0]) if row and row[0] else ""


def ledger_at_start(db: Database, run_id: int | None) -> str:
    """The head of the ledger when a run was opened; empty where there is none of that number."""
    row = db.execute("SELECT ledger_begin FROM runs WHERE id = ?", [run_id]).fetchone()
    return str(row[0]) if row else ""


def last_judging_rung(db: Database, spec_name: str) -> int:
    """The rung of the last session that ended with a verdict on a spec."""
    sql = (
        "SELECT s.rung FROM verification_results AS v JOIN sessions AS s ON s.id = v.session_id "
        "WHERE v.spec_name = ? AND v.restores IS NULL ORDER BY v.id DESC LIMIT 1"
    )
    row = db.execute(sql, [spec_name]).fetchone()
    return int(row[0]) if row else 0


def last_judging_runner(db: Database, spec_name: str) -> str:
    """The runner of the last session that ended with a verdict on a spec; empty: this machine."""
    sql = (
        "SELECT l.runner FROM verification_results AS v JOIN launches AS l ON l.session_id = v.session_id "
        "WHERE v.spec_name = ? AND v.restores IS NULL ORDER BY v.id DESC, l.id DESC LIMIT 1"
    )
    row = db.execute(sql, [spec_name]).fetchone()
    return str(row[0]) if row else ""


def judge_of(db: Database, session_id: int) -> tuple[str, str]:
    """The verifier and the environment of a session."""
    verifier, environment = db.execute(
        "SELECT verifier, environment FROM sessions WHERE id = ?", [session_id]
    ).fetchone()
    return verifier, environment


@dataclass(frozen=True, slots=True)
class Reading:
    """What the last report about a spec was about."""

    commit: str
    tree: str


def last_reading(db: Database, uid: str) -> Reading | None:
    """None where nothing was read yet."""
    sql = (
        "SELECT pinned_commit, tree FROM sessions WHERE node_uid = ? AND status = 'completed' ORDER BY id DESC LIMIT 1"
    )
    row = db.execute(sql, [uid]).fetchone()
    return Reading(row[0], row[1]) if row and row[0] and row[1] else None


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the verdict that holds came from: its run, the rung of its agent, environment and verifier."""

    run: int | None
    rung: int
    environment: str
    verifier: str


def origin_of(db: Database, uid: str) -> Origin:
    """The last session whose report counted; what a person waived afterwards rests on it too."""
    sql = (
        "SELECT d.run_id, s.rung, s.environment, s.verifier FROM decisions AS d LEFT JOIN sessions AS s ON s.id = "
        "(SELECT max(id) FROM sessions WHERE node_uid = d.node_uid AND status = 'completed') "
        "WHERE d.node_uid = ? AND d.kind = 'Accept' ORDER BY d.id DESC LIMIT 1"
    )
    run, rung, environment, verifier = db.execute(sql, [uid]).fetchone() or (None, 0, "", "")
    return Origin(run, rung or 0, environment or "", verifier or "")


def was_read(db: Database, spec_name: str) -> bool:
    """Whether any session has said anything about a spec."""
    sql = "SELECT 1 FROM verification_results WHERE spec_name = ? AND session_id IS NOT NULL LIMIT 1"
    return db.execute(sql, [spec_name]).fetchone() is not None


def served_nodes(db: Database) -> list[str]:
    """The node of the last session of each spec, by its uid; the one served longest ago first."""
    sql = "SELECT node_uid FROM sessions WHERE id IN (SELECT max(id) FROM sessions GROUP BY spec_name) ORDER BY id"
    return [str(uid) for (uid,) in db.execute(sql)]


def coder_logs(db: Database, spec_name: str) -> list[tuple[str, int, int, str]]:
    """Node, attempt, reading and log of the last session of each coder of a spec that ended well."""
    sql = (
        "SELECT node_id, attempt, reading, log FROM sessions WHERE id IN (SELECT max(id) FROM sessions WHERE "
        "spec_name = ? AND archetype = 'coder' AND status = 'completed' GROUP BY node_uid) ORDER BY id"
    )
    return db.execute(sql, [spec_name]).fetchall()


def cost_of_spec(db: Database, spec_name: str) -> tuple[int, float, int]:
    """Sessions of a spec in all runs, dollars that they told, and how many told none."""
    sql = (
        f"SELECT count(*), coalesce(sum({TOLD_USD}), 0), count(*) - count({TOLD_USD}) FROM sessions WHERE spec_name = ?"
    )
    count, cost, untold = db.execute(sql, [spec_name]).fetchone()
    return count, cost, untold


def tree_of_session(db: Database, session_id: int | None) -> str:
    """The tree that a session was about; empty where nobody knows."""
    row = db.execute("SELECT tree FROM sessions WHERE id = ?", [session_id]).fetchone()
    return str(row[0] or "") if row else ""


def last_read_commit(db: Database, spec_name: str) -> str:
    """The commit of the last verifier's session on a spec that ended well; empty where there is none."""
    sql = (
        "SELECT pinned_commit FROM sessions WHERE spec_name = ? AND archetype = 'verifier' AND status = 'completed' "
        "ORDER BY id DESC LIMIT 1"
    )
    row = db.execute(sql, [spec_name]).fetchone()
    return str(row[0] or "") if row else ""


def landed_since(db: Database, at: str) -> list[SessionRow]:
    """The coders' sessions, of whatever spec, whose work landed after a time; the oldest first."""
    return sessions_where(db, "archetype = 'coder' AND landed_commit IS NOT NULL AND ended_at > ?", [at])
