"""Where failing tests began to fail: each is run at states that the files had during coders' sessions, by halves.

The states are trees of the repository. Each run is one of the lab's, in the sandbox, in a copy whose product is that of
the state and whose tests are those of now. What a test did on a tree is kept, so that no reading asks it again. Source
of the rules: `docs/traces.md`.
"""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from agent_fox.core.ids import digest_of
from agent_fox.core.json_text import json_object
from agent_fox.core.retry.onset import Onset, Search, Seen, look, narrowed
from agent_fox.core.retry.replay import Finding, State
from agent_fox.core.signals import normalise_line
from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.hidden import COMMAND as HIDDEN
from agent_fox.core.verdicts.verdict import Disposition, Unproven, Word
from agent_fox.system import git, git_objects
from agent_fox.system.files import replace_file
from agent_fox.system.git_objects import ABSENT, GITLINK, Change
from agent_fox.verifier.ground.cases import Case, Outcome
from agent_fox.verifier.proof.lab import Lab
from agent_fox.verifier.proof.lab import Seen as LabSeen
from agent_fox.verifier.proof.sides import is_test_side
from agent_fox.verifier.suites.evidence_text import first_error

if TYPE_CHECKING:
    from agent_fox.core.verdicts.verdict import Verdict
    from agent_fox.verifier.judging.verdicts import Bench
    from agent_fox.verifier.judging.verdicts import Finding as Judged
    from agent_fox.verifier.running.commands import Ground
    from agent_fox.verifier.suites.suite import SuiteRun

MOST_SEARCHES = 3
"""Different tests of one reading whose onset is searched for."""

MOST_SKIPPED = 8
"""Runs that show nothing, of one search: where so many states could not be run, more of the same are likely."""

MOST_KEPT = 5000
FOLDER = "onsets"
LINK = "120000"

NO_ONSET = {
    Disposition.FLAKY: "it is flaky: it passed again on the same files",
    Disposition.PRE_EXISTING: "it failed before the work began",
    Unproven.VACUOUS_TEST: "it passes; its test proves nothing, which no step broke",
    Unproven.WEAKENED_TEST: "it passes; its test was weakened, which the evidence names",
    Unproven.CHANGED_EXPECTATION: "it passes; its committed test was changed, which the evidence names",
}
"""Why there is no onset, by what a verdict says of the failure."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a test did on a tree: `passed`, `failed` with the line of its error, `skipped` where it did not run."""

    word: str
    error: str = ""

    def against(self, last: Answer) -> Seen:
        """Compared with what it did at the end."""
        if self.word == "passed":
            return Seen.PASSED
        if self.word == "skipped":
            return Seen.SKIPPED
        return Seen.SAME if self == last else Seen.OTHER


@dataclass(frozen=True, slots=True)
class Target:
    """A failing test and its run. Without a case it is the file `file`, which could not be loaded."""

    run: SuiteRun
    case: Case | None
    file: str
    now: Answer

    @property
    def name(self) -> str:
        return self.case.id if self.case is not None else self.file

    @property
    def tests(self) -> tuple[Case, ...] | None:
        """What is run: that test alone, or all, for a file that is not loaded has no test to be named."""
        return (self.case,) if self.case is not None else None

    def answer(self, seen: LabSeen) -> Answer:
        return self.of_case(seen, self.case) if self.case is not None else self.of_file(seen)

    def of_case(self, seen: LabSeen, case: Case) -> Answer:
        key = (case.classes, case.name, case.file)
        same = [each for each in seen.cases if (each.classes, each.name, each.file) == key]
        failed = next((each for each in same if each.outcome is Outcome.FAILED), None)
        if failed is not None:
            return Answer("failed", error_of(failed))
        return Answer("passed" if same and all(each.outcome is Outcome.PASSED for each in same) else "skipped")

    def of_file(self, seen: LabSeen) -> Answer:
        if self.file in seen.broken_files:
            return Answer("failed", normalise_line(seen.broken_files[self.file]))
        name = PurePosixPath(self.file).name  # a file that was loaded may be told with its folder
        return Answer("passed" if any(PurePosixPath(case.file).name == name for case in seen.cases) else "skipped")


def error_of(case: Case) -> str:
    """The first line of a failure, without what changes from run to run."""
    return normalise_line(case.message or first_error(case))


