"""What delivering to a tracker must not forget: how often it was written to, who delivers now, what was seen there.

Times are seconds since 1970. A clock that jumps back makes nobody wait longer than the window of the limit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass

if TYPE_CHECKING:
    from sqlite_utils import Database

MINUTE, HOUR = 60.0, 3600.0

LAST_KIND = ("", "kind")
"""Under which place and name the kind of tracker is remembered that was delivered to last."""

HOME, MOVED = "home ", "moved "
"""What the names begin with under which is kept where an issue is filed, and from where it was moved."""


@dataclass(frozen=True, slots=True)
class Rates:
    """How often a tracker may be written to: seconds between two writes, writes in any minute and in any hour."""

    seconds_between: float = 1.2
    per_minute: int = 30
    per_hour: int = 400


def take_write(db: Database, place: str, now: float, rates: Rates) -> float:
    """Note a write and give 0.0, or give the seconds to wait and note nothing. In the open transaction."""
    db.execute("UPDATE tracker_writes SET at = ? WHERE place = ? AND at > ?", [now, place, now])
    db.execute("DELETE FROM tracker_writes WHERE place = ? AND at <= ?", [place, now - HOUR])
    wait = max(
        _wait(db, place, now, rates.seconds_between, 1),
        _wait(db, place, now, MINUTE, rates.per_minute),
        _wait(db, place, now, HOUR, rates.per_hour),
    )
    if wait <= 0.0:
        db.execute("INSERT INTO tracker_writes (place, at) VALUES (?, ?)", [place, now])
        return 0.0
    return wait


def _wait(db: Database, place: str, now: float, window: float, most: int) -> float:
    """Seconds until fewer than `most` writes lie in the window that ends then."""
    sql = "SELECT at FROM tracker_writes WHERE place = ? ORDER BY at DESC LIMIT 1 OFFSET ?"
    row = db.execute(sql, [place, most - 1]).fetchone()
    return 0.0 if row is None else max(0.0, float(row[0]) + window - now)


def take_lease(db: Database, place: str, holder: str, now: float, seconds: float) -> bool:
    """Take the right to deliver to a place, or renew it; False where somebody else has it. In the open transaction.

    A lease that ends further in the future than any lease lasts was taken before the clock jumped back: it is over.
    """
    db.execute(
        "INSERT INTO tracker_leases (place, holder, until) VALUES (:place, :holder, :until) ON CONFLICT (place) "
        "DO UPDATE SET holder = :holder, until = :until "
        "WHERE holder = :holder OR until <= :now OR until > :now + 2 * :seconds",
        {"place": place, "holder": holder, "until": now + seconds, "now": now, "seconds": seconds},
    )
    row = db.execute("SELECT holder FROM tracker_leases WHERE place = ?", [place]).fetchone()
    return row is not None and row[0] == holder


def renew_lease(db: Database, place: str, holder: str, now: float, seconds: float) -> bool:
    """Renew a lease that nobody else has had since it was taken; False where somebody has. In the open transaction."""
    sql = "UPDATE tracker_leases SET until = ? WHERE place = ? AND holder = ?"
    return bool(db.execute(sql, [now + seconds, place, holder]).rowcount)


def holder_of(db: Database, place: str) -> str:
    """Who has the lease now, or had it last; empty where it was given back."""
    row = db.execute("SELECT holder FROM tracker_leases WHERE place = ?", [place]).fetchone()
    return str(row[0]) if row else ""


def give_lease_back(db: Database, place: str, holder: str) -> None:
    db.execute("DELETE FROM tracker_leases WHERE place = ? AND holder = ?", [place, holder])


def recall(db: Database, place: str, name: str) -> str:
    """What was remembered of a place; empty where nothing was."""
    row = db.execute("SELECT value FROM tracker_memory WHERE place = ? AND name = ?", [place, name]).fetchone()
    return str(row[0]) if row else ""


def all_remembered(db: Database, place: str, start: str) -> list[tuple[str, str]]:
    """Names that begin so, without that beginning, and what was remembered under them."""
    sql = "SELECT substr(name, ?), value FROM tracker_memory WHERE place = ? AND substr(name, 1, ?) = ? ORDER BY name"
    return [(str(name), str(value)) for name, value in db.execute(sql, [len(start) + 1, place, len(start), start])]


def forget(db: Database, place: str, name: str) -> None:
    db.execute("DELETE FROM tracker_memory WHERE place = ? AND name = ?", [place, name])


def home_of_issue(db: Database, fingerprint: str, url: str) -> str:
    """The tracker that an issue is filed in, as its kind and its place; by its address where that was not noted yet.

    Empty where it can't be told.
    """
    noted = recall(db, "", f"{HOME}{fingerprint}")
    if noted or not url:
        return noted
    scheme, _, rest = url.partition("://")
    host, _, path = rest.partition("/")
    owner, name, *kind = (*path.split("/"), "", "")[:4]
    is_of_github = kind[:1] == ["issues"] and scheme in ("http", "https")
    return "local" if scheme == "file" else f"github {host}/{owner}/{name}".lower() if is_of_github else ""


def is_remembered(db: Database, place: str, start: str, value: str) -> bool:
    """Whether this value was remembered of a place under any name that begins so."""
    sql = "SELECT 1 FROM tracker_memory WHERE place = ? AND substr(name, 1, ?) = ? AND value = ? LIMIT 1"
    return db.execute(sql, [place, len(start), start, value]).fetchone() is not None


def remember(db: Database, place: str, name: str, value: str) -> None:
    db.execute(
        "INSERT INTO tracker_memory (place, name, value) VALUES (?, ?, ?) "
        "ON CONFLICT (place, name) DO UPDATE SET value = excluded.value",
        [place, name, value],
    )
