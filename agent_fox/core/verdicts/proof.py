"""What of a passing test must be seen to fail before it counts, and how the requirement is known then.

Source of the rules: `docs/proof.md`. Pure: which trials are next and what they came to; running them is elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.known import How

MOST_FUNCTIONS = 3
MOST_TRIALS = 40
"""Of one requirement; behind them it is undecided."""


class Shown(StrEnum):
    """What the trials of a requirement's tests came to. The first five let a PASS stand, under the word beside them."""

    DISCRIMINATES = "discriminates"
    ALREADY_TRUE = "already true"
    NOT_SHOWN = "already true, not shown"
    PRESENCE_ONLY = "presence only"
    TAKEN_BACK = "taken back"
    VACUOUS = "vacuous"
    UNDECIDED = "undecided"

    @property
    def how(self) -> How | None:
        """How a PASS with this word is known; None where it does not stand."""
        return _HOW.get(self)


_HOW = {
    Shown.DISCRIMINATES: How.RED_WITHOUT,
    Shown.ALREADY_TRUE: How.ALREADY_TRUE,
    Shown.NOT_SHOWN: How.NOT_SHOWN,
    Shown.PRESENCE_ONLY: How.PRESENCE_ONLY,
    Shown.TAKEN_BACK: How.TAKEN_BACK,
}


class Before(StrEnum):
    """What the tests do on the base commit's product."""

    RED = "red"
    GREEN = "green"
    UNKNOWN = "not known"


class Effect(StrEnum):
    """What a test did while something was broken.

    KILLED: red by its own assertion, or by an error with no frame of the product. CRASHED: red by an error of the
    product itself, which any call would have shown. VOID: the trial shows nothing.
    """

    KILLED = "killed"
    UNNOTICED = "unnoticed"
    CRASHED = "crashed"
    VOID = "void"


@dataclass(frozen=True, slots=True)
class Place:
    """Something that can be broken: site `number` of `file`, in `function` ("" for a module's body).

    `is_value`: what the function returns is changed while its body runs. `is_changed`: the change under judgement wrote
    it. `is_other_error`: another error is raised in the place of one. `is_only_error`: what raises the error that a
    function always comes to is left out.
    """

    file: str
    number: int
    function: str = ""
    line: int = 0
    is_value: bool = False
    is_changed: bool = False
    is_other_error: bool = False
    is_only_error: bool = False

    @property
    def body(self) -> tuple[str, str]:
        """The function, with its file."""
        return self.file, self.function


@dataclass(frozen=True, slots=True)
class Trial:
    """Places that are broken at once, in one file, and what came of it. `test`: the one that had this effect."""

    places: tuple[Place, ...]
    effect: Effect
    test: str = ""


MOST_TRIED = 30
LONGEST_TOLD = 240


@dataclass(frozen=True, slots=True)
class Tried:
    """What was done to see a requirement's tests fail, and what they did: for the record.

    `how`: "broken" (with the place, and what was done to it), "committed tests", "false twin", "before the work",
    "turned round", "taken away", "emptied". `effect`: a word of Effect, Before or Seal, or how it ended. `test`: the
    one that had this effect.
    """

    how: str
    effect: str
    what: str = ""
    file: str = ""
    line: int = 0
    test: str = ""


@dataclass(frozen=True, slots=True)
class Trials:
    """All that was tried for one requirement, bounded: `left_out` counts those that are not told.

    `base`: the commit that was compared with. `runs`: of the whole spec. `is_recalled`: nothing was run; it is known
    from an earlier reading of the same contents.
    """

    word: str
    before: str
    base: str
    runs: int
    is_recalled: bool
    tried: tuple[Tried, ...]
    left_out: int = 0

    @property
    def killed(self) -> Tried | None:
        """The place that was broken alone, and noticed."""
        return next((trial for trial in self.tried if trial.effect == Effect.KILLED and trial.line), None)


def bounded(tried: Sequence[Tried]) -> tuple[tuple[Tried, ...], int]:
    """The first ones and the last, which decided it, each with bounded texts; and how many are left out."""
    kept = (*tried[: MOST_TRIED - 1], *tried[MOST_TRIED - 1 :][-1:])
    return tuple(_shortened(trial) for trial in kept), len(tried) - len(kept)


def _shortened(one: Tried) -> Tried:
    texts = (one.what, one.file, one.test)
    what, file, test = (text if len(text) <= LONGEST_TOLD else f"{text[: LONGEST_TOLD - 1]}…" for text in texts)
    return Tried(one.how, one.effect, what, file, one.line, test)


