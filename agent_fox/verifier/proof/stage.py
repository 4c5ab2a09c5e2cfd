"""What of the tests that passed proves something: sealed, red before, the false twin, red without. See `docs/proof.md`.

Each requirement that would pass by tests is tried. What came of it stands beside its verdict, or takes it away.
"""

from __future__ import annotations

import re
import secrets
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from threading import Event
from time import monotonic
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.expectations import Seal
from agent_fox.core.verdicts.proof import (
    Before,
    Effect,
    Place,
    Shown,
    Trial,
    Tried,
    bounded,
    killed_by,
    next_trial,
    shown,
    shown_by_data,
    shown_untried,
    takes_any_error,
)
from agent_fox.core.verdicts.scope import whole_tree
from agent_fox.system.files import content_in
from agent_fox.verifier.ground.cases import Case, Outcome
from agent_fox.verifier.mutants.languages import Named, language_of
from agent_fox.verifier.mutants.sites import Kind, Site, Unreadable
from agent_fox.verifier.policy.change_under_check import changed_paths
from agent_fox.verifier.proof import kept
from agent_fox.verifier.proof.effects import before_of, effect_of, hurts_bystander, of_several
from agent_fox.verifier.proof.kept import NAMES, Contents
from agent_fox.verifier.proof.lab import MEASURED, WHOLE, Lab, Seen
from agent_fox.verifier.proof.reaching import Reach
from agent_fox.verifier.proof.running import Later, Runner, runner
from agent_fox.verifier.proof.sealing import Seals
from agent_fox.verifier.proof.sides import (
    differing,
    is_made_by_tools,
    is_rust_product,
    is_test_side,
    rewritten,
    with_inline_tests,
)
from agent_fox.verifier.proof.standing import Claim, Proof, Standing
from agent_fox.verifier.proof.subjects import Aims, subjects
from agent_fox.verifier.proof.turning import Turned, is_led, is_passed_by, looks_at_code, restated
from agent_fox.verifier.source.base_tree import base_tree
from agent_fox.verifier.suites.resting import Resting, together

if TYPE_CHECKING:
    from agent_fox.core.verdicts.scope import Scope
    from agent_fox.verifier.mutants.languages import Mutants
    from agent_fox.verifier.proof.lab import Executed
    from agent_fox.verifier.proof.warm import Warm
    from agent_fox.verifier.running.commands import Ground
    from agent_fox.verifier.suites.suite import SuiteRun

_UNWRITTEN = "NotImplementedError"
"""What Python has for code that is still to be written; nothing to break, unless a requirement names it."""

_DEFINING = frozenset({Kind.BASE, Kind.PROPERTY})
_BROKEN = (Shown.DISCRIMINATES, Shown.ALREADY_TRUE)
_NO_PROOF = (None, Shown.VACUOUS, Shown.UNDECIDED)
MOST_RUNS = 200
MOST_SECONDS = 900.0
"""Half of what a verifier's session may take: what is not decided by then is undecided, and the session still ends."""


@dataclass(frozen=True, slots=True)
class Begun:
    """The runs that need nothing of each other. `mark`: what false twins say; `twinned`: the tests that have one;
    `beside`: tests of no requirement here, which run with the twins.
    """

    sealed: Later | None
    twins: Later
    before: Later | None
    mark: str
    twinned: frozenset[Case]
    beside: tuple[Case, ...] = ()


