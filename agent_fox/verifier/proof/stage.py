"""What of the tests that passed proves something: sealed, red before, the false twin, red without. See `docs/proof.md`.

Each requirement that would pass by tests is tried. What came of it stands beside its verdict, or takes it away.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import field
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from agent_fox.core.proof import (
    Before,
    Effect,
    Place,
    Seal,
    Shown,
    Trial,
    killed_by,
    next_trial,
    shown,
    shown_by_data,
    shown_untried,
)
from agent_fox.core.values import dataclass
from agent_fox.system.git import GitError
from agent_fox.verifier.base_tree import base_tree
from agent_fox.verifier.cases import Case, Outcome
from agent_fox.verifier.change_under_check import changed_paths
from agent_fox.verifier.mapping import Ownership
from agent_fox.verifier.proof import kept
from agent_fox.verifier.proof.contents import NAMES, Contents
from agent_fox.verifier.proof.effects import effect_of, is_own_assertion, of_several
from agent_fox.verifier.proof.expectations import expectation_of, sealed, told
from agent_fox.verifier.proof.lab import MEASURED, WHOLE, Executed, Lab, Seen
from agent_fox.verifier.proof.languages import language_of
from agent_fox.verifier.proof.sides import NOT_COPIED, differing, is_test_side
from agent_fox.verifier.proof.sites import Kind, Site, Unreadable
from agent_fox.verifier.sources import read_source

if TYPE_CHECKING:
    from agent_fox.core.expectations import Expectation
    from agent_fox.verifier.proof.languages import Mutants
    from agent_fox.verifier.running_suites import Ground
    from agent_fox.verifier.suite import SuiteRun

MOST_RUNS = 200
MOST_SECONDS = 900.0
"""Half of what a verifier's session may take: what is not decided by then is undecided, and the session still ends."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A requirement that would pass, and the tests of one run that show it."""

    id: str
    run: SuiteRun
    tests: tuple[Case, ...]


@dataclass(slots=True)
class Standing:
    """What is known of one requirement's tests so far."""

    claim: Claim
    executed: frozenset[Executed] = frozenset()
    opened: frozenset[str] = frozenset()
    data: frozenset[str] = frozenset()
    before: Before = Before.UNKNOWN
    places: tuple[Place, ...] = ()
    trials: list[Trial] = field(default_factory=list)
    word: Shown | None = None
    why: str = ""
    seal: Seal = Seal.HOLDS
    expectation: Expectation | None = None
    sealed_why: str = ""
    is_kept: bool = False


@dataclass(frozen=True, slots=True)
class Proof:
    """What the trials of one requirement came to. `why`: in words, with the place and test that decided it.

    `is_written_here`: one of its tests was written or changed since the base commit. `runs`: how many runs of the whole
    spec it took. `expectation`, `sealed_why`: the committed test that fails, and how. `tests`: the files of its tests.
    """

    id: str
    word: Shown
    why: str
    is_written_here: bool
    runs: int
    before: Before = Before.UNKNOWN
    seal: Seal = Seal.HOLDS
    expectation: Expectation | None = None
    sealed_why: str = ""
    tests: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BrokenSeal:
    """A committed test that fails. `is_own`: by an assertion of its own, and not for want of something."""

    test: Case
    is_own: bool


