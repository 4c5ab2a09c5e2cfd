"""The list of flaky tests: who is on it, since when, by which evidence. It causes reruns and excuses nothing.

The file is JSON, written whole or not at all; where it lies is the caller's. The rules are pure functions of the list.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from agent_fox.core.markdown import cell, code
from agent_fox.core.values import dataclass
from agent_fox.system.files import replace_file
from agent_fox.verifier.ground.disposition_facts import PROOF_RUNS

if TYPE_CHECKING:
    from agent_fox.verifier.suites.suite import SuiteRun


MOST_COMMITS = 20
"""So many of a test's commits are kept, the newest."""
DECAY_DAYS = 30
"""A test that has not been seen flaky for so long leaves the list."""
STEADY_PASSES = 50
"""So many first-time passes since it was last seen flaky do the same."""


class FlakyListDamaged(ValueError):
    """The file is no list of flaky tests: one line that names it and says what is wrong. It is left as it is."""


class FlakyTest(BaseModel, defer_build=True):
    """One test, by its full name.

    first_seen, last_seen: when it was proven flaky. commits: where, oldest first. count: how often.
    passes_since: runs that it passed at the first go since then. evidence: artifact or words for the last proof.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(min_length=1)
    first_seen: AwareDatetime
    last_seen: AwareDatetime
    commits: tuple[str, ...] = ()
    count: int = Field(default=1, ge=1)
    passes_since: int = Field(default=0, ge=0)
    evidence: str = ""


class _Document(BaseModel, defer_build=True):
    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal[1]
    tests: tuple[FlakyTest, ...] = ()


@dataclass(frozen=True, slots=True)
class Sighting:
    """A test proven flaky: it failed on a commit, then passed all its reruns on the same tree."""

    name: str
    commit: str
    at: datetime
    reruns_passed: int
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class FlakyList:
    """The tests known to be flaky, by name."""

    tests: tuple[FlakyTest, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        return frozenset(test.name for test in self.tests)

    def seen(self, sighting: Sighting) -> FlakyList:
        """The list with a sighting added. Raises ValueError for one that proves nothing."""
        if sighting.reruns_passed < PROOF_RUNS:
            raise ValueError(f"{sighting.name}: {sighting.reruns_passed} of {PROOF_RUNS} reruns are no proof")
        known = next((test for test in self.tests if test.name == sighting.name), None)
        others = (test for test in self.tests if test.name != sighting.name)
        return _sorted([*others, _again(known, sighting) if known else _first(sighting)])

    def passed(self, names: Iterable[str]) -> FlakyList:
        """The list after a run in which these tests passed at the first go."""
        passing = frozenset(names)
        return FlakyList(tuple(_passed(test) if test.name in passing else test for test in self.tests))

    def decayed(self, now: datetime) -> FlakyList:
        """The list without those that have behaved long enough, in days or in runs."""
        oldest = now - timedelta(days=DECAY_DAYS)
        staying = (test for test in self.tests if test.last_seen > oldest and test.passes_since < STEADY_PASSES)
        return FlakyList(tuple(staying))

    def as_markdown(self) -> str:
        """A table for a report, or a sentence where the list is empty."""
        if not self.tests:
            return "No flaky tests are known.\n"
        head = "| Test | Times | First seen | Last seen | Passes since | Last commit | Evidence |\n|" + " --- |" * 7
        return "\n".join([head, *(_row(test) for test in self.tests)]) + "\n"


def read_flaky(path: Path) -> FlakyList:
    """The list in the file, empty where there is none. Raises FlakyListDamaged, and OSError where it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return FlakyList()
    except UnicodeDecodeError as error:
        raise FlakyListDamaged(f"{path.name} is not a list of flaky tests: {error}") from error
    try:
        return _sorted(_Document.model_validate_json(text).tests)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise FlakyListDamaged(f"{path.name} is not a list of flaky tests: {place}: {first['msg']}") from error


def write_flaky(path: Path, flaky: FlakyList) -> None:
    """Write the whole list or nothing of it; the folder is made where it is missing. Raises OSError."""
    document = _Document(format=1, tests=flaky.tests)
    replace_file(path, json.dumps(document.model_dump(mode="json"), indent=1, ensure_ascii=False), 0o600)


def _first(sighting: Sighting) -> FlakyTest:
    return FlakyTest(
        name=sighting.name,
        first_seen=sighting.at,
        last_seen=sighting.at,
        commits=(sighting.commit,),
        evidence=sighting.evidence,
    )


def _again(known: FlakyTest, sighting: Sighting) -> FlakyTest:
    """Seen once more: a commit is listed once, and the count goes on."""
    commits = (*(commit for commit in known.commits if commit != sighting.commit), sighting.commit)
    return FlakyTest(
        name=known.name,
        first_seen=min(known.first_seen, sighting.at),
        last_seen=max(known.last_seen, sighting.at),
        commits=commits[-MOST_COMMITS:],
        count=known.count + 1,
        evidence=sighting.evidence or known.evidence,
    )


def _passed(test: FlakyTest) -> FlakyTest:
    return test.model_copy(update={"passes_since": test.passes_since + 1})


def _sorted(tests: Iterable[FlakyTest]) -> FlakyList:
    """By name; of two of one name the one that was seen last."""
    newest = {test.name: test for test in sorted(tests, key=lambda test: test.last_seen)}
    return FlakyList(tuple(newest[name] for name in sorted(newest)))


def _row(test: FlakyTest) -> str:
    cells = (
        code(test.name).replace("|", "\\|"),
        str(test.count),
        test.first_seen.date().isoformat(),
        test.last_seen.date().isoformat(),
        str(test.passes_since),
        test.commits[-1][:10] if test.commits else "",
        cell(test.evidence),
    )
    return f"| {' | '.join(cells)} |"


def listed(file: Path) -> tuple[str, ...]:
    """The tests on the list; none where it cannot be read: it only causes reruns."""
    try:
        return tuple(sorted(read_flaky(file).decayed(datetime.now(UTC)).names))
    except (FlakyListDamaged, OSError):
        return ()


def add_proven(file: Path, commit: str, runs: Iterable[SuiteRun]) -> None:
    """Add the tests whose reruns are a proof. A list that is damaged is left as it is."""
    proven = [(again.test, run.log) for run in runs for again in run.reruns if again.is_proof]
    try:
        known = read_flaky(file).decayed(datetime.now(UTC))
        for test, log in proven:
            known = known.seen(Sighting(test, commit, datetime.now(UTC), PROOF_RUNS, log))
        write_flaky(file, known)
    except (FlakyListDamaged, OSError):
        return
