"""A made-up spec before anybody wrote it down: what it says, whatever the dialect. How it is spelled is not here."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from agent_fox.core.spec import TaskState

_SUBJECTS = ("the ledger", "a visitor", "das Lager", "el pedido", "系统", "倉庫", "служба", "a clerk", "le quai")
_VERBS = ("counts", "refuses", "returns", "wiegt", "guarda", "返回", "記録する", "хранит", "shows", "forgets")
_OBJECTS = (
    "every parcel",
    "an empty list",
    "`code 7`",
    "snake_case_names",
    "the path C:\\depot",
    "a < b & c",
    "two, three; four",
    "50 % of it",
    "(the short one)",
    "alle Kisten",
    "los números",
    "日付",
    "номер",
    "naïve façades",
    "parcel no. 9",
    "the form in 99-REQ-9.9",
    "4.2 metres",
    "\U0001f4e6 boxes",
)
_ENDS = ("within 3 s", "at once", "before noon", "ohne Rest", "sin errores", "即座に", "до вечера", "in any order")
_TITLES = ("Scales", "Gate", "Ladder", "Kran", "Muelle", "入荷", "Пристань", "Belt & chute", "Ramp no. 2", "Café door")
_WORDS = ("north", "süd", "東", "oeste", "midway")
_DETAILS = ("Look at `src/door.py` first", "Keep the old name", "Erst messen, dann sägen", "先に測る", "Ask the clerk")
_STATES = (TaskState.OPEN,) * 4 + (TaskState.DONE,) * 3 + (TaskState.IN_PROGRESS, TaskState.SKIPPED)


@dataclass(frozen=True, slots=True)
class Need:
    """A requirement without an id: its title, its story, its criteria and its edge cases."""

    title: str
    story: str
    criteria: tuple[str, ...]
    edges: tuple[str, ...]

    def tails(self, number: int) -> tuple[str, ...]:
        """The ends of the ids of what is checked: `2.1`, `2.E1`."""
        criteria = (f"{number}.{n}" for n in range(1, len(self.criteria) + 1))
        return (*criteria, *(f"{number}.E{n}" for n in range(1, len(self.edges) + 1)))


@dataclass(frozen=True, slots=True)
class Task:
    """`names` are tails of ids in the order of the requirements, `after` the numbers of earlier tasks."""

    title: str
    state: TaskState
    is_optional: bool
    is_parallel: bool
    names: tuple[str, ...]
    after: tuple[str, ...]
    details: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Phase:
    """A task group. A checkpoint has neither tasks nor names."""

    title: str
    state: TaskState
    is_optional: bool
    is_checkpoint: bool
    names: tuple[str, ...]
    tasks: tuple[Task, ...]


@dataclass(frozen=True, slots=True)
class Wait:
    """`group` of another spec comes before `to_group` of this one; None is its last, or this one's first."""

    spec: str
    from_group: int | None
    to_group: int | None


@dataclass(frozen=True, slots=True)
class Truth:
    """`number` is the folder's, for the dialects whose folders have one."""

    number: int
    word: str
    title: str
    needs: tuple[Need, ...]
    phases: tuple[Phase, ...]
    waits: tuple[Wait, ...]
    commands: dict[str, str]

    @property
    def tails(self) -> tuple[str, ...]:
        return tuple(tail for number, need in enumerate(self.needs, 1) for tail in need.tails(number))

    @property
    def texts(self) -> dict[str, str]:
        """What is checked, by the tails of its ids."""
        texts = (text for need in self.needs for text in (*need.criteria, *need.edges))
        return dict(zip(self.tails, texts, strict=True))


def truth_of(rng: Random) -> Truth:
    """A spec as chance makes it. Every requirement has a criterion, and no title or sentence of one is another's."""
    serial = [0]
    needs = tuple(_need(rng, word, serial) for word in _WORDS[: rng.randint(1, 5)])
    bare = Truth(rng.randint(1, 130), rng.choice(("depot", "kai_9", "front-door")), _title(rng), needs, (), (), {})
    phases: list[Phase] = []
    before: list[str] = []
    for number in range(1, rng.randint(1, 5) + 1):
        phases.append(_phase(rng, number, bare.tails, before))
    waits = tuple(_wait(rng) for _ in range(rng.choice((0, 0, 1, 2))))
    commands = {"spec_tests": "make spec", "all_tests": 'run "all" | tee log'} if rng.random() < 0.5 else {}
    return Truth(bare.number, bare.word, bare.title, needs, tuple(phases), tuple(dict.fromkeys(waits)), commands)


def sentence(rng: Random, serial: list[int]) -> str:
    """A criterion in one of several languages and of several lengths; its own number makes it unlike any other."""
    serial[0] += 1
    shall = rng.choice(("WHEN asked, THE {s} SHALL say that it", "when told, {s} shall see that it", "{s}:"))
    words = [shall.format(s=rng.choice(_SUBJECTS)), rng.choice(_VERBS), rng.choice(_OBJECTS)]
    words += [rng.choice(_OBJECTS) for _ in range(rng.choice((0, 0, 1, 4)))]
    return f"{' '.join(words)} {rng.choice(_ENDS)} (case{serial[0]})"


def _need(rng: Random, word: str, serial: list[int]) -> Need:
    criteria = tuple(sentence(rng, serial) for _ in range(rng.randint(1, 5)))
    edges = tuple(sentence(rng, serial) for _ in range(rng.choice((0, 0, 1, 3))))
    return Need(f"{_title(rng)} {word}", f"As {rng.choice(_SUBJECTS)}, I want {rng.choice(_OBJECTS)}", criteria, edges)


def _title(rng: Random) -> str:
    return " ".join(rng.choice(_TITLES) for _ in range(rng.choice((1, 2, 2, 7))))


def _phase(rng: Random, number: int, tails: tuple[str, ...], before: list[str]) -> Phase:
    if number > 1 and rng.random() < 0.15:
        return Phase(f"Checkpoint - {_title(rng)}", rng.choice(_STATES), False, True, (), ())
    tasks: list[Task] = []
    for place in range(1, rng.choice((0, 1, 2, 3, 12)) + 1):
        tasks.append(_task(rng, tails, before))
        before.append(f"{number}.{place}")
    names = () if tasks and rng.random() < 0.8 else _some(rng, tails)
    return Phase(_title(rng), rng.choice(_STATES), rng.random() < 0.15, False, names, tuple(tasks))


def _task(rng: Random, tails: tuple[str, ...], before: list[str]) -> Task:
    after = tuple(rng.sample(before, 1)) if before and rng.random() < 0.15 else ()
    return Task(
        _title(rng),
        rng.choice(_STATES),
        rng.random() < 0.15,
        rng.random() < 0.2,
        _some(rng, tails),
        after,
        tuple(rng.sample(_DETAILS, rng.choice((0, 0, 1, 2)))),
    )


def _some(rng: Random, tails: tuple[str, ...]) -> tuple[str, ...]:
    """Some of the ids, in their order: often none, sometimes all."""
    share = rng.choice((0.0, 0.2, 0.5, 1.0))
    return tuple(tail for tail in tails if rng.random() < share)


def _wait(rng: Random) -> Wait:
    return Wait(f"{rng.randint(131, 140)}_other", rng.choice((None, 1, 2, 11)), rng.choice((None, 1)))
