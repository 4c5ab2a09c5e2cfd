"""What a launch is given of regression memory: what a verifier's pre-reading runs, and what a coder's brief names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core import memory as rules
from agent_fox.core.late import late_module
from agent_fox.engine.record.convergence import touched_by
from agent_fox.evidence.remembering import describe
from agent_fox.session.briefs.facts import StaysGreen
from agent_fox.store import sessions
from agent_fox.store.ledger import memory as stored
from agent_fox.system import git

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.core.memory import Limits, Remembered
    from agent_fox.evidence import memory as weighed
    from agent_fox.evidence.waivers import Grounds
    from agent_fox.store.sessions import SessionRow
    from agent_fox.verifier.judging import memory_order as orders
else:
    orders = late_module("agent_fox.verifier.judging.memory_order")
    weighed = late_module("agent_fox.evidence.memory")

MOST_LANDINGS = 20
"""Landings since an item was last read that are asked which files they changed."""


def order_for(
    db: Database, grounds: Grounds, spec_name: str, repo: Path, pinned: str, limits: Limits
) -> dict[str, object]:
    """What the judge `memory` is to do, without the order of the commands, which it shares with `checks`: items that
    nobody untrusted made or ended."""
    changed = changed_since(db, spec_name, repo, pinned)
    picked = rules.to_read(weighed.believed(db, grounds, spec_name), changed, limits.read)
    suspects = breakers(db, picked.items, repo)
    items = tuple(
        orders.Asked(
            each.item.id, each.item.requirement, each.test, each.item.first_error,
            describe(each, suspects.get(each.item.id, "")), each.is_regression, each.item.is_touched_by(changed),
        )
        for each in picked.items
    )  # fmt: skip
    whole = orders.MemoryOrder(items, seconds=limits.seconds, left_out=picked.left_out)
    written: dict[str, object] = orders.ORDER.dump_python(whole, mode="json", exclude={"order"})
    return written


def changed_since(db: Database, spec_name: str, repo: Path, pinned: str) -> frozenset[str]:
    """The files that changed since the spec was last read, or else since the branch left the person's own."""
    last = sessions.last_read_commit(db, spec_name)
    head = "" if last else git.head(repo)
    base = last or (git.merge_base(repo, pinned, head) if head else "") or ""
    return touched_by(repo, base, pinned) if base and base != pinned else frozenset()


def breakers(db: Database, items: Iterable[Remembered], repo: Path) -> dict[str, str]:
    """For each item: the last landing since it was read that touches its files, of whatever spec, in words; else the
    last landing. It is what broke the item, if that is broken."""
    items = tuple(items)
    oldest = min((each.life.read_at or each.item.first_seen for each in items), default="")
    landings = sessions.landed_since(db, oldest)[-MOST_LANDINGS:] if items else []
    touched = {row.id: touched_by(repo, row.base or "", row.landed or "") for row in landings}
    words = ((each.item.id, breaker(each, landings, touched)) for each in items)
    return {number: text for number, text in words if text}


def breaker(each: Remembered, landings: Iterable[SessionRow], touched: Mapping[int, frozenset[str]]) -> str:
    """`landings`: oldest first; `touched`: by session, the files that it changed."""
    read_at, own = each.life.read_at or each.item.first_seen, frozenset(each.item.files)
    since = [row for row in landings if (row.ended_at or "") > read_at]
    near = [row for row in since if touched.get(row.id, frozenset()) & own]
    last = next(reversed(near or since), None)
    if last is None:
        return ""
    files = sorted(touched.get(last.id, frozenset()) & own)
    where = f" in {', '.join(files[:3])}" if files else ""
    return f"changed since by {last.node_id}, attempt {last.ticket.attempt}{where}"


def to_name(
    db: Database, parts: Iterable[str], files: Iterable[str], limits: Limits
) -> tuple[tuple[StaysGreen, ...], int]:
    """What a coder's brief names as what must stay green, and how much it leaves out. `parts`: addresses."""
    own, near = frozenset(parts), frozenset(files)
    named = rules.to_name(stored.sketches(db, own, near), own, near, limits.named)
    items = stored.items_named(db, named.ids) if named.ids else []
    return tuple(stays_green(each) for each in items), named.left_out


def stays_green(each: Remembered) -> StaysGreen:
    item = each.item
    return StaysGreen(item.address, each.test.id, item.test.line, item.counterexample, item.born.in_words)