class Stage:
    """The trials of all requirements of one verification, which share their runs."""

    def __init__(self, ground: Ground, base: Path | None, changed: frozenset[str]) -> None:
        self._ground, self._root, self._base, self._changed = ground, ground.workspace, base, changed
        self._lab = Lab(ground, ground.workspace, "proof")
        self._tests_changed = differing(sorted(changed), base, ground.workspace) if base else ()
        self._texts: dict[str, str] = {}
        self._sites: dict[str, tuple[Site, ...]] = {}
        self._unread: dict[str, str] = {}
        self._contents = Contents(ground.workspace, base, self._files)
        self._shelf = kept.Shelf(Path(ground.order.proofs_folder) if ground.order.proofs_folder else None)
        self._begun = monotonic()
        self.runs = 0

    def proofs(self, claims: Sequence[Claim]) -> tuple[Proof, ...]:
        """What the tests of each claim prove, in the order of the claims."""
        standings = [Standing(claim) for claim in claims]
        for one in standings:
            self._recall(one)
        for run in {id(claim.run): claim.run for claim in claims}.values():
            mine = [one for one in standings if one.claim.run is run and not one.is_kept]
            self._sealed(run, mine)
            mine = [one for one in mine if one.seal.is_open]
            if not mine:
                continue
            self._twins(run, mine)
            self._golden(run, [one for one in mine if one.word is None])
            mine = [one for one in mine if one.word is None and one.seal.is_open]
            self._before(run, mine)
            self._without(run, mine)
        for one in standings:
            self._keep(one)
        return tuple(self._proof(one) for one in standings)

    # What is known from an earlier reading of the same contents.

    def _recall(self, one: Standing) -> None:
        found = self._shelf.find(self._key(one.claim), self._contents.digest)
        if found is not None:
            one.word, one.before, one.is_kept = found.word, found.before, True
            one.why = f"{found.why} (from an earlier reading of the same contents)"

    def _keep(self, one: Standing) -> None:
        """What was decided is kept; what could not be is tried again the next time."""
        if one.is_kept or one.word in (None, Shown.UNDECIDED) or one.seal is not Seal.HOLDS:
            return
        files = self._contents.tests() | {file for file, _ in one.executed} | one.opened
        if not _is_measured(one):
            files |= self._contents.all()
        rests_on = {path: self._contents.digest(path) for path in sorted({NAMES, *files})}
        self._shelf.keep(self._key(one.claim), kept.Kept(one.word, one.why, one.before, rests_on))

    def _key(self, claim: Claim) -> str:
        order = self._ground.order
        tests = sorted(test.id for test in claim.tests)
        return kept.digest([claim.run.line, *tests, *sorted(order.environment.items()), order.sandbox, order.network])

    def _proof(self, one: Standing) -> Proof:
        files = {test.file for test in one.claim.tests}
        is_here = self._base is None or bool(files & self._changed)
        return Proof(
            one.claim.id, one.word or Shown.UNDECIDED, one.why, is_here, self.runs, one.before, one.seal,
            one.expectation, one.sealed_why, tuple(sorted(files)),
        )  # fmt: skip

    # The tests that a person committed, in the words in which they were committed.

    def _sealed(self, run: SuiteRun, mine: Sequence[Standing]) -> None:
        """Lay the base's test side over the tree; where that lacks something, leave what was added."""
        if self._base is None or not self._tests_changed or not mine or not _has_tests(self._base):
            return
        over = {path: _bytes_of(self._base / path) for path in self._tests_changed}
        broken = self._broken_seals(run, mine, over)
        if broken and None in over.values():
            kept = {path: content for path, content in over.items() if content is not None}
            lacking = [one for one in mine if one.claim.id in broken and not broken[one.claim.id].is_own]
            again = self._broken_seals(run, lacking, kept) if lacking else {}
            broken = {id: one for id, one in broken.items() if one.is_own} | again
        for one in mine:
            if one.claim.id in broken:
                self._unseal(run, one, broken[one.claim.id].test, self._tests_changed)

    def _unseal(self, run: SuiteRun, one: Standing, case: Case, changed: Iterable[str]) -> None:
        """Note that this committed test fails where what was `changed` about it is put back."""
        order, files = self._ground.order, {test.file for test in run.cases}
        found = expectation_of(case, changed, files, self._base or self._root, self._root, order.stated)
        one.expectation, one.seal = found, sealed(order, one.claim.id, found)
        one.sealed_why = told(one.seal, found, case.message or case.text[:200])

    def _golden(self, run: SuiteRun, mine: Sequence[Standing]) -> None:
        """Data that a test itself opens, beside product code that it executes, is what it expects: it is sealed too."""
        for one in mine:
            found = one.data or (self._mentioned(one) if _is_measured(one) and not one.opened else frozenset())
            data = {path for path in found & self._changed if _is_data(path) and not is_test_side(path)}
            over = {
                path: content for path in data if self._base and (content := _bytes_of(self._base / path)) is not None
            }
            if over and _is_measured(one):
                broken = self._broken_seals(run, [one], over).get(one.claim.id)
                if broken is not None and broken.is_own:
                    self._unseal(run, one, broken.test, (*self._tests_changed, *over))

    def _broken_seals(
        self, run: SuiteRun, mine: Sequence[Standing], over: Mapping[str, bytes | None]
    ) -> dict[str, BrokenSeal]:
        """A committed test of each requirement that fails where these files are as they were committed."""
        seen = self._seen(self._lab, run, None, over)
        files = sorted({case.file for case in seen.cases} - {""})
        found = {path: source for path in files if (source := read_source(self._base or self._root, path))}
        mapped = Ownership(self._ground.order).map(seen.cases, found)
        failed = {id: [case for case in one.cases if case.outcome is Outcome.FAILED] for id, one in mapped.items()}
        own = {case: is_own_assertion(seen.ends[case.id]) for cases in failed.values() for case in cases}
        first = {id: max(cases, key=own.__getitem__) for id, cases in failed.items() if cases}
        return {one.claim.id: BrokenSeal(case, own[case]) for one in mine if (case := first.get(one.claim.id))}

    # The false twins, in a run that is measured too.

    def _twins(self, run: SuiteRun, mine: Sequence[Standing]) -> None:
        mark = f"twin {secrets.token_hex(6)}"
        tests = _together(mine)
        texts = self._twinned(tests, mark)
        seen = self._seen(self._lab, run, tests, texts)
        for one in mine:
            opened = seen.opened_by(one.claim.tests)
            one.executed, one.opened = seen.executed_by(one.claim.tests), frozenset(file for file, _ in opened)
            one.data = frozenset(file for file, opener in opened if opener and is_test_side(opener))
            missing = [test.id for test in one.claim.tests if test.id not in seen.ends]
            passed = [
                id
                for test in one.claim.tests
                if test.file in texts and (id := test.id) in seen.ends and _passes(seen, id)
            ]
            if seen.why_not or missing:
                one.word, one.why = Shown.UNDECIDED, seen.why_not or f"{missing[0]} did not run in a copy of the tree"
            elif passed:
                one.word, one.why = Shown.VACUOUS, f"{passed[0]} passes with a false assertion at its end, too"

    def _twinned(self, tests: Iterable[Case], mark: str) -> dict[str, str | None]:
        """Each file of tests with a false assertion at the end of each of these tests, as far as that can be made."""
        texts: dict[str, str | None] = {}
        for file, classes, function in dict.fromkeys((test.file, test.classes, test.function) for test in tests):
            language = language_of(file)
            text = texts.get(file) or self._text(file)
            made = _twin(language, text, classes, function, mark) if language and text else None
            if made is not None:
                texts[file] = made
        return texts

    # Red before.

    def _before(self, run: SuiteRun, mine: Sequence[Standing]) -> None:
        if self._base is None or not mine:
            return
        tests = _together(mine)
        lab = Lab(self._ground, self._root, "before")
        over = sorted(self._changed - {*self._tests_changed})
        seen = self._seen(lab, run, tests, {path: _text_of(self._base / path) for path in over})
        for one in mine:
            one.before = _before(seen, one.claim.tests)

    # Red without.

    def _without(self, run: SuiteRun, mine: Sequence[Standing]) -> None:
        for one in mine:
            one.places = tuple(self._places(one))
            if not one.places:
                self._without_places(run, one)
        open_ = [one for one in mine if one.word is None]
        while open_ and self.runs < MOST_RUNS and monotonic() - self._begun < MOST_SECONDS:
            asked = [(one, next_trial(one.places, one.trials)) for one in open_]
            for one, places in asked:
                if not places:
                    one.word, one.why = shown(one.before, one.places, one.trials), self._told(one)
                    if one.word is Shown.VACUOUS and not self._is_undecided(one) and not _is_measured(one):
                        self._without_places(run, one)
            open_ = [one for one in open_ if one.word is None]
            for group in _compatible([(one, places) for one, places in asked if places]):
                self._try(run, group)
        for one in open_:
            why = f"it was not decided within {MOST_RUNS} runs and {MOST_SECONDS:.0f} seconds"
            one.word, one.why = Shown.UNDECIDED, why

    def _try(self, run: SuiteRun, group: Sequence[tuple[Standing, tuple[Place, ...]]]) -> None:
        texts: dict[str, str | None] = {}
        broken = {place for _, places in group for place in places}
        for file in sorted({place.file for place in broken}):
            language = language_of(file)
            chosen = [self._sites[file][place.number] for place in broken if place.file == file]
            texts[file] = language.broken(self._texts[file], chosen) if language else None
        seen = self._seen(self._lab, run, _together([one for one, _ in group]), texts)
        for one, places in group:
            kinds = {self._sites[place.file][place.number].kind for place in places}
            one.trials.append(_trial(places, seen, one.claim.tests, is_definition=Kind.BASE in kinds))

    def _places(self, one: Standing) -> Iterator[Place]:
        """What can be broken of all that its tests execute; of code that runs unmeasured, what they name."""
        files = {file for file, _ in one.executed if not is_test_side(file)} or self._named(one)
        for file in sorted(files):
            executed = {line for path, line in one.executed if path == file}
            for number, site in enumerate(self._all_sites(file)):
                if site.kind is Kind.EMPTIED or not _is_executed(site, executed):
                    continue
                is_changed = file in self._changed
                yield Place(file, number, site.owner, site.line, site.kind is Kind.VALUE, is_changed)

    def _named(self, one: Standing) -> set[str]:
        """Files of code that its tests name, which other processes may execute; of a runner that measures nothing here,
        what the change wrote, or else everything.
        """
        said = "\n".join(filter(None, (self._text(test.file) for test in one.claim.tests)))
        commanded = set(one.claim.run.line.split())
        code = {path for path in self._files() - commanded if language_of(path) and not is_test_side(path)}
        named = {path for path in code if re.search(rf"(?<![\w-]){re.escape(Path(path).stem)}(?![\w-])", said)}
        tool = one.claim.run.call.tool if one.claim.run.call else ""
        return named if tool in MEASURED else named or (code & self._changed) or code

    def _mentioned(self, one: Standing) -> set[str]:
        """Files without mutants that the tests name in full, such as scripts that they start."""
        said = "\n".join(filter(None, (self._text(test.file) for test in one.claim.tests)))
        data = {path for path in self._files() if _is_data(path) and not is_test_side(path)}
        return {path for path in data if re.search(rf"(?<![\w.-]){re.escape(Path(path).name)}(?![\w.-])", said)}

    def _files(self) -> frozenset[str]:
        """All files of the tree, installed packages and what builds leave set apart."""
        found = set()
        for folder, folders, files in os.walk(self._root):
            folders[:] = [name for name in folders if name not in NOT_COPIED and name not in ("target", ".git")]
            found |= {Path(folder, name).relative_to(self._root).as_posix() for name in files}
        return frozenset(found)

    def _all_sites(self, file: str) -> tuple[Site, ...]:
        if file not in self._sites:
            language, text = language_of(file), self._text(file)
            self._texts[file] = text or ""
            try:
                self._sites[file] = language.sites(text) if language and text else ()
            except (Unreadable, ImportError) as error:
                self._sites[file], self._unread[file] = (), _why_unread(file, error)
        return self._sites[file]

    # Files that are read, or are to be there or gone.

    def _without_places(self, run: SuiteRun, one: Standing) -> None:
        """Tests of which nothing is seen to execute that could be broken: they read data, or ask what is there."""
        code = sorted({file for file, _ in one.executed if not is_test_side(file)})
        files = sorted(path for path in one.opened if _is_data(path) and not is_test_side(path))
        files = files or sorted(self._mentioned(one))
        if self._is_undecided(one):
            return
        if code and not files:
            one.word, one.why = Shown.VACUOUS, f"nothing that they execute in {code[0]} could change what they see"
            return
        if not files and not self._is_measurable(run):
            if run.call is not None and one.places:
                return
            one.word = shown_untried(one.before)
            one.why = "nothing that it rests on can be broken here: no language of its files has mutants"
            return
        without = emptied = None
        if files:
            gone: dict[str, str | None] = dict.fromkeys(files)
            without = self._effect(run, one, gone)
            emptied = self._effect(run, one, dict.fromkeys(files, ""))
        one.word = shown_by_data(one.before, without, emptied)
        named = ", ".join(files[:3]) or "what was changed"
        one.why = f"no code of the project runs; {named} was taken away" if files else "no code of the project runs"

    def _is_undecided(self, one: Standing) -> bool:
        """Whether code that its tests may execute could not be broken, since nobody could read it."""
        files = {file for file, _ in one.executed if not is_test_side(file)} or self._named(one)
        unread = sorted(files & self._unread.keys())
        if unread:
            one.word, one.why = Shown.UNDECIDED, self._unread[unread[0]]
        return bool(unread)

    def _is_measurable(self, run: SuiteRun) -> bool:
        """Whether it is seen what its tests execute and open; by some runners it is not."""
        return run.call is not None and run.call.tool in MEASURED

    def _effect(self, run: SuiteRun, one: Standing, texts: Mapping[str, str | None]) -> Effect:
        return _trial((), self._seen(self._lab, run, one.claim.tests, texts), one.claim.tests).effect

    # Small things.

    def _seen(
        self, lab: Lab, run: SuiteRun, tests: Sequence[Case] | None, texts: Mapping[str, bytes | str | None]
    ) -> Seen:
        self.runs += 1
        return lab.run(run, tests, texts)

    def _text(self, file: str) -> str | None:
        return _text_of(self._root / file)

    def _told(self, one: Standing) -> str:
        killed = killed_by(one.trials)
        tried = f"{len(one.trials)} of {len(one.places)} places were broken, alone or together"
        if killed is None:
            return f"{tried}, and no test noticed"
        (place,) = killed.places
        site = self._sites[place.file][place.number]
        return f"{place.file}:{place.line}: {site.what}, and {killed.test} noticed"


