"""A tracker that answers what a test tells it, as a plugin's may; and outbox rows to deliver. No test is here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sqlite_utils import Database

from agent_fox.core.retry.filing import Says
from agent_fox.store import outbox
from agent_fox.store.state import transaction
from agent_fox.trackers.desk import Desk
from agent_fox.trackers.protocol import Delivery, Done, Effect, EffectKind, Tracker
from tests.store.world import AT, SPEC, decide

Answer = Delivery | BaseException | Callable[[Effect], Delivery]


@dataclass
class Scripted:
    """Gives these answers in turn, raises those that are errors, calls those that are functions; then all is done."""

    answers: list[Answer] = field(default_factory=list)
    seen: list[Effect] = field(default_factory=list)
    name: str = "scripted"
    number: str = "4"

    def newest(self) -> str:
        return self.number

    def deliver(self, effect: Effect) -> Delivery:
        self.seen.append(effect)
        answer = self.answers.pop(0) if self.answers else Done(effect.number or str(10 + len(self.seen)), "url")
        if isinstance(answer, BaseException):
            raise answer
        return answer(effect) if callable(answer) else answer

    @property
    def prints(self) -> list[str]:
        return [effect.fingerprint for effect in self.seen]


@dataclass
class FarAway(Scripted):
    """One that works at a desk."""

    place: str = "host/o/r"
    desks: list[Desk] = field(default_factory=list)

    def at(self, desk: Desk) -> Tracker:
        self.desks.append(desk)
        return self


def put(
    db: Database, fingerprint: str, kind: EffectKind = EffectKind.FILE, says: Says | None = Says.FAILING,
    **payload: object,
) -> str:  # fmt: skip
    """An effect of a decision of its own, about an issue that is noted as open."""
    told: Mapping[str, object] = {"title": f"about {fingerprint}", **({"says": says.value} if says else {}), **payload}
    with transaction(db):
        outbox.open_issue(db, fingerprint, f"about {fingerprint}", "cause", SPEC, ["R1"], AT)
        return outbox.put(db, decide(db), kind, fingerprint, SPEC, told, AT)


def states(db: Database) -> list[tuple[str, str]]:
    """Fingerprint and state of every effect, in the order in which they were decided."""
    return [(str(fp), str(told)) for fp, told in db.execute("SELECT fingerprint, state FROM outbox ORDER BY position")]
