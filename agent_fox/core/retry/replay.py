"""Where a test began to fail, as a value, and what the next attempt is told of it: a prefix, no transcript. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agent_fox.core.retry.onset import Onset
from agent_fox.core.values import dataclass
from agent_fox.core.words import counted

MOST_LINES = 24
"""Of the prefix; with its heading, fence and words a brief has 30 lines of it."""

MOST_KEPT, MOST_EDIT, MOST_OTHERS = 6, 9, 2
"""Lines of what is kept, of the edit, and of other requirements that began to fail elsewhere."""

LONGEST = 160
"""Characters of a line."""

DIGITS = 12


@dataclass(frozen=True, slots=True)
class State:
    """One state of a trail: the tree after a step of a coder's session; step 0 is what that session began with."""

    session: int
    step: int
    tree: str


@dataclass(frozen=True, slots=True)
class Finding:
    """What a search for the onset of one failing test came to. `why` says in words why there is none, where so.

    `session`, `step`: the coder's session and the step after which it fails; `before`, `after`: the trees around it;
    `skipped`: steps just before it that could not be run. `runs` were made, of which `beside` were for steps at which
    the test could not be run; `reused` answers were known from before, `states` were searched. `seen`: where the
    session was shown the failure before it ended, empty where it was not.
    """

    requirement: str
    test: str
    onset: Onset
    why: str = ""
    session: int | None = None
    step: int | None = None
    action: str = ""
    files: tuple[str, ...] = ()
    before: str = ""
    after: str = ""
    skipped: tuple[int, ...] = ()
    runs: int = 0
    beside: int = 0
    reused: int = 0
    states: int = 0
    seen: str = ""

    @property
    def words(self) -> str:
        """In a sentence, for a person."""
        match self.onset:
            case Onset.FOUND:
                unsure = f" (or by step {steps_in_words(self.skipped)}, which could not be run)" if self.skipped else ""
                what = f"{self.test} began to fail at step {self.step}{unsure}: {self.action}"
            case Onset.FROM_START:
                what = f"{self.test} failed from the start; step {self.step} left it so: {self.action}"
            case _:
                what = f"{self.test}: no step is known at which it began to fail, {self.why}"
        return f"{what}; evidence seen, not acted on: {self.seen}" if self.seen else what


def steps_in_words(steps: Sequence[int]) -> str:
    return f"{steps[0]} to {steps[-1]}" if len(steps) > 1 else str(steps[0])


@dataclass(frozen=True, slots=True)
class Replay:
    """What a coder's brief holds of its last attempt: the steps that are kept (number, action), the finding, the edit
    as lines of a difference, and the reference with the commit of the tree just before it (empty where it is gone).

    `is_laid_out`: the workspace starts from that tree; else `why_not` may say why it does not.
    """

    attempt: int
    finding: Finding
    kept: tuple[tuple[int, str], ...] = ()
    edit: tuple[str, ...] = ()
    ref: str = ""
    commit: str = ""
    others: tuple[Finding, ...] = ()
    is_laid_out: bool = False
    why_not: str = ""


def prefix(replay: Replay) -> tuple[str, ...]:
    """At most MOST_LINES lines."""
    lines = [line[:LONGEST] for line in lines_of(replay)]
    return tuple(lines[:MOST_LINES])


def lines_of(replay: Replay) -> Iterator[str]:
    finding = replay.finding
    match finding.onset:
        case Onset.FOUND:
            yield f"Attempt {replay.attempt}, up to step {(finding.step or 0) - 1}: kept."
            yield from kept_lines(replay.kept)
            yield f"Do not repeat this: {finding.words}"
        case Onset.FROM_START:
            yield f"Attempt {replay.attempt} never made {finding.test} pass."
            yield f"This was said to finish it, and did not: {finding.words}"
        case _:
            yield f"{finding.why[:1].upper()}{finding.why[1:]}, which had done:"
            yield from kept_lines(replay.kept)
    yield from replay.edit[:MOST_EDIT]
    if len(replay.edit) > MOST_EDIT:
        yield f"... and {counted(len(replay.edit) - MOST_EDIT, 'line')} more of this edit"
    for other in replay.others[:MOST_OTHERS]:
        yield f"Also {other.requirement}: {other.words}"
    if replay.commit:
        yield f"The files just before it: `git show {replay.commit[:DIGITS]}`, kept as {replay.ref}."
    if replay.is_laid_out:
        yield "Your workspace starts from these files: what came after them is not in it."
    elif replay.why_not:
        yield f"Your workspace does not start from them: {replay.why_not}."


def kept_lines(kept: Sequence[tuple[int, str]]) -> Iterator[str]:
    """The steps, the newest ones by themselves."""
    hidden = max(0, len(kept) - MOST_KEPT)
    if hidden:
        yield f"- {counted(hidden, 'step')} before these"
    yield from (f"- step {step}: {action}" for step, action in kept[hidden:])