class Stage:
    """The trials of all requirements of one verification, which share their runs."""

    def __init__(
        self, ground: Ground, runs: Runner, base: Path | None, changed: frozenset[str], warm: Warm | None = None
    ) -> None:
        self._runner = runs
        self._ground, self._root, self._base, self._changed = ground, ground.workspace, base, changed
        self._lab, self._earlier = (Lab(ground, ground.workspace, name, warm) for name in ("proof", "before"))
        self._tests_changed = differing(sorted(changed), base, ground.workspace) if base else ()
        self._texts: dict[str, str] = {}
        self._sites: dict[str, tuple[Site, ...]] = {}
        self._starts: dict[str, dict[int | None, list[int]]] = {}
        self._unread: dict[str, str] = {}
        self._contents = Contents(ground.workspace, base)
        self._seals = None if base is None else Seals(ground.order, base, self._root, self._tests_changed, self._sealed)
        self._resting = Resting(ground.workspace, ground.was_there, ground.order.brought)
        self._shelf = kept.Shelf(Path(ground.order.proofs_folder) if ground.order.proofs_folder else None)
        self._since = monotonic()
        self._rewritten = rewritten(ground.workspace, ground.stamps)
        self._begun: Begun | None = None
        self._bystanders: dict[int, tuple[Case, frozenset[Executed] | None]] = {}

    def proofs(self, claims: Sequence[Claim]) -> tuple[Proof, ...]:
        """What the tests of each claim prove, in the order of the claims."""
        standings = [Standing(claim) for claim in claims]
        for each in standings:
            self._recall(each)
        for run in {id(claim.run): claim.run for claim in claims}.values():
            mine = [each for each in standings if each.claim.run is run and not each.is_kept]
            self._begun = self._begin(run, mine) if mine else None
            for step in (self._committed, self._twins, self._golden, self._before, self._without):
                mine = [each for each in mine if each.word is None and each.seal.is_open]
                if mine:
                    step(run, mine)
        for each in standings:
            self.aim(each)
            self._keep(each)
        return tuple(self._proof(each) for each in standings)

    # What is known from an earlier reading of the same contents.

    def _recall(self, one: Standing) -> None:
        kept = self._shelf.find(self._key(one.claim), self._contents.digest)
        if kept is not None:
            one.word, one.before, one.is_kept, one.tried = kept.word, kept.before, True, list(kept.tried)
            one.scope = kept.scope
            one.why = f"{kept.why} (from an earlier reading of the same contents)"

    def _keep(self, one: Standing) -> None:
        """What was decided is kept; what could not be is tried again the next time."""
        if one.is_kept or one.word in (None, Shown.UNDECIDED) or one.seal is not Seal.HOLDS:
            return
        files = self._contents.tests() | {file for file, _ in one.executed} | one.opened
        if not one.is_measured or (self._seals is not None and self._seals.is_needed):
            files |= self._contents.all()  # it is not known what they, or the committed tests, rest on
        if one.scope is not None:
            files |= {*one.scope.files, *(f"{folder}/" for folder in one.scope.folders)}
        rests_on = {path: self._contents.digest(path) for path in sorted({NAMES, *files})}
        tried, _ = bounded(one.tried)
        self._shelf.keep(self._key(one.claim), kept.Kept(one.word, one.why, one.before, rests_on, tried, one.scope))

    def _key(self, claim: Claim) -> str:
        order = self._ground.order
        tests = sorted(test.id for test in claim.tests)
        around = (*sorted(order.environment.items()), str(order.sandbox), order.network, _stamp(claim.run))
        around = (*around, *subjects(order.expected.get(claim.id, "")))
        return kept.key_of(claim.run.line, *tests, *around)

    def _proof(self, one: Standing) -> Proof:
        files = {test.file for test in one.claim.tests}
        changed = {path for path in files & self._changed if path in self._tests_changed or not is_rust_product(path)}
        is_here = self._base is None or bool(changed)
        lacking = f"no false twin could be made of {one.untwinned[0]}" if one.untwinned else ""
        why = "; ".join(filter(None, (one.why, lacking)))
        return Proof(
            one.claim.id, one.word or Shown.UNDECIDED, why, is_here, self._runner.runs, one.before, one.seal,
            one.expectation, one.sealed_why, tuple(sorted(files)), tuple(one.tried), one.is_kept,
            one.agreed_by, one.scope,
        )  # fmt: skip

    # The tests that a person committed, in the words in which they were committed.

    def _committed(self, run: SuiteRun, mine: Sequence[Standing]) -> None:
        if self._seals is not None:
            self._seals.read(run, mine)
            for each in mine if self._seals.is_needed else ():
                test = each.expectation.test if each.expectation else ""
                each.tried.append(Tried("committed tests", each.word or each.seal, test=test))

    def _golden(self, run: SuiteRun, mine: Sequence[Standing]) -> None:
        """Data that tests themselves open; where a runner does not tell what they open, what they name."""
        for each in mine:
            written = self._written_anew(run, each)
            if written:
                each.decide(Shown.UNDECIDED, f"{written} was written anew while the tests ran, which ask what it says")
                continue
            if self._seals is not None:
                self._seals.read_elsewhere(run, each)
            if self._seals is not None and each.is_measured:
                content = each.data if each.opened else self._mentioned(each)
                data = {path for path in content & self._changed if _is_data(path) and not is_test_side(path)}
                self._seals.read_data(run, each, sorted(data))

    def _written_anew(self, run: SuiteRun, one: Standing) -> str:
        """A file of the test side that was there before the reading, and which it wrote: one of the tests, or one that
        they ask and code of the product opens, too. Where it is not seen what they open, one that they name.
        """
        files = {test.file for test in one.claim.tests}
        is_seen = run.call is not None and run.call.tool in ("pytest", "unittest")
        asked = one.shared if is_seen else {path for path in self._rewritten if self._names(one, Path(path).name)}
        return min(self._rewritten & (files | asked), default="")

    def _sealed(self, run: SuiteRun, over: Mapping[str, bytes | None]) -> Seen:
        if self._begun and self._begun.sealed and self._seals and over is self._seals.committed:
            return self._begun.sealed()
        return self._runner.see(self._lab, run, None, over)

    def _begin(self, run: SuiteRun, mine: Sequence[Standing]) -> Begun:
        """Begin what all of them need, whatever the others come to: beside each other, where that can be."""
        tests, mark = _together(mine), f"twin {secrets.token_hex(6)}"
        texts, twinned = self._twinned(tests, mark)
        seals = self._seals if self._seals is not None and self._seals.is_needed else None
        sealed = self._runner.begin(self._lab, run, None, seals.committed) if seals else None
        beside = tuple(self.unclaimed(run, tests))[:1]
        twins = self._runner.begin(self._lab, run, (*tests, *beside), texts, is_recorded=True)
        before = self._runner.begin(self._earlier, run, tests, self._older(self._base)) if self._base else None
        return Begun(sealed, twins, before, mark, twinned, beside)

    def _older(self, base: Path) -> dict[str, bytes | str | None]:
        """The product of the base, where it differs, with the tests of the tree."""
        product = sorted(path for path in self._changed if path not in self._tests_changed or is_rust_product(path))
        return {
            path: with_inline_tests(base, self._root, path) if is_rust_product(path) else _text_in(base, path)
            for path in product
        }

    # The false twins, in a run that is measured too.

    def _twins(self, run: SuiteRun, mine: Sequence[Standing]) -> None:
        if self._begun is None:
            return
        seen, is_marked = self._measured(run, _together(mine), self._begun), self._is_measurable(run)
        messages = {case.id: f"{case.message}\n{case.text}" for case in seen.cases}
        for test in self._begun.beside:
            is_measured = self._is_measurable(run)
            if _passes(seen, test.id) and (test.id in seen.executed or not is_measured):
                self._bystanders[id(run)] = test, seen.executed_by([test]) if is_measured else None
        for each in mine:
            opened = seen.opened_by(each.claim.tests)
            each.executed, each.opened = seen.executed_by(each.claim.tests), frozenset(file for file, _ in opened)
            each.data = frozenset(file for file, opener in opened if opener and is_test_side(opener))
            each.shared = each.data & {file for file, opener in opened if opener and not is_test_side(opener)}
            each.scope, each.looks = self._scope(run, each.claim, seen), looks_at_code(each.claim.tests, seen.windows)
            untwinned = [test for test in each.claim.tests if not self._is_false(test, seen)]
            each.untwinned = tuple(test.id for test in untwinned)
            missing = [test.id for test in each.claim.tests if test.id not in seen.ends]
            twinned = [test for test in each.claim.tests if test not in untwinned]
            passed = [test.id for test in twinned if _passes(seen, test.id)]
            each.tried.extend(_tried("false twin", seen, each.claim.tests, twinned))
            if seen.why_not or missing:
                each.decide(Shown.UNDECIDED, seen.why_not or f"{missing[0]} did not run in a copy of the tree")
            elif passed:
                each.decide(Shown.VACUOUS, f"{passed[0]} passes with a false assertion at its end, too")
            elif is_marked and (odd := _changeable(each.claim.tests, untwinned, seen, messages, self._begun.mark)):
                each.decide(Shown.UNDECIDED, f"{odd} passed, and did not in a copy of the tree with nothing broken")
            each.holds_in_a_copy = all(_came_to_its_end(seen, test, self._begun.mark) for test in each.claim.tests)

    def _measured(self, run: SuiteRun, tests: Sequence[Case], begun: Begun) -> Seen:
        """The run of the twins; of tests that read there that they are false, what they execute where they are not."""
        seen = begun.twins()
        short = [test for test in tests if _reads_itself(seen, test) and not _came_to_its_end(seen, test, begun.mark)]
        if not short:
            return seen
        whole = self._runner.see(self._lab, run, short, {}, is_recorded=True)
        executed = {test.id: seen.executed_by([test]) | whole.executed_by([test]) for test in short}
        opened = {test.id: seen.opened_by([test]) | whole.opened_by([test]) for test in short}
        windows = {
            name: together(each.windows[name] for each in (seen, whole) if name in each.windows)
            for name in {*seen.windows, *whole.windows}
        }
        return replace(
            seen, executed={**seen.executed, **executed}, opened={**seen.opened, **opened}, windows=windows,
            processes=seen.processes + whole.processes - 1,
        )  # fmt: skip

    def _scope(self, run: SuiteRun, claim: Claim, seen: Seen) -> Scope:
        if self._seals is not None and self._seals.is_changed_about(claim.id):
            return whole_tree("committed tests about it were changed, and are read as they were committed too")
        return self._resting.scope(run, claim.tests, seen.windows, seen.processes)

    def _is_false(self, test: Case, seen: Seen) -> bool:
        """Whether this test was made false. One that reads its own text may end as it does because of that."""
        is_twinned = self._begun is not None and test in self._begun.twinned
        return is_twinned and not _reads_itself(seen, test)

    def _twinned(self, tests: Iterable[Case], mark: str) -> tuple[dict[str, str | None], frozenset[Case]]:
        """Each file of tests with a false assertion at the end of each of these tests; and which have one."""
        named: dict[str, dict[Named, None]] = {}
        for file, classes, function in map(_place_of, tests):
            named.setdefault(file, {})[classes, function] = None
        texts: dict[str, str | None] = {}
        done = set()
        for file, places in named.items():
            language, text = language_of(file), self._text(file)
            twin, ended = _twins(language, text, list(places), mark) if language and text else ("", frozenset())
            texts |= {file: twin} if ended else {}
            done |= {(file, *place) for place in ended}
        return texts, frozenset(test for test in tests if _place_of(test) in done)

    # Red before.

    def _before(self, run: SuiteRun, mine: Sequence[Standing]) -> None:
        if self._begun is None or self._begun.before is None:
            return
        seen = self._begun.before()
        for each in mine:
            each.before = before_of([seen.ends[test.id] for test in each.claim.tests if test.id in seen.ends])
            each.tried.append(Tried("before the work", each.before, seen.why_not))

    # Red without.

    def _without(self, run: SuiteRun, mine: Sequence[Standing]) -> None:
        for proof in mine:
            proof.places = tuple(self._places(proof))
            if not proof.places:
                self._without_places(run, proof)
        open_ = [proof for proof in mine if proof.word is None]
        while open_ and self._runner.runs < MOST_RUNS and monotonic() - self._since < MOST_SECONDS:
            asked = [(proof, next_trial(proof.places, proof.trials)) for proof in open_]
            for proof, places in asked:
                if not places:
                    proof.word, proof.why = shown(proof.before, proof.places, proof.trials), self._explanation(proof)
                    if proof.word is Shown.VACUOUS and not self._is_undecided(proof) and not proof.is_measured:
                        self._without_places(run, proof)
            open_ = [proof for proof in open_ if proof.word is None]
            self._try(
                run, _compatible([(proof, places) for proof, places in asked if places], MOST_RUNS - self._runner.runs)
            )
        for proof in open_:
            why = f"it was not decided within {MOST_RUNS} runs and {MOST_SECONDS:.0f} seconds"
            proof.word, proof.why = Shown.UNDECIDED, why
        self._unbroken(run, [proof for proof in mine if proof.word not in _NO_PROOF and not _holds(proof)])
        self.come_to(run, [proof for proof in mine if proof.word in _BROKEN])
        self._turned(run, [proof for proof in mine if proof.word in _BROKEN and proof.noticed])

    def _unbroken(self, run: SuiteRun, mine: Sequence[Standing]) -> None:
        """Tests that failed in each copy so far must pass in one where nothing is broken: else they fail for being in a
        copy, or passed before by what product code did to the runner, which it leaves where it is watched. A false twin
        that came to its own end has shown it.
        """
        seen = self._runner.see(self._lab, run, _together(mine), {}) if mine else Seen()
        for each in mine:
            failed = [test.id for test in each.claim.tests if effect_of(seen.ends.get(test.id)) is not Effect.UNNOTICED]
            if failed:
                why = f"{failed[0]} passed, and does not in a copy of the tree in which nothing was broken"
                each.word, each.why = Shown.UNDECIDED, why

    def _turned(self, run: SuiteRun, mine: Sequence[Standing]) -> None:
        """Turn round what noticed where something may stand between it and the runner, or looks at code."""
        doubtful = [
            each for each in mine if each.looks or any(is_led(end, self._text) for end in each.noticed.values())
        ]
        if not doubtful:
            return
        turned = Turned((end for each in doubtful for end in each.noticed.values()), self._text)
        killed = {place.file for each in doubtful if (trial := killed_by(each.trials)) for place in trial.places}
        whole = {file: restated(file, self._texts[file]) for file in killed}
        seen = self._runner.see(self._lab, run, _together(doubtful), {**turned.texts, **whole})
        if seen.why_not and len(doubtful) > 1:
            for each in doubtful:  # one that hangs, or spoils the report, takes no other's word away
                self._turned(run, [each])
            return
        for each in doubtful:
            odd = turned.odd(each.noticed, seen, looks=each.looks)
            effect = "failed" if odd is None else "not as it should"
            each.tried.append(Tried("turned round", effect, test=next(iter(each.noticed)).id))
            if odd is not None:
                each.decide(*odd)

    def come_to(self, run: SuiteRun, mine: Sequence[Standing]) -> None:
        """Turn round all that is asserted by tests that may pass without coming to what noticed: one that passes then,
        too, asked nothing of the tree as it is.
        """
        mine = [each for each in mine if any(is_passed_by(end, self._text) for end in each.noticed.values())]
        turned = Turned((end for each in mine for end in each.noticed.values()), self._text, is_whole=True)
        mine = [each for each in mine if all(end.frames[-1] in turned.texts for end in each.noticed.values())]
        seen = self._runner.see(self._lab, run, _together(mine), turned.texts) if mine else Seen()
        for each in mine:
            passed = [test.id for test in each.noticed if _passes(seen, test.id)]
            effect = "not as it should" if len(passed) == len(each.noticed) else "failed"
            each.tried.append(Tried("turned round", effect, test=next(iter(each.noticed)).id))
            if len(passed) == len(each.noticed):
                why = "comes to nothing that it asserts, unless something is broken"
                each.decide(Shown.VACUOUS, f"{passed[0]} {why}")

    def _try(self, run: SuiteRun, groups: Iterable[Group]) -> None:
        """Make a trial of each group; those that may run at once do."""
        begun = [(group, self._broken(run, group)) for group in groups]
        for group, (later, beside) in begun:
            seen = later()
            is_void = any(hurts_bystander(seen.ends.get(test.id)) for test in beside)
            for proof, places in group:
                kinds = {self._sites[place.file][place.number].kind for place in places}
                trial = _trial(places, seen, proof.claim.tests, is_definition=not kinds.isdisjoint(_DEFINING))
                trial = replace(trial, effect=Effect.VOID, test="") if is_void else trial
                proof.trials.append(trial)
                if trial.effect is Effect.KILLED and len(places) == 1:
                    ends = {test: seen.ends[test.id] for test in proof.claim.tests if test.id in seen.ends}
                    proof.noticed = {test: end for test, end in ends.items() if effect_of(end) is Effect.KILLED}
                proof.tried.append(self._tried(trial))

    def _tried(self, trial: Trial) -> Tried:
        first = trial.places[0]
        if len(trial.places) > 1:
            return Tried("broken", trial.effect, f"{len(trial.places)} places at once", first.file, test=trial.test)
        what = self._sites[first.file][first.number].what
        return Tried("broken", trial.effect, what, first.file, first.line, trial.test)

    def _broken(self, run: SuiteRun, group: Group) -> tuple[Later, tuple[Case, ...]]:
        """The run, and the bystander that runs with it."""
        texts: dict[str, str | None] = {}
        broken = {place for _, places in group for place in places}
        for file in sorted({place.file for place in broken}):
            language = language_of(file)
            chosen = [self._sites[file][place.number] for place in broken if place.file == file]
            texts[file] = language.broken(self._texts[file], chosen) if language else None
        beside = self._bystander(run, broken)
        tests = (*_together([proof for proof, _ in group]), *beside)
        return self._runner.begin(self._lab, run, tests, texts), beside

    def _bystander(self, run: SuiteRun, broken: Iterable[Place]) -> tuple[Case, ...]:
        """A test of no requirement here that executes nothing of what is broken; none where that is not known."""
        if id(run) not in self._bystanders:
            return ()
        test, executed = self._bystanders[id(run)]
        if executed is None:
            return () if any(self._reach.reaches(test.file, place.file) for place in broken) else (test,)
        for place in broken:
            lines = {line for file, line in executed if file == place.file}
            if lines and place.number in dict(self._executed_sites(place.file, lines)):
                return ()
        return (test,)

    def unclaimed(self, run: SuiteRun, tests: Sequence[Case]) -> Iterator[Case]:
        """Other tests that passed: what is not to be touched by what is broken. Where it is not measured what a test
        executes, those that do not reach what was changed by any name.

        None of the same file, whose tests may rest on each other.
        """
        files = {test.file for test in tests}
        others = (case for case in run.cases if case.outcome is Outcome.PASSED and case.file not in files)
        if self._is_measurable(run):
            yield from others
            return
        changed = [path for path in sorted(self._changed) if self._reach.is_known(path)]
        for case in others:
            if self._reach.is_known(case.file) and not any(self._reach.reaches(case.file, path) for path in changed):
                yield case

    @cached_property
    def _reach(self) -> Reach:
        return Reach(self._root, self._contents.all())

    def _places(self, one: Standing) -> Iterator[Place]:
        """What can be broken of all that its tests execute; of code that runs unmeasured, what they name."""
        ran = {file for file, _ in one.executed if not is_test_side(file)}
        for file in sorted(ran or self._named(one)):
            executed, is_changed = {line for path, line in one.executed if path == file}, file in self._changed
            for number, site in self._executed_sites(file, executed):
                if not self.counts(one, site, is_only_read=not ran and file in one.data):
                    continue
                yield Place(
                    file, number, site.owner, site.line, site.kind is Kind.VALUE, is_changed,
                    site.kind is Kind.OTHER_ERROR, site.kind is Kind.ONLY_ERROR,
                )  # fmt: skip

    def counts(self, one: Standing, site: Site, *, is_only_read: bool) -> bool:
        """Of code that the tests read as a text, only its data; of what stands for code to come, what is asked for."""
        if site.kind is Kind.UNWRITTEN:
            return _UNWRITTEN in self._ground.order.expected.get(one.claim.id, "")
        return not is_only_read or site.kind is Kind.BODY

    def _executed_sites(self, file: str, executed: set[int]) -> Iterator[tuple[int, Site]]:
        """What stands in no function is executed with its file; where nothing was measured, everything is."""
        sites = self._all_sites(file)
        if not executed or WHOLE in executed:
            wanted: Iterable[int] = range(len(sites))
        else:
            starts = self._starts[file]
            wanted = sorted(number for start in (*executed, None) for number in starts.get(start, ()))
        return ((number, sites[number]) for number in wanted if sites[number].kind is not Kind.EMPTIED)

    def _named(self, one: Standing) -> set[str]:
        """Files of code that its tests name, which other processes may execute; of a runner that measures nothing here,
        what the change wrote, or else everything.
        """
        text = "\n".join(filter(None, (self._text(test.file) for test in one.claim.tests)))
        commanded = set(one.claim.run.line.split())
        code = {path for path in self._contents.all() - commanded if language_of(path) and not is_test_side(path)}
        named = {path for path in code if re.search(rf"(?<![\w-]){re.escape(Path(path).stem)}(?![\w-])", text)}
        tool = one.claim.run.call.tool if one.claim.run.call else ""
        return named if tool in MEASURED else named or (code & self._changed) or code

    def _mentioned(self, one: Standing) -> set[str]:
        """Files without mutants that the tests name in full, such as scripts that they start."""
        data = {path for path in self._contents.all() if _is_data(path) and not is_test_side(path)}
        return {path for path in data if self._names(one, Path(path).name)}

    def _names(self, one: Standing, name: str) -> bool:
        """Whether the files of its tests name a file."""
        texts = (self._text(file) or "" for file in {test.file for test in one.claim.tests})
        return any(re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])", text) for text in texts)

    def _all_sites(self, file: str) -> tuple[Site, ...]:
        if file not in self._sites:
            language, text = language_of(file), self._text(file)
            self._texts[file] = text or ""
            try:
                self._sites[file] = language.sites(text) if language and text else ()
            except (Unreadable, ImportError) as error:
                self._sites[file], self._unread[file] = (), _why_unread(file, error)
            self._starts[file] = _by_start(self._sites[file])
        return self._sites[file]

    # What a requirement is about.

    def aim(self, one: Standing) -> None:
        """Tests that can fail must have to do with what their requirement names, and use their own tools for it."""
        if one.is_kept or one.word not in _BROKEN:
            return
        text = self._ground.order.expected.get(one.claim.id, "")
        tests = frozenset(test.file for test in one.claim.tests)
        product = frozenset((file, start) for file, start in one.executed if not is_test_side(file))
        if why := self.aims.why_not(text, tests, one.opened, product):
            one.decide(Shown.UNDECIDED, why)

    @cached_property
    def aims(self) -> Aims:
        code = frozenset(path for path in self._contents.all() if language_of(path))
        return Aims(self._text, self._all_sites, code, self._changed)

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
        read = sorted(path for path in one.data if language_of(path) and not is_test_side(path))
        if read and not files:
            one.word, one.why = Shown.VACUOUS, f"the text of {read[0]} is read, and its code never runs"
            return
        helpers = {file for file, _ in one.executed if is_test_side(file)} - {test.file for test in one.claim.tests}
        added = sorted(file for file in helpers if self._base is not None and not (self._base / file).exists())
        if one.leans_on_added and added and not files:
            one.word, one.why = Shown.VACUOUS, f"no code of the project runs, and the committed tests need {added[0]}"
            return
        if not files and not self._is_measurable(run):
            if run.call is not None and one.places:
                return
            if one.before is Before.GREEN and all(language_of(test.file) for test in one.claim.tests):
                one.word, one.why = Shown.VACUOUS, "they passed before, and there is no code of the project to execute"
                return
            one.word = shown_untried(one.before)
            one.why = "nothing that it rests on can be broken here: no language of its files has mutants"
            return
        without = emptied = None
        if files:
            gone: dict[str, str | None] = dict.fromkeys(files)
            without = self._effect(run, one, gone, "taken away")
            emptied = self._effect(run, one, dict.fromkeys(files, ""), "emptied")
        if self._base is not None and one.before is Before.UNKNOWN and without is not Effect.KILLED:
            one.decide(Shown.UNDECIDED, "what its tests did before the work could not be seen")
            return
        one.word = shown_by_data(one.before, without, emptied)
        named = ", ".join(files[:3]) or "what was changed"
        one.why = f"no code of the project runs; {named} was taken away" if files else "no code of the project runs"

    def _is_undecided(self, one: Standing) -> bool:
        """Whether code that its tests may execute could not be broken because it could not be read."""
        files = {file for file, _ in one.executed if not is_test_side(file)} or self._named(one)
        unread = sorted(files & self._unread.keys())
        if unread:
            one.word, one.why = Shown.UNDECIDED, self._unread[unread[0]]
        return bool(unread)

    def _is_measurable(self, run: SuiteRun) -> bool:
        """Whether it is seen what its tests execute and open; by some runners it is not."""
        return run.call is not None and run.call.tool in MEASURED

    def _effect(self, run: SuiteRun, one: Standing, texts: Mapping[str, str | None], how: str) -> Effect:
        trial = _trial((), self._runner.see(self._lab, run, one.claim.tests, texts), one.claim.tests)
        one.tried.append(Tried(how, trial.effect, ", ".join(texts), test=trial.test))
        return trial.effect

    # Small things.

    def _text(self, file: str) -> str | None:
        return _text_in(self._root, file)

    def _explanation(self, one: Standing) -> str:
        killed = killed_by(one.trials)
        broken = {place for trial in one.trials for place in trial.places}
        tried = f"{len(broken)} of {len(one.places)} places were broken, alone or together"
        if takes_any_error(one.trials):
            return f"any error will do for its tests: let one say which, by its class or its text; {tried}"
        if killed is None:
            return f"{tried}, and no test noticed"
        (place,) = killed.places
        site = self._sites[place.file][place.number]
        return f"{place.file}:{place.line}: {site.what}, and {killed.test} noticed"