def _together(mine: Iterable[Standing]) -> tuple[Case, ...]:
    return tuple(dict.fromkeys(test for one in mine for test in one.claim.tests))


def _twin(language: Mutants, text: str, classes: tuple[str, ...], function: str, mark: str) -> str | None:
    """None where the grammar is missing, too: what that means is said where something is to be broken."""
    try:
        return language.twin(text, classes, function, mark)
    except ImportError:
        return None


def _has_tests(base: Path) -> bool:
    """Whether anything was committed that could be a test; files that only make folders packages are none."""
    found = (path for path in base.rglob("*") if path.is_file() and path.name not in ("__init__.py", "conftest.py"))
    return any(is_test_side(path.relative_to(base).as_posix()) and path.stat().st_size for path in found)


def _why_unread(file: str, error: Exception) -> str:
    if isinstance(error, ImportError):
        return f"breaking {file} needs the extra `policy`: pip install 'agent-fox[policy]'"
    return f"{file} could not be parsed, so nothing in it could be broken"


def _trial(places: tuple[Place, ...], seen: Seen, tests: Sequence[Case], *, is_definition: bool = False) -> Trial:
    """Of several tests of one requirement the first that noticed counts; see `of_several`."""
    if seen.why_not:
        return Trial(places, Effect.VOID)
    found = {test.id: effect_of(seen.ends.get(test.id), is_definition=is_definition) for test in tests}
    effect = of_several(list(found.values()))
    return Trial(places, effect, next((id for id, one in found.items() if one is effect), ""))