def next_trial(places: Sequence[Place], trials: Sequence[Trial]) -> tuple[Place, ...]:
    """What to break next, or nothing where it is decided.

    What at most three functions return is changed first, those of the change before others. Then all that is left of a
    file is broken at once, and halved where that is noticed or shows nothing, until one place by itself is killed.
    """
    if killed_by(trials) or len(trials) >= MOST_TRIALS:
        return ()
    tried = {trial.places: trial.effect for trial in trials}
    ranked = sorted(places, key=lambda place: not place.is_changed)
    first = [place for place in ranked if place.is_value][:MOST_FUNCTIONS]
    for place in first:
        if (place,) not in tried:
            return (place,)
    for file in dict.fromkeys(place.file for place in ranked):
        half = _halved(tuple(place for place in ranked if place.file == file and place not in first), tried)
        if half:
            return half
    return ()


def _halved(places: tuple[Place, ...], tried: Mapping[tuple[Place, ...], Effect]) -> tuple[Place, ...]:
    if not places:
        return ()
    if places not in tried:
        return places
    if tried[places] is Effect.UNNOTICED or len(places) == 1:
        return ()
    half = (len(places) + 1) // 2
    return _halved(places[:half], tried) or _halved(places[half:], tried)


def killed_by(trials: Iterable[Trial]) -> Trial | None:
    """The trial that shows that the tests notice: one place alone was broken, and killed.

    A test that any error satisfies would be killed, too, where code that is not written yet stops to say so. The only
    error of a function may thus be missed only by tests that also notice another in its place, however they do.
    """
    alone = [trial for trial in trials if len(trial.places) == 1]
    told_apart = {
        trial.places[0].body
        for trial in alone
        if trial.places[0].is_other_error and trial.effect in (Effect.KILLED, Effect.CRASHED)
    }
    killed = (trial for trial in alone if trial.effect is Effect.KILLED)
    return next(
        (trial for trial in killed if not trial.places[0].is_only_error or trial.places[0].body in told_apart), None
    )


def takes_any_error(trials: Sequence[Trial]) -> bool:
    """Whether the tests miss the only error of a function, and nothing else was killed."""
    killed = (trial for trial in trials if trial.effect is Effect.KILLED and len(trial.places) == 1)
    return any(trial.places[0].is_only_error for trial in killed) and killed_by(trials) is None


def shown(before: Before, places: Sequence[Place], trials: Sequence[Trial]) -> Shown:
    """The word for tests that execute code. VACUOUS: every place was broken, and they did not notice any of it.

    UNDECIDED also where all that they notice is that an error is missing, whichever it is: code that always fails on
    purpose looks like code that is not written yet.

    Raises ValueError where a trial is still to be made.
    """
    if killed_by(trials):
        return Shown.ALREADY_TRUE if before is Before.GREEN else Shown.DISCRIMINATES
    if next_trial(places, trials):
        raise ValueError("not decided yet")
    unnoticed = {place for trial in trials if trial.effect is Effect.UNNOTICED for place in trial.places}
    alone = {trial.places[0]: trial.effect for trial in trials if len(trial.places) == 1}
    unnoticed |= {place for place, effect in alone.items() if effect is Effect.CRASHED}
    return Shown.VACUOUS if unnoticed >= {*places} else Shown.UNDECIDED


def shown_untried(before: Before) -> Shown:
    """The word where nothing can be broken: the language has no mutants here, and no test opens a file.

    The tests that were red before show that the work is what makes them pass.
    """
    return {Before.RED: Shown.TAKEN_BACK, Before.GREEN: Shown.NOT_SHOWN, Before.UNKNOWN: Shown.UNDECIDED}[before]


def shown_by_data(before: Before, without: Effect | None, emptied: Effect | None) -> Shown:
    """The word for tests that execute no code but read a file, or ask whether it is there.

    `without`: what they did where the file was taken away; `emptied`: where nothing stood in it. None: not tried.
    """
    if before is not Before.RED and without is not Effect.KILLED:
        return Shown.UNDECIDED if without is Effect.VOID else Shown.VACUOUS
    if emptied is Effect.UNNOTICED and without is Effect.KILLED:
        return Shown.PRESENCE_ONLY
    return Shown.ALREADY_TRUE if before is Before.GREEN else Shown.TAKEN_BACK