def _together(mine: Iterable[Standing]) -> tuple[Case, ...]:
    return tuple(dict.fromkeys(test for each in mine for test in each.claim.tests))


def _stamp(run: SuiteRun) -> str:
    """Which program runs the tests; another version of it may see other things."""
    path = shutil.which(run.command.argv[0]) if run.command and run.command.argv else None
    if path is None:
        return ""
    program = Path(path).resolve()
    return f"{program} {program.stat().st_size} {program.stat().st_mtime_ns}"


def _place_of(test: Case) -> tuple[str, tuple[str, ...], str]:
    return test.file, test.classes, test.function


def _twins(language: Mutants, text: str, tests: Sequence[Named], mark: str) -> tuple[str, frozenset[Named]]:
    """Also None where the grammar is missing; the breaking of places reports that."""
    try:
        return language.twins(text, tests, mark)
    except ImportError:
        return text, frozenset()


def _why_unread(file: str, error: Exception) -> str:
    if isinstance(error, ImportError):
        return f"breaking {file} needs the extra `policy`: pip install 'agent-fox[policy]'"
    return f"{file} could not be parsed, so nothing in it could be broken"


def _trial(places: tuple[Place, ...], seen: Seen, tests: Sequence[Case], *, is_definition: bool = False) -> Trial:
    """Of several tests of one requirement the first that noticed counts; see `of_several`."""
    if seen.why_not:
        return Trial(places, Effect.VOID)
    effects = {test.id: effect_of(seen.ends.get(test.id), is_definition=is_definition) for test in tests}
    effect = of_several(list(effects.values()))
    return Trial(places, effect, next((id for id, each in effects.items() if each is effect), ""))


