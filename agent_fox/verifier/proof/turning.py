"""Whether what noticed can fail in the tree as it is, and notices what code does. Runs nothing.

Product code may keep a test from failing at one place alone: by a block around it, a trace, a loader of modules. What
is broken then is what kept it, and the test goes red because the work is not done. Or a test goes red because code was
changed, whatever it does. Both are seen in one run: what was asserted is turned round, and must fail, while the code
that was broken is whole, but for something that does nothing. A test may also come to what it asserts only where
something is broken: then it passes, and asked nothing.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from agent_fox.core.verdicts.proof import Shown
from agent_fox.verifier.ground.cases import Outcome
from agent_fox.verifier.mutants.languages import language_of
from agent_fox.verifier.proof.sides import is_test_side
from agent_fox.verifier.suites.resting import COLLECTING, LOOKED, OUTSIDE, Window, together

if TYPE_CHECKING:
    from agent_fox.verifier.ground.cases import Case
    from agent_fox.verifier.proof.lab import End, Seen

READ, WATCHED = "read", "watched"
Texts = Callable[[str], str | None]


class Turned:
    """What was asserted where tests noticed, turned round. `texts`: the files in which it stands.

    is_whole: all that is asserted in the files that they came through.
    """

    def __init__(self, noticed: Iterable[End], text_of: Texts, *, is_whole: bool = False) -> None:
        self._mark = f"turned {secrets.token_hex(6)}"
        frames = [_frames(end) for end in noticed]
        spots = {spot for each in frames for spot in (asserting(each, text_of) if is_whole else each[-1:])}
        self._spots: set[tuple[str, int]] = set()
        self.texts: dict[str, str] = {}
        for file in {file for file, _ in spots}:
            language, text = language_of(file), text_of(file)
            if language and text:
                made, lines = language.turned(text, [line for name, line in spots if name == file], self._mark)
                self.texts[file] = made
                self._spots |= {(file, line) for line in lines}

    def odd(self, noticed: Mapping[Case, End], seen: Seen, *, looks: bool) -> tuple[Shown, str] | None:
        """What it means where none of the tests that noticed ends as it should; None where one does. `looks`: the code
        itself is looked at, so that only what was turned round tells anything.
        """
        if seen.why_not:
            return Shown.UNDECIDED, seen.why_not
        ends = {test: seen.ends[test.id] for test in noticed if test.id in seen.ends}
        if any(self.is_held(noticed[test], ended, looks=looks) for test, ended in ends.items()):
            return None
        passed = [test.id for test, ended in ends.items() if ended.outcome is Outcome.PASSED]
        if passed:
            why = "it is kept from failing there, or asks what the code is like and not what it does"
            return Shown.VACUOUS, f"{passed[0]} passes where what it asserts is turned round: {why}"
        test = next(iter(noticed)).id
        return Shown.UNDECIDED, f"{test} goes red where code is put otherwise, to the same effect"

    def is_held(self, noticed: End, ended: End, *, looks: bool) -> bool:
        """Whether a test ended as it should. What could not be turned round must pass."""
        spot = _frames(noticed)[-1:]
        if not spot or spot[0] not in self._spots:
            return ended.outcome is Outcome.PASSED
        is_failed = ended.outcome is Outcome.FAILED
        return is_failed and (not looks or self._mark in ended.message.partition("\n")[0])


def restated(file: str, text: str) -> str:
    language = language_of(file)
    return language.restated(text) if language else text


def looks_at_code(tests: Sequence[Case], windows: Mapping[str, Window]) -> bool:
    """Whether code of the project asks for compiled code, traces what runs, or looks at files of code: by these tests,
    or before any.
    """
    files = {test.file for test in tests}
    mine = {OUTSIDE, *(test.id for test in tests)}
    seen = together(each for name, each in windows.items() if name in mine or name.startswith(COLLECTING))
    is_read = any(file in files and by and not is_test_side(by) for file, by in seen.opened)
    return is_read or any(
        kind == WATCHED or (kind in (LOOKED, READ) and what.endswith(".py") and not is_test_side(what))
        for kind, what, _ in seen.asked
    )


def is_led(end: End, text_of: Texts) -> bool:
    """Whether code that may keep an error to itself stands between what noticed and the runner: the product's, or a
    block of the test.
    """
    frames = _frames(end)
    if any(not is_test_side(file) for file, _ in frames[:-1]):
        return True
    for file, line in frames:
        language, text = language_of(file), text_of(file)
        if language and text and language.is_sheltered(text, line):
            return True
    return False


def is_passed_by(end: End, text_of: Texts) -> bool:
    """Whether a test may pass without coming to what noticed: it asserts under a condition, or in another file, which
    may not be the one that it loads.
    """
    frames = _frames(end)
    if len({file for file, _ in frames}) > 1 and all(is_test_side(file) for file, _ in frames):
        return True
    for file, line in frames:
        language, text = language_of(file), text_of(file)
        if is_test_side(file) and language and text and language.is_passed_by(text, line):
            return True
    return False


def asserting(frames: Sequence[tuple[str, int]], text_of: Texts) -> Iterator[tuple[str, int]]:
    for file in {file for file, _ in frames if is_test_side(file)}:
        language, text = language_of(file), text_of(file)
        through = [line for name, line in frames[:-1] if name == file]
        yield from ((file, line) for line in (language.asserted(text, through) if language and text else ()))


def _frames(end: End) -> list[tuple[str, int]]:
    return list(zip(end.frames, end.lines, strict=False))
