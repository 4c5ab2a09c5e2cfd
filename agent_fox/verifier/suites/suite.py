"""One run of one test command, as a value: what was run, what its report says, what kept tests from running."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass
from agent_fox.verifier.ground.cases import Case
from agent_fox.verifier.ground.disposition_facts import PROOF_RUNS, Rerun, RerunTree
from agent_fox.verifier.suites.asking import with_tests

if TYPE_CHECKING:
    from agent_fox.core.verdicts.verdict import Disposition
    from agent_fox.verifier.ground.command_line import Command
    from agent_fox.verifier.suites.calls import Call


@dataclass(frozen=True, slots=True)
class Broken:
    """What of the coder's kept tests from running: a file that can't be collected or compiled, a hang, an absent file.

    `file` is the file at fault; empty where everything that the command runs is kept back. `error` is the line that
    names the error, where that is known. `is_check`: a check of its own, such as a linter, which found something.
    `is_absent`: the command names what is not there.
    """

    what: str
    file: str = ""
    text: str = ""
    error: str = ""
    is_check: bool = False
    is_absent: bool = False


@dataclass(frozen=True, slots=True)
class Unattempted:
    """Why a run shows nothing about the code: tool missing, machine failed, report not to be trusted.

    `is_silent_pass`: the command ended with exit 0 and writes no report (a linter, a build). It passed, and proves
    nothing by itself; every other case stands against what other commands prove.
    """

    reason: str
    disposition: Disposition
    is_silent_pass: bool = False


@dataclass(frozen=True, slots=True)
class Retried:
    """A test that was run again, or (without a name) a whole command. `note` says why passing was no proof."""

    test: str
    rerun: Rerun
    note: str = ""

    @property
    def is_proof(self) -> bool:
        """Whether it shows that the test is flaky: it passed every rerun on the same tree, and nothing explains why."""
        return self.rerun.tree is RerunTree.SAME and self.rerun.outcomes == (True,) * PROOF_RUNS and not self.note


@dataclass(frozen=True, slots=True)
class SuiteRun:
    """What came of one command. Where `unattempted` says that nothing did, `cases` are empty.

    `call` is the tool that was called, None for an unknown one. `started` is in nanoseconds since the epoch.
    `isolation`: in words, what it was kept within. `log` names the kept log to anybody, if it is kept. `reruns` are the
    record of what was run again.
    """

    line: str
    command: Command | None = None
    call: Call | None = None
    exit_code: int | None = None
    seconds: float = 0.0
    output: str = ""
    cases: tuple[Case, ...] = ()
    broken: tuple[Broken, ...] = ()
    unattempted: Unattempted | None = None
    started: int = 0
    log: str = ""
    isolation: str = ""
    reruns: tuple[Retried, ...] = ()

    @property
    def kept_back(self) -> Broken | None:
        """What of the coder's kept everything that the command runs from running, or failed as a check of its own."""
        whole = (broken for broken in self.broken if broken.is_check or not (self.cases or broken.file))
        return next(whole, None)

    def reproduction(self, tests: Iterable[Case]) -> str:
        """The command line that shows it again: only `tests` where the tool can select them, else as written."""
        selected = with_tests(self.call, tuple(tests)) if self.call else None
        return self.command.shown(selected.argv) if self.command and selected else self.line

    def reproduction_of_file(self, file: str) -> str:
        """The command line that shows what is wrong with a file, where the tool can select it."""
        is_told = file and self.call is not None and self.call.tool == "pytest"
        return self.reproduction([Case((), "", file)]) if is_told else self.line