def _holds(one: Standing) -> bool:
    return one.holds_in_a_copy or any(trial.effect is Effect.UNNOTICED for trial in one.trials)


def _came_to_its_end(seen: Seen, test: Case, mark: str) -> bool:
    """Whether a false twin failed by what stands at its end. Only the first line counts: tools show source below it."""
    return test.id in seen.ends and mark in seen.ends[test.id].message.partition("\n")[0]


def _reads_itself(seen: Seen, test: Case) -> bool:
    return (test.file, test.file) in seen.opened.get(test.id, frozenset())


def _passes(seen: Seen, id: str) -> bool:
    return id in seen.ends and seen.ends[id].outcome in (Outcome.PASSED, Outcome.FLAKY)


def _tried(how: str, seen: Seen, tests: Sequence[Case], made: Sequence[Case]) -> Iterator[Tried]:
    """What the tests did that were made false; one row for all that failed."""
    failed = [test for test in made if test.id in seen.ends and seen.ends[test.id].outcome is Outcome.FAILED]
    if failed:
        yield Tried(how, "failed", f"{len(failed)} of {len(tests)} tests", test=failed[0].id)
    others = [test for test in made if test not in failed]
    yield from (
        Tried(how, seen.ends[test.id].outcome if test.id in seen.ends else "not run", test=test.id) for test in others
    )