def _passes(seen: Seen, id: str) -> bool:
    return seen.ends[id].outcome in (Outcome.PASSED, Outcome.FLAKY)


def _before(seen: Seen, tests: Sequence[Case]) -> Before:
    if seen.why_not and not seen.ends:
        return Before.UNKNOWN
    outcomes = {seen.ends[test.id].outcome for test in tests if test.id in seen.ends}
    if Outcome.FAILED in outcomes:
        return Before.RED
    return Before.GREEN if outcomes == {Outcome.PASSED} else Before.UNKNOWN


def _is_executed(site: Site, executed: set[int]) -> bool:
    """What stands in no function is, with its file; and where nothing was measured, everything is taken to be."""
    start = site.owner_range[0] if site.owner_range else site.owner_line
    return not executed or not site.owner or WHOLE in executed or start in executed


def _is_measured(one: Standing) -> bool:
    return any(not is_test_side(file) for file, _ in one.executed)


def _is_data(path: str) -> bool:
    return not language_of(path) and not path.endswith(".pyc")


def _compatible(
    asked: Sequence[tuple[Standing, tuple[Place, ...]]],
) -> Iterator[list[tuple[Standing, tuple[Place, ...]]]]:
    """Groups of trials that may share a run: no test of one executes what another breaks."""
    groups: list[list[tuple[Standing, tuple[Place, ...]]]] = []
    for one, places in asked:
        fitting = (group for group in groups if all(_fits(one, places, other, more) for other, more in group))
        group = next(fitting, None)
        if group is None:
            groups.append([(one, places)])
        else:
            group.append((one, places))
    yield from groups


def _fits(one: Standing, places: tuple[Place, ...], other: Standing, more: tuple[Place, ...]) -> bool:
    return places == more or not (_meets(one, more) or _meets(other, places))


def _meets(one: Standing, places: tuple[Place, ...]) -> bool:
    """Whether its tests execute something of these; a function that the recorder cannot tell apart counts as met."""
    files = {file for file, _ in one.executed}
    mine = {(place.file, place.function) for place in one.places}
    return any(place.file in files and (not place.function or (place.file, place.function) in mine) for place in places)


def _text_of(path: Path) -> str | None:
    content = _bytes_of(path)
    return None if content is None else content.decode("utf-8", "surrogateescape")


def _bytes_of(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


@contextmanager
def stage(ground: Ground) -> Iterator[Stage]:
    """The stage of a verification: with its base tree, and what changed since, where they can be had."""
    order = ground.order
    with ExitStack() as stack:
        base, changed = None, frozenset[str]()
        if order.base_commit:
            with suppress(GitError):
                made = base_tree(Path(order.repository), order.base_commit, ground.workspace, order.brought)
                base = stack.enter_context(made).folder
                changed = frozenset(changed_paths(ground.workspace, order.base_commit, Path(order.repository)))
        yield Stage(ground, base, changed)