def findings(ground: Ground, bench: Bench, judged: Sequence[Judged]) -> tuple[Finding, ...]:
    """One finding for each requirement that fails, in their order; nothing where there is no trail to search."""
    trail, failing = ground.order.trail, [each for each in judged if each.verdict.word is Word.FAIL]
    if not trail or not failing:
        return ()
    search = Searching(ground, trail, Lab(ground, ground.workspace, "onset"), time.monotonic() + ground.order.timeout)
    return tuple(found_of(search, bench, each) for each in failing)


def found_of(search: Searching, bench: Bench, judged: Judged) -> Finding:
    verdict = judged.verdict
    target = target_of(bench, judged)
    why = NO_ONSET.get(verdict.disposition, "") or ("" if target else why_nothing(verdict))
    if why or target is None:
        return Finding(verdict.requirement_id, target.name if target else "its test", Onset.NONE, why)
    return replace(search.find(target), requirement=verdict.requirement_id)


def why_nothing(verdict: Verdict) -> str:
    if verdict.command == HIDDEN:
        return "what fails is a check that coders do not see"
    return "no single test fails: it is absent, or no test names the requirement"


def target_of(bench: Bench, judged: Judged) -> Target | None:
    """The first own test of a requirement that fails, else the file that keeps its tests from running."""
    failed = (case for case in bench.tests(judged.verdict.requirement_id) if case.outcome is Outcome.FAILED)
    case = next(failed, None)
    if case is not None:
        return Target(bench.run_of(case), case, case.file, Answer("failed", error_of(case)))
    run = judged.run
    broken = next((each for each in run.broken if each.file), None) if run is not None else None
    if run is None or broken is None:
        return None
    return Target(run, None, broken.file, Answer("failed", normalise_line(broken.error or broken.what)))