def _changeable(
    tests: Sequence[Case], untwinned: Sequence[Case], seen: Seen, messages: Mapping[str, str], mark: str
) -> str:
    """A test that ends otherwise than in the reading, though the product is the same; empty where none does.

    A false twin fails, but at its end: what it asserts before held once more.
    """
    for test in tests:
        end = seen.ends[test.id]
        if test in untwinned:
            is_as_it_was = end.outcome is not Outcome.FAILED or _reads_itself(seen, test)
        else:
            is_as_it_was = end.outcome is Outcome.FAILED and mark in f"{end.message}\n{messages.get(test.id, '')}"
        if not is_as_it_was:
            return test.id
    return ""


def _by_start(sites: Iterable[Site]) -> dict[int | None, list[int]]:
    """The numbers of the sites by where their function starts; None: they stand in none."""
    by_start: dict[int | None, list[int]] = {}
    for number, site in enumerate(sites):
        start = site.owner_range[0] if site.owner_range else site.owner_line
        by_start.setdefault(start if site.owner else None, []).append(number)
    return by_start


def _is_data(path: str) -> bool:
    return not language_of(path) and not is_made_by_tools(path)


Group = list[tuple[Standing, tuple[Place, ...]]]
"""Trials that share a run."""


@dataclass(frozen=True, slots=True)
class Together:
    """A group in the making: the functions and files that its tests execute, and those that it breaks."""

    members: Group = field(default_factory=list)
    met: set[tuple[str, str]] = field(default_factory=set)
    broken: set[tuple[str, str]] = field(default_factory=set)

    def add(self, other: Together) -> None:
        self.members.extend(other.members)
        self.met.update(other.met)
        self.broken.update(other.broken)

    def fits(self, other: Together) -> bool:
        return self.met.isdisjoint(other.broken) and self.broken.isdisjoint(other.met)


