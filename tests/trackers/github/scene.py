"""A tracker at a real desk before the fake GitHub (a double for the service alone), on a clock moved by hand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from sqlite_utils import Database

from agent_fox.config import TrackerSettings
from agent_fox.core.retry.filing import Says
from agent_fox.store import outbox
from agent_fox.store.state import transaction
from agent_fox.testing.github import GitHubFake, Request, mounted
from agent_fox.trackers.desk import Desk, seconds_of
from agent_fox.trackers.github.door import opened
from agent_fox.trackers.github.repository import Address
from agent_fox.trackers.github.tracker import GitHubTracker
from agent_fox.trackers.protocol import (
    Delivery,
    Done,
    Effect,
    EffectKind,
    Held,
    Moot,
    Remote,
    Retry,
    StateReason,
    Unsure,
)
from agent_fox.trackers.text.pages import Style, written
from tests.states import fresh_state

KEY = bytes(range(32))
START = datetime(2026, 3, 1, 12, tzinfo=UTC).timestamp()
DAY = 86_400.0

FILED = Effect(
    id="e1",
    kind=EffectKind.FILE,
    fingerprint="f1",
    title="04_gate: 04-REQ-1.1 is not met",
    body="The gate stays shut.",
    members=("04-REQ-1.1",),
    cause="attempts spent",
    spec="04_gate",
    at="2026-03-01T12:00:00.000Z",
)
AGAIN = replace(FILED, id="e2", kind=EffectKind.COMMENT, body="Still shut.")
PART = replace(FILED, id="e3", kind=EffectKind.COMMENT, says=Says.PROGRESS, body="Half of it is repaired.")
PROVEN = replace(
    FILED, id="e4", kind=EffectKind.CLOSE, says=Says.PROOF, body="Proven.", state_reason=StateReason.COMPLETED
)


@dataclass
class Clock:
    """Seconds since 1970, moved by whoever waits. Ours is wrong by `skew`; GitHub's is right."""

    seconds: float = START
    skew: float = 0.0

    def time(self) -> float:
        return self.seconds

    def now(self) -> str:
        told = datetime.fromtimestamp(self.seconds + self.skew, UTC)
        return told.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def pass_by(self, seconds: float) -> None:
        self.seconds += seconds


class Crash(BaseException):
    """The process ends here."""


@dataclass
class Scene:
    """The outbox's part is played here: what came of an effect is kept, and told when it is sent again."""

    db: Database
    clock: Clock
    fake: GitHubFake
    tracker: GitHubTracker
    numbers: dict[str, str] = field(default_factory=dict)
    remotes: dict[str, Remote] = field(default_factory=dict)
    doubts: dict[str, tuple[str, str, int]] = field(default_factory=dict)

    def known(self, effect: Effect) -> Effect:
        """The effect as it is handed over: with what is known of its issue and of earlier sendings."""
        before = self.tracker.newest()
        witness, since, readings = self.doubts.get(effect.id, (None, "", 0))
        number, remote = self.numbers.get(effect.fingerprint), self.remotes.get(effect.fingerprint)
        self.doubts[effect.id] = (witness or before, since or self.clock.now(), readings)
        return replace(
            effect, before=before, witness=witness, since=since, readings=readings, number=number, remote=remote
        )

    def once(self, effect: Effect) -> Delivery:
        """Deliver once, and keep what came of it."""
        was_in_doubt = effect.id in self.doubts
        delivery = self.tracker.deliver(self.known(effect))
        if isinstance(delivery, Unsure):
            witness, since, readings = self.doubts[effect.id]
            self.doubts[effect.id] = (witness, since, readings if delivery.readings is None else delivery.readings)
        elif not was_in_doubt or isinstance(delivery, Done | Moot):
            self.doubts.pop(effect.id, None)
        self.keep(effect, delivery)
        return delivery

    def keep(self, effect: Effect, delivery: Delivery) -> None:
        if isinstance(delivery, Done | Moot) and delivery.remote:
            self.remotes[effect.fingerprint] = delivery.remote
        if isinstance(delivery, Done):
            self.numbers[effect.fingerprint] = delivery.number
            with transaction(self.db):
                at = self.clock.now()
                outbox.open_issue(self.db, effect.fingerprint, effect.title, "", "04_gate", (), at)
                outbox.name_issue(self.db, effect.fingerprint, delivery.number, delivery.url, delivery.remote or "", at)

    def settled(self, effect: Effect, most: int = 60) -> Delivery:
        """Deliver until it is done or moot, or a person must act; the clock moves on to the time that was told."""
        for _ in range(most):
            delivery = self.once(effect)
            if isinstance(delivery, Done | Moot | Held):
                return delivery
            self.wait_for(delivery)
        raise AssertionError(f"not settled: {delivery}")

    def crashing(self, effect: Effect, at_write: int, is_answered: bool) -> bool:
        """Deliver, the process ending at that write, before or after GitHub has it; False where it did not."""
        left = at_write

        def end(request: Request, *_: object) -> None:
            nonlocal left
            left -= request.is_write
            if left < 0:
                raise Crash

        self.fake.hooks.before, self.fake.hooks.after = (None, end) if is_answered else (end, None)
        try:
            self.once(effect)
        except Crash:
            return True
        finally:
            self.fake.hooks.before = self.fake.hooks.after = None
        return False

    def restart(self) -> None:
        """Another process, with the same state file."""
        self.tracker = seated(self.db, self.clock, self.tracker.settings, self.tracker.key)

    def wait_for(self, delivery: Delivery) -> None:
        """Let the time pass that was told."""
        told = delivery.not_before if isinstance(delivery, Retry | Unsure) else ""
        self.clock.pass_by(max(1.0, seconds_of(told) - seconds_of(self.clock.now()) if told else 5.0))

    def open_numbers(self) -> list[int]:
        return [issue.number for issue in self.fake.issues if issue.is_open]

    def bodies(self, number: int) -> list[str]:
        """The comments of an issue without their marks."""
        issue = self.fake.repository.issues[number]
        return [comment.body.partition("\n")[2].strip() for comment in issue.comments]


@contextmanager
def scene(
    tmp_path: Path,
    name: str = "state.db",
    clock: Clock | None = None,
    fake: GitHubFake | None = None,
    **settings: object,
) -> Iterator[Scene]:
    clock = clock or Clock()
    fake = fake or GitHubFake(clock.time)
    db = fresh_state(tmp_path / name)
    with mounted(fake):
        yield Scene(db, clock, fake, seated(db, clock, TrackerSettings.model_validate({"kind": "github", **settings})))
    db.close()


def seated(
    db: Database, clock: Clock, settings: TrackerSettings, key: bytes = KEY, token: str = "ghp_fake"
) -> GitHubTracker:
    """A tracker at a desk of its own, as a new process has it."""
    address = Address("https://api.github.com", "octo", "project")
    door = opened(token, address, clock.now, clock.pass_by)
    tracker = GitHubTracker(door, settings, key, lambda effect: written(effect, Style()), clock.now)
    return tracker.at(Desk(db, tracker.place, now=clock.now, pause=clock.pass_by))
