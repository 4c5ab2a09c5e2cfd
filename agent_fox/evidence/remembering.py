"""What verdicts make of regression memory: items born and moved in the transaction of the verdicts; what a launch reads
before its judges, and what a brief names. Rules are in `core.memory`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from agent_fox.core import memory
from agent_fox.core.memory import SHOWN_ID, Item, Limits, Move, Reading, Remembered, Step
from agent_fox.core.retry.clusters import fingerprint_of
from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.verdict import Word
from agent_fox.store.ledger import memory as stored

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.config import Settings
    from agent_fox.core.memory import ReadItem
    from agent_fox.core.verdicts.judgement import Counted, Judged
    from agent_fox.store.ledger.memory import Origin


def limits_of(settings: Settings) -> Limits:
    """How much of regression memory is used, and when an item decays, as the settings have it."""
    own = settings.memory
    return Limits(own.most_read, own.seconds, own.most_named, own.green_readings, own.days)


@dataclass(frozen=True, slots=True)
class Learning:
    """What a reading of a spec is learned from: the verdicts before it, those that count now, what the pre-reading said
    of items, and which files landed since the reading before."""

    spec_name: str
    before: Mapping[str, tuple[str, Reading]]
    judged: Judged
    versions: Mapping[str, str]
    read: tuple[ReadItem, ...]
    origin: Origin
    commit: str
    changed: Callable[[], frozenset[str]]


def before(db: Database, spec_name: str) -> dict[str, tuple[str, Reading]]:
    """The verdicts on a spec that count until the next ones are stored."""
    return stored.readings_now(db, spec_name)


def learn(db: Database, at: str, limits: Limits, learning: Learning) -> None:
    """Move the items that were read, make those that these verdicts give birth to, and let those decay that it is time
    for; in the transaction of the verdicts."""
    readings = dict(readings_of(learning))
    known = {each.item.id: each for each in items_concerned(db, learning, readings)}
    moves = [*moves_read(learning, known, at), *moves_seen(learning, readings, known, at)]
    now = {each.item.id: each for each in stored.move(db, moves, learning.origin)}
    for item in items_born(db, at, learning, readings, {**known, **now}):
        stored.remember(db, item, learning.origin, learning.commit)
    stored.move(db, moves_of_decay(at, limits, now.values()), learning.origin)


def items_concerned(db: Database, learning: Learning, readings: Mapping[str, Reading]) -> list[Remembered]:
    if not stored.has_items(db):
        return []
    return stored.items(db, learning.spec_name)


def readings_of(learning: Learning) -> Iterator[tuple[str, Reading]]:
    """The definite verdicts of this report by tests that our own judges ran, by requirement. What only passes since its
    failure was proven to be chance, or older, makes nothing."""
    for part, counted in learning.judged.counted.items():
        verdict = counted.verdict
        if verdict.ran and counted.word is not Word.UNKNOWN and not (counted.is_silent or verdict.is_proven):
            yield part, reading_of(counted, learning.spec_name)


def reading_of(counted: Counted, spec_name: str) -> Reading:
    verdict = counted.verdict
    signal = verdict.signal
    cause = fingerprint_of(signal, spec_name) if signal else ""
    first_error = signal.first_error if signal else ""
    return Reading(
        counted.word, verdict.ran, verdict.trials, verdict.how, verdict.evidence, cause, first_error, verdict.rests_on
    )


def moves_read(learning: Learning, known: Mapping[str, Remembered], at: str) -> Iterator[tuple[Remembered, Move]]:
    """The moves of items that the pre-reading ran. An id that is no item of this spec is nobody's."""
    for read in learning.read:
        if read.id in known:
            step = Step(read.ending.value)
            yield known[read.id], Move(step, at, read.file, read.is_touched, learning.commit, read.note)


def moves_seen(
    learning: Learning, readings: Mapping[str, Reading], known: Mapping[str, Remembered], at: str
) -> Iterator[tuple[Remembered, Move]]:
    """The moves of items that the verdicts themselves are about, where no pre-reading ran them: their tests are among
    those that failed, or all that passed."""
    done = {read.id for read in learning.read}
    for each in known.values():
        reading = readings.get(each.item.requirement)
        if reading is None or each.item.id in done or each.item.version != learning.versions.get(each.item.requirement):
            continue
        is_among = each.test.id in {test.id for test in reading.tests}
        if is_among and reading.word is Word.FAIL:
            yield each, Move(Step.FAILED, at, commit=learning.commit, note="failed in the verifier's reading")
        elif is_among and each.life.status is not memory.Status.FIXED:
            yield each, Move(Step.PASSED, at, commit=learning.commit, note="passed in the verifier's reading")


def items_born(
    db: Database, at: str, learning: Learning, readings: Mapping[str, Reading], known: Mapping[str, Remembered]
) -> Iterator[Item]:
    """The items that these verdicts make. What is known already, in whatever state, is not born again."""
    births = [(part, now, then, birth) for part, now in readings.items()
              if (birth := memory.birth_of(then := reading_before(learning, part), now)) is not None]  # fmt: skip
    if not births:
        return
    causes, changed = stored.roots_of(db), learning.changed()
    for part, now, then, birth in births:
        fault, version = now if now.word is Word.FAIL else then, learning.versions.get(part, "")
        for test in memory.tests_born(birth, then, now):
            number = memory.item_id(learning.spec_name, part, version, test)
            if number not in known:
                yield Item(
                    number, learning.spec_name, part, version, test, birth, at,
                    memory.files_of(test, (then, now), changed), memory.counterexample_in(fault.evidence),
                    fault.first_error, fault.cause, causes.get(fault.cause, "") if fault.cause else "",
                )  # fmt: skip
                causes.setdefault(fault.cause, number)


def reading_before(learning: Learning, part: str) -> Reading:
    """The verdict that this one follows; nothing where that was about another text."""
    version, reading = learning.before.get(part, ("", Reading()))
    return reading if version == learning.versions.get(part) else Reading()


def moves_of_decay(at: str, limits: Limits, items: Iterable[Remembered]) -> list[tuple[Remembered, Move]]:
    before = days_before(at, limits.days)
    why = f"{limits.green_readings} green readings, and no change of its files in {limits.days} days"
    return [(each, Move(Step.DEMOTED, at, note=why)) for each in items if memory.is_worn(each.life, limits, before)]


def days_before(at: str, days: int) -> str:
    """A time as text, some days earlier."""
    before = datetime.fromisoformat(at) - timedelta(days=days)
    return before.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def withdraw(db: Database, at: str, spec_name: str, versions: Mapping[str, str], *, is_removed: bool) -> None:
    """End the items of requirements whose text changed (`versions`: the present ones), or that went."""
    why = "the requirement was removed" if is_removed else "the requirement's text changed"
    gone = [
        (each, Move(Step.WITHDRAWN, at, note=why))
        for each in (stored.items(db, spec_name, living=True) if versions else ())
        if each.item.requirement in versions and (is_removed or each.item.version != versions[each.item.requirement])
    ]
    stored.move(db, gone)


def describe(each: Remembered, suspect: str = "") -> str:
    """What a coder is told of an item that fails: what it is, on what it was green, who changed what since."""
    item, life = each.item, each.life
    what = memory.Status.REGRESSED.value if each.is_regression else "remembered failure"
    words = (
        f"{what}: {item.test.id} (memory {item.id[:SHOWN_ID]}: {item.born.in_words})",
        f"last green on {life.green_on[:12]}" if life.green_on else "", suspect,
        f"smallest input: {item.counterexample}" if item.counterexample else "",
    )  # fmt: skip
    return "; ".join(word for word in words if word)