def _compatible(asked: Iterable[tuple[Standing, tuple[Place, ...]]], most: int) -> Iterator[Group]:
    """At most so many groups of trials that may share a run: no test of one executes what another breaks.

    A module's body is executed with its file; a function that the recorder cannot tell apart counts as met.
    """
    alike: dict[tuple[Place, ...], Together] = {}
    for proof, places in asked:
        met = {(file, "") for file, _ in proof.executed} | {(place.file, place.function) for place in proof.places}
        broken = {(place.file, place.function) for place in places}
        alike.setdefault(places, Together()).add(Together([(proof, places)], met, broken))
    groups: list[Together] = []
    for bundle in alike.values():
        group = next((group for group in groups if group.fits(bundle)), None)
        if group is not None:
            group.add(bundle)
        elif len(groups) < most:
            groups.append(bundle)
    yield from (group.members for group in groups)


def _text_in(root: Path, path: str) -> str | None:
    content = content_in(root, path)
    return None if content is None else content.decode("utf-8", "surrogateescape")


@contextmanager
def stage(ground: Ground, warm: Warm | None = None) -> Iterator[Stage]:
    """The stage of a verification: with its base tree, and what changed since, where there is a base commit.

    Raises GitError where the base commit cannot be laid out.
    """
    order = ground.order
    with ExitStack() as stack:
        base, changed = None, frozenset[str]()
        if order.base_commit:
            made = base_tree(Path(order.repository), order.base_commit, ground.workspace, order.brought)
            base = stack.enter_context(made).folder
            changed = frozenset(changed_paths(ground.workspace, order.base_commit, Path(order.repository)))
        stop = Event()
        runs = stack.enter_context(runner(order, stop))
        yield Stage(replace(ground, stop=stop), runs, base, changed, warm)