@dataclass(frozen=True, slots=True)
class Searching:
    """The search over one trail, shared by all tests of a reading. `until` by the monotonic clock, in seconds."""

    ground: Ground
    trail: tuple[State, ...]
    lab: Lab
    until: float
    done: dict[str, Finding] = field(default_factory=dict)

    def find(self, target: Target) -> Finding:
        """Of a test that was searched for already, the same again."""
        known = self.done.get(target.name)
        if known is None and len(self.done) >= MOST_SEARCHES:
            return Finding("", target.name, Onset.NONE, f"{MOST_SEARCHES} other tests of this reading were searched")
        if known is None:
            known = self.done[target.name] = self.search_for(target)
        return known

    def search_for(self, target: Target) -> Finding:
        last, runs = len(self.trail) - 1, Runs()
        if self.trail[last].tree == git.tree_of(self.repo, self.ground.order.commit):
            runs.seen[last] = Seen.SAME  # the reading itself ran it there
        try:
            while (search := look(last, runs.seen)).next is not None:
                if time.monotonic() > self.until or runs.beside > MOST_SKIPPED:
                    return self._bare(target, Onset.NONE, TOO_LONG, runs)
                runs.note(search.next, self._asked(target, self.trail[search.next], runs))
            if search.skipped:
                search = narrowed(search, self.alone_of(target, search, runs))
        except git.GitError:
            return self._bare(target, Onset.NONE, "the files of the steps are not there any more", runs)
        onset = search.onset or Onset.NONE
        finding = self._bare(target, onset, ELSEWHERE if onset is Onset.ELSEWHERE else "", runs)
        return finding if search.first_bad is None else self.placed(finding, search)

    def _bare(self, target: Target, onset: Onset, why: str, runs: Runs) -> Finding:
        """Without a place, but for a test that failed from the start: that is the last one's."""
        last = self.trail[-1] if onset is Onset.FROM_START else None
        session, step = (last.session, last.step or None) if last is not None else (None, None)
        return Finding(
            "", target.name, onset, why, session, step,
            runs=runs.made, beside=runs.beside, reused=runs.reused, states=len(self.trail),
        )  # fmt: skip

    def placed(self, finding: Finding, search: Search) -> Finding:
        place = search.first_bad or 0
        state, before = self.trail[place], self.trail[min((*search.skipped, place)) - 1]
        if not state.step:  # between two sessions: what the later one began with
            return replace(finding, onset=Onset.ELSEWHERE, why=ELSEWHERE)
        unsure = tuple(self.trail[each].step for each in search.skipped if self.trail[each].session == state.session)
        return replace(
            finding, session=state.session, step=state.step, before=before.tree, after=state.tree, skipped=unsure
        )

    def alone_of(self, target: Target, search: Search, runs: Runs) -> dict[int, Seen]:
        """What each step that could not be run does alone, laid over the last good state. Raises GitError."""
        good = self.trail[search.skipped[0] - 1].tree
        alone: dict[int, Seen] = {}
        for place in search.skipped:
            runs.beside += 1
            step = (self.trail[place - 1].tree, self.trail[place].tree)
            alone[place] = self._asked(target, State(0, 0, good), runs, step)
        return alone

    def _asked(self, target: Target, state: State, runs: Runs, step: tuple[str, str] | None = None) -> Seen:
        """What the test does at a state, with what a step changed laid over it. Raises GitError."""
        kept = Kept(self.place_of(target, state, step))
        answer = kept.read()
        if answer is None:
            changes = {**self._between(self.ground.order.commit, state.tree), **(self._between(*step) if step else {})}
            answer = target.answer(self.lab.run(target.run, target.tests, changes))
            kept.write(answer)
            runs.made += 1
        else:
            runs.reused += 1
        return answer.against(target.now)

    def place_of(self, target: Target, state: State, step: tuple[str, str] | None) -> Path | None:
        order = self.ground.order
        if not order.proofs_folder:
            return None
        files = git_objects.files_under(self.repo, order.commit)
        tests = (f"{path} {blob}" for path, blob in files.items() if is_test_side(path))
        where = (state.tree, *(step or ()), target.name, target.run.line, str(order.sandbox))
        return Path(order.proofs_folder) / FOLDER / digest_of(*where, *tests)

    @property
    def repo(self) -> Path:
        return Path(self.ground.order.repository)

    def _between(self, old: str, new: str) -> Mapping[str, bytes | None]:
        """What makes the product of one commit or tree of another's; the test side stays."""
        changes = git_objects.changes_between(self.repo, old, new)
        wanted = [change for change in changes if self.is_laid(change)]
        return {change.path: self.content(change.new.mode, change.new.id) for change in wanted}

    def is_laid(self, change: Change) -> bool:
        """Whether it is a file of the product. Links are left as they are, and nothing is written through one."""
        folders = PurePosixPath(change.path).parents
        leads_away = any((self.ground.workspace / folder).is_symlink() for folder in folders if folder.parts)
        return not (is_test_side(change.path) or change.new.mode in (GITLINK, LINK) or leads_away)

    def content(self, mode: str, blob: str) -> bytes | None:
        if mode == ABSENT:
            return None
        read = git.read(self.repo, blob)
        if read is None:
            raise git.GitError(f"the object {blob} is missing in {self.repo}")
        return read.content


TOO_LONG = "the search took too long, or too many steps could not be run"
ELSEWHERE = "it passes on the files that these sessions left: other work that landed beside them breaks it"


@dataclasses.dataclass(slots=True)
class Runs:
    """The runs of one search: how many were made, were for steps that could not be run, or were known from before."""

    seen: dict[int, Seen] = field(default_factory=dict)
    made: int = 0
    beside: int = 0
    reused: int = 0

    def note(self, place: int, what: Seen) -> None:
        self.seen[place] = what
        self.beside += what is Seen.SKIPPED


@dataclass(frozen=True, slots=True)
class Kept:
    """The file in which an answer is kept; None keeps nothing. One that cannot be read or written is left."""

    place: Path | None

    def read(self) -> Answer | None:
        with suppress(OSError):
            row = json_object(self.place.read_bytes()) if self.place is not None else None
            if row is not None and row.get("word") in ("passed", "failed", "skipped"):
                return Answer(str(row["word"]), str(row.get("error", "")))
        return None

    def write(self, answer: Answer) -> None:
        if self.place is None:
            return
        with suppress(OSError):
            self.place.parent.mkdir(parents=True, exist_ok=True)
            files = list(self.place.parent.iterdir())
            if len(files) >= MOST_KEPT:
                for path in sorted(files, key=lambda path: path.stat().st_mtime)[: MOST_KEPT // 10]:
                    path.unlink(missing_ok=True)
            text = json.dumps({"word": answer.word, "error": answer.error})
            replace_file(self.place, text, is_durable=False)
